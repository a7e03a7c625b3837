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

import numpy as np
from numpy.typing import NDArray

from coevo.data.audit import Finding
from coevo.data.column_dates import choose_parts, convert_to_numbers, number_column, replace_dates
from coevo.data.column_numbers import (
    ParsedColumn,
    choose_mark,
    decide_formats,
    decide_words,
    find_sentinel,
    parse_column,
)
from coevo.data.column_types import ColumnInfo, ColumnType
from coevo.data.columns import Column, check_no_missing, mask_codes
from coevo.data.copies import CopyCandidate, find_copies
from coevo.data.cut_points import CutPoints
from coevo.data.dates import DATE_ORDERS, ParsedDates, parse_dates
from coevo.data.decisions import Decision
from coevo.data.infer_columns import are_states
from coevo.data.left_out import (
    find_constant,
    find_empty,
    find_number_identifier,
    find_text_identifier,
)
from coevo.data.number_formats import has_leading_zeros
from coevo.data.number_labels import MISSING_LABELS, NumberLabels
from coevo.data.read_options import ReadOptions, format_drop_hint
from coevo.errors import DataError

__all__ = ["PreparedTable", "prepare_columns"]


MIN_COLUMNS = 2  # of a network


@dataclass(frozen=True, slots=True)
class PreparedTable:
    """Columns for `infer_columns`, and what was decided about them.

    Attributes
    ----------
    columns : list of Column
        The columns that are kept, and parts of dates, in the order of the table.
    options : ReadOptions
        The options, with the types that were found.
    decisions : list of Decision
        What was done, in the order of the steps.
    findings : list of Finding
        What the caller should look at; nothing was done about it.
    left_out : list of ColumnInfo
        The columns that are left out, each with the reason.
    """

    columns: list[Column]
    options: ReadOptions
    decisions: list[Decision]
    findings: list[Finding]
    left_out: list[ColumnInfo]
    sources: dict[str, str]
    formats: dict[str, str]
    dates: frozenset[str]

    def complete_info(self, info: ColumnInfo) -> ColumnInfo:
        """Return the info of a kept column with its source and its format."""
        holds = "dates" if info.name in self.dates else info.holds
        source, form = self.sources.get(info.name), self.formats.get(info.name, "")
        return replace(info, holds=holds, source=source, format=form)


def prepare_columns(columns: Sequence[Column], options: ReadOptions) -> PreparedTable:
    """Read numbers and dates in the columns of a table, and leave out useless columns.

    Raises `DataError` if a value is missing and the options do not allow it, or if fewer than two
    columns are left.
    """
    preparation = _Preparation(columns, options)
    preparation.leave_out_empty()
    preparation.read_dates()
    preparation.read_numbers()
    preparation.leave_out_useless()
    preparation.leave_out_copies()
    return preparation.finish()


@dataclass(slots=True)
class _Draft:
    """A column during its preparation."""

    column: Column
    numbers: NDArray[np.float64] | None = None  # of each label, if all are numbers
    is_free: bool = True  # False: the caller declares its states or its type

    @property
    def distinct(self) -> NDArray[np.float64]:
        """The distinct numbers that occur."""
        assert self.numbers is not None
        return np.unique(self.numbers[self.column.counts > 0])


