"""Read a table of any supported kind into a `Dataset`.

`read_data` accepts CSV and Parquet files, data frames, Arrow tables and NumPy arrays.
`read_incomplete` accepts the same sources and keeps their missing values. `coevo.data.load` opens
the source; this module makes a dataset of its columns.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, Unpack, overload

import numpy as np

from coevo.data.column_types import ColumnInfo
from coevo.data.columns import assemble_dataset, check_complete, mask_missing
from coevo.data.dataset import Dataset
from coevo.data.incomplete import IncompleteDataset
from coevo.data.infer_columns import infer_columns
from coevo.data.load import load_table
from coevo.data.read_options import ReadOptions
from coevo.data.source_options import SourceOptions, SourceParameters
from coevo.data.variable import Variable
from coevo.errors import ParameterError

__all__ = ["read_data", "read_incomplete"]

DeclaredStates = Mapping[str, Iterable[Any]] | Sequence[Variable]
ColumnInfos = tuple[ColumnInfo, ...]


@overload
def read_data(
    source: Any,
    *,
    states: DeclaredStates | None = ...,
    drop: Iterable[str] = ...,
    names: Sequence[str] | None = ...,
    deduplicate: bool = ...,
    types: Mapping[str, Any] | None = ...,
    discretise: str | None = ...,
    bins: int | None = ...,
    only: Iterable[str] | None = ...,
    return_info: Literal[False] = ...,
    **opening: Unpack[SourceParameters],
) -> Dataset: ...


@overload
def read_data(
    source: Any,
    *,
    states: DeclaredStates | None = ...,
    drop: Iterable[str] = ...,
    names: Sequence[str] | None = ...,
    deduplicate: bool = ...,
    types: Mapping[str, Any] | None = ...,
    discretise: str | None = ...,
    bins: int | None = ...,
    only: Iterable[str] | None = ...,
    return_info: Literal[True],
    **opening: Unpack[SourceParameters],
) -> tuple[Dataset, ColumnInfos]: ...


def read_data(
    source: Any,
    *,
    states: DeclaredStates | None = None,
    drop: Iterable[str] = (),
    names: Sequence[str] | None = None,
    deduplicate: bool = True,
    types: Mapping[str, Any] | None = None,
    discretise: str | None = None,
    bins: int | None = None,
    only: Iterable[str] | None = None,
    return_info: bool = False,
    **opening: Unpack[SourceParameters],
) -> Dataset | tuple[Dataset, ColumnInfos]:
    """Read a table of observations.

    Labels are text: the number 1 is the state ``"1"``, True is ``"True"``. Text is not changed;
    spaces are part of it. The states of a column are its distinct values, unless the column
    declares its states (a pandas Categorical, a polars Enum, an Arrow dictionary) or `states`
    does.

    `discretise`, `bins` and `types` cut columns of numbers into bins. The names of the bins
    contain the cut points (``below_18``, ``from_18_to_65``, ``from_65``; see `CutPoints`). If the
    declared states of a column of numbers are bins, the numbers go into these bins:
    ``states=network.variables`` reads new rows with the bins of the network.

    `read_data` rejects a table with missing values (an empty cell, ``NA``, ``NaN``, ``nan``,
    ``null``, ``NULL``, ``?``, and the nulls of data frames). It rejects a column of decimal
    numbers without bins, a column with more than 65,535 states, and a column with a different
    value in each of more than 20 rows (probably an identifier). The error names the column
    and the way out.

    Parameters
    ----------
    source : path, data frame, PyArrow table, array, SQL query or Dataset
        A file can be a text table (CSV and its relatives, ARFF), Excel, Parquet, Feather, JSON,
        SQLite, Stata, SPSS or SAS; its content decides. It can be compressed. ``'-'`` is the
        standard input. With `connection` the source is an SQL query. A Dataset is returned
        unchanged.
    states : mapping of str to iterable, or sequence of Variable, optional
        All states of some columns, in display order. A declared state need not occur in the
        rows. Declare states to keep decimal numbers or identifiers as labels, or to use text
        such as ``NA`` as a state. Variables come from a network (``states=network.variables``);
        variables that are not columns of the table are ignored.
    drop : iterable of str, optional
        Columns to leave out. Their values are not checked.
    names : sequence of str, optional
        Column names of a NumPy array.
    deduplicate : bool, default: True
        Store equal rows once, with a weight, if that makes counting faster. With False each row
        keeps its position; use it if you need one answer per row.
    types : mapping of str to type, optional
        Types of some columns: ``'categorical'`` (each value is a state), ``'continuous'``,
        ``'ignore'``, a list of cut points, `CutPoints`, or ``{"type": "continuous", "bins": 3,
        "method": "kmeans"}``. See also `read_types`.
    discretise : str, optional
        Method that cuts columns of numbers into bins: ``'mdl'`` (chooses the number of bins by
        the information about the other columns), ``'quantile'``, ``'uniform'`` or ``'kmeans'``.
        A column with at most 20 distinct integers, or at most 10 distinct decimal numbers that
        recur, keeps its values as states unless `types` declares it continuous.
    bins : int, optional
        Number of bins (default: 3), or the maximum for ``'mdl'`` (default: 5). If `bins` is
        given without `discretise`, the method is ``'quantile'``.
    only : iterable of str, optional
        Columns to read, if the table has them. The values of the other columns are not checked.
        One column is enough.
    return_info : bool, default: False
        Return also the inferred type of each column.
    encoding : str, optional
        Encoding of a text table (default: UTF-8, UTF-16 or Windows-1252, as detected).
    delimiter : str, optional
        Character between the fields of a text table; ``' '`` stands for any number of spaces.
    comment : str, optional
        Start of the lines of a text table to skip; ``''`` skips none. By default lines that start
        with ``#``, ``%`` or ``//`` are skipped above the header, and below it if their number of
        fields differs.
    header : bool, optional
        Whether the first row has the column names (default: unless it has only values).
    skiprows, skipfooter : int, optional
        Number of lines above and below the table (default: as detected).
    sheet : str or int, optional
        Name or number (from 1) of a sheet; name of a table of an SQLite file.
    query : str, optional
        SQL query for an SQLite file.
    connection : DB-API connection or path of an SQLite file, optional
        Where to send `source`, an SQL query.

    Returns
    -------
    dataset : Dataset
        The observations.
    infos : tuple of ColumnInfo
        Type, states and cut points of each column. Only with ``return_info=True``.

    Raises
    ------
    DataError
        If the table has an error in its data.
    ParameterError
        If `source` is not a table, or another argument is invalid.

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
    >>> _, infos = read_data(
    ...     measured, names=["mm", "day"], types={"mm": [1, 3]}, bins=2, return_info=True
    ... )
    >>> [(info.name, info.type, info.holds) for info in infos]
    [('mm', 'continuous', 'decimal numbers'), ('day', 'categorical', 'whole numbers')]
    """
    source_options = SourceOptions.from_parameters("read_data", **opening)
    options = ReadOptions.from_parameters(
        states, drop, types, discretise, bins, only, opening=source_options
    )
    dataset, infos = _read(source, options, names, deduplicate)
    return (dataset, infos) if return_info else dataset


@overload
def read_incomplete(
    source: Any,
    *,
    missing_labels: Iterable[str] | None = ...,
    states: DeclaredStates | None = ...,
    drop: Iterable[str] = ...,
    names: Sequence[str] | None = ...,
    types: Mapping[str, Any] | None = ...,
    discretise: str | None = ...,
    bins: int | None = ...,
    return_info: Literal[False] = ...,
    **opening: Unpack[SourceParameters],
) -> IncompleteDataset: ...


@overload
def read_incomplete(
    source: Any,
    *,
    missing_labels: Iterable[str] | None = ...,
    states: DeclaredStates | None = ...,
    drop: Iterable[str] = ...,
    names: Sequence[str] | None = ...,
    types: Mapping[str, Any] | None = ...,
    discretise: str | None = ...,
    bins: int | None = ...,
    return_info: Literal[True],
    **opening: Unpack[SourceParameters],
) -> tuple[IncompleteDataset, ColumnInfos]: ...


def read_incomplete(
    source: Any,
    *,
    missing_labels: Iterable[str] | None = None,
    states: DeclaredStates | None = None,
    drop: Iterable[str] = (),
    names: Sequence[str] | None = None,
    types: Mapping[str, Any] | None = None,
    discretise: str | None = None,
    bins: int | None = None,
    return_info: bool = False,
    **opening: Unpack[SourceParameters],
) -> IncompleteDataset | tuple[IncompleteDataset, ColumnInfos]:
    """Read a table as `read_data` does, and keep its missing values.

    The cut points of a column depend only on its observed values.

    Parameters
    ----------
    source : path, data frame, PyArrow table, array, Dataset or IncompleteDataset
        As for `read_data`.
    missing_labels : iterable of str, optional
        Text that stands for a missing value; spaces around it do not matter. The default is
        the empty text, ``NA``, ``NaN``, ``nan``, ``null``, ``NULL`` and ``?``. A null of a data
        frame is always missing. A declared state is never missing.
    states, drop, names, types, discretise, bins : optional
        As for `read_data`.
    encoding, delimiter, comment, header, skiprows, skipfooter, sheet, query, connection : optional
        As for `read_data`.
    return_info : bool, default: False
        Return also the inferred type of each column.

    Returns
    -------
    table : IncompleteDataset
        The observations, with their missing values.
    infos : tuple of ColumnInfo
        Type, states and cut points of each column. Only with ``return_info=True``.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.array([["no", "dry"], ["yes", "?"], ["no", "wet"]])
    >>> table, infos = read_incomplete(rows, names=["rain", "grass"], return_info=True)
    >>> table.missing_counts
    {'grass': 1, 'rain': 0}
    >>> infos[1].states
    ('dry', 'wet')
    """
    source_options = SourceOptions.from_parameters("read_incomplete", **opening)
    options = ReadOptions.from_parameters(
        states, drop, types, discretise, bins, opening=source_options
    )
    table, infos = _read_incomplete(source, options, names, missing_labels)
    return (table, infos) if return_info else table


def _read(
    source: Any, options: ReadOptions, names: Sequence[str] | None, deduplicate: bool = True
) -> tuple[Dataset, ColumnInfos]:
    if isinstance(source, Dataset):
        return source, _describe_dataset(source, options, names)
    columns = load_table(source, options, names).columns
    check_complete(columns)
    inferred, infos = infer_columns(columns, options)
    return assemble_dataset(inferred, deduplicate), infos


def _read_incomplete(
    source: Any,
    options: ReadOptions,
    names: Sequence[str] | None,
    missing_labels: Iterable[str] | None,
) -> tuple[IncompleteDataset, ColumnInfos]:
    if isinstance(source, IncompleteDataset):
        return source, _describe_dataset(source.dataset, options, names)
    if isinstance(source, Dataset):
        infos = _describe_dataset(source, options, names)
        rows = source.expand()
        return IncompleteDataset(rows, np.zeros(rows.codes.shape, dtype=np.bool_)), infos
    lenient = options.allow_missing(missing_labels)
    raw = load_table(source, lenient, names)
    columns = mask_missing(raw.columns, lenient.missing_labels)
    inferred, infos = infer_columns(columns, lenient)
    dataset = assemble_dataset(inferred, deduplicate=False)
    missing = np.zeros(dataset.codes.shape, dtype=np.bool_)
    for column in inferred:
        if column.missing is not None:
            missing[dataset.find_position(column.name)] = column.missing
    return IncompleteDataset(dataset, missing), infos


def _describe_dataset(
    dataset: Dataset, options: ReadOptions, names: Sequence[str] | None
) -> ColumnInfos:
    """Return the column infos of a dataset. Raise an error if there are options to apply."""
    if options != ReadOptions.from_parameters() or names is not None:
        raise ParameterError(
            "'states', 'drop', 'names', 'types', 'discretise', 'bins' and 'only' of read_data do "
            "not apply to a Dataset. Use them when you read the table that it comes from."
        )
    return tuple(
        ColumnInfo(variable.name, "categorical", variable.states, "declared states")
        for variable in dataset.source_variables
    )
