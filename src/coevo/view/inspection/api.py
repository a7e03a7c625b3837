"""`inspect_table`: read a table as `learn` does, and describe it without learning."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Unpack

from coevo.data import audit
from coevo.data.column_summary import summarise_column
from coevo.data.decisions import check_strict
from coevo.learning import check_settings
from coevo.learning.settings import DEFAULT_POLICY, decide_missing
from coevo.options import TableOptions
from coevo.signatures import accept_options
from coevo.view.inspection.read import InspectedTable, read_for_inspection
from coevo.view.inspection.result import InspectedColumn, TableInspection

__all__ = ["describe_inspected", "inspect_table"]


@accept_options(TableOptions)
def inspect_table(table: Any, **options: Unpack[TableOptions]) -> TableInspection:
    """Look at a table before learning: its columns, their outcome, and all problems.

    The table is read as `learn` reads it, with its missing values. A column that `learn` rejects
    is left out, and a finding says why, so one inspection shows the problems of all columns.

    Parameters
    ----------
    table : path, data frame, PyArrow table, array, Dataset or IncompleteDataset
        As for `learn`.
    **options
        How the table is read, as for `learn`.

    Returns
    -------
    TableInspection
        Columns with summaries, decisions and findings. `TableInspection.write_types` writes a
        file of column types to edit, `TableInspection.save_page` writes a page.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.array([["no", "1.5"], ["yes", "2.5"], ["no", "7.0"], ["yes", "?"]])
    >>> found = inspect_table(rows, names=["rain", "mm"], bins=2)
    >>> found
    <TableInspection: 4 rows, 2 columns, 4 findings>
    >>> found.types()
    {'rain': 'categorical', 'mm': {'type': 'continuous', 'cuts': [2.0]}}
    >>> found.by_name["mm"].summary.numbers.median
    2.5
    """
    settings = check_settings(
        "inspect_table",
        missing="state",  # any policy: missing values are no error here
        **options,
    )
    found = read_for_inspection(table, settings)
    if settings.strict:
        check_strict(found.info.decisions)
    return describe_inspected(found, _name_source(table), is_strict=settings.strict)


def describe_inspected(
    found: InspectedTable, source: str, is_strict: bool = False
) -> TableInspection:
    """Audit and summarise a table that was read; `source` is its name.

    Unless the reading `is_strict`, the decisions are all that `learn` makes, also about missing
    values.
    """
    findings, decisions = found.findings, found.info.decisions
    if found.rows is not None:
        rows = found.rows if found.rows.n_missing else found.rows.dataset
        findings += audit(rows, found.info.columns, findings)
        if found.rows.n_missing and not is_strict:
            decisions += (decide_missing(found.rows, DEFAULT_POLICY),)
    return TableInspection(
        source=source,
        n_rows=_count_rows(found),
        columns=_summarise_columns(found),
        decisions=decisions,
        findings=findings,
        data_hash=_hash_rows(found),
    )


def _name_source(table: Any) -> str:
    if isinstance(table, str | os.PathLike):
        return Path(table).name
    return type(table).__name__


def _count_rows(found: InspectedTable) -> int:
    return next((len(column.codes) for column in found.columns.values()), 0)


def _hash_rows(found: InspectedTable) -> str | None:
    """Return the content hash of the rows that `learn` would read."""
    if found.rows is None:
        return None
    return found.rows.content_hash if found.rows.n_missing else found.rows.dataset.content_hash


def _summarise_columns(found: InspectedTable) -> tuple[InspectedColumn, ...]:
    """Return the columns with their summaries; a column that was not read has none."""
    inspected = []
    for info in found.info.columns:
        column = found.columns.get(info.name)
        summary = None if column is None else summarise_column(column, info)
        inspected.append(InspectedColumn(info, summary))
    return tuple(inspected)