class _Preparation:
    """The steps of `prepare_columns`, and what they collect."""

    def __init__(self, columns: Sequence[Column], options: ReadOptions) -> None:
        self._options = options
        asked = options.types.keys() | options.states.keys()
        self._types = dict(options.types)
        self._drafts = [
            _Draft(
                mask_codes(column, column.find_missing(options.missing_labels)),
                is_free=column.declared is None and column.name not in asked,
            )
            for column in columns
        ]
        self._raw = {column.name: column for column in columns}
        self._decisions: list[Decision] = []
        self._findings: list[Finding] = []
        self._left_out: list[ColumnInfo] = []
        self._sources: dict[str, str] = {}
        self._formats: dict[str, str] = {}
        self._dates: set[str] = set()

    def leave_out_empty(self) -> None:
        """Leave out columns with few values; then refuse missing values if they are an error."""
        kept = []
        for draft in self._drafts:
            column = draft.column
            decision = find_empty(column)
            is_empty = decision is not None and (draft.is_free or not column.n_observed)
            if decision is None or not is_empty:
                kept.append(draft)
            elif column.declared is not None or column.name in self._options.states:
                raise _make_empty_error(self._raw[column.name], self._options)
            else:
                self._leave_out(decision)
        self._drafts = kept
        if not self._options.keeps_missing:
            labels = self._options.missing_labels
            check_no_missing([self._raw[draft.column.name] for draft in kept], labels=labels)

    def _leave_out(self, decision: Decision) -> None:
        self._decisions.append(decision)
        reason = decision.sentence
        self._left_out.append(ColumnInfo(decision.columns[0], "ignore", reason=reason))

    # -- dates

    def read_dates(self) -> None:
        """Replace columns of dates by their parts, or by numbers where numbers are wanted."""
        names = [draft.column.name for draft in self._drafts]
        wanted = self._options.find_wanted_parts(names)
        orders = self._find_orders()
        drafts: list[_Draft] = []
        for draft in self._drafts:
            drafts += self._read_date(draft, wanted.get(draft.column.name, ()), names, orders)
        self._drafts = drafts

    def _find_orders(self) -> str:
        """Return the order of day and month of the columns in which it is clear, if it is one."""
        found = {
            dates.order
            for draft in self._drafts
            if self._may_be_date(draft) and (dates := self._parse(draft)) and not dates.is_ambiguous
        } - {""}
        return found.pop() if len(found) == 1 else ""

    def _may_be_date(self, draft: _Draft) -> bool:
        column = draft.column
        if isinstance(column.labels, NumberLabels) or not column.n_observed:
            return False
        declared = self._types.get(column.name)
        if declared is not None:
            return declared.kind in ("parts", "continuous")
        return column.declared is None or CutPoints.from_states(column.declared) is not None

    def _parse(self, draft: _Draft, order: str = "") -> ParsedDates | None:
        column = draft.column
        declared = self._types.get(column.name)
        if declared is not None and declared.format in DATE_ORDERS:
            order = declared.format
        return parse_dates(column.labels, np.flatnonzero(column.counts).tolist(), order)

    def _read_date(
        self, draft: _Draft, wanted: tuple[str, ...], names: Sequence[str], order: str
    ) -> list[_Draft]:
        """Return what replaces a column; the column itself if it does not hold dates."""
        column = draft.column
        declared = self._types.get(column.name)
        dates = self._parse(draft, order) if self._may_be_date(draft) or wanted else None
        if dates is None:
            if declared is not None and declared.kind == "parts":
                raise _make_date_error(column, declared)
            is_only_source = wanted and self._options.only and column.name not in self._options.only
            return [] if is_only_source else [draft]
        if wanted and not (declared and declared.kind == "parts"):
            kept = [draft] if column.declared is not None else []
            return kept + self._replace(draft, dates, wanted, is_asked=True)
        if declared is not None and declared.kind == "parts":
            parts = declared.parts or choose_parts(column, dates, self._has_bins)
            return self._replace(draft, dates, parts, is_asked=bool(declared.parts))
        if not draft.is_free:  # numbers are wanted
            self._dates.add(column.name)
            self._formats[column.name] = dates.order
            return [replace(draft, column=convert_to_numbers(column, dates))]
        if are_states(int(np.count_nonzero(column.counts)), column.n_observed, is_integer=False):
            return [draft]
        parts = choose_parts(column, dates, self._has_bins)
        free = tuple(part for part in parts if f"{column.name}_{part}" not in names)
        return self._replace(draft, dates, free, is_asked=False)

    @property
    def _has_bins(self) -> bool:
        return self._options.binning is not None

    def _replace(
        self, draft: _Draft, dates: ParsedDates, parts: Sequence[str], is_asked: bool
    ) -> list[_Draft]:
        """Return the parts of a column of dates; record the decision unless the caller asked."""
        replaced = replace_dates(draft.column, dates, parts)
        name = draft.column.name
        if not is_asked:
            self._decisions.append(replaced.decision)
        self._left_out.append(
            ColumnInfo(
                name,
                "+".join(parts) or "ignore",
                holds="dates" if parts else "",
                format=dates.order,
                reason=replaced.decision.sentence,
            )
        )
        drafts = []
        for one in replaced.parts:
            declared = self._options.states.get(one.column.name, one.column.declared)
            column = replace(one.column, declared=declared)
            self._sources[column.name] = name
            is_free = column.name not in self._options.states and column.name not in self._types
            drafts.append(_Draft(column, is_free=is_free and declared is None))
        return drafts

    # -- numbers

    def read_numbers(self) -> None:
        """Read the numbers of the columns that hold numbers, in any format."""
        parsed = {}
        for draft in self._drafts:
            if (one := self._parse_numbers(draft)) is not None:
                parsed[draft.column.name] = one
        evidence = self._options.decimal or choose_mark(list(parsed.values()))
        marks = {name: self._choose_mark(one, evidence) for name, one in parsed.items()}
        for draft in self._drafts:
            if (found := parsed.get(draft.column.name)) is not None:
                self._use_numbers(draft, found, marks[draft.column.name])
        used = [parsed[name] for name in parsed if name in self._formats_used]
        self._decisions += decide_formats(used, marks, evidence)

    def _parse_numbers(self, draft: _Draft) -> ParsedColumn | None:
        column = draft.column
        declared = self._types.get(column.name)
        if declared is not None and declared.kind != "continuous":
            return None
        if declared is None and column.declared is not None:
            cuts = CutPoints.from_states(column.declared)
            if cuts is None or column.labels[int(np.argmax(column.counts))] in column.declared:
                return None
        return parse_column(column, has_words=self._options.missing_labels == MISSING_LABELS)

    def _choose_mark(self, parsed: ParsedColumn, evidence: str | None) -> str:
        declared = self._types.get(parsed.column.name)
        asked = declared.format if declared is not None and declared.format else evidence
        return str(asked) if asked in parsed.numbers else next(iter(parsed.numbers))

    @property
    def _formats_used(self) -> set[str]:
        return {name for name, form in self._formats.items() if form in (".", ",")}

    def _use_numbers(self, draft: _Draft, parsed: ParsedColumn, mark: str) -> None:
        """Put the numbers of a column into its draft, as its labels if they are not plain."""
        column, numbers = draft.column, parsed.numbers[mark]
        infinite: list[int] = []
        if draft.is_free and self._options.keeps_missing:  # elsewhere they are an error
            infinite = np.flatnonzero(np.isinf(numbers) & (column.counts > 0)).tolist()
        if parsed.words:
            self._refuse_missing(column, parsed.words)
            self._decisions.append(decide_words(column, parsed.words))
        if infinite:
            self._decisions.append(decide_words(column, infinite, "it is not a finite number"))
        kept = np.ones(len(column.labels), dtype=np.bool_)
        kept[parsed.words + infinite] = False
        draft.column, draft.numbers = mask_codes(column, parsed.words + infinite), numbers[kept]
        if self._is_measurement(draft) and not (parsed.is_plain and mark == "."):
            self._formats[column.name] = mark
            draft.column = number_column(draft.column, draft.numbers)
            assert isinstance(draft.column.labels, NumberLabels)
            draft.numbers = draft.column.labels.numbers.astype(np.float64)

    def _is_measurement(self, draft: _Draft) -> bool:
        """Return whether the numbers of a column are needed as numbers, and not as labels."""
        if not draft.is_free:
            return True
        distinct = draft.distinct
        is_integer = bool((distinct == np.floor(distinct)).all())
        n_observed = draft.column.n_observed
        if are_states(len(distinct), n_observed, is_integer=is_integer):
            return False
        return self._has_bins or not is_integer

    def _refuse_missing(self, column: Column, codes: Sequence[int]) -> None:
        """Raise `DataError` for words that stand for missing values, if these are an error."""
        if not self._options.keeps_missing:
            check_no_missing([column], {column.name: list(codes)})

    # -- columns that are left out

    def leave_out_useless(self) -> None:
        """Leave out constants, identifiers and free text; find numbers for missing values."""
        kept = []
        for draft in self._drafts:
            decision = self._judge(draft) if draft.is_free else None
            if decision is None:
                kept.append(draft)
            else:
                self._leave_out(decision)
        self._drafts = kept

    def _judge(self, draft: _Draft) -> Decision | None:
        column = draft.column
        if (constant := find_constant(column)) is not None:
            return constant
        if draft.numbers is None:
            if decision := find_text_identifier(column):
                return decision
            if has_leading_zeros(column.labels):
                draft.column = replace(column, is_text=True)
            return None
        distinct = draft.distinct
        if decision := find_number_identifier(column, distinct):
            return decision
        if sentinel := find_sentinel(column, draft.numbers):
            self._findings.append(sentinel)
        if len(distinct) == column.n_observed and self._has_bins and self._is_measurement(draft):
            self._types[column.name] = ColumnType("continuous")  # all values differ
        elif not self._has_bins and column.decimal is None:
            return find_text_identifier(column)  # without bins each value would be a state
        return None

    def leave_out_copies(self) -> None:
        """Leave out columns that repeat another column."""
        candidates = [
            CopyCandidate(
                draft.column,
                draft.numbers
                if draft.numbers is not None and self._is_measurement(draft)
                else None,
                is_declared=not draft.is_free,
            )
            for draft in self._drafts
        ]
        copies = {decision.columns[0]: decision for decision in find_copies(candidates)}
        if len(self._drafts) - len(copies) < MIN_COLUMNS:
            return  # the audit reports them
        for draft in self._drafts:
            if draft.column.name in copies:
                self._leave_out(copies[draft.column.name])
        self._drafts = [draft for draft in self._drafts if draft.column.name not in copies]

    def finish(self) -> PreparedTable:
        """Return the prepared table; raise `DataError` if too few columns are left."""
        columns = [draft.column for draft in self._drafts]
        if len(columns) < (MIN_COLUMNS if self._options.only is None else 1):
            raise _make_too_few_error(columns, self._decisions)
        return PreparedTable(
            columns,
            replace(self._options, types=self._types),
            self._decisions,
            self._findings,
            self._left_out,
            self._sources,
            {name: form for name, form in self._formats.items() if form not in ("", ".")},
            frozenset(self._dates),
        )


