"""Read instances of the linear ordering problem in the format of LOLIB.

A file holds the number of items and then the matrix, row by row. Older files have a name before
the number, and some copies have the matrix alone. The diagonal is not used.

References
----------
G. Reinelt (1985). The linear ordering problem: algorithms and applications. Heldermann, Berlin.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from coevo.problems.instance_text import make_error, parse_numbers, parse_size, read_lines
from coevo.problems.problem import OrderingProblem

__all__ = ["read_lolib"]


def read_lolib(path: str | Path) -> OrderingProblem:
    """Read an instance; raise `FormatError` with the line if the file is malformed."""
    source = Path(path).name
    lines = read_lines(Path(path))
    if lines and not lines[0].text.lstrip("-+.")[:1].isdigit():
        lines = lines[1:]  # a title
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
    return OrderingProblem.from_matrix(np.array(numbers).reshape(n, n), Path(path).stem)
