"""Prepare the raw columns of a table: read their numbers and dates, leave out what is useless.

`prepare_columns` stands between the readers and `coevo.data.prepare.drafts`. It works on distinct
labels and records a `Decision` for everything that it does. It never touches a column whose states
or type the caller declares, except to read its numbers and dates. In this order it

1. merges the states that the caller merges, masks missing values and leaves out empty columns,
2. splits lists of choices, and replaces dates by their parts or by durations,
3. reads numbers in any format, and words and codes that stand for missing values among them,
4. merges the spellings of states,
5. leaves out constants, identifiers, free text and copies of other columns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from coevo.data.bins import CutPoints
from coevo.data.column_types import ColumnInfo, ColumnType, format_drop_hint
from coevo.data.columns import (
    Column,
    check_no_missing,
    make_overflow_error,
    mask_codes,
    relabel_column,
)
from coevo.data.decisions import STRICT_UNDO, Decision
from coevo.data.labels import NumberLabels
from coevo.data.prepare.column_dates import read_dates
from coevo.data.prepare.column_numbers import read_numbers
from coevo.data.prepare.computed import find_computed, split_choices
from coevo.data.prepare.drafts import Draft, Notes
from coevo.data.prepare.left_out import (
    CopyCandidate,
    find_constant,
    find_copies,
    find_empty,
    find_number_identifier,
    find_text_identifier,
)
from coevo.data.prepare.missing_labels import find_missing_words, find_odd_words
from coevo.data.prepare.number_formats import has_leading_zeros
from coevo.data.prepare.spellings import match_texts, merge_spellings
from coevo.data.read_options import ReadPlan
from coevo.data.table_audit import Finding
from coevo.errors import DataError, format_list

__all__ = ["PreparedTable", "prepare_columns"]

MIN_COLUMNS = 2  # of a network


@dataclass(frozen=True, slots=True)
class PreparedTable:
    """Columns for `infer_columns`, and what was decided about them.

    `columns` are the columns that are kept, and parts of dates, in the order of the table.
    `options` has the types that were found.
    """

    columns: list[Column]
    options: ReadPlan
    notes: Notes

    def complete_info(self, info: ColumnInfo) -> ColumnInfo:
        """Return the info of a kept column with its source and its format."""
        notes, name = self.notes, info.name
        holds = "dates" if name in notes.dates else info.holds
        source, form = notes.sources.get(name), notes.formats.get(name, "")
        missing, merge = notes.missing.get(name, ()), notes.merges.get(name, {})
        found = replace(info, holds=holds, source=source, format=form)
        return replace(found, missing=missing, merge=merge)


def prepare_columns(
    columns: Sequence[Column], options: ReadPlan, min_columns: int = MIN_COLUMNS
) -> PreparedTable:
    """Read numbers and dates in the columns of a table, and leave out useless columns.

    Raises `DataError` if a value is missing and the options do not allow it, or if fewer than
    `min_columns` columns are left. If the options name the columns to read, one is enough.
    """
    notes = Notes(options, dict(options.types))
    drafts = read_dates(split_choices(_leave_out_empty(columns, notes), notes), notes)
    read_numbers(drafts, notes)
    merge_spellings(drafts, notes)
    useful = [draft for draft in drafts if not _is_useless(draft, notes)]
    unique = _leave_out_copies(useful, notes)
    if options.only is None:
        # What follows from a month or a weekday is found by the audit, which names the dates.
        measured = [draft for draft in unique if draft.column.name not in notes.sources]
        notes.findings += find_computed(measured)
    kept = [draft.column for draft in unique]
    if len(kept) < (min_columns if options.only is None else 1):
        raise _make_too_few_error(kept, notes.decisions)
    return PreparedTable(kept, replace(options, types=notes.types), notes)


def _leave_out_empty(columns: Sequence[Column], notes: Notes) -> list[Draft]:
    """Return drafts of the columns with enough values; refuse missing values if they are errors."""
    options = notes.options
    asked = options.types.keys() | options.states.keys() | set(options.only or ())
    drafts, incomplete = [], []
    for column in (_merge_labels(column, notes) for column in columns):
        masked = _mask_missing(column, notes)
        is_free = column.declared is None and column.name not in asked
        if column.overflow and not is_free:
            raise make_overflow_error(column)
        decision = find_empty(masked)
        if decision is None or not (is_free or decision.kind == "empty"):
            drafts.append(Draft(masked, is_free))
            incomplete += [] if masked.missing is None else [column]
        elif column.declared is not None or column.name in options.states:
            raise _make_empty_error(column, options)
        else:
            notes.leave_out(decision)
    if not options.keeps_missing:
        check_no_missing(incomplete, find=options.find_missing)
    return drafts


def _merge_labels(column: Column, notes: Notes) -> Column:
    """Return a column with the states merged that the caller, or its type, merges.

    A label that differs from a declared state in blanks or case only becomes this state.
    """
    options, name = notes.options, column.name
    merged, new_labels = options.opening.cells.merge_states(column, options.allows_extra_states)
    changed = dict(new_labels)
    declared = options.types.get(name)
    if declared is not None and declared.merge:
        merged = relabel_column(merged, declared.merge)
        changed |= declared.merge
    states = options.states.get(name)
    is_text = not (column.overflow or isinstance(column.labels, NumberLabels))
    if states is not None and is_text and CutPoints.from_states(states) is None:
        observed = np.flatnonzero(merged.counts).tolist()
        labels = [label for code in observed if (label := merged.labels[code]) is not None]
        found = match_texts(labels, states)
        if found:
            notes.decisions.append(_decide_declared(name, found))
            merged = relabel_column(merged, found)
            changed |= found
    if changed:
        notes.merges[name] = changed
    return merged


def _decide_declared(name: str, new_labels: Mapping[str, str]) -> Decision:
    pairs = [f"{old!r} as {new!r}" for old, new in sorted(new_labels.items())]
    text = f"Values of {name!r} were read as the declared states: {format_list(pairs)}."
    return Decision("spelling", (name,), text, STRICT_UNDO)


def _mask_missing(column: Column, notes: Notes) -> Column:
    """Return a column with a mask of its missing values; record those of this column alone."""
    codes = notes.options.find_missing(column)
    own = sorted(set(codes) - set(column.find_missing()))
    if own:
        labels = (str(column.labels[code]).strip() for code in own)
        notes.missing[column.name] = tuple(sorted(set(labels)))
    masked = mask_codes(column, codes)
    if own and masked.declared is not None and column.name not in notes.options.states:
        gone = {column.labels[code] for code in own}
        kept = tuple(state for state in masked.declared if state not in gone)
        return replace(masked, declared=kept or None)
    return masked


def _is_useless(draft: Draft, notes: Notes) -> bool:
    """Leave out a column that is constant, an identifier or free text; return whether it is."""
    is_empty = draft.column.n_observed == 0  # its numbers are infinite, or it has words only
    decision = find_empty(draft.column) if is_empty else None
    if decision is None and draft.is_free:
        decision = _judge(draft, notes)
    if decision is not None:
        notes.leave_out(decision)
    return decision is not None


def _judge(draft: Draft, notes: Notes) -> Decision | None:
    """Return the decision to leave out a column; None if it is kept."""
    column = draft.column
    if (constant := find_constant(column)) is not None:
        return constant
    if draft.numbers is None:
        if has_leading_zeros(column.labels):
            draft.column = replace(column, is_text=True)
        identifier = find_text_identifier(column)
        if identifier is None:
            notes.findings += _find_words(column)
        return identifier
    distinct = draft.distinct
    if (identifier := find_number_identifier(column, distinct)) is not None:
        return identifier
    if not notes.has_bins:  # each number is a state, and decimal numbers are an error later
        return find_text_identifier(column) if column.decimal is None else None
    if len(distinct) == column.n_observed and notes.is_measurement(draft):
        notes.types[column.name] = ColumnType("continuous")  # all values differ
    return None


def _find_words(column: Column) -> list[Finding]:
    """Return the findings on words of a column of states that may stand for missing values."""
    found = find_missing_words(column) or find_odd_words(column)
    return [] if found is None else [found]


def _leave_out_copies(drafts: Sequence[Draft], notes: Notes) -> list[Draft]:
    """Return the drafts without the columns that repeat another column.

    A column with a declared type or declared states is not compared, so that the type of a copy
    keeps both columns.
    """
    candidates = []
    for draft in drafts:
        if not draft.is_free:
            continue
        is_number = draft.numbers is not None and notes.is_measurement(draft)
        numbers = draft.numbers if is_number else None
        is_part = draft.column.name in notes.sources
        candidates.append(CopyCandidate(draft.column, numbers, draft.numbers is None, is_part))
    copies = {decision.columns[0]: decision for decision in find_copies(candidates)}
    if len(drafts) - len(copies) < MIN_COLUMNS:
        return list(drafts)  # the audit reports them
    for draft in drafts:
        if draft.column.name in copies:
            notes.leave_out(copies[draft.column.name])
    return [draft for draft in drafts if draft.column.name not in copies]


def _make_empty_error(column: Column, options: ReadPlan) -> DataError:
    """Return the error for a column without values whose states are declared."""
    if not options.keeps_missing:
        check_no_missing([column], find=options.find_missing)
    return DataError(
        f"Column {column.name!r} has declared states and no value in any row. Leave it out "
        f"({format_drop_hint(column.name)})."
    )


def _make_too_few_error(columns: Sequence[Column], decisions: Sequence[Decision]) -> DataError:
    """Return the error for a table of which fewer than two columns are left."""
    left = f"one column is left, {columns[0].name!r}" if columns else "no column is left"
    sentences = [f"A network needs at least two columns, and {left}."]
    reasons = [decision.sentence for decision in decisions if decision.columns]
    if reasons:  # else the caller left out the others
        sentences += [*reasons, "Keep a column with types= (--type COLUMN=categorical)."]
    return DataError(" ".join(sentences))
