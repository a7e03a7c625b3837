"""The one door for data: whatever holds a table comes in here and leaves as a `Dataset`.

The readers are imported when they are used, because numba and narwhals take longer to
import than many a table takes to read.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from coevo.data.array_reader import read_array
from coevo.data.column_types import ColumnInfo
from coevo.data.columns import Column, assemble, check_cells, open_holes
from coevo.data.dataset import Dataset
from coevo.data.incomplete import IncompleteDataset
from coevo.data.infer_columns import settle
from coevo.data.read_options import ReadOptions
from coevo.data.variable import Variable
from coevo.errors import FileError, ParameterError
from coevo.files import open_source

__all__ = ["read_columns", "read_data", "read_incomplete"]

_ACCEPTED = (
    "the path of a CSV or Parquet file, a pandas or polars data frame, a PyArrow table, "
    "a 2-D NumPy array or a Dataset"
)


def read_data(
    source: Any,
    *,
    states: Mapping[str, Iterable[Any]] | Sequence[Variable] | None = None,
    drop: Iterable[str] = (),
    names: Sequence[str] | None = None,
    fold: bool = True,
    types: Mapping[str, Any] | None = None,
    discretise: str | None = None,
    bins: int | None = None,
    only: Iterable[str] | None = None,
) -> Dataset:
    """Read a table of observations.

    Labels are text: the number 1 is the state ``"1"``, True is ``"True"``, and text is kept
    exactly as it stands, spaces included. The states of a column are those that it shows, or
    those that it declares (a pandas Categorical, a polars Enum, an Arrow dictionary), or
    those given here.

    Numbers are cut into bins where `discretise`, `bins` or `types` ask for it. The states of
    such a column are named after its cut points (``below_18``, ``from_18_to_65``,
    ``from_65``; see `CutPoints`), and a column of numbers whose declared states are bins is put
    into those: ``states=network.variables`` reads new rows as the old ones were.

    Refused, each with a sentence that names the column and the way out: missing cells (an
    empty cell, ``NA``, ``NaN``, ``nan``, ``null``, ``NULL``, ``?``, and the nulls of data
    frames), decimal numbers that are not to be cut, more than 65,535 states, and a column
    that has a different value in each of more than 20 rows, which is taken for an
    identifier.

    Parameters
    ----------
    source : path, data frame, PyArrow table, array or Dataset
        A text table has a header, fields separated by comma, semicolon, tab or ``|``, and
        is UTF-8; it may be compressed with gzip. Parquet needs PyArrow. A dataset is
        returned as it is.
    states : mapping of str to iterable, or sequence of Variable, optional
        All states of some columns, in the order to show them. Declares states that the
        rows do not show, lets decimal numbers and identifiers in as labels, and makes a
        state out of text such as ``NA``. Variables are those of a network
        (``states=network.variables``); those that the table does not have are passed over.
    drop : iterable of str, optional
        Columns to leave out, before anything about them is checked.
    names : sequence of str, optional
        Names of the columns of a NumPy array.
    fold : bool
        Whether equal rows are stored once, where that pays. False keeps every row in its
        place, for answers that are one a row.
    types : mapping of str to type, optional
        What some columns are: ``'categorical'`` (each value is a state), ``'continuous'``,
        ``'ignore'``, a list of cut points, `CutPoints`, or ``{"type": "continuous", "bins": 3,
        "method": "kmeans"}``. See also `read_types`.
    discretise : str, optional
        Cut columns of numbers into bins: ``'mdl'`` (chooses how many, by what the column
        tells about the others), ``'quantile'``, ``'uniform'`` or ``'kmeans'``. Up to 20
        different whole numbers, or 10 decimal ones that recur, stay states, unless `types`
        says that the column is continuous.
    bins : int, optional
        How many bins (3), or the most that ``'mdl'`` may make (5). Without a method it means
        quantiles.
    only : iterable of str, optional
        The columns to read, where the table has them. The others are left out, before
        anything about them is checked, and one column is enough.

    Returns
    -------
    Dataset
        The observations.

    Raises
    ------
    DataError
        If the table cannot be used as it is.
    ParameterError
        If `source` is not a table, or another argument is not what it must be.

    Warns
    -----
    CoevoWarning
        If a column has the same value in every row.

    Examples
    --------
    >>> import numpy as np
    >>> table = np.array([["no", "dry"], ["yes", "wet"], ["no", "wet"]])
    >>> dataset = read_data(table, names=["rain", "grass"])
    >>> dataset
    <Dataset: 3 rows, 2 variables>
    >>> dataset.source_variables[0]
    Variable(name='rain', states=('no', 'yes'))
    >>> measured = np.array([[0.2, 7], [1.4, 8], [3.1, 8], [9.9, 7]])
    >>> binned = read_data(measured, names=["mm", "day"], discretise="quantile", bins=2)
    >>> binned.source_variables[0]
    Variable(name='mm', states=('below_2', 'from_2'))
    """
    request = ReadOptions.of(states, drop, types, discretise, bins, only)
    return _read(source, request, names, fold)[0]


def read_columns(
    source: Any,
    *,
    states: Mapping[str, Iterable[Any]] | Sequence[Variable] | None = None,
    drop: Iterable[str] = (),
    names: Sequence[str] | None = None,
    types: Mapping[str, Any] | None = None,
    discretise: str | None = None,
    bins: int | None = None,
) -> tuple[Dataset, tuple[ColumnInfo, ...]]:
    """Read a table as `read_data` does; return also what was decided about its columns.

    >>> import numpy as np
    >>> measured = np.array([[0.2, 7], [1.4, 8], [3.1, 8], [9.9, 7]])
    >>> _, notes = read_columns(measured, names=["mm", "day"], types={"mm": [1, 3]}, bins=2)
    >>> [(note.name, note.type, note.holds) for note in notes]
    [('mm', 'continuous', 'decimal numbers'), ('day', 'categorical', 'whole numbers')]
    """
    request = ReadOptions.of(states, drop, types, discretise, bins)
    return _read(source, request, names)


def read_incomplete(
    source: Any,
    *,
    missing_labels: Iterable[str] | None = None,
    states: Mapping[str, Iterable[Any]] | Sequence[Variable] | None = None,
    drop: Iterable[str] = (),
    names: Sequence[str] | None = None,
    types: Mapping[str, Any] | None = None,
    discretise: str | None = None,
    bins: int | None = None,
) -> tuple[IncompleteDataset, tuple[ColumnInfo, ...]]:
    """Read a table as `read_columns` does, and keep its missing cells.

    Bins of columns of numbers are found from the cells that are there.

    Parameters
    ----------
    source : path, data frame, PyArrow table, array, Dataset or IncompleteDataset
        As for `read_data`.
    missing_labels : iterable of str, optional
        Text that stands for a missing cell, spaces around it aside. If left out: nothing at
        all, ``NA``, ``NaN``, ``nan``, ``null``, ``NULL`` and ``?``. The nulls of data frames
        are always missing, and a declared state never is.
    states, drop, names, types, discretise, bins : optional
        As for `read_data`.

    Returns
    -------
    IncompleteDataset, tuple of ColumnInfo
        The observations with their holes, and what was decided about the columns.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.array([["no", "dry"], ["yes", "?"], ["no", "wet"]])
    >>> table, notes = read_incomplete(rows, names=["rain", "grass"])
    >>> table.missing_counts
    {'grass': 1, 'rain': 0}
    >>> notes[1].states
    ('dry', 'wet')
    """
    request = ReadOptions.of(states, drop, types, discretise, bins)
    if isinstance(source, IncompleteDataset):
        _, notes = _read(source.dataset, request, names)
        return source, notes
    if isinstance(source, Dataset):
        rows, notes = _read(source, request, names)
        unfolded = rows.unfolded()
        return IncompleteDataset(unfolded, np.zeros(unfolded.codes.shape, dtype=np.bool_)), notes
    asked = request.keeping_missing(missing_labels)
    columns = open_holes(_read_table(source, asked, names), asked.missing_labels)
    settled, notes = settle(columns, asked)
    dataset = assemble(settled, fold=False)
    missing = np.zeros(dataset.codes.shape, dtype=np.bool_)
    for column in settled:
        if column.holes is not None:
            missing[dataset.position(column.name)] = column.holes
    return IncompleteDataset(dataset, missing), notes


def _read(
    source: Any, request: ReadOptions, names: Sequence[str] | None, fold: bool = True
) -> tuple[Dataset, tuple[ColumnInfo, ...]]:
    if isinstance(source, Dataset):
        if request != ReadOptions.of() or names is not None:
            raise ParameterError(
                "'states', 'drop', 'names', 'types', 'discretise', 'bins' and 'only' of read_data "
                "are for tables; a Dataset is already read. Give them where it is made."
            )
        notes = [
            ColumnInfo(v.name, "categorical", v.states, "declared states")
            for v in source.source_variables
        ]
        return source, tuple(notes)
    columns = _read_table(source, request, names)
    check_cells(columns)
    settled, found = settle(columns, request)
    return assemble(settled, fold), found


def _read_table(source: Any, request: ReadOptions, names: Sequence[str] | None) -> list[Column]:
    if isinstance(source, np.ndarray):
        return read_array(source, names, request)
    if names is not None:
        raise ParameterError(
            "'names' of read_data is for NumPy arrays only; this table has names of its own."
        )
    if isinstance(source, str | os.PathLike):
        return _read_file(Path(source), request)
    return _read_frame(source, request)


def _read_frame(source: object, request: ReadOptions) -> list[Column]:
    from coevo.data.frame_reader import as_frame, read_frame

    frame = as_frame(source)
    if frame is None:
        raise ParameterError(_not_a_table(source))
    return read_frame(frame, request)


def _read_file(path: Path, request: ReadOptions) -> list[Column]:
    if os.path.isdir(path) and any(path.glob("*.parquet")):
        raise FileError(
            f"{str(path)!r} is a folder of Parquet files. Learn from it in pieces, with shards= "
            "(--shards DIR) or cluster= (--cluster), or name a file in it."
        )
    with open_source(path) as source:
        if not source.is_parquet:
            from coevo.data.csv_reader import read_csv

            return read_csv(source, request)
    from coevo.data.parquet import read_parquet

    return read_parquet(path, request)


def _not_a_table(source: object) -> str:
    """Return the sentence for something that is not a table, with the way out if known."""
    kind = type(source)
    got = f"{kind.__module__.split('.')[0]}.{kind.__name__}"
    got = kind.__name__ if kind.__module__ == "builtins" else got
    hint = ""
    if hasattr(source, "collect"):
        hint = " Call .collect() on it first."
    elif hasattr(source, "to_delayed"):  # of Dask
        hint = " Learn from it with shards= or cluster=, or call .compute() on it first."
    elif hasattr(source, "toarray"):
        hint = " A sparse table is not read. Call .toarray() on it first."
    elif kind.__name__ == "Series":
        hint = " A network needs at least two columns."
    elif isinstance(source, list | tuple | dict):
        hint = " Make a data frame of it first."
    return f"'source' of read_data must be {_ACCEPTED}; got a {got}.{hint}"
