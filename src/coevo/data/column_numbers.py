"""Read the columns of a table that hold numbers in any common format, with one decimal mark.

`coevo.data.number_formats` parses the labels of one column. This module decides by the table: a
column that allows both decimal marks follows the columns that allow only one. It makes one decision
for each format, and one for each column in which words stand for missing values.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coevo.data.audit import Finding
from coevo.data.columns import Column
from coevo.data.decisions import Decision, format_type_hint
from coevo.data.number_formats import NumericLabels, has_leading_zeros, parse_formatted_numbers
from coevo.data.number_labels import NumberLabels, parse_numbers
from coevo.errors import format_count, format_list

__all__ = [
    "ParsedColumn",
    "choose_mark",
    "decide_formats",
    "decide_words",
    "find_sentinel",
    "parse_column",
]

SENTINEL_DIGITS = frozenset("9")
MIN_SENTINEL = 99

Numbers = NDArray[np.float64]  # (n_labels,), the number of each label; NaN is missing
_NOUNS = {"amount": "amounts", "percentage": "percentages", "number": "numbers"}


@dataclass(frozen=True, slots=True)
class ParsedColumn:
    """A column with the numbers of its labels, for each decimal mark that is possible."""

    column: Column
    numbers: Mapping[str, Numbers]
    labels: NumericLabels | None = None  # None: all labels are plain numbers

    @property
    def is_plain(self) -> bool:
        """Whether `parse_numbers` reads all labels."""
        return self.labels is None or self.labels.is_plain

    @property
    def words(self) -> list[int]:
        """The codes of words that stand for missing values."""
        return [] if self.labels is None else list(self.labels.words)


def parse_column(column: Column, has_words: bool = True) -> ParsedColumn | None:
    """Return the numbers of a column; None if it holds text.

    `has_words` says whether words like ``unknown`` can stand for missing values.
    """
    observed = np.flatnonzero(column.counts)
    if isinstance(column.labels, NumberLabels):
        return ParsedColumn(column, {".": column.labels.numbers.astype(np.float64)})
    texts = [column.labels[code] for code in observed.tolist()]
    if has_leading_zeros(texts):
        return None
    plain = parse_numbers(texts)
    if plain is not None and not np.isnan(plain).any() and not any("." in str(t) for t in texts):
        numbers = np.full(len(column.labels), np.nan)
        numbers[observed] = plain
        return ParsedColumn(column, {".": numbers, ",": numbers})
    found = parse_formatted_numbers(column.labels, observed.tolist())
    if found is None or (found.words and not has_words):
        return None
    return ParsedColumn(column, found.numbers, found)


def choose_mark(parsed: Sequence[ParsedColumn]) -> str | None:
    """Return the decimal mark of the columns that allow only one; None if they disagree.

    A column of plain decimal numbers is evidence for the point.
    """
    marks = {one.labels.mark for one in parsed if one.labels is not None} - {None}
    return marks.pop() if len(marks) == 1 else None


def decide_formats(
    parsed: Sequence[ParsedColumn], marks: Mapping[str, str], evidence: str | None
) -> Iterator[Decision]:
    """Yield one decision for each format of numbers that are not plain."""
    groups: dict[tuple[str, str, bool], list[ParsedColumn]] = {}
    for one in parsed:
        if one.labels is None:
            continue
        mark = marks[one.column.name]
        is_guess = one.labels.is_ambiguous and evidence is None
        if one.is_plain and (mark == "." or not one.labels.is_ambiguous):
            continue
        groups.setdefault((one.labels.style, mark, is_guess), []).append(one)
    for (style, mark, is_guess), members in groups.items():
        names = tuple(one.column.name for one in members)
        first = members[0].labels
        assert first is not None
        example = first.example or _find_example(members[0])
        verb = "hold" if len(names) > 1 else "holds"
        noun = _NOUNS.get(style, "numbers")
        text = f"{format_list([repr(name) for name in names])} {verb} {noun} like {example!r}"
        if is_guess:
            text += ", in which the comma is read as a thousands separator."
            other = "," if mark == "." else "."
            undo = f"decimal={other!r}, or --decimal {other}"
        else:
            comma = " with a decimal comma" if mark == "," and "," in example else ""
            text += f"; they are read as numbers{comma}."
            undo = format_type_hint(names[0], "categorical")
        yield Decision("number_format", names, text, undo)


def _find_example(parsed: ParsedColumn) -> str:
    column = parsed.column
    return str(column.labels[int(np.argmax(column.counts))])


def decide_words(column: Column, codes: Sequence[int], what: str = "") -> Decision:
    """Return the decision that some labels of a column of numbers are missing values."""
    labels = format_list([repr(column.labels[code]) for code in codes])
    n_rows = int(column.counts[list(codes)].sum())
    verb = "stands for a missing value" if len(codes) == 1 else "stand for missing values"
    rows, reason = format_count(n_rows, "row"), what or "the other values are numbers"
    text = f"{labels} in {column.name!r} {verb} ({rows}): {reason}."
    undo = format_type_hint(column.name, "categorical")
    return Decision("missing_word", (column.name,), text, undo)


def find_sentinel(column: Column, numbers: Numbers) -> Finding | None:
    """Return the finding on a number like -999 that may stand for a missing value; else None.

    Such a number has only nines, and lies farther from the other numbers than they spread.
    """
    occurs = (column.counts > 0) & np.isfinite(numbers)
    distinct = np.unique(numbers[occurs])
    if len(distinct) < 4:
        return None
    spread = float(distinct[-2] - distinct[1])
    for value, gap in (
        (distinct[0], distinct[1] - distinct[0]),
        (distinct[-1], distinct[-1] - distinct[-2]),
    ):
        text = f"{abs(value):.0f}"
        is_nines = abs(value) == np.floor(abs(value)) and set(text) <= SENTINEL_DIGITS
        if is_nines and abs(value) >= MIN_SENTINEL and gap > spread:
            rows = int(column.counts[occurs & (numbers == value)].sum())
            label = f"{value:.0f}"
            return Finding(
                "sentinel",
                (column.name,),
                f"{label} in {column.name!r} ({format_count(rows, 'row')}) is far from the other "
                "numbers. If it stands for a missing value, declare it with "
                f"missing_labels=[{label!r}] (--missing-label={label}).",
            )
    return None
