"""A table as the Data view shows it: preview, columns, decisions, findings, histograms.

The table is read as `inspect_table` reads it. `InspectedSource` keeps the columns of the source, so
that the rows of a bin can be counted again, while somebody drags a cut point, without a second
reading of the file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coevo.data import ColumnInfo, CutPoints, Decision, Finding
from coevo.data.bins import format_number
from coevo.data.columns import Column
from coevo.data.labels import NumberLabels
from coevo.data.read.header_names import NEW_NAME
from coevo.data.summary import summarise_column
from coevo.errors import DataError, ParameterError, suggest_match
from coevo.learning import check_settings
from coevo.studio.table_settings import TableSettings, parse_undo
from coevo.view.inspection.read import read_for_inspection
from coevo.view.inspection.result import (
    InspectedColumn,
    TableInspection,
    describe_inspected,
    find_dropped,
)

__all__ = ["InspectedSource", "count_bin_rows", "describe_table", "inspect_source"]

PREVIEW_ROWS = 12
MAX_CELL = 120  # characters of a cell in the preview


@dataclass(frozen=True, eq=False)
class InspectedSource:
    """An inspected table, its settings, and the columns of its source."""

    inspection: TableInspection
    settings: TableSettings
    columns: dict[str, Column]

    @property
    def variables(self) -> tuple[str, ...]:
        """The columns that become variables, in the order of the table."""
        return tuple(column.name for column in self.inspection.columns if column.is_variable)


def inspect_source(path: Path, settings: TableSettings) -> InspectedSource:
    """Read a table with the settings of a user, and describe it without learning."""
    options = settings.as_options()
    options.pop("missing", None)  # missing values are no error here, whatever the policy
    checked = check_settings("learn", missing="state", **options)
    found = read_for_inspection(path, checked)
    inspection = describe_inspected(found, path.name)
    return InspectedSource(inspection, settings, found.columns)


def describe_table(source: InspectedSource) -> dict[str, Any]:
    """Return the record of a table for the browser."""
    inspection = source.inspection
    return {
        "n_rows": inspection.n_rows,
        "n_columns": inspection.n_columns,
        "n_missing": inspection.n_missing,
        "missing_share": inspection.missing_share,
        "data_hash": inspection.data_hash,
        "kinds": inspection.count_kinds(),
        "variables": list(source.variables),
        "preview": _preview_rows(source),
        "columns": [_describe_column(column, source.settings) for column in inspection.columns],
        "decisions": [_describe_decision(one) for one in inspection.decisions],
        "findings": [_describe_finding(one) for one in inspection.findings],
        "settings": source.settings.as_dict(),
    }


def _preview_rows(source: InspectedSource) -> dict[str, Any]:
    """Return the first rows of the source; a missing value is None."""
    names = [column.name for column in source.inspection.columns if column.name in source.columns]
    n_rows = min(PREVIEW_ROWS, source.inspection.n_rows)
    cells = [_list_cells(source.columns[name], n_rows) for name in names]
    return {"names": names, "rows": [list(row) for row in zip(*cells, strict=True)]}


def _list_cells(column: Column, n_rows: int) -> list[str | None]:
    found: list[str | None] = []
    for row in range(n_rows):
        is_missing = column.missing is not None and bool(column.missing[row])
        text = None if is_missing else column.labels[int(column.codes[row])]
        if text is not None and isinstance(column.labels, NumberLabels):
            text = format_number(float(text))  # 47, not 47.0
        found.append(text if text is None or len(text) <= MAX_CELL else f"{text[:MAX_CELL]}…")
    return found


def _describe_column(column: InspectedColumn, settings: TableSettings) -> dict[str, Any]:
    info, summary = column.info, column.summary
    return {
        "name": column.name,
        "kind": column.kind,
        "info": info.as_dict(),
        "is_variable": column.is_variable,
        "is_changed": column.name in {*settings.types, *settings.options.get("drop", ())},
        "summary": None if summary is None else summary.as_dict(),
    }


def _describe_decision(decision: Decision) -> dict[str, Any]:
    """Return a decision, whether it can be undone, and the columns that then need a name."""
    undo = parse_undo(decision)
    rename = {} if undo is None else undo.get("rename", {})
    return {
        **decision.as_dict(),
        "can_undo": undo is not None,
        "needs_names": [old for old, new in rename.items() if new.startswith(NEW_NAME)],
    }


def _describe_finding(finding: Finding) -> dict[str, Any]:
    """Return a finding, and the column that its recommendation leaves out."""
    return {**finding.as_dict(), "drop": find_dropped(finding)}


def count_bin_rows(source: InspectedSource, name: str, cuts: Sequence[Any]) -> dict[str, Any]:
    """Return the number of rows in each bin that cut points would make.

    The cut points may be any numbers; they are sorted first.
    """
    column = source.columns.get(name)
    if column is None:
        near = suggest_match(name, source.columns)
        raise DataError(f"The table has no column {name!r}.{near}")
    try:
        points = CutPoints(tuple(sorted({float(cut) for cut in cuts})))
    except (TypeError, ValueError):
        raise ParameterError(f"Cut points must be numbers; got {list(cuts)!r}.") from None
    info = ColumnInfo(name, "continuous", points.states, cuts=points)
    summary = summarise_column(column, info)
    if summary.numbers is None:
        raise DataError(f"Column {name!r} does not hold numbers, so it cannot be cut into bins.")
    return {
        "column": name,
        "cuts": list(points.points),
        "bins": [{"state": one.state, "count": one.count} for one in summary.numbers.bins],
    }
