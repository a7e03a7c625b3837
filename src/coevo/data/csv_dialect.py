"""Detect the delimiter of a text table.

The header decides: the delimiter is the character that splits the header into the most fields,
among those that split the first rows into as many fields as the header. Python's `csv` module
parses the start of the file for this.
"""

from __future__ import annotations

import csv
import io
from itertools import islice

__all__ = ["DELIMITERS", "HEAD_BYTES", "detect_delimiter"]

DELIMITERS = (",", ";", "\t", "|")  # in a tie the earlier one wins
HEAD_BYTES = 1 << 20  # the part of the file that is examined; the header must end in it
_ROWS = 20


def detect_delimiter(head: bytes, is_complete: bool) -> tuple[str, int]:
    r"""Return the delimiter and the number of fields in the header.

    `is_complete` says that `head` is the entire file; otherwise its last row can be incomplete.

    >>> detect_delimiter(b"a;b;c\n1,5;2;3\n", True)
    (';', 3)
    """
    text = head.decode("utf-8", errors="replace")
    best = (False, 0, "")
    for delimiter in DELIMITERS:
        widths = _count_fields(text, delimiter, is_complete)
        if not widths:
            continue
        agree = widths[0] > 1 and all(width == widths[0] for width in widths)
        if (agree, widths[0]) > best[:2]:
            best = (agree, widths[0], delimiter)
    return best[2] or DELIMITERS[0], best[1]


def _count_fields(text: str, delimiter: str, is_complete: bool) -> list[int]:
    """Return the number of fields in each of the first rows that are not blank."""
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    widths: list[int] = []
    try:
        # extend keeps the rows before an invalid one
        widths.extend(len(row) for row in islice(filter(None, rows), _ROWS))
    except csv.Error:  # a field that never ends; the CSV reader reports its line
        return widths or [1]
    return widths if is_complete or len(widths) in (1, _ROWS) else widths[:-1]
