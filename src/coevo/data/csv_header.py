"""Decide whether the first row of a table has names or values.

Most tables have a header, and a header that is taken for values adds a false state to every column.
So a row is taken for values only if each of its cells is a value without doubt.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from coevo.data.number_labels import MISSING_LABELS

__all__ = ["has_number", "is_value", "lacks_header"]

_MAX_NUMBER = 50  # characters
_NUMBER = re.compile(
    r"[-+(]*+[$€£¥]?\s*+\d[\d.,'\s]*+(?:[eE][-+]?\d++\s*+)?[%$€£¥)]?|[-+]?[.,]\d++"
)


def lacks_header(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether the first row of a table has values, not names.

    Each cell must be a number in a column of numbers, or a text that occurs twice below it. The
    numbers 0, 1, 2 and 2001, 2002, 2003 are names.

    >>> lacks_header([["5", "2"], ["7", "3"]]), lacks_header([["1", "2"], ["7", "3"]])
    (True, False)
    >>> lacks_header([["2001", "2005"], ["yes", "3"]])
    False
    """
    header, columns, numeric = _split(rows)
    if not columns or not all(cell.strip() for cell in header):
        return False
    if all(map(is_value, header)):
        return all(numeric) and not _is_sequence(header)
    pairs = zip(header, columns, numeric, strict=True)
    return all(
        (is_numeric and is_value(cell)) or column.count(cell) > 1
        for cell, column, is_numeric in pairs
    )


def has_number(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether the first row has a number in a column of numbers."""
    header, _, numeric = _split(rows)
    return any(
        is_numeric and is_value(cell) and cell.strip()
        for cell, is_numeric in zip(header, numeric, strict=False)
    )


def _split(
    rows: Sequence[Sequence[str]],
) -> tuple[Sequence[str], list[tuple[str, ...]], list[bool]]:
    """Return the first row, the columns below it, and whether each of them has only numbers."""
    header, below = rows[0], [row for row in rows[1:] if len(row) == len(rows[0])]
    columns = list(zip(*below, strict=True))
    return header, columns, [all(map(is_value, column)) for column in columns]


def is_value(cell: str) -> bool:
    """Return whether a cell is a number, or stands for a missing value."""
    text = cell.strip()
    is_number = len(text) <= _MAX_NUMBER and _NUMBER.fullmatch(text) is not None
    return is_number or text in MISSING_LABELS


def _is_sequence(cells: Sequence[str]) -> bool:
    """Return whether cells are consecutive whole numbers."""
    texts = [cell.strip() for cell in cells]
    if not all(text.isdecimal() and len(text) < 10 for text in texts):
        return False
    numbers = [int(text) for text in texts]
    is_long = len(numbers) > 2 or numbers[0] in (0, 1)
    return is_long and numbers == list(range(numbers[0], numbers[0] + len(numbers)))
