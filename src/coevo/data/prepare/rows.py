"""Prepare the rows of a table, before its columns: totals, weights, copies and clusters.

`prepare_rows` stands between the readers and `coevo.data.prepare.columns`. It leaves out rows that
are no observations, repeats the rows of a frequency table, and takes the clusters of rows. It
records a `Decision` for everything that it does without being asked. In this order it

1. leaves out notes below the table, and rows of totals,
2. repeats each row as often as a column of counts says,
3. leaves out copies of rows,
4. takes the column that says which rows belong together.

Predictions keep every row as it is, so they do not call it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from coevo.data.column_types import ColumnInfo, format_type_hint
from coevo.data.columns import IDENTIFIER_ABOVE, Column, check_rows
from coevo.data.dataset import Clusters
from coevo.data.decisions import Decision, RawTable
from coevo.data.labels import MISSING_LABELS, NumberLabels, find_decimal, parse_numbers
from coevo.data.prepare.drafts import MAX_INTEGER_STATES
from coevo.data.prepare.left_out import count_rows, find_repeated_rows
from coevo.data.read_options import ReadPlan
from coevo.data.table_audit import Finding
from coevo.data.variable import MAX_STATES
from coevo.errors import DataError, format_count
from coevo.runtime.memory import check_memory

__all__ = [
    "find_group_column",
    "find_weights",
    "leave_out_footers",
    "leave_out_totals",
    "prepare_rows",
    "read_clusters",
    "repeat_rows",
]


# Frequency tables: a column of counts says how often each row occurs.
#
# Such a table is read as the table of all its rows: each row is repeated as often as it counts. So
# everything that follows, from cut points to bootstrap samples, is the same as for that table.
#
# A column is used without being asked if its name says that it counts rows (``Freq``, ``count``,
# ``n``), if the other columns are categorical, and if no two rows agree in all of them. That is
# what R's ``as.data.frame(table(...))`` and SQL's ``GROUP BY`` return.


MAX_TOTAL = 20_000_000  # rows that are stored without being asked
BYTES_PER_CELL = 4  # a code, and copies of it
MIN_OTHERS = 2  # columns of a network

_COUNT_NAME = re.compile(
    r"(?:n|freqs?|frequenc(?:y|ies)|counts?|n_?(?:obs|rows|cases)|num_?(?:obs|rows|cases)"
    r"|row_?counts?|cell_?counts?|anzahl|häufigkeit|haeufigkeit|effectifs?|frecuencia|frequenza)\.?",
    re.IGNORECASE,
)


def find_weights(columns: Sequence[Column], free: Sequence[Column]) -> Decision | None:
    """Return the decision to use a column of counts as weights; None if there is no such column.

    `free` are the columns about which the caller has said nothing.
    """
    named = [column for column in free if _COUNT_NAME.fullmatch(column.name)]
    if len(named) != 1 or len(columns) <= MIN_OTHERS:
        return None
    column = named[0]
    others = [other for other in columns if other.name != column.name]
    counts = _read_counts(column)
    if counts is None or counts.max() < 2 or not 2 * len(counts) <= counts.sum() <= MAX_TOTAL:
        return None
    if not all(map(_is_factor, others)) or count_rows(others).n_repeated:
        return None
    sentence = (
        f"{column.name!r} counts how often each row occurs, {int(counts.sum()):,} times in all; it "
        "is used as a weight and is no variable."
    )
    return Decision(
        "weights", (column.name,), sentence, format_type_hint(column.name, "continuous")
    )


def repeat_rows(column: Column, n_columns: int) -> NDArray[np.intp]:
    """Return the rows of a table, each as often as this column says; `n_columns` are repeated."""
    counts = _read_counts(column)
    if counts is None:
        wrong = _find_wrong(column)
        raise DataError(
            f"Column {column.name!r} cannot give weights: {wrong}. Weights are whole numbers from "
            "0 on, the number of times that each row counts."
        )
    total = float(counts.sum(dtype=np.float64))
    check_memory(
        int(total) * n_columns * BYTES_PER_CELL,
        f"The table with the weights {column.name!r}, {total:,.0f} rows,",
        "Divide the weights by a common number.",
    )
    if not total:
        raise DataError(f"All weights in {column.name!r} are 0. Give at least one observation.")
    return np.repeat(np.arange(len(counts)), counts)


def _read_counts(column: Column) -> NDArray[np.int64] | None:
    """Return the count of each row; None if a cell is not a whole number from 0 on."""
    if column.overflow or column.missing is not None or column.declared is not None:
        return None
    occurs = column.counts > 0
    labels = [column.labels[code] for code in np.flatnonzero(occurs).tolist()]
    numbers = parse_numbers(labels)
    if numbers is None or not np.isfinite(numbers).all():
        return None
    if (numbers < 0).any() or (numbers != np.floor(numbers)).any() or numbers.max() > 2**53:
        return None
    of_label = np.zeros(len(column.labels), dtype=np.int64)
    of_label[occurs] = numbers.astype(np.int64)
    of_row: NDArray[np.int64] = of_label[column.codes]
    return of_row


def _find_wrong(column: Column) -> str:
    """Return what is wrong with the first cell that is no count."""
    if column.overflow:
        return "it has too many different values"
    if column.missing is not None:
        return f"row {int(np.argmax(column.missing)) + 1:,} has no value"
    for code in np.flatnonzero(column.counts).tolist():
        label = column.labels[code]
        row = column.format_first_row(code)
        if label is None or label.strip() in MISSING_LABELS:
            return f"row {row} has no value"
        numbers = parse_numbers([label])
        if numbers is None or not (numbers[0] >= 0 and numbers[0] == np.floor(numbers[0]) < 2**53):
            return f"it holds {label!r} in row {row}"
    return "its states are declared"


def _is_factor(column: Column) -> bool:
    """Return whether a column is categorical, and its values recur."""
    n_values = int(np.count_nonzero(column.counts))
    return (
        not column.overflow
        and column.decimal is None
        and n_values <= MAX_INTEGER_STATES
        and 2 * n_values <= len(column.codes)
    )


# Clusters of rows: the visits of a patient, the members of a household.
#
# Rows of a cluster are not independent. A bootstrap that draws rows would treat a patient with ten
# visits as ten patients, and its strengths would be too high. The caller names the column of
# clusters; this module reads it, and finds columns that look like one.


MIN_MEAN_SIZE = 1.5  # rows of a group
MIN_CONSTANT_SHARE = 0.9  # of the groups with several rows in which another column is constant
MAX_EXPECTED_SHARE = 0.6  # such groups, if the rows were drawn at random

_GROUP_NAME = re.compile(
    r"(?:.*[_\W])?(?:id|pid|uid|subject|subj|patient|person|participant|respondent|individual|indiv"
    r"|household|hh|hhid|family|stratum|strata|cluster|group|pair|litter|twin|client|customer|user"
    r"|case|child|student|pupil|animal|firm|company)"
    r"(?:[_\W]?(?:id|no|nr|num|number|code|key))?\.?|.*[a-z](?:Id|ID)",
    re.IGNORECASE,
)


def read_clusters(column: Column, missing: Sequence[int]) -> Clusters:
    """Return the number of the cluster of each row; `missing` are the codes of missing values."""
    if column.overflow:
        raise DataError(
            f"Column {column.name!r} cannot give clusters: it has more than {MAX_STATES:,} "
            "different texts. Number the clusters."
        )
    is_missing = np.isin(column.codes, missing)
    if column.missing is not None:
        is_missing |= column.missing
    if is_missing.any():
        raise DataError(
            f"Column {column.name!r} cannot give clusters: it has no value in "
            f"{format_count(int(is_missing.sum()), 'row')}, first in row "
            f"{int(np.argmax(is_missing)) + 1:,}. Fill it in, or leave these rows out."
        )
    clusters = column.codes.astype(np.int64)
    if len(np.unique(clusters)) < 2:
        raise DataError(
            f"Column {column.name!r} cannot give clusters: it has the same value in every row."
        )
    return clusters


def find_group_column(columns: Sequence[Column], free: Sequence[Column]) -> Finding | None:
    """Return a proposal to draw groups of rows; None if no column numbers groups.

    The name of such a column says what it numbers, its values are many, and another column is
    constant in nearly all groups, although chance would not make it so.
    """
    for column in free:
        if column.overflow or not _GROUP_NAME.fullmatch(column.name) or not _numbers(column):
            continue
        others = [one for one in columns if one is not column and not one.overflow]
        constant = [one.name for one in others if _is_constant_in(column, one)]
        if constant:
            sizes = column.counts[column.counts > 0]
            return Finding(
                "clusters",
                (column.name,),
                f"{column.name!r} seems to number {len(sizes):,} groups of rows: {constant[0]!r} "
                "is the same within a group. Rows of a group are not independent, so strengths are "
                f"too high. Draw groups with cluster_by={column.name!r} "
                f"(--cluster-by {column.name}).",
            )
    return None


def _numbers(column: Column) -> bool:
    """Return whether a column has many values, each in several rows: numbers, or codes."""
    counts = column.counts[column.counts > 0]
    if len(counts) <= IDENTIFIER_ABOVE or counts.sum() < MIN_MEAN_SIZE * len(counts):
        return False
    labels = [column.labels[code] or "" for code in np.flatnonzero(column.counts).tolist()]
    numbers = parse_numbers(labels)
    if numbers is None:
        return all(any(sign.isdigit() for sign in label) for label in labels)
    return bool((numbers == np.floor(numbers)).all())


def _is_constant_in(groups: Column, other: Column) -> bool:
    """Return whether a column is constant in most groups of rows, and not by chance."""
    n_values = int(np.count_nonzero(other.counts))
    if not 1 < n_values < np.count_nonzero(groups.counts):
        return False
    order = np.lexsort((other.codes, groups.codes))
    group, value = groups.codes[order], other.codes[order]
    is_same_group = group[1:] == group[:-1]
    breaks = np.unique(group[1:][is_same_group & (value[1:] != value[:-1])])
    several = np.flatnonzero(groups.counts > 1)
    if len(several) < IDENTIFIER_ABOVE or len(breaks) > (1 - MIN_CONSTANT_SHARE) * len(several):
        return False
    shares = other.counts / other.counts.sum()
    sizes = groups.counts[several]
    expected = np.mean([(shares**size).sum() for size in sizes.tolist()])
    return bool(expected < MAX_EXPECTED_SHARE)


# Rows that are no observations: notes below a table, totals and subtotals.
#
# A reader of text tables skips lines that do not have the fields of a row. Spreadsheets and data
# frames have all fields in every row, so their notes are rows with one cell. A total is a row with
# a label like "Total" whose numbers are the sums, or the means, of the rows above it, or which has
# hardly any other values. A label alone is no evidence: "Total" can be a state.


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
