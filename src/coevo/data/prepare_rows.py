"""Prepare the rows of a table, before its columns: totals, weights, copies and clusters.

`prepare_rows` stands between the readers and `coevo.data.prepare_columns`. It leaves out rows that
are no observations, repeats the rows of a frequency table, and takes the clusters of rows. It
records a `Decision` for everything that it does without being asked. In this order it

1. leaves out notes below the table, and rows of totals,
2. repeats each row as often as a column of counts says,
3. leaves out copies of rows,
4. takes the column that says which rows belong together.

Predictions keep every row as it is, so they do not call it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from coevo.data.clusters import find_group_column, read_clusters
from coevo.data.column_types import ColumnInfo
from coevo.data.columns import Column, check_rows
from coevo.data.decisions import RawTable
from coevo.data.read_options import ReadPlan
from coevo.data.repeated_rows import count_rows, find_repeated_rows
from coevo.data.row_weights import find_weights, repeat_rows
from coevo.data.totals import leave_out_footers, leave_out_totals

__all__ = ["prepare_rows"]


def prepare_rows(raw: RawTable, options: ReadPlan) -> RawTable:
    """Return a table whose rows are observations. A table that is prepared stays as it is."""
    check_rows(raw.columns)
    if raw.has_rows:
        return raw
    table = leave_out_totals(leave_out_footers(raw, options), options)
    table, is_weighted = _use_weights(table, options)
    if not is_weighted:  # equal rows of a frequency table are what it counts
        table = _leave_out_copies(table, options)
    return replace(_take_clusters(table, options), has_rows=True)


def _use_weights(raw: RawTable, options: ReadPlan) -> tuple[RawTable, bool]:
    """Repeat the rows of a frequency table; return also whether it is one."""
    name, decision = options.rows.weights, None
    if name is None and options.only is None:
        decision = find_weights(raw.columns, _list_free(raw, options))
        name = None if decision is None else decision.columns[0]
    column = next((column for column in raw.columns if column.name == name), None)
    if column is None:
        return raw, False
    rows = repeat_rows(column, len(raw.columns))
    decisions = raw.decisions if decision is None else [*raw.decisions, decision]
    reason = f"{column.name!r} counts how often each row occurs; it is no variable."
    others = _leave_out_column(raw, column, reason).take(rows)
    return replace(others, decisions=decisions, findings=raw.findings), True


def _leave_out_copies(raw: RawTable, options: ReadPlan) -> RawTable:
    """Leave out rows that are copies, or all that are equal if the caller wants it."""
    columns = [column for column in raw.columns if not column.overflow]
    choice = options.rows.duplicates
    if choice == "drop" and columns:
        rows = np.sort(count_rows(columns).first)
        return replace(raw.take(rows), decisions=raw.decisions, findings=raw.findings)
    # Rows that agree in some of their columns only are no copies.
    is_partial = options.only is not None or len(columns) < len(raw.columns)
    found = None if choice == "keep" or is_partial else find_repeated_rows(columns)
    if found is None:
        return raw
    decision, rows = found
    decisions = [*raw.decisions, decision]
    return replace(raw.take(rows), decisions=decisions, findings=raw.findings)


def _take_clusters(raw: RawTable, options: ReadPlan) -> RawTable:
    """Take the clusters out of the columns, or propose a column of clusters."""
    name = options.rows.cluster_by
    if name is None:
        finding = None
        if options.only is None:
            finding = find_group_column(raw.columns, _list_free(raw, options))
        return raw if finding is None else replace(raw, findings=[*raw.findings, finding])
    column = next(column for column in raw.columns if column.name == name)
    clusters = read_clusters(column, options.find_missing(column))
    reason = f"{name!r} says which rows belong together; it is no variable."
    return replace(_leave_out_column(raw, column, reason), clusters=clusters, cluster_by=name)


def _leave_out_column(raw: RawTable, column: Column, reason: str) -> RawTable:
    """Return a table without a column that says something about its rows."""
    columns = [other for other in raw.columns if other is not column]
    info = ColumnInfo(column.name, "ignore", reason=reason)
    return replace(raw, columns=columns, left_out=(*raw.left_out, info))


def _list_free(raw: RawTable, options: ReadPlan) -> Sequence[Column]:
    """Return the columns about which the caller has said nothing."""
    asked = options.types.keys() | options.states.keys()
    return [one for one in raw.columns if one.declared is None and one.name not in asked]
