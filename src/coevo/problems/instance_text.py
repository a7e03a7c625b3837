"""Read the text of an instance file: its lines, and its numbers with their lines."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from coevo.errors import FormatError
from coevo.files import MAX_TEXT_BYTES, open_source
from coevo.memory import check_memory

__all__ = ["Line", "make_error", "parse_numbers", "parse_size", "read_lines"]

_NUMBER = re.compile(r"[-+]?(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][-+]?[0-9]++)?")
_MAX_SHOWN = 40  # characters of a word in a message
BYTES_PER_PAIR = 48  # of places: the matrix, its copies and the neighbours


class Line(NamedTuple):
    """A line that is not empty, without spaces around it."""

    number: int
    text: str


def read_lines(path: Path) -> list[Line]:
    """Return the lines of a text file that are not empty. It may be compressed."""
    with open_source(path) as source:
        content = source.read_all(MAX_TEXT_BYTES)
    text = content.decode("utf-8-sig", errors="replace")
    lines = enumerate(text.splitlines(), start=1)
    return [Line(number, line.strip()) for number, line in lines if line.strip()]


def make_error(source: str, line: int | None, problem: str) -> FormatError:
    """Return the exception for a malformed file, with the line."""
    place = source if line is None else f"{source}, line {line}"
    return FormatError(f"{place}: {problem}")


def parse_numbers(lines: Iterable[Line], source: str) -> list[float]:
    """Return all numbers of some lines; raise `FormatError` for the first other word."""
    numbers = []
    for line in lines:
        for word in line.text.split():
            number = float(word) if _NUMBER.fullmatch(word) else math.inf
            if not math.isfinite(number):
                raise make_error(source, line.number, f"{word[:_MAX_SHOWN]!r} is not a number.")
            numbers.append(number)
    return numbers


def parse_size(word: str, source: str, line: int, what: str) -> int:
    """Return the number of places of an instance; raise if it is no number, or too large."""
    if not re.fullmatch(r"[0-9]{1,9}", word) or int(word) < 1:
        raise make_error(source, line, f"{what} must be a whole number >= 1; got {word[:40]!r}.")
    size = int(word)
    check_memory(BYTES_PER_PAIR * size**2, f"{source} with {size:,} places", "Solve a smaller one.")
    return size
