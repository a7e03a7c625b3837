"""Small files that people write by hand: JSON objects, and CSV tables with line numbers.

Both are read into memory. An error message names the file and, if possible, the line.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from coevo.errors import FormatError, find_duplicate, suggest_match
from coevo.files import open_source

__all__ = ["CsvRow", "is_json_file", "read_csv_rows", "read_json"]


class CsvRow(NamedTuple):
    """One row of a small table: its line number, and its cells by column name."""

    line: int
    cells: dict[str, str]


def is_json_file(path: Path) -> bool:
    """Return whether a file holds JSON, by its name or else by its first character."""
    return path.suffix.lower() == ".json" or _read_text(path).lstrip()[:1] in ("{", "[")


def read_json(path: Path) -> Any:
    """Read a JSON file; raise `FormatError` if an object has the same key twice."""

    def check_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        duplicate = find_duplicate(key for key, _ in pairs)
        if duplicate is not None:
            raise FormatError(f"{str(path)!r} has {duplicate!r} twice. Remove one of them.")
        return dict(pairs)

    try:
        return json.loads(_read_text(path), object_pairs_hook=check_keys)
    except FormatError:
        raise
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{str(path)!r} is not JSON: {error}.") from None


def read_csv_rows(
    path: Path, required: Sequence[str], optional: Sequence[str] = ()
) -> list[CsvRow]:
    """Read a comma-separated table with these columns; skip blank lines.

    Spaces around a cell are ignored. A line may leave out empty cells at its end.
    """
    lines = _read_lines(path)
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
            hint = suggest_match(name, [*required, *optional])
            raise FormatError(f"{str(path)!r}, line {line}: there is no column {name!r}.{hint}")
    rows = []
    for line, cells in lines:
        if len(cells) > len(header):
            raise FormatError(
                f"{str(path)!r}, line {line}: {len(cells)} cells, and the header has "
                f"{len(header)}. Put quotes around a name that holds a comma."
            )
        padded = [*cells, *[""] * (len(header) - len(cells))]
        rows.append(CsvRow(line, dict(zip(header, padded, strict=True))))
    return rows


def _read_lines(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the cells of each line that is not blank."""
    reader = csv.reader(io.StringIO(_read_text(path), newline=""), skipinitialspace=True)
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                yield reader.line_num, [cell.strip() for cell in cells]
    except csv.Error as error:
        raise FormatError(f"{str(path)!r}, line {reader.line_num}: {error}.") from None


def _read_text(path: Path) -> str:
    with open_source(path) as source:
        source.skip_bom()
        data = source.read_all()
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise FormatError(f"{str(path)!r} is not UTF-8 text. Save it as UTF-8.") from None
