"""Small files that people write by hand: JSON objects, and CSV tables with line numbers.

Both are read whole. What is wrong with one is said with its name and, where there is one,
the line.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from coevo.errors import FormatError, first_repeated, suggestion
from coevo.files import open_source

__all__ = ["Row", "is_json_file", "read_json", "read_rows"]


class Row(NamedTuple):
    """One line of a small table: where it stands, and its cells by column."""

    line: int
    cells: dict[str, str]


def is_json_file(path: Path) -> bool:
    """Return whether a file holds JSON: by its name, or else by its first character."""
    return path.suffix.lower() == ".json" or _text(path).lstrip()[:1] in ("{", "[")


def read_json(path: Path) -> Any:
    """Read a JSON file; a key that an object has twice is refused."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        twice = first_repeated(key for key, _ in pairs)
        if twice is not None:
            raise FormatError(f"{str(path)!r} has {twice!r} twice. Remove one of them.")
        return dict(pairs)

    try:
        return json.loads(_text(path), object_pairs_hook=once)
    except FormatError:
        raise
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{str(path)!r} is not JSON: {error}.") from None


def read_rows(path: Path, required: Sequence[str], optional: Sequence[str] = ()) -> list[Row]:
    """Read a comma-separated table with these columns; blank lines are passed over.

    Spaces around a cell do not count, and empty cells at the end of a line may be left out.
    """
    lines = _lines(path)
    line, header = next(lines, (1, []))
    for name in required:
        if name not in header:
            expected = ",".join([*required, *optional])
            raise FormatError(
                f"{str(path)!r} has no column {name!r}. Its first line must be {expected}, "
                "or the start of it."
            )
    for name in header:
        if name not in (*required, *optional):
            near = suggestion(name, [*required, *optional])
            raise FormatError(f"{str(path)!r}, line {line}: there is no column {name!r}.{near}")
    rows = []
    for line, cells in lines:
        if len(cells) > len(header):
            raise FormatError(
                f"{str(path)!r}, line {line}: {len(cells)} cells, and the header has "
                f"{len(header)}. Put quotes around a name that holds a comma."
            )
        full = [*cells, *[""] * (len(header) - len(cells))]
        rows.append(Row(line, dict(zip(header, full, strict=True))))
    return rows


def _lines(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield number and cells of each line that is not blank."""
    reader = csv.reader(io.StringIO(_text(path), newline=""), skipinitialspace=True)
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                yield reader.line_num, [cell.strip() for cell in cells]
    except csv.Error as error:
        raise FormatError(f"{str(path)!r}, line {reader.line_num}: {error}.") from None


def _text(path: Path) -> str:
    with open_source(path) as source:
        source.skip_bom()
        data = source.read_all()
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise FormatError(f"{str(path)!r} is not UTF-8 text. Save it as UTF-8.") from None
