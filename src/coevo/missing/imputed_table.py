"""A completed table, with how sure each filled cell is, and its two files."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coevo.data import Dataset, IncompleteDataset, write_data
from coevo.data.write_imputed import ImputedColumn, impute_frame, write_imputed_file
from coevo.errors import FileError
from coevo.files import replace_file
from coevo.missing.imputations import Filled, filled_in

__all__ = ["ImputedCell", "ImputedTable", "probability_path", "write_imputed"]

HEADER = ("row", "column", "state", "probability")


@dataclass(frozen=True)
class ImputedCell:
    """One cell that was missing; rows are counted from 1, without the header."""

    row: int
    column: str
    state: str
    probability: float


@dataclass(frozen=True)
class ImputedTable:
    """The table with the most probable state in each missing cell."""

    dataset: Dataset  # rows in the order of the source
    missing: NDArray[np.bool_]  # (n_variables, n_rows), the cells that were filled
    probability: NDArray[np.float64]  # (n_variables, n_rows), of the state; 1 if observed

    @classmethod
    def of(
        cls,
        table: IncompleteDataset,
        sorted_table: IncompleteDataset,
        order: NDArray[np.intp],
        filled: Filled,
    ) -> ImputedTable:
        """Return a table as it was, filled as its sorted twin was (`sort_by_content`)."""
        back = np.argsort(order)
        sure = np.ones(table.missing.shape)
        sure[filled.holes.variables, filled.holes.rows] = filled.probability
        codes = filled_in(sorted_table, filled)[:, back]
        return cls(table.make_dataset(codes), table.missing, sure[:, back])

    def patches(self) -> list[ImputedColumn]:
        """Return what each column that misses some cells is filled with."""
        rows = self.dataset
        return [
            ImputedColumn(variable.name, variable.states, rows.codes[place], self.missing[place])
            for place, variable in enumerate(rows.variables)
            if self.missing[place].any()
        ]

    def into(self, frame: Any) -> Any:
        """Return the data frame that this was read from, with its missing cells filled.

        All else is as it was: columns that were left out, and numbers that were cut into bins.
        A missing number becomes the middle one of those that the frame has in its bin.
        """
        return impute_frame(frame, self.patches(), "ImputedTable.into")

    def cells(self) -> Iterator[ImputedCell]:
        """Yield all filled cells, row by row, columns by name."""
        variables = self.dataset.variables
        for row, place in np.argwhere(self.missing.T).tolist():
            variable = variables[place]
            state = variable.states[self.dataset.codes[place, row]]
            sure = float(self.probability[place, row])
            yield ImputedCell(row + 1, variable.name, state, sure)


def probability_path(path: str | os.PathLike[str]) -> Path:
    """Return where the probabilities of a completed table go, beside the table itself."""
    target = Path(path)
    beside = target.with_name(target.name.split(".")[0] + ".probabilities.csv")
    if beside == target:
        raise FileError(
            f"{str(target)!r} is where the probabilities of the filled cells go. Give the table "
            "another name."
        )
    return beside


def write_imputed(
    completed: ImputedTable,
    path: str | os.PathLike[str],
    source: str | os.PathLike[str] | None = None,
) -> Path:
    """Write a completed table, and beside it how sure each filled cell is.

    The table goes to `path`, in the format of its suffix as for `write_data`. The cells go to
    a CSV file with ``.probabilities.csv`` in place of the suffixes, whose name is returned: a line
    for each cell with its row (from 1, without the header), column, state and probability.

    Parameters
    ----------
    completed : ImputedTable
        What `learn_incomplete` has filled.
    path : str or path
        Where the table goes.
    source : str or path, optional
        The file that it was read from. What is written is then that table, with all its
        columns and its numbers as they are; a missing number becomes the middle one of those
        that the table has in its bin. Without it, the columns that were learned from are
        written, numbers as bins.
    """
    beside = probability_path(path)
    if source is None:
        write_data(completed.dataset, path)
    else:
        write_imputed_file(source, path, completed.patches())
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(HEADER)
    for cell in completed.cells():
        writer.writerow([cell.row, cell.column, cell.state, f"{cell.probability:.6g}"])
    with replace_file(beside) as stream:
        stream.write(text.getvalue().encode())
    return beside
