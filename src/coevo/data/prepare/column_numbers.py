"""Read the columns of a table that hold numbers in any common format, with one decimal mark.

`coevo.data.prepare.number_formats` parses the labels of one column. This module decides by the
table: a column that allows both decimal marks follows the columns that allow only one. It makes one
decision for each format, and one for each column in which words stand for missing values.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from coevo.data.bins import CutPoints, format_number
from coevo.data.column_types import format_label_hint, format_type_hint
from coevo.data.columns import Column, check_no_missing, make_overflow_error, mask_codes
from coevo.data.decisions import Decision
from coevo.data.labels import NumberLabels, parse_number, parse_numbers
from coevo.data.prepare.drafts import Draft, Notes, Numbers, use_numbers_as_labels
from coevo.data.prepare.missing_labels import find_missing_codes
from coevo.data.prepare.number_formats import (
    NumericLabels,
    has_leading_zeros,
    may_have_groups,
    parse_formatted_numbers,
)
from coevo.data.table_audit import Finding
from coevo.errors import format_count, format_list

__all__ = ["read_numbers"]

_NUMBERS = "the other values are numbers"
_NOUNS = {"amount": "amounts", "percentage": "percentages", "limit": "limits of measurement"}


@dataclass(frozen=True, slots=True)
class _ParsedColumn:
    """A column with the numbers of its labels, for each decimal mark that is possible."""

    column: Column
    numbers: Mapping[str, Numbers]
    labels: NumericLabels | None = None  # None: all labels are plain numbers

    @property
    def is_text(self) -> bool:
        """Whether the numbers are parsed from text, so that they are evidence for a mark."""
        return not isinstance(self.column.labels, NumberLabels)

    @property
    def is_ambiguous(self) -> bool:
        """Whether both decimal marks are possible and give different numbers."""
        return self.labels is not None and self.labels.is_ambiguous

    def is_plain(self, mark: str) -> bool:
        """Return whether `parse_numbers` reads all labels, and gives the numbers of this mark."""
        if self.labels is None:
            return True
        return self.labels.is_plain and (mark == "." or not self.is_ambiguous)

    @property
    def example(self) -> str:
        """The longest label, of those that are not plain if there are any."""
        if self.labels is not None and self.labels.example:
            return self.labels.example
        observed = np.flatnonzero(self.column.counts).tolist()
        return max((str(self.column.labels[code]) for code in observed), key=lambda t: (len(t), t))

    @property
    def words(self) -> list[int]:
        """The codes of words that stand for missing values."""
        return [] if self.labels is None else list(self.labels.words)


def read_numbers(drafts: Sequence[Draft], notes: Notes) -> None:
    """Put the numbers of columns that hold numbers into their drafts, in place."""
    parsed = {
        draft.column.name: found
        for draft in drafts
        if (found := _parse_column(draft, notes)) is not None
    }
    evidence = notes.options.decimal or _find_mark(list(parsed.values()))
    marks = {name: _choose_mark(one, evidence, notes) for name, one in parsed.items()}
    converted: list[_Format] = []
    for draft in drafts:
        if (one := parsed.get(draft.column.name)) is None:
            continue
        mark, is_guess = marks[one.column.name]
        _mask_words(draft, one, mark, notes)
        _mask_codes_of_missing(draft, notes)
        if not notes.is_measurement(draft):
            continue
        if not one.is_plain(mark) or notes.has_bins:  # plain numbers would be parsed again later
            _store_numbers(draft)
        if not one.is_plain(mark):
            if mark == "," and (one.is_ambiguous or len(one.numbers) == 1):
                notes.formats[one.column.name] = mark
            if draft.is_free or is_guess:
                converted.append(_Format(one, mark, is_guess))
    notes.decisions += _decide_formats(converted)


def _store_numbers(draft: Draft) -> None:
    """Make the numbers of a draft its labels, unless one is infinite: an error shows its label."""
    numbers = draft.numbers
    assert numbers is not None
    if np.isinf(numbers[draft.column.counts > 0]).any():
        return
    draft.column = use_numbers_as_labels(draft.column, numbers)
    assert isinstance(draft.column.labels, NumberLabels)
    draft.numbers = draft.column.labels.numbers.astype(np.float64)


def _parse_column(draft: Draft, notes: Notes) -> _ParsedColumn | None:
    """Return the numbers of a column; None if it holds text, or if its labels are states."""
    column, declared = draft.column, notes.types.get(draft.column.name)
    if declared is not None and declared.kind != "continuous":
        return None
    if declared is None and column.declared is not None:
        most_common = column.labels[int(np.argmax(column.counts))]
        if CutPoints.from_states(column.declared) is None or most_common in column.declared:
            return None
    if isinstance(column.labels, NumberLabels):
        if column.strays:
            _decide_strays(column, notes)
        return _ParsedColumn(column, {".": column.labels.numbers.astype(np.float64)})
    observed = np.flatnonzero(column.counts)
    texts = [column.labels[code] for code in observed.tolist()]
    if has_leading_zeros(texts):
        return None
    plain = parse_numbers(texts)
    if plain is not None and not np.isnan(plain).any() and not may_have_groups(texts):
        numbers = np.full(len(column.labels), np.nan)  # most columns of numbers come here
        numbers[observed] = plain
        marks = "." if any("." in str(text) for text in texts) else ".,"
        return _ParsedColumn(column, dict.fromkeys(marks, numbers))
    words = [str(text) for text in texts if parse_number(text) is None]
    if any(notes.options.opening.cells.is_kept(column.name, word) for word in words):
        return None  # the caller wants a word as a state
    found = parse_formatted_numbers(column.labels, observed.tolist(), column.counts)
    if found is None:
        return None
    return _ParsedColumn(column, found.numbers, found)


def _decide_strays(column: Column, notes: Notes) -> None:
    """Record that cells among very many numbers that are no numbers are missing values."""
    if any(notes.options.opening.cells.is_kept(column.name, one.label) for one in column.strays):
        raise make_overflow_error(column)  # with text as a state, each number would be a state
    if not notes.options.keeps_missing:
        return  # `check_no_missing` refused them
    shown = [one for one in column.strays if not _is_known_word(one.label, column.name, notes)]
    if not shown:
        return
    n_rows = sum(one.count for one in shown)
    labels, first = [one.label for one in shown], min(one.first_row for one in shown) + 1
    notes.decisions.append(_make_word_decision(column.name, labels, n_rows, first, _NUMBERS))
    notes.missing[column.name] = tuple(labels)


def _is_known_word(label: str, name: str, notes: Notes) -> bool:
    """Return whether the caller gave this label of missing values."""
    return notes.options.opening.cells.is_missing(name, label)


def _find_mark(parsed: Sequence[_ParsedColumn]) -> str | None:
    """Return the decimal mark of the columns that allow only one; None if they disagree."""
    marks = {next(iter(one.numbers)) for one in parsed if len(one.numbers) == 1 and one.is_text}
    return marks.pop() if len(marks) == 1 else None


def _choose_mark(parsed: _ParsedColumn, evidence: str | None, notes: Notes) -> tuple[str, bool]:
    """Return the decimal mark of a column, and whether it is a guess."""
    declared = notes.types.get(parsed.column.name)
    asked = declared.format if declared is not None and declared.format else evidence
    if asked is not None and asked in parsed.numbers:
        return asked, False
    return next(iter(parsed.numbers)), parsed.is_ambiguous and not parsed.is_plain(".")


def _mask_words(draft: Draft, parsed: _ParsedColumn, mark: str, notes: Notes) -> None:
    """Put the numbers into a draft; words and infinite numbers become missing values."""
    column, numbers, words = draft.column, parsed.numbers[mark], parsed.words
    infinite: list[int] = []
    if words and not notes.options.keeps_missing:
        check_no_missing([column], {column.name: words})
    if notes.options.keeps_missing:  # elsewhere they need given cut points
        infinite = np.flatnonzero(np.isinf(numbers) & (column.counts > 0)).tolist()
    if words:
        notes.decisions.append(_decide_words(column, words, _NUMBERS))
        labels = tuple(sorted(str(column.labels[code]).strip() for code in words))
        notes.missing[column.name] = labels
    if infinite:
        notes.decisions.append(_decide_words(column, infinite, "it is not a finite number"))
    kept = np.ones(len(column.labels), dtype=np.bool_)
    kept[words + infinite] = False
    draft.column, draft.numbers = mask_codes(column, words + infinite), numbers[kept]


def _decide_words(column: Column, codes: Sequence[int], reason: str) -> Decision:
    """Return the decision that some labels of a column of numbers are missing values."""
    labels = [str(column.labels[code]) for code in codes]
    n_rows = int(column.counts[list(codes)].sum())
    first = column.find_first_row(codes) + 1
    return _make_word_decision(column.name, labels, n_rows, first, reason)


def _make_word_decision(
    name: str, labels: Sequence[str], n_rows: int, first: int, reason: str
) -> Decision:
    listed = format_list(sorted(map(repr, labels)))
    verb = "stands for a missing value" if len(labels) == 1 else "stand for missing values"
    text = f"{listed} in {name!r} {verb} ({_format_rows(n_rows, first)}): {reason}."
    return Decision("missing_word", (name,), text, format_type_hint(name, "categorical"))


def _format_rows(n_rows: int, first: int) -> str:
    return f"row {first:,}" if n_rows == 1 else f"{n_rows:,} rows, the first is {first:,}"


@dataclass(frozen=True, slots=True)
class _Format:
    """A column whose numbers are not plain, and its decimal mark."""

    parsed: _ParsedColumn
    mark: str
    is_guess: bool

    def describe_marks(self) -> str:
        """Return what the points and commas of the column are, if that is not plain."""
        other = {".": ",", ",": "."}[self.mark]
        example = self.parsed.example
        if self.parsed.is_ambiguous and other in example:
            word = {".": "point", ",": "comma"}[other]
            note = f", and the {word} separates thousands"
            return f"{note}, which is a guess" if self.is_guess else note
        return " with a decimal comma" if self.mark == "," and "," in example else ""


def _decide_formats(formats: Sequence[_Format]) -> Iterator[Decision]:
    """Yield one decision for each format of numbers that are not plain."""
    groups: dict[tuple[str, str], list[_Format]] = {}
    for one in formats:
        style = "" if one.parsed.labels is None else one.parsed.labels.style
        groups.setdefault((style, one.describe_marks()), []).append(one)
    for (style, note), members in groups.items():
        names = tuple(one.parsed.column.name for one in members)
        verb = "hold" if len(names) > 1 else "holds"
        text = (
            f"{format_list([repr(name) for name in names])} {verb} {_NOUNS.get(style, 'numbers')} "
            f"like {members[0].parsed.example!r}; they are read as numbers{note}."
        )
        if members[0].is_guess:
            other = "," if members[0].mark == "." else "."
            yield Decision("decimal_mark", names, text, f"decimal={other!r}, or --decimal {other}")
        else:
            undo = format_type_hint(names, "categorical")
            yield Decision("number_format", names, text, undo)


def _mask_codes_of_missing(draft: Draft, notes: Notes) -> None:
    """Make numbers like -999 missing values if they are far from the others; propose others.

    A column with a declared type keeps all its numbers, but the bins of a network do not say
    anything about -999: the network learned without it.
    """
    column, numbers = draft.column, draft.numbers
    assert numbers is not None
    has_network_bins = notes.options.allows_extra_states and column.name not in notes.types
    if not (draft.is_free or has_network_bins):
        return
    values, index = np.unique(numbers[column.counts > 0], return_inverse=True)
    rows = np.bincount(index, weights=column.counts[column.counts > 0]).astype(np.int64)
    is_finite = np.isfinite(values)
    found = find_missing_codes(values[is_finite], rows[is_finite])
    cells = notes.options.opening.cells
    far, near = (
        [value for value in some if not cells.is_kept(column.name, format_number(value))]
        for some in (found.far, found.near)
    )
    if near and draft.is_free:
        notes.findings.append(_propose_codes(column, numbers, near))
    if not far:
        return
    codes = np.flatnonzero(np.isin(numbers, far) & (column.counts > 0)).tolist()
    if not notes.options.keeps_missing:
        check_no_missing([column], {column.name: codes})
    labels = [format_number(value) for value in far]
    verb = "stands for a missing value" if len(far) == 1 else "stand for missing values"
    where = _format_rows(int(column.counts[codes].sum()), column.find_first_row(codes) + 1)
    text = (
        f"{format_list(labels)} in {column.name!r} {verb} ({where}): far from the other numbers, "
        "and written like a code."
    )
    undo = format_label_hint("keep_labels", column.name, labels)
    notes.decisions.append(Decision("missing_code", (column.name,), text, undo))
    notes.missing[column.name] = (*notes.missing.get(column.name, ()), *labels)
    kept = np.ones(len(numbers), dtype=np.bool_)
    kept[codes] = False
    draft.column, draft.numbers = mask_codes(column, codes), numbers[kept]


def _propose_codes(column: Column, numbers: Numbers, values: Sequence[float]) -> Finding:
    """Return the finding on numbers that may stand for missing values."""
    labels = [format_number(value) for value in values]
    n_rows = int(column.counts[np.isin(numbers, values)].sum())
    hint = format_label_hint("missing_labels", column.name, labels)
    guess = "may be a code. If it stands for a missing value"
    if len(labels) > 1:
        guess = "may be codes. If they stand for missing values"
    rows = format_count(n_rows, "row")
    return Finding(
        "sentinel",
        (column.name,),
        f"{format_list(labels)} in {column.name!r} ({rows}) {guess}, give {hint}.",
        options={"missing_labels": {column.name: labels}},
    )
