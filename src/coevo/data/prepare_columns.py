"""Prepare the raw columns of a table: read their numbers and dates, leave out what is useless.

`prepare_columns` stands between the readers and `coevo.data.infer_columns`. It works on distinct
labels and records a `Decision` for everything that it does. It never touches a column whose states
or type the caller declares, except to read its numbers and dates. In this order it

1. masks missing values and leaves out empty columns,
2. replaces dates by their parts,
3. reads numbers in any format, and words that stand for missing values among them,
4. leaves out constants, identifiers, free text and copies of other columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from coevo.data.column_dates import read_dates
from coevo.data.column_numbers import find_sentinel, read_numbers
from coevo.data.column_types import ColumnInfo, ColumnType
from coevo.data.columns import Column, check_no_missing, make_overflow_error, mask_codes
from coevo.data.copies import CopyCandidate, find_copies
from coevo.data.decisions import Decision
from coevo.data.drafts import Draft, Notes
from coevo.data.left_out import (
    find_constant,
    find_empty,
    find_number_identifier,
    find_text_identifier,
)
from coevo.data.number_formats import has_leading_zeros
from coevo.data.option_hints import format_drop_hint
from coevo.data.read_options import ReadOptions
from coevo.errors import DataError

__all__ = ["PreparedTable", "prepare_columns"]

MIN_COLUMNS = 2  # of a network


@dataclass(frozen=True, slots=True)
class PreparedTable:
    """Columns for `infer_columns`, and what was decided about them.

    `columns` are the columns that are kept, and parts of dates, in the order of the table.
    `options` has the types that were found.
    """

    columns: list[Column]
    options: ReadOptions
    notes: Notes

    def complete_info(self, info: ColumnInfo) -> ColumnInfo:
        """Return the info of a kept column with its source and its format."""
        notes, name = self.notes, info.name
        holds = "dates" if name in notes.dates else info.holds
        source, form = notes.sources.get(name), notes.formats.get(name, "")
        return replace(info, holds=holds, source=source, format=form)


def prepare_columns(
    columns: Sequence[Column], options: ReadOptions, min_columns: int = MIN_COLUMNS
) -> PreparedTable:
    """Read numbers and dates in the columns of a table, and leave out useless columns.

    Raises `DataError` if a value is missing and the options do not allow it, or if fewer than
    `min_columns` columns are left. If the options name the columns to read, one is enough.
    """
    notes = Notes(options, dict(options.types))
    drafts = read_dates(_leave_out_empty(columns, notes), notes)
    read_numbers(drafts, notes)
    useful = [draft for draft in drafts if not _is_useless(draft, notes)]
    kept = [draft.column for draft in _leave_out_copies(useful, notes)]
    if len(kept) < (min_columns if options.only is None else 1):
        raise _make_too_few_error(kept, notes.decisions)
    return PreparedTable(kept, replace(options, types=notes.types), notes)


def _leave_out_empty(columns: Sequence[Column], notes: Notes) -> list[Draft]:
    """Return drafts of the columns with enough values; refuse missing values if they are errors."""
    options = notes.options
    asked = options.types.keys() | options.states.keys() | set(options.only or ())
    drafts, incomplete = [], []
    for column in columns:
        masked = mask_codes(column, column.find_missing(options.missing_labels))
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
        check_no_missing(incomplete, labels=options.missing_labels)
    return drafts


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
        return find_text_identifier(column)
    distinct = draft.distinct
    if (identifier := find_number_identifier(column, distinct)) is not None:
        return identifier
    if (sentinel := find_sentinel(column, draft.numbers)) is not None:
        notes.findings.append(sentinel)
    if not notes.has_bins:  # each number is a state, and decimal numbers are an error later
        return find_text_identifier(column) if column.decimal is None else None
    if len(distinct) == column.n_observed and notes.is_measurement(draft):
        notes.types[column.name] = ColumnType("continuous")  # all values differ
    return None


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


def _make_empty_error(column: Column, options: ReadOptions) -> DataError:
    """Return the error for a column without values whose states are declared."""
    if not options.keeps_missing:
        check_no_missing([column], labels=options.missing_labels)
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
