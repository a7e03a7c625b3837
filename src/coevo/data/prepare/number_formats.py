"""Numbers as people write them: decimal commas, thousands separators, currencies, per cent.

The unit of decision is the column, never the cell. A label is reduced to digits and separators:
currency signs and codes, per cent signs, accounting parentheses, signs and the ``<`` of a limit are
removed. A column is
numeric if all its labels can be read with the same decimal mark, apart from a few cells of text
among many numbers. If both marks are possible
(``1,234``), other columns of the table decide; without evidence the comma separates thousands and
the point is the decimal mark.

Codes with leading zeros (``00123``) are not numbers. The functions work on distinct labels, so
their cost does not depend on the number of rows.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coevo.data.labels import NumberLabels, parse_numbers
from coevo.data.prepare.missing_labels import is_missing_word, looks_like_code

__all__ = [
    "MARKS",
    "NumericLabels",
    "has_leading_zeros",
    "may_have_groups",
    "parse_formatted_numbers",
]

MARKS = (".", ",")  # the decimal marks
# In a column of numbers these words stand for a missing value, if they are rare.
MISSING_WORDS = frozenset(
    {"none", "unknown", "missing", "not available", "not applicable", "nd", "n.a.", "na"}
)
DASHES = frozenset({"-", "--", "---", "\u2013", "\u2014"})
MIN_NUMBERS = 3  # a dash is a missing value beside so many distinct numbers
MIN_SHARE = 0.95  # words are missing values if this share of the distinct labels is numbers
# Any other text is a missing value among many numbers ("see note"), if this share of the rows has
# numbers: notes, comments and slips are rarer than one in twenty, a second kind of value is not.
MIN_ROW_SHARE = 0.95
MANY_NUMBERS = 20  # as many distinct numbers can be states, and text among them a state, too

_SIGNS = "$\u20ac\u00a3\u00a5\u20b9\u20bd\u20a9\u20ba"
_CODES = "USD|EUR|CHF|GBP|JPY|CNY|CAD|AUD|SEK|NOK|DKK|PLN|INR|BRL"
_CURRENCY = rf"(?:[{_SIGNS}]|(?:{_CODES})\b|\b(?:{_CODES}))"
# The possessive repeats (`\s*+`) and the look-behind keep the time linear in the length of a label.
_AFFIX = re.compile(rf"^\s*+{_CURRENCY}\s*+|(?<!\s)\s*+(?:{_CURRENCY}|%)\s*+$")
_SPACES = re.compile("[\u00a0\u2007\u2009\u202f]")
_INFINITE = re.compile(r"[+-]?inf(inity)?", re.IGNORECASE)
_POINTS = re.compile(r"[+-]?[1-9]\d{0,2}(?:\.\d{3})+")
_LEADING_ZERO = re.compile(r"0\d+")
_GROUPED = r"[1-9]\d{{0,2}}(?:(?P<group>[{groups}])\d{{3}})(?:(?P=group)\d{{3}})*(?:{mark}\d*)?"
_PLAIN = r"(?:\d++(?:{mark}\d*+)?|{mark}\d++)(?:[eE][+-]?\d++)?"
_CORES = {
    mark: re.compile(
        f"(?:{_PLAIN}|{_GROUPED})".format(
            mark=re.escape(mark), groups=" '\u2019" + ("," if mark == "." else r"\.")
        )
    )
    for mark in MARKS
}
_LIMIT = re.compile("(?:[<>]=?|[\u2264\u2265])\\s*")  # of a measurement, like <0.1
_STYLES = ("", "number", "percentage", "amount", "limit")  # by rank
_SEPARATORS = re.compile("[ '\u2019]")


@dataclass(frozen=True, slots=True)
class NumericLabels:
    """The numbers of the labels of a column.

    Attributes
    ----------
    numbers : mapping of mark to array
        The number of each label, by decimal mark; NaN for missing values. A mark that does not
        fit all labels has no entry.
    words : tuple of int
        The codes of words that stand for a missing value in this column.
    example : str
        The longest label that is not a plain number; empty if all are plain.
    style : str
        What makes the labels special: ``'limit'`` (``<0.1``), ``'amount'``, ``'percentage'``,
        ``'number'``, or empty.
    """

    numbers: dict[str, NDArray[np.float64]]
    words: tuple[int, ...]
    example: str
    style: str

    @property
    def is_ambiguous(self) -> bool:
        """Whether the decimal mark changes the numbers."""
        if len(self.numbers) < 2:
            return False
        first, second = self.numbers.values()
        return not np.array_equal(first, second, equal_nan=True)

    @property
    def mark(self) -> str | None:
        """The only possible decimal mark; None if both are possible."""
        return next(iter(self.numbers)) if len(self.numbers) == 1 else None

    @property
    def is_plain(self) -> bool:
        """Whether all labels are plain numbers with a decimal point."""
        return not self.example


def parse_formatted_numbers(
    labels: Sequence[str | None],
    observed: Iterable[int],
    counts: NDArray[np.int64] | None = None,
) -> NumericLabels | None:
    """Return the numbers of labels in any common format; None if the labels are not numbers.

    Parameters
    ----------
    labels : sequence of str or None
        The distinct labels of a column.
    observed : iterable of int
        The codes of the labels that occur and are not missing.
    counts : array of int, optional
        The number of rows with each label. Without it no text stands for a missing value but
        dashes and words like ``unknown``.

    Examples
    --------
    >>> found = parse_formatted_numbers(["$3,069.83", "(12.50)", "7"], range(3))
    >>> found.numbers["."].tolist(), found.mark, found.style
    ([3069.83, -12.5, 7.0], '.', 'amount')
    >>> parse_formatted_numbers(["1,5", "2"], range(2)).numbers
    {',': array([1.5, 2. ])}
    >>> parse_formatted_numbers(["1,234", "5"], range(2)).is_ambiguous
    True
    >>> parse_formatted_numbers(["00123", "5"], range(2)) is None
    True
    """
    if isinstance(labels, NumberLabels):
        return None
    n_rows = 0 if counts is None else int(counts.sum())
    n_odd_rows = 0
    numbers = {mark: np.full(len(labels), math.nan) for mark in MARKS}
    words: list[int] = []
    example = (0, 0, "")  # the rank of its style, its length, its text
    n_numbers = 0
    for code in observed:
        text = _SPACES.sub(" ", labels[code] or "").strip()
        core, sign, found_style = _strip_affixes(text)
        values = {mark: _parse_core(core, mark) for mark in MARKS}
        if all(value is None for value in values.values()):
            if not _is_word(text):
                n_odd_rows += 0 if counts is None else int(counts[code])
                if counts is None or looks_like_code(text):
                    return None
                if n_odd_rows > max(1, (1 - MIN_ROW_SHARE) * n_rows):
                    return None
            words.append(code)
            continue
        n_numbers += 1
        for mark, value in values.items():
            if value is None:
                numbers.pop(mark, None)
            elif mark in numbers:
                numbers[mark][code] = sign * value
        if not found_style and not _is_plain(text):
            found_style = "number"
        example = max(example, (_STYLES.index(found_style), len(text), text))
    is_odd = n_odd_rows > 0
    if not numbers or (is_odd and _count_numbers(numbers) <= MANY_NUMBERS):
        return None
    if not is_odd and not _are_missing_words(labels, words, n_numbers):
        return None
    rank, _, text = example
    return NumericLabels(numbers, tuple(words), text if rank else "", _STYLES[rank])


def _is_word(text: str) -> bool:
    return text.lower() in MISSING_WORDS or text in DASHES or is_missing_word(text)


def _count_numbers(numbers: dict[str, NDArray[np.float64]]) -> int:
    """Return the number of distinct numbers with the first decimal mark."""
    values = next(iter(numbers.values()))
    return len(np.unique(values[~np.isnan(values)]))


def may_have_groups(labels: Iterable[str | None]) -> bool:
    """Return whether each point in plain numbers can separate thousands, and there is a point.

    >>> may_have_groups(["1.234", "5"]), may_have_groups(["1.234", "5.5"]), may_have_groups(["5"])
    (True, False, False)
    """
    has_point = False
    for label in labels:
        if "." in (label or ""):
            has_point = True
            if not _POINTS.fullmatch((label or "").strip()):
                return False
    return has_point


def has_leading_zeros(labels: Iterable[str | None]) -> bool:
    """Return whether a label is a code with leading zeros, like ``00123``.

    >>> has_leading_zeros(["8000", "0800"]), has_leading_zeros(["0", "0.5", "10"])
    (True, False)
    """
    return any(_LEADING_ZERO.fullmatch((label or "").strip()) for label in labels)


def _strip_affixes(text: str) -> tuple[str, float, str]:
    """Return the digits and separators of a label, its sign, and its style."""
    core = _LIMIT.sub("", text.replace("\u2212", "-"))
    sign, style = 1.0, "limit" if _LIMIT.match(text) else ""
    if core.startswith("(") and core.endswith(")"):
        core, sign, style = core[1:-1].strip(), -1.0, "amount"
    core, sign = _strip_sign(core, sign)
    stripped = _AFFIX.sub("", core)
    if stripped != core:
        style = "percentage" if core.endswith("%") else "amount"
        stripped, sign = _strip_sign(_AFFIX.sub("", stripped).strip(), sign)
    elif stripped.endswith("-") and stripped[:-1].strip():
        stripped, sign = stripped[:-1].strip(), -sign
    return stripped, sign, style


def _strip_sign(text: str, sign: float) -> tuple[str, float]:
    if text[:1] in ("+", "-") and len(text) > 1:
        return text[1:].strip(), -sign if text[0] == "-" else sign
    return text, sign


def _parse_core(core: str, mark: str) -> float | None:
    """Return the number of digits and separators with this decimal mark, or None."""
    if _INFINITE.fullmatch(core):
        return math.inf
    if not _CORES[mark].fullmatch(core) or _LEADING_ZERO.fullmatch(core):
        return None
    other = "," if mark == "." else "."
    return float(_SEPARATORS.sub("", core).replace(other, "").replace(mark, "."))


def _is_plain(text: str) -> bool:
    """Return whether `parse_numbers` reads the label as it is."""
    return parse_numbers([text]) is not None


def _are_missing_words(labels: Sequence[str | None], words: Sequence[int], n_numbers: int) -> bool:
    """Return whether the labels that are not numbers can be missing values."""
    if not words:
        return n_numbers > 0
    if all((labels[code] or "").strip() in DASHES for code in words):
        return n_numbers >= MIN_NUMBERS
    return n_numbers >= MIN_SHARE * (n_numbers + len(words))
