"""Rows that are no observations: notes below a table, totals and subtotals.

A reader of text tables skips lines that do not have the fields of a row. Spreadsheets and data
frames have all fields in every row, so their notes are rows with one cell. A total is a row with a
label like "Total" whose numbers are the sums, or the means, of the rows above it, or which has
hardly any other values. A label alone is no evidence: "Total" can be a state.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from coevo.data.columns import Column
from coevo.data.decisions import Decision, RawTable
from coevo.data.number_labels import NumberLabels, find_decimal, parse_numbers
from coevo.data.read_options import ReadPlan
from coevo.errors import format_count

__all__ = ["leave_out_footers", "leave_out_totals"]

MIN_COLUMNS = 3  # a row with one cell of two is an observation
MAX_FOOTERS = 20
MAX_SHARE = 0.34  # of rows that are totals: one after two rows
MIN_EMPTY = 0.5  # share of the other cells of a total that has no sums
TOLERANCE = 1e-3  # of a rounded sum

_WORD = re.compile(r"total|sum|gesamt|mean|average|mittelwert|durchschnitt", re.IGNORECASE)
_TOTAL = re.compile(
    r"(?:.{1,60}[\s:_-])?(?:(?:grand|over-?all)[\s_-]*)?(?:sub[\s_-]?)?(?:totals?|sums?|summe"
    r"|gesamt(?:summe)?|zwischensumme|insgesamt|totale|total g[eé]n[eé]ral|sous-total|suma|means?"
    r"|averages?|mittelwert|durchschnitt)(?:[\s:_(-].{0,60})?",
    re.IGNORECASE,
)


def leave_out_footers(raw: RawTable, options: ReadPlan) -> RawTable:
    """Leave out the rows at the end of a table that hold at most one text, and nothing else."""
    is_asked = options.opening.skipfooter is not None or options.opening.keep_empty_rows
    columns = [column for column in raw.columns if not column.overflow]
    if is_asked or options.only is not None or len(columns) < max(MIN_COLUMNS, len(raw.columns)):
        return raw
    n_rows = len(columns[0].codes)
    last = np.arange(max(1, n_rows - MAX_FOOTERS), n_rows)
    filled = np.stack([~_find_missing(column, last, options) for column in columns])
    n_notes = 0
    for place in range(len(last) - 1, -1, -1):
        cells = [columns[i] for i in np.flatnonzero(filled[:, place]).tolist()]
        if len(cells) > 1 or (cells and not _is_text(cells[0], int(last[place]))):
            break
        n_notes = len(last) - place
    notes = [i for i in range(len(last) - n_notes, len(last)) if filled[:, i].any()]
    if not notes:
        return raw
    row = int(last[notes[0]])
    column = columns[int(np.argmax(filled[:, notes[0]]))]
    text = str(column.labels[int(column.codes[row])]).strip()
    shown = text if len(text) <= 40 else text[:40] + "..."
    were, first = ("was", "row") if len(notes) == 1 else ("were", "the first is row")
    sentence = (
        f"{format_count(len(notes), 'row')} below the table {were} skipped "
        f"({first} {row + 1:,}: {shown!r})."
    )
    decision = Decision("footers", (), sentence, "skipfooter=0, or --skipfooter 0")
    return _take(raw, np.arange(n_rows - n_notes), decision)


def leave_out_totals(raw: RawTable, options: ReadPlan) -> RawTable:
    """Leave out the rows of totals."""
    if options.rows.totals == "keep" or (options.only is not None and options.rows.totals is None):
        return raw
    columns = [column for column in raw.columns if not column.overflow]
    labelled: dict[int, Column] = {}
    for column in columns:
        for row in _find_labelled(column):
            labelled.setdefault(row, column)
    if not labelled or len(labelled) > MAX_SHARE * len(columns[0].codes):
        return raw
    rows = sorted(labelled)
    if options.rows.totals is None:
        parsed = (_read_numbers(column, rows) for column in columns)
        numbers = [values for values in parsed if values is not None]
        found = [
            row
            for row in rows
            if _has_sums(row, rows, numbers) or _is_empty(row, labelled[row], columns, options)
        ]
        if 2 * len(found) < len(rows):
            return raw
        rows = found
    kept = np.setdiff1d(np.arange(len(columns[0].codes)), rows)
    if not len(kept):
        return raw
    if options.rows.totals is not None:
        return _take(raw, kept, None)
    column = labelled[rows[0]]
    label = str(column.labels[int(column.codes[rows[0]])]).strip()
    noun = "row holds totals and is" if len(rows) == 1 else "rows hold totals and are"
    first = "row" if len(rows) == 1 else "the first is row"
    sentence = f"{len(rows):,} {noun} left out ({first} {rows[0] + 1:,}: {label!r})."
    decision = Decision("totals", (column.name,), sentence, "totals='keep', or --totals keep")
    return _take(raw, kept, decision)


def _take(raw: RawTable, rows: NDArray[np.intp], decision: Decision | None) -> RawTable:
    """Return some rows of a table; labels that no longer occur are forgotten."""
    table = raw.take(rows)
    decisions = raw.decisions if decision is None else [*raw.decisions, decision]
    columns = [_forget_labels(column) for column in table.columns]
    return replace(table, columns=columns, decisions=decisions, findings=raw.findings)


def _forget_labels(column: Column) -> Column:
    """Return a column without the labels that do not occur; the others may all be numbers."""
    if column.overflow or isinstance(column.labels, NumberLabels) or column.counts.all():
        return column
    kept = np.flatnonzero(column.counts)
    recode = np.zeros(len(column.labels), dtype=np.int64)
    recode[kept] = np.arange(len(kept))
    labels = [column.labels[code] for code in kept.tolist()]
    decimal = column.decimal if column.declared is not None else find_decimal(labels)
    return replace(column, labels=labels, codes=recode[column.codes], decimal=decimal)


def _find_missing(column: Column, rows: NDArray[np.intp], options: ReadPlan) -> NDArray[np.bool_]:
    """Return which of these rows have no value in a column."""
    missing = np.isin(column.codes[rows], options.find_missing(column))
    return missing if column.missing is None else missing | column.missing[rows]


def _is_text(column: Column, row: int) -> bool:
    """Return whether a cell holds text that no other row has."""
    code = int(column.codes[row])
    return column.counts[code] == 1 and parse_numbers([column.labels[code]]) is None


def _find_labelled(column: Column) -> list[int]:
    """Return the rows whose cell in a column reads like the label of a total."""
    if isinstance(column.labels, NumberLabels) or column.declared is not None:
        return []
    codes = [
        code
        for code in np.flatnonzero(column.counts).tolist()
        if _WORD.search(column.labels[code] or "")  # most labels do not need the slow pattern
        and _TOTAL.fullmatch((column.labels[code] or "").strip())
    ]
    found = np.isin(column.codes, codes) if codes else np.zeros(0, dtype=np.bool_)
    if codes and column.missing is not None:
        found &= ~column.missing
    return np.flatnonzero(found).tolist()


def _read_numbers(column: Column, labelled: Sequence[int]) -> NDArray[np.float64] | None:
    """Return the number of each row, NaN if it has none; None if a column holds text."""
    text = set(column.codes[list(labelled)].tolist())
    numbers = np.full(len(column.labels), np.nan)
    if isinstance(column.labels, NumberLabels):
        numbers = column.labels.numbers.astype(np.float64)
    else:
        for code in np.flatnonzero(column.counts).tolist():
            parsed = parse_numbers([column.labels[code]])
            if parsed is None and code not in text:
                return None
            numbers[code] = np.nan if parsed is None else parsed[0]
    found: NDArray[np.float64] = numbers[column.codes]
    if column.missing is not None:
        found[column.missing] = np.nan
    return found


def _has_sums(row: int, totals: Sequence[int], columns: Sequence[NDArray[np.float64]]) -> bool:
    """Return whether a number of a row is the sum or the mean of rows above it."""
    if not columns:
        return False
    is_part = np.ones(len(columns[0]), dtype=np.bool_)
    is_part[list(totals)] = False
    before = [other for other in totals if other < row]
    starts = {0, max(before) + 1} if before else {0}
    for numbers in columns:
        value = numbers[row]
        for start in starts:
            part = numbers[start:row][is_part[start:row]]
            part = part[np.isfinite(part)]
            if not np.isfinite(value) or np.count_nonzero(part) < 2 or len(np.unique(part)) < 2:
                continue
            for expected in (part.sum(), part.mean()):
                if abs(value - expected) <= TOLERANCE * abs(expected):
                    return True
    return False


def _is_empty(row: int, label: Column, columns: Sequence[Column], options: ReadPlan) -> bool:
    """Return whether a row has hardly any values beside its label, unlike the other rows."""
    others = [column for column in columns if column is not label]
    place = np.array([row], dtype=np.intp)
    usual = [column for column in others if 2 * column.n_observed >= len(column.codes)]
    empty = [bool(_find_missing(column, place, options)[0]) for column in usual]
    return len(empty) >= MIN_COLUMNS - 1 and sum(empty) >= MIN_EMPTY * len(empty)
