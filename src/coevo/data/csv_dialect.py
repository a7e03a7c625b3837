"""Which character separates the fields of a text table.

The header decides: the delimiter is the one that splits it into the most fields, among
those that split the first rows into as many fields as the header. Only the start of the
file is looked at, with Python's own `csv` module.
"""

from __future__ import annotations

import csv
import io
from itertools import islice

__all__ = ["DELIMITERS", "HEAD_BYTES", "detect_delimiter"]

DELIMITERS = (",", ";", "\t", "|")  # in a tie the earlier one wins
HEAD_BYTES = 1 << 20  # what is looked at; the header must end there
_ROWS = 20


def detect_delimiter(head: bytes, is_whole: bool) -> tuple[str, int]:
    r"""Return the delimiter and the number of fields in the header.

    `is_whole` says that `head` is the whole file; otherwise its last row may be cut.

    >>> detect_delimiter(b"a;b;c\n1,5;2;3\n", True)
    (';', 3)
    """
    text = head.decode("utf-8", errors="replace")
    best = (False, 0, "")
    for delimiter in DELIMITERS:
        widths = _widths(text, delimiter, is_whole)
        if not widths:
            continue
        agree = widths[0] > 1 and all(width == widths[0] for width in widths)
        if (agree, widths[0]) > best[:2]:
            best = (agree, widths[0], delimiter)
    return best[2] or DELIMITERS[0], best[1]


def _widths(text: str, delimiter: str, is_whole: bool) -> list[int]:
    """Return the number of fields in each of the first rows that are not blank."""
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    widths: list[int] = []
    try:
        # extend keeps the rows read so far when a later one is refused
        widths.extend(len(row) for row in islice(filter(None, rows), _ROWS))
    except csv.Error:  # a field that never ends; the reader itself will say where
        return widths or [1]
    return widths if is_whole or len(widths) in (1, _ROWS) else widths[:-1]
