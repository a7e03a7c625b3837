"""Read a table of any supported kind into a `Dataset`.

`read_data` accepts CSV and Parquet files, data frames, Arrow tables and NumPy arrays.
`read_incomplete` accepts the same sources and keeps their missing values. `coevo.data.load` opens
the source; this module makes a dataset of its columns.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, Unpack, overload

import numpy as np

from coevo.checks import is_bool
from coevo.data.column_types import ColumnInfo
from coevo.data.columns import Column, assemble_dataset
from coevo.data.dataset import Clusters, Dataset
from coevo.data.decisions import Decision, RawTable, TableInfo, check_strict
from coevo.data.incomplete import IncompleteDataset, Rows
from coevo.data.infer_columns import infer_columns
from coevo.data.load import load_table
from coevo.data.prepare_columns import PreparedTable, prepare_columns
from coevo.data.prepare_rows import prepare_rows
from coevo.data.read_options import ReadOptions
from coevo.data.row_options import ReadParameters
from coevo.data.variable import Variable
from coevo.errors import DataError, ParameterError, bad_parameter, format_list, warn_caller
from coevo.signatures import check_keywords

__all__ = [
    "as_dataset",
    "as_rows",
    "assemble_rows",
    "complete_info",
    "infer_prepared",
    "read_data",
    "read_incomplete",
    "read_table",
]

DeclaredStates = Mapping[str, Iterable[Any]] | Sequence[Variable]


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
    strict: bool = ...,
    decimal: str | None = ...,
    return_info: Literal[False] = ...,
    **opening: Unpack[ReadParameters],
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
    strict: bool = ...,
    decimal: str | None = ...,
    return_info: Literal[True],
    **opening: Unpack[ReadParameters],
) -> tuple[Dataset, TableInfo]: ...


@check_keywords(ReadParameters)
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
    strict: bool = False,
    decimal: str | None = None,
    return_info: bool = False,
    **opening: Unpack[ReadParameters],
) -> Dataset | tuple[Dataset, TableInfo]:
    """Read a table of observations.

    Labels are text: the number 1 is the state ``"1"``, True is ``"True"``. Blanks around a label
    are removed, and labels that differ in case only are one state. The states of a
    column are its distinct values, unless the column declares its states (a pandas Categorical, a
    polars Enum, an Arrow dictionary) or `states` does.

    `discretise`, `bins` and `types` cut columns of numbers into bins. The names of the bins
    contain the cut points (``below_18``, ``from_18_to_65``, ``from_65``; see `CutPoints`). If the
    declared states of a column of numbers are bins, the numbers go into these bins:
    ``states=network.variables`` reads new rows with the bins of the network.

    Numbers can have decimal commas, thousands separators, currency signs and per cent signs.
    Dates are replaced by parts that recur (``visit_year``, ``visit_month``). Columns that nothing
    can be learned from are left out: empty and constant columns, identifiers, free text, and
    copies of other columns. Each of these decisions is a warning that names the option which undoes
    it, or an entry of `TableInfo.decisions`. ``strict=True`` makes them errors.

    `read_data` rejects a table with missing values (an empty cell, ``NA``, ``N/A``, ``NaN``,
    ``null``, ``?``, ``.`` and similar labels, and the nulls of data frames), and a column of
    decimal numbers without bins. The error names the column and the way out.

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
        ``'ignore'``, parts of dates (``'year'``, ``'month'``, ``'weekday'``, ``'hour'``,
        ``'year+month'``), ``'date'`` (a date as a number), ``'dmy'`` or ``'mdy'`` (the order of
        day and month), a list of cut points, `CutPoints`, or ``{"type": "continuous", "bins": 3,
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
    strict : bool, default: False
        Raise an error for everything that would be decided about the table.
    decimal : str, optional
        The decimal mark of numbers, ``'.'`` or ``','``. By default it is found: all labels of a
        column have the same mark, and ``1,234`` follows the other columns of the table.
    return_info : bool, default: False
        Return also what is known about the table. No warning is then issued for decisions.
    missing_labels : list, or mapping of str to label or list, optional
        Labels that stand for a missing value, in all columns, or in the columns of a mapping:
        ``{"age": -99}``. They are added to the defaults. Numbers are compared as numbers, and
        blanks around a label do not matter. ``"age=-99"`` in a list is the same as in a command.
    keep_labels : list, or mapping of str to label or list, optional
        Labels that are values and never missing, as ``{"continent": "NA"}`` or ``{"x": -999}``.
    merge : mapping of str to mapping of str to str, optional
        States to merge: ``{"smoker": {"Y": "yes"}}`` reads ``Y`` as ``yes``.
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
    units_row : bool, optional
        Whether the first row below the header has the units of the columns and is skipped
        (default: as detected).
    bad_rows : str, default: 'repair'
        Rows of a text table with too few or too many fields. ``'repair'`` fills the missing cells
        of a short row and removes additional empty cells; other long rows are an error.
        ``'skip'`` leaves all these rows out, ``'refuse'`` makes them an error.
    keep_empty_rows : bool, default: False
        Keep the rows of a text table or a spreadsheet that have no value in any column.
    rename : mapping of str to str, optional
        New names of columns. The old names are those that coevo gives: without spaces around
        them, and with ``name.1`` for the second column called ``name``. All other parameters use
        the new names.
    value_labels : bool, default: True
        Use the value labels of Stata and SPSS as states. With False the states are the codes.
    sheet : str or int, optional
        Name or number (from 1) of a sheet; name of a table of an SQLite file.
    query : str, optional
        SQL query for an SQLite file.
    connection : DB-API connection or path of an SQLite file, optional
        Where to send `source`, an SQL query.
    duplicates : str, optional
        Rows that repeat other rows in all columns: ``'keep'`` or ``'drop'``. By default they are
        dropped where they are copies, and kept where equal observations are natural.
    totals : str, optional
        Rows of totals and subtotals: ``'keep'`` or ``'drop'``. By default they are dropped if
        their numbers are sums, or if they have no other values.
    weights : str, optional
        Column with the number of times that each row counts, as in a frequency table. It is no
        variable. By default a column of counts such as ``Freq`` beside all different rows is used.
    cluster_by : str, optional
        Column that says which rows belong together, as the visits of a patient do. It is no
        variable. A bootstrap draws clusters, and a cross-validation keeps them together.

    Returns
    -------
    dataset : Dataset
        The observations.
    info : TableInfo
        Type, states and cut points of each column, and the decisions about the table. Only with
        ``return_info=True``.

    Raises
    ------
    DataError
        If the table has an error in its data.
    ParameterError
        If `source` is not a table, or another argument is invalid.

    Warns
    -----
    CoevoWarning
        For each decision about the table, and if a column with declared states has the same value
        in every row.

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
    >>> _, info = read_data(
    ...     measured, names=["mm", "day"], types={"mm": [1, 3]}, bins=2, return_info=True
    ... )
    >>> [(column.name, column.type, column.holds) for column in info.columns]
    [('mm', 'continuous', 'decimal numbers'), ('day', 'categorical', 'whole numbers')]
    """
    if not is_bool(deduplicate):
        raise bad_parameter("deduplicate", "read_data", "a bool", deduplicate)
    options = ReadOptions.from_parameters(states, drop, types, discretise, bins, only).use_source(
        "read_data", **opening
    )
    if isinstance(source, Dataset):
        dataset, info = source, _describe_dataset(source, options.use_decimal(decimal), names)
    else:
        columns, info, clusters = _read_columns(source, options.use_decimal(decimal), names, strict)
        dataset = assemble_dataset(columns, deduplicate, clusters)
    if return_info:
        return dataset, info
    _warn_of_decisions(info)
    return dataset


@overload
def read_incomplete(
    source: Any,
    *,
    states: DeclaredStates | None = ...,
    drop: Iterable[str] = ...,
    names: Sequence[str] | None = ...,
    types: Mapping[str, Any] | None = ...,
    discretise: str | None = ...,
    bins: int | None = ...,
    strict: bool = ...,
    decimal: str | None = ...,
    return_info: Literal[False] = ...,
    **opening: Unpack[ReadParameters],
) -> IncompleteDataset: ...


@overload
def read_incomplete(
    source: Any,
    *,
    states: DeclaredStates | None = ...,
    drop: Iterable[str] = ...,
    names: Sequence[str] | None = ...,
    types: Mapping[str, Any] | None = ...,
    discretise: str | None = ...,
    bins: int | None = ...,
    strict: bool = ...,
    decimal: str | None = ...,
    return_info: Literal[True],
    **opening: Unpack[ReadParameters],
) -> tuple[IncompleteDataset, TableInfo]: ...


def read_incomplete(
    source: Any,
    *,
    states: DeclaredStates | None = None,
    drop: Iterable[str] = (),
    names: Sequence[str] | None = None,
    types: Mapping[str, Any] | None = None,
    discretise: str | None = None,
    bins: int | None = None,
    strict: bool = False,
    decimal: str | None = None,
    return_info: bool = False,
    **opening: Unpack[ReadParameters],
) -> IncompleteDataset | tuple[IncompleteDataset, TableInfo]:
    """Read a table as `read_data` does, and keep its missing values.

    The cut points of a column depend only on its observed values.

    Parameters
    ----------
    source : path, data frame, PyArrow table, array, Dataset or IncompleteDataset
        As for `read_data`.
    missing_labels, keep_labels, merge : optional
        As for `read_data`. The labels of missing values are by default the empty text, ``NA``,
        ``N/A``, ``n/a``, ``#N/A``, ``<NA>``, ``NaN``, ``nan``, ``null``, ``NULL``, ``#NULL!`` and
        other errors of spreadsheets, ``?`` and ``.``; in a column of numbers also dashes, a few
        cells of other text, and numbers like -999 that are far from the others. A null of a data
        frame is always missing. A declared state is never missing.
    states, drop, names, types, discretise, bins, strict, decimal : optional
        As for `read_data`.
    encoding, delimiter, comment, header, skiprows, skipfooter, units_row, bad_rows : optional
        As for `read_data`.
    keep_empty_rows, rename, value_labels, sheet, query, connection : optional
        As for `read_data`.
    duplicates, totals, weights, cluster_by : optional
        As for `read_data`.
    return_info : bool, default: False
        Return also what is known about the table.

    Returns
    -------
    table : IncompleteDataset
        The observations, with their missing values.
    info : TableInfo
        As for `read_data`. Only with ``return_info=True``.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.array([["no", "dry"], ["yes", "?"], ["no", "wet"]])
    >>> table, info = read_incomplete(rows, names=["rain", "grass"], return_info=True)
    >>> table.missing_counts
    {'grass': 1, 'rain': 0}
    >>> info.columns[1].states
    ('dry', 'wet')
    """
    options = ReadOptions.from_parameters(states, drop, types, discretise, bins).use_source(
        "read_incomplete", **opening
    )
    lenient = options.use_decimal(decimal).allow_missing()
    table, info = read_table(source, lenient, names, strict)
    if isinstance(source, IncompleteDataset):
        table = source
    elif isinstance(table, Dataset):
        rows = table.expand()
        table = IncompleteDataset(rows, np.zeros(rows.codes.shape, dtype=np.bool_))
    if return_info:
        return table, info
    _warn_of_decisions(info)
    return table


def read_table(
    source: Any, options: ReadOptions, names: Sequence[str] | None = None, strict: bool = False
) -> tuple[Rows, TableInfo]:
    """Read a table; return an `IncompleteDataset` if a value is missing, else a `Dataset`.

    The decisions are in the info; no warning is issued for them.
    """
    if isinstance(source, IncompleteDataset):
        info = _describe_dataset(source.dataset, options, names)
        return (source if source.n_missing else source.dataset), info
    if isinstance(source, Dataset):
        return source, _describe_dataset(source, options, names)
    columns, info, clusters = _read_columns(source, options, names, strict)
    return assemble_rows(columns, clusters), info


def as_rows(table: Any, only: Iterable[str] | None = None) -> Rows:
    """Return a Dataset unchanged, and read any other table as `learn` does by default.

    Numbers are cut into bins, and missing values are kept. Each decision about the table is a
    warning. `only` names the columns to read.

    >>> import numpy as np
    >>> as_rows(read_data(np.array([["a", "b"], ["b", "a"]]), names=["x", "y"]))
    <Dataset: 2 rows, 2 variables>
    """
    if isinstance(table, Dataset | IncompleteDataset):
        return table
    options = ReadOptions.from_parameters(discretise="mdl", only=only).allow_missing()
    rows, info = read_table(table, options)
    _warn_of_decisions(info)
    return rows


def as_dataset(table: Any, only: Iterable[str] | None = None) -> Dataset:
    """Return the rows of any table as `as_rows` does; raise `DataError` if a value is missing."""
    rows = as_rows(table, only)
    if isinstance(rows, Dataset):
        return rows
    if rows.n_missing:
        columns = [f"{name!r} ({n:,})" for name, n in rows.missing_counts.items() if n]
        raise DataError(
            f"The table has missing values: {format_list(columns)}. Drop or impute them, or use "
            "learn, which imputes them."
        )
    return rows.dataset


def assemble_rows(columns: Sequence[Column], clusters: Clusters | None = None) -> Rows:
    """Return the rows of columns of states: incomplete if a value is missing."""
    is_complete = all(column.missing is None for column in columns)
    dataset = assemble_dataset(columns, is_complete, clusters)
    if is_complete:
        return dataset
    missing = np.zeros(dataset.codes.shape, dtype=np.bool_)
    for column in columns:
        if column.missing is not None:
            missing[dataset.find_position(column.name)] = column.missing
    return IncompleteDataset(dataset, missing)


def _read_columns(
    source: Any, options: ReadOptions, names: Sequence[str] | None, strict: bool
) -> tuple[list[Column], TableInfo, Clusters | None]:
    """Return the columns of states of a table, what was decided about it, and its clusters."""
    raw = load_table(source, replace(options, is_lenient=True), names)
    raw = prepare_rows(raw, options)
    prepared = prepare_columns(raw.columns, options)
    decisions = (*raw.decisions, *prepared.notes.decisions)
    if strict:
        check_strict(decisions)
    inferred, info = infer_prepared(prepared)
    return inferred, complete_info(info, raw, decisions), raw.clusters


def complete_info(info: TableInfo, raw: RawTable, decisions: Sequence[Decision]) -> TableInfo:
    """Return what is known about a table, with what its rows say."""
    columns = (*info.columns, *raw.left_out)
    findings = (*raw.findings, *info.findings)
    return TableInfo(columns, tuple(decisions), findings, raw.cluster_by)


def infer_prepared(prepared: PreparedTable) -> tuple[list[Column], TableInfo]:
    """Return the columns of a prepared table as states, and what is known about the table."""
    notes = prepared.notes
    inferred, infos = infer_columns(prepared.columns, prepared.options)
    kept = [prepared.complete_info(info) for info in infos if info.type != "ignore"]
    ignored = [ColumnInfo(name, "ignore") for name in set(notes.options.ignored)]
    others = sorted([*ignored, *notes.left_out], key=lambda info: info.name)
    findings = tuple(notes.findings)
    return inferred, TableInfo((*kept, *others), tuple(notes.decisions), findings)


def _warn_of_decisions(info: TableInfo) -> None:
    for decision in info.decisions:
        warn_caller(str(decision))


def _describe_dataset(
    dataset: Dataset, options: ReadOptions, names: Sequence[str] | None
) -> TableInfo:
    """Return the info of a dataset. Raise an error if there are options to apply."""
    plain = replace(options, keeps_missing=False)
    if plain != ReadOptions.from_parameters() or names is not None:
        raise ParameterError(
            "'states', 'drop', 'names', 'types', 'discretise', 'bins', 'only', 'missing_labels', "
            "'keep_labels', 'merge' and the options of files of read_data do not apply to a "
            "Dataset. Use them when you read the table that it comes from."
        )
    return TableInfo(
        tuple(
            ColumnInfo(variable.name, "categorical", variable.states, "declared states")
            for variable in dataset.source_variables
        )
    )