def _make_empty_error(column: Column, options: ReadOptions) -> DataError:
    """Return the error for a column without values whose states are declared."""
    if not options.keeps_missing:
        check_no_missing([column], labels=options.missing_labels)
    return DataError(
        f"Column {column.name!r} has declared states and no value in any row. Leave it out "
        f"({format_drop_hint(column.name)})."
    )


def _make_date_error(column: Column, declared: ColumnType) -> DataError:
    """Return the error for a column whose declared type needs dates."""
    code = int(np.argmax(column.counts))
    word = "+".join(declared.parts) or declared.format
    return DataError(
        f"Column {column.name!r} has the type {word!r}, but does not hold dates that coevo knows; "
        f"its most frequent value is {column.labels[code]!r}. Write dates like 2021-03-05, or "
        "remove the type."
    )


def _make_too_few_error(columns: Sequence[Column], decisions: Sequence[Decision]) -> DataError:
    """Return the error for a table of which fewer than two columns are left."""
    left = f"one column is left, {columns[0].name!r}" if columns else "no column is left"
    reasons = " ".join(decision.sentence for decision in decisions if decision.columns)
    return DataError(
        f"A network needs at least two columns, and {left}. {reasons} Keep a column with types= "
        "(--type COLUMN=categorical)."
    )
