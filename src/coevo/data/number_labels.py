"""Labels that are numbers: parse them from text, or create their text on demand.

A column of measurements can have a different label in each row. The text of all labels would
take far more memory than the table itself.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from typing import overload

import numpy as np
from numpy.typing import NDArray

__all__ = ["MISSING_LABELS", "NumberLabels", "find_decimal", "parse_number", "parse_numbers"]

# Text that stands for a missing value, unless it is a declared state of its column.
# Spaces around it do not matter: many published tables write ", ?". A point is a missing value of
# SAS and Stata, and words after # are errors of a spreadsheet. Words like "none" and "unknown" can
# be states: see `coevo.data.number_formats` and `coevo.data.missing_words`.
MISSING_LABELS = frozenset(
    {"", "NA", "NaN", "nan", "null", "NULL", "?", "N/A", "n/a", "#N/A", "#NULL!", "<NA>", "."}
    | {"#DIV/0!", "#NAME?", "#NUM!", "#REF!", "#VALUE!"}
)

# A possessive repeat (`\d++`) never gives back what it matched. Without it, a cell of n digits and
# a letter takes n^2 steps.
_NUMBER = re.compile(r"[+-]?(?:\d++(?:\.\d*+)?|\.\d++)(?:[eE][+-]?\d++)?")
_INFINITE = re.compile(r"[+-]?inf(inity)?", re.IGNORECASE)
_INTEGER = re.compile(r"[+-]?\d+")
_CODE = re.compile(r"0\d+")  # leading zeros are part of a code


class NumberLabels(Sequence[str | None]):
    """The texts of numbers, created on demand. The last number can be NaN; its text is None.

    >>> list(NumberLabels(np.array([0.5, 2.0, np.nan])))
    ['0.5', '2.0', None]
    """

    def __init__(self, numbers: NDArray[np.floating]) -> None:
        self.numbers = numbers

    def find_missing(self) -> list[int]:
        """Return the codes of missing values: NaN."""
        return np.flatnonzero(np.isnan(self.numbers)).tolist()

    def __len__(self) -> int:
        return len(self.numbers)

    @overload
    def __getitem__(self, code: int) -> str | None: ...

    @overload
    def __getitem__(self, code: slice) -> list[str | None]: ...

    def __getitem__(self, code: int | slice) -> str | list[str | None] | None:
        if isinstance(code, slice):
            return [_format(number) for number in self.numbers[code]]
        return _format(self.numbers[code])

    def __iter__(self) -> Iterator[str | None]:
        return iter(self[:])


def parse_number(label: str | None) -> float | None:
    """Return the number of one label, or None if it is text, missing, or a code like ``007``.

    >>> parse_number(" -999.0"), parse_number("007"), parse_number("old")
    (-999.0, None, None)
    """
    text = (label or "").strip()
    if not _NUMBER.fullmatch(text) or _CODE.fullmatch(text):
        return None
    return float(text)


def parse_numbers(labels: Sequence[str | None]) -> NDArray[np.float64] | None:
    """Return the number of each label, NaN for a missing value, or None if a label is text.

    >>> parse_numbers(["3", " -.5", "1e3", "NA"]).tolist()
    [3.0, -0.5, 1000.0, nan]
    >>> parse_numbers(["3", "high"]) is None
    True
    """
    if isinstance(labels, NumberLabels):
        return labels.numbers.astype(np.float64)
    numbers = np.empty(len(labels))
    for code, label in enumerate(labels):
        text = (label or "").strip()
        if _NUMBER.fullmatch(text) or _INFINITE.fullmatch(text):
            numbers[code] = float(text)
        elif text in MISSING_LABELS:
            numbers[code] = math.nan
        else:
            return None
    return numbers


def find_decimal(labels: Sequence[str | None]) -> int | None:
    """Return the code of the first decimal number, if all labels are numbers or missing.

    >>> find_decimal(["3", "NA", "2.5"]), find_decimal(["3", "2.5", "high"])
    (2, None)
    """
    first = None
    for code, label in enumerate(labels):
        text = (label or "").strip()
        if _INTEGER.fullmatch(text) or text in MISSING_LABELS:
            continue
        if not _NUMBER.fullmatch(text):
            return None
        first = code if first is None else first
    return first


def _format(number: np.floating) -> str | None:
    return None if np.isnan(number) else str(number)
