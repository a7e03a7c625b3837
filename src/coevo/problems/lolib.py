"""Read instances of the linear ordering problem in the format of LOLIB.

A file holds the number of items and then the matrix, row by row. Older files have a title before
the number, some repeat it after the matrix, and some copies have the matrix alone. The diagonal is
not used.

References
----------
G. Reinelt (1985). The linear ordering problem: algorithms and applications. Heldermann, Berlin.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from coevo.errors import DataError
from coevo.problems.instance_text import Line, make_error, parse_numbers, parse_size, read_lines
from coevo.problems.problem import OrderingProblem

__all__ = ["read_lolib"]


def read_lolib(path: str | Path) -> OrderingProblem:
    """Read an instance; raise `FormatError` with the line if the file is malformed."""
    source = Path(path).name
    lines = _drop_title(read_lines(Path(path)))
    if not lines:
        raise make_error(source, None, "the file holds no numbers.")
    numbers = parse_numbers(lines, source)
    first = lines[0]
    n = math.isqrt(len(numbers))
    if len(first.text.split()) == 1:
        n = parse_size(first.text, source, first.number, "The number of items")
        numbers = numbers[1:]
    elif n * n == len(numbers):
        parse_size(str(n), source, first.number, "The number of items")
    if len(numbers) != n * n:
        raise make_error(
            source,
            None,
            f"the matrix has {len(numbers):,} numbers; {n} items need {n * n:,}.",
        )
    try:
        return OrderingProblem.from_matrix(np.array(numbers).reshape(n, n), Path(path).stem)
    except DataError as error:
        raise make_error(source, None, str(error)) from None


def _drop_title(lines: list[Line]) -> list[Line]:
    """Return the lines without a title, also at the end."""
    if not lines:
        return lines
    title, rest = lines[0].text, lines[1:]
    is_title = not title.lstrip("-+.")[:1].isdigit()
    if not is_title and rest and rest[0].text.isdecimal():  # as "44 sectors", before the number
        is_title = not all(word.lstrip("-+.")[:1].isdigit() for word in title.split())
    if not is_title:
        return lines
    return rest[:-1] if rest and rest[-1].text == title else rest
