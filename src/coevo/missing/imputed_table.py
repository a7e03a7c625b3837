"""An imputed table with the probability of each imputed value, and the two files of both."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
from numpy.typing import NDArray

from coevo.data import Dataset, IncompleteDataset, write_data
from coevo.data.read.csv_fields import BLOCK_ROWS, CsvBlock
from coevo.data.source_options import SourceOptions
from coevo.errors import FileError
from coevo.missing.imputations import ImputationProbabilities, impute_most_probable
from coevo.options import SourceParameters

if TYPE_CHECKING:
    from coevo.data.write_imputed import ImputedColumn

__all__ = ["ImputedTable", "ImputedValue", "choose_probability_path", "write_imputed"]

HEADER = ("row", "column", "state", "probability")


@dataclass(frozen=True)
class ImputedValue:
    """One imputed value.

    Attributes
    ----------
    row : int
        The row, counted from 1 without the header.
    column : str
        The name of the column.
    state : str
        The imputed state.
    probability : float
        The probability of this state.
    """

    row: int
    column: str
    state: str
    probability: float


@dataclass(frozen=True, eq=False)
class ImputedTable:
    """The table with the most probable state of each missing value.

    Attributes
    ----------
    dataset : Dataset
        The observed and imputed values; the rows are in the order of the source.
    missing : array of bool, (n_variables, n_rows)
        True for each imputed value.
    probability : array of float, (n_variables, n_rows)
        The probability of each imputed state; 1 for an observed value.
    """

    dataset: Dataset
    missing: NDArray[np.bool_]
    probability: NDArray[np.float64]

    @classmethod
    def from_sorted(
        cls,
        table: IncompleteDataset,
        sorted_table: IncompleteDataset,
        order: NDArray[np.intp],
        estimated: ImputationProbabilities,
    ) -> ImputedTable:
        """Return the imputed table, given the probabilities for the sorted table.

        `sorted_table` and `order` are the result of ``table.sort_by_content()``. The rows of the
        imputed table are in the order of `table`.
        """
        position_in_sorted = np.argsort(order)
        missing_values = estimated.missing_values
        probability = np.ones(table.missing.shape)
        probability[missing_values.variables, missing_values.rows] = estimated.highest_probabilities
        codes = impute_most_probable(sorted_table, estimated)[:, position_in_sorted]
        return cls(table.make_dataset(codes), table.missing, probability[:, position_in_sorted])

    def list_imputed_columns(self) -> list[ImputedColumn]:
        """Return the columns with imputed values."""
        from coevo.data.write_imputed import ImputedColumn

        codes = self.dataset.codes
        return [
            ImputedColumn(variable.name, variable.states, codes[position], self.missing[position])
            for position, variable in enumerate(self.dataset.variables)
            if self.missing[position].any()
        ]

    def fill_frame(self, frame: Any, *, rename: Mapping[str, str] | None = None) -> Any:
        """Return a copy of the data frame that was read, with its missing values imputed.

        The rest of the frame does not change: columns that were left out, and numbers that were
        cut into bins. A missing number becomes the median of the observed numbers in its bin.
        `rename` has the new names that the frame was read with; the copy has the old names.
        """
        from coevo.data.write_imputed import impute_frame

        owner = "ImputedTable.fill_frame"
        opening = SourceOptions.from_parameters(owner, rename=rename)
        return impute_frame(frame, self.list_imputed_columns(), owner, opening)

    def iter_imputed_values(self) -> Iterator[ImputedValue]:
        """Yield all imputed values: row by row, and by the name of the column within a row."""
        variables = self.dataset.variables
        for row, position in np.argwhere(self.missing.T).tolist():
            variable = variables[position]
            state = variable.states[self.dataset.codes[position, row]]
            probability = float(self.probability[position, row])
            yield ImputedValue(row + 1, variable.name, state, probability)


def choose_probability_path(path: str | os.PathLike[str]) -> Path:
    """Return the path of the file with the probabilities, beside the imputed table."""
    table_path = Path(path)
    probability_path = table_path.with_name(table_path.name.split(".")[0] + ".probabilities.csv")
    if probability_path == table_path:
        raise FileError(
            f"{str(table_path)!r} is the name of the file with the probabilities of the imputed "
            "values. Give the table another name."
        )
    return probability_path


def write_imputed(
    imputed_table: ImputedTable,
    path: str | os.PathLike[str],
    source: str | os.PathLike[str] | None = None,
    **opening: Unpack[SourceParameters],
) -> Path:
    """Write an imputed table, and beside it the probability of each imputed value.

    The suffix of `path` determines the format of the table, as for `write_data`. The probabilities
    go to a CSV file with ``.probabilities.csv`` in place of the suffixes. It has one line for each
    imputed value: the row (from 1, without the header), the column, the state and its probability.

    Parameters
    ----------
    imputed_table : ImputedTable
        The imputed table, for example ``learn_incomplete(...).imputation.imputed_table``.
    path : str or path
        The file of the table.
    source : str or path, optional
        The file that the table was read from. The result is then a copy of this file, with all its
        columns and numbers. A missing number becomes the median of the observed numbers in its
        bin. Without `source`, the result has the columns that were learned from, and bins in place
        of numbers.
    encoding, delimiter, comment, header, skiprows, skipfooter, bad_rows : optional
        How the text table `source` was read, as for `read_data`.
    keep_empty_rows, rename, value_labels, sheet, query, connection : optional
        How `source` was opened, as for `read_data`.

    Returns
    -------
    Path
        The file with the probabilities.
    """
    from coevo.data.write_imputed import write_imputed_file
    from coevo.data.writer import write_csv_blocks

    probability_path = choose_probability_path(path)
    if source is None:
        write_data(imputed_table.dataset, path)
    else:
        options = SourceOptions.from_parameters("write_imputed", **opening)
        write_imputed_file(source, path, imputed_table.list_imputed_columns(), options)
    write_csv_blocks(HEADER, _iter_probability_blocks(imputed_table), probability_path)
    return probability_path


def _iter_probability_blocks(imputed_table: ImputedTable) -> Iterator[CsvBlock]:
    """Yield the lines of the file with the probabilities."""
    all_values = imputed_table.iter_imputed_values()
    while values := list(itertools.islice(all_values, BLOCK_ROWS)):
        yield CsvBlock.from_texts(
            [
                [str(value.row) for value in values],
                [value.column for value in values],
                [value.state for value in values],
                [f"{value.probability:.6g}" for value in values],
            ]
        )
