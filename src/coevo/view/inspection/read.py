"""Read a table for an inspection, and collect every problem of its columns instead of the first.

`read_data` stops at the first column that it cannot read. An inspection leaves such a column out,
keeps the message as a finding, and reads the other columns.

The types file of an inspection has one entry for each column, short enough to edit. `read_types`
reads it. Numbers have their cut points, so a later table gets the same bins. States are written
only if they are declared, because they may not occur in the rows.
"""

from __future__ import annotations

import csv
import io
import json
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from coevo.data import ColumnInfo, Dataset, Finding, IncompleteDataset, ReadPlan, read_incomplete
from coevo.data.bins import format_number
from coevo.data.column_types import NO_CUTS
from coevo.data.columns import Column, mask_codes
from coevo.data.decisions import TableInfo
from coevo.data.prepare.columns import prepare_columns
from coevo.data.prepare.rows import prepare_rows
from coevo.data.read.sources import load_table
from coevo.data.reader import assemble_rows, complete_info, infer_prepared
from coevo.errors import CoevoWarning, DataError, FileError, ParameterError
from coevo.learning import LearnSettings

__all__ = [
    "InspectedTable",
    "check_types_path",
    "format_types",
    "make_types",
    "read_for_inspection",
]


UNREADABLE = "unreadable"
MIN_COLUMNS = 2  # of a network


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
    rows, info = read_incomplete(source, names=settings.names, **options, return_info=True)
    columns = {}
    for variable in rows.dataset.source_variables:
        i = rows.dataset.find_position(variable.name)
        states = rows.dataset.variables[i].states
        codes, missing = rows.dataset.codes[i], rows.missing[i]
        columns[variable.name] = Column(variable.name, states, codes, states, missing=missing)
    return InspectedTable(rows, info, columns)


def _read(source: Any, settings: LearnSettings) -> InspectedTable:
    """Read a table; leave out the columns that cannot be read."""
    options = _make_options(settings)
    raw = prepare_rows(load_table(source, options, settings.names), options)
    problems: dict[str, Finding] = {}
    try:
        found = _prepare(raw.columns, options)
    except DataError:
        problems = _find_problems(raw.columns, options)
        readable = [column for column in raw.columns if column.name not in problems]
        found = _prepare(readable, options)
    columns = {
        column.name: found.columns.get(column.name) or _mask(column, options)
        for column in raw.columns
    }
    left_out = tuple(ColumnInfo(name, "ignore") for name in problems)
    info = complete_info(found.info, raw, (*raw.decisions, *found.info.decisions))
    return InspectedTable(
        found.rows,
        replace(info, columns=_sort_infos((*info.columns, *left_out), columns)),
        found.columns | columns,
        (*(problems[name] for name in sorted(problems)), *found.findings, *info.findings),
    )


def _make_options(settings: LearnSettings) -> ReadPlan:
    """Return the options of the reader. Missing values are kept, whatever the policy."""
    options = ReadPlan.from_parameters(settings.states, settings.drop, **settings.binning)
    lenient = options.use_decimal(settings.decimal).allow_missing()
    opened = lenient.use_source("inspect_table", **settings.opening, **settings.rows)
    return replace(opened, is_lenient=True)


def _prepare(columns: Sequence[Column], options: ReadPlan) -> InspectedTable:
    """Take the steps of `read_incomplete`, and keep the columns as they are before the bins.

    If too few columns are left for a network, there are no rows, and a finding says so.
    """
    prepared = prepare_columns(columns, options, min_columns=0)
    inferred, info = infer_prepared(prepared)
    by_name = {column.name: column for column in prepared.columns}
    if len(inferred) < MIN_COLUMNS:
        return InspectedTable(None, info, by_name, (_make_too_few_finding(inferred),))
    rows = assemble_rows(inferred)
    if isinstance(rows, Dataset):
        complete = rows.expand()
        rows = IncompleteDataset(complete, np.zeros(complete.codes.shape, dtype=np.bool_))
    return InspectedTable(rows, info, by_name)


def _mask(column: Column, options: ReadPlan) -> Column:
    """Return a column with a mask of its missing values; it may have no value at all."""
    return mask_codes(column, options.find_missing(column))


