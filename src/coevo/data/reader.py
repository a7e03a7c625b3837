"""Read a table of any supported kind into a `Dataset`.

`read_data` accepts CSV and Parquet files, data frames, Arrow tables and NumPy arrays.
`read_incomplete` accepts the same sources and keeps their missing values. `coevo.data.read.sources`
opens the source; this module makes a dataset of its columns.
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
from coevo.data.prepare.columns import PreparedTable, prepare_columns
from coevo.data.prepare.drafts import infer_columns
from coevo.data.prepare.rows import prepare_rows
from coevo.data.read.sources import load_table
from coevo.data.read_options import ReadPlan
from coevo.data.variable import Variable
from coevo.errors import DataError, ParameterError, bad_parameter, format_list, warn_caller
from coevo.options import TableOptions
from coevo.signatures import accept_options

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
    deduplicate: bool = ...,
    only: Iterable[str] | None = ...,
    return_info: Literal[False] = ...,
    **options: Unpack[TableOptions],
) -> Dataset: ...


@overload
def read_data(
    source: Any,
    *,
    deduplicate: bool = ...,
    only: Iterable[str] | None = ...,
    return_info: Literal[True],
    **options: Unpack[TableOptions],
) -> tuple[Dataset, TableInfo]: ...


@accept_options(TableOptions)
def read_data(
    source: Any,
    *,
    deduplicate: bool = True,
    only: Iterable[str] | None = None,
    return_info: bool = False,
    **options: Unpack[TableOptions],
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
    deduplicate : bool, default: True
        Store equal rows once, with a weight, if that makes counting faster. With False each row
        keeps its position; use it if you need one answer per row.
    only : iterable of str, optional
        Columns to read, if the table has them. The values of the other columns are not checked.
        One column is enough.
    return_info : bool, default: False
        Return also what is known about the table. No warning is then issued for decisions.
    **options
        How the table is opened and read, column by column.

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
    Discrete(name='rain', states=('no', 'yes'))
    >>> measured = np.array([[0.2, 7], [1.4, 8], [3.1, 8], [9.9, 7]])
    >>> binned = read_data(measured, names=["mm", "day"], discretise="quantile", bins=2)
    >>> binned.source_variables[0]
    Discrete(name='mm', states=('below_2', 'from_2'))
    >>> _, info = read_data(
    ...     measured, names=["mm", "day"], types={"mm": [1, 3]}, bins=2, return_info=True
    ... )
    >>> [(column.name, column.type, column.holds) for column in info.columns]
    [('mm', 'continuous', 'decimal numbers'), ('day', 'categorical', 'whole numbers')]
    """
    if not is_bool(deduplicate):
        raise bad_parameter("deduplicate", "read_data", "a bool", deduplicate)
    chosen = ReadPlan.from_keywords("read_data", options, only)
    names, strict = options["names"], options["strict"]
    if isinstance(source, Dataset):
        dataset, info = source, _describe_dataset(source, chosen, names)
    else:
        columns, info, clusters = _read_columns(source, chosen, names, strict)
        dataset = assemble_dataset(columns, deduplicate, clusters)
    if return_info:
        return dataset, info
    _warn_of_decisions(info)
    return dataset


@overload
def read_incomplete(
    source: Any,
    *,
    return_info: Literal[False] = ...,
    **options: Unpack[TableOptions],
) -> IncompleteDataset: ...


@overload
def read_incomplete(
    source: Any,
    *,
    return_info: Literal[True],
    **options: Unpack[TableOptions],
) -> tuple[IncompleteDataset, TableInfo]: ...


@accept_options(TableOptions)
def read_incomplete(
    source: Any,
    *,
    return_info: bool = False,
    **options: Unpack[TableOptions],
) -> IncompleteDataset | tuple[IncompleteDataset, TableInfo]:
    """Read a table as `read_data` does, and keep its missing values.

    The cut points of a column depend only on its observed values.

    Parameters
    ----------
    source : path, data frame, PyArrow table, array, Dataset or IncompleteDataset
        As for `read_data`.
    return_info : bool, default: False
        Return also what is known about the table.
    **options
        How the table is opened and read, as for `read_data`.

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
    lenient = ReadPlan.from_keywords("read_incomplete", options).allow_missing()
    table, info = read_table(source, lenient, options["names"], options["strict"])
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
    source: Any, options: ReadPlan, names: Sequence[str] | None = None, strict: bool = False
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
    options = ReadPlan.from_parameters(discretise="mdl", only=only).allow_missing()
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
    source: Any, options: ReadPlan, names: Sequence[str] | None, strict: bool
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
    dataset: Dataset, options: ReadPlan, names: Sequence[str] | None
) -> TableInfo:
    """Return the info of a dataset. Raise an error if there are options to apply."""
    plain = replace(options, keeps_missing=False)
    if plain != ReadPlan.from_parameters() or names is not None:
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
