"""Read a table for an inspection, and collect every problem of its columns instead of the first.

`read_data` stops at the first column that it cannot read. An inspection leaves such a column out,
keeps the message as a finding, and reads the other columns.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from coevo.data import ColumnInfo, Dataset, Finding, IncompleteDataset, ReadOptions, read_incomplete
from coevo.data.columns import Column, assemble_dataset, make_variable, mask_missing
from coevo.data.decisions import TableInfo
from coevo.data.infer_columns import infer_columns
from coevo.data.load import load_table
from coevo.errors import CoevoWarning, DataError
from coevo.learning import LearnSettings

__all__ = ["InspectedTable", "read_for_inspection"]

UNREADABLE = "unreadable"


@dataclass(frozen=True)
class InspectedTable:
    """A table as `learn` would read it, and the columns of its source.

    `rows` is None if fewer than two columns can be read. `columns` are the columns of the source,
    before numbers are cut into bins; a column that the caller leaves out has none.
    """

    rows: IncompleteDataset | None
    info: TableInfo
    columns: dict[str, Column]
    findings: tuple[Finding, ...] = ()


def read_for_inspection(source: Any, settings: LearnSettings) -> InspectedTable:
    """Read a table with the settings of `learn`; missing values are kept."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CoevoWarning)  # the audit reports the same
        if isinstance(source, Dataset | IncompleteDataset):
            return _describe_rows(source, settings)
        return _read(source, settings)


def _describe_rows(source: Dataset | IncompleteDataset, settings: LearnSettings) -> InspectedTable:
    """Return the columns of a dataset that exists already."""
    binning = settings.binning if settings.has_binning else {}
    options: dict[str, Any] = {"states": settings.states, "drop": settings.drop, **binning}
    rows, infos = read_incomplete(source, names=settings.names, **options, return_info=True)
    columns = {}
    for variable in rows.dataset.source_variables:
        i = rows.dataset.find_position(variable.name)
        states = rows.dataset.variables[i].states
        codes, missing = rows.dataset.codes[i], rows.missing[i]
        columns[variable.name] = Column(variable.name, states, codes, states, missing=missing)
    return InspectedTable(rows, TableInfo(infos), columns)


def _read(source: Any, settings: LearnSettings) -> InspectedTable:
    """Read a table; leave out the columns that cannot be read."""
    strict = ReadOptions.from_parameters(settings.states, settings.drop, **settings.binning)
    options = strict.allow_missing(settings.missing_labels)
    raw = load_table(source, options, settings.names)
    columns: dict[str, Column] = {}
    problems: dict[str, Finding] = {}
    for column in raw.columns:
        try:
            (columns[column.name],) = mask_missing([column], options.missing_labels)
        except DataError as error:
            columns[column.name] = _make_empty(column)
            problems[column.name] = _make_finding(column.name, error)
    readable = [column for name, column in columns.items() if name not in problems]
    try:
        rows, infos = _assemble(readable, options)
    except DataError:
        problems |= _find_problems(readable, options)
        readable = [column for name, column in columns.items() if name not in problems]
        rows, infos = _assemble(readable, options)
    left_out = tuple(ColumnInfo(name, "ignore") for name in problems)
    info = TableInfo(_sort_infos((*infos, *left_out), columns), tuple(raw.decisions))
    findings = tuple(problems[name] for name in sorted(problems))
    if rows is None:
        findings += (_make_too_few_finding(readable),)
    return InspectedTable(rows, info, columns, findings)


def _assemble(
    columns: Sequence[Column], options: ReadOptions
) -> tuple[IncompleteDataset | None, tuple[ColumnInfo, ...]]:
    """Return the rows of masked columns, and their infos. One column makes no rows."""
    inferred, infos = infer_columns(columns, options)
    if len(inferred) < 2:
        for column in inferred:
            make_variable(column)  # raises if it cannot be a variable
        return None, infos
    dataset = assemble_dataset(inferred, deduplicate=False)
    missing = np.zeros(dataset.codes.shape, dtype=np.bool_)
    for column in inferred:
        if column.missing is not None:
            missing[dataset.find_position(column.name)] = column.missing
    return IncompleteDataset(dataset, missing), infos


def _find_problems(columns: Sequence[Column], options: ReadOptions) -> dict[str, Finding]:
    """Return the problem of each column that cannot be read alone."""
    # Quantiles instead of MDL: each column has the same problem, and is read sooner.
    quick = options
    if options.binning is not None:
        quick = replace(options, binning=replace(options.binning, method="quantile"))
    found = {}
    for column in columns:
        try:
            _assemble([column], quick)
        except DataError as error:
            found[column.name] = _make_finding(column.name, error)
    return found


def _make_finding(name: str, error: DataError) -> Finding:
    return Finding(UNREADABLE, (name,), str(error))


def _make_too_few_finding(readable: Sequence[Column]) -> Finding:
    left = f"one column that can be read, {readable[0].name!r}" if readable else "no such column"
    return Finding(
        "too_few_columns",
        tuple(column.name for column in readable),
        f"The table has {left}. A network needs at least two.",
    )


def _make_empty(column: Column) -> Column:
    """Return a column without any value."""
    n = len(column.codes)
    return Column(column.name, [], np.zeros(n, np.uint8), missing=np.ones(n, dtype=np.bool_))


def _sort_infos(infos: Sequence[ColumnInfo], columns: dict[str, Column]) -> tuple[ColumnInfo, ...]:
    """Return the infos in the order of the source; columns that were not read come last."""
    place = {name: i for i, name in enumerate(columns)}
    return tuple(sorted(infos, key=lambda info: place.get(info.name, len(place))))