def _find_problems(columns: Sequence[Column], options: ReadPlan) -> dict[str, Finding]:
    """Return the problem of each column that cannot be read; raise if no column has one."""
    # Quantiles instead of MDL: each column has the same problem, and is read sooner.
    quick = options
    if options.binning is not None:
        quick = replace(options, binning=replace(options.binning, method="quantile"))
    found = {}
    for column in columns:
        try:
            _prepare([column, *_make_companions(column)], quick)
        except DataError as error:
            found[column.name] = Finding(UNREADABLE, (column.name,), str(error))
    if not found:  # the columns are too few, or do not fit together
        _prepare(columns, options)
    return found


_COMPANIONS = ("\0first", "\0second")  # no table has such names


def _make_companions(column: Column) -> list[Column]:
    """Return two columns without problems: a table of one column would be a problem itself."""
    halves = np.arange(len(column.codes)) % 2
    states = ("a", "b")
    return [Column(name, states, halves, states) for name in _COMPANIONS]


def _make_too_few_finding(readable: Sequence[Column]) -> Finding:
    left = f"one column that can be read, {readable[0].name!r}" if readable else "no such column"
    return Finding(
        "too_few_columns",
        tuple(column.name for column in readable),
        f"The table has {left}. A network needs at least two.",
    )


def _sort_infos(infos: Sequence[ColumnInfo], columns: dict[str, Column]) -> tuple[ColumnInfo, ...]:
    """Return the infos in the order of the source; columns that were not read come last."""
    place = {name: i for i, name in enumerate(columns)}
    return tuple(sorted(infos, key=lambda info: place.get(info.source or info.name, len(place))))


_NOTES = ("holds", "method", "reason")  # what `as_dict` adds for readers
_FORMATS = (".json", ".csv")


def make_types(infos: Iterable[ColumnInfo]) -> dict[str, Any]:
    """Return the type of each column, as `types` of `read_data` accepts it.

    >>> from coevo.data import CutPoints
    >>> age = ColumnInfo("age", "continuous", (), "whole numbers", CutPoints((18, 65)))
    >>> make_types([age, ColumnInfo("id", "ignore")])
    {'age': {'type': 'continuous', 'cuts': [18.0, 65.0]}, 'id': 'ignore'}
    """
    return {info.name: _make_type(info) for info in infos if not _is_implied(info)}


def _is_implied(info: ColumnInfo) -> bool:
    """Return whether the type of a column follows from the type of its column of dates."""
    return info.source is not None and info.type == "categorical"


def _make_type(info: ColumnInfo) -> Any:
    found = {key: value for key, value in info.as_dict().items() if key not in _NOTES}
    if info.holds == "declared states":
        found.pop("cuts", None)  # the states name the bins
        return found | {"type": "categorical", "states": list(info.states)}
    found.pop("states", None)
    return info.type if found == {"type": info.type} else found


def check_types_path(path: Path, force: bool = False) -> None:
    """Raise an error unless a types file of this name may be written."""
    if path.suffix.lower() not in _FORMATS:
        raise ParameterError(
            f"The types of columns are written as JSON or CSV; got {str(path)!r}. Give a name that "
            "ends with .json or .csv."
        )
    if path.exists() and not path.is_dir() and not force:
        raise FileError(
            f"{str(path)!r} exists already. Give another name, or replace it with force=True "
            "(--force)."
        )


def format_types(types: dict[str, Any], path: Path) -> str:
    """Return the text of a types file, in the format that the name of the file says."""
    return _format_csv(types, path) if path.suffix.lower() == ".csv" else _format_json(types)


def _format_json(types: dict[str, Any]) -> str:
    """Return an object with one line for each column."""
    lines = [
        f"  {json.dumps(name, ensure_ascii=False)}: {json.dumps(given, ensure_ascii=False)}"
        for name, given in types.items()
    ]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _format_csv(types: dict[str, Any], path: Path) -> str:
    """Return a table with one row for each column."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(["column", "type", "cuts"])
    for name, given in types.items():
        entry = given if isinstance(given, dict) else {"type": given}
        unknown = entry.keys() - {"type", "cuts"}
        if unknown:
            raise ParameterError(
                f"A CSV file cannot hold the {sorted(unknown)[0]} of column {name!r}. Write "
                f"the types to {str(path.with_suffix('.json'))!r} instead."
            )
        cuts = " ".join(map(format_number, entry.get("cuts", ()))) or NO_CUTS
        writer.writerow([name, entry["type"], cuts if "cuts" in entry else ""])
    return stream.getvalue()
