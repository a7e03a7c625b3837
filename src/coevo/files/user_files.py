"""Small files that people write by hand: JSON objects, and CSV tables with line numbers.

Both are read into memory. An error message names the file and, if possible, the line.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from coevo.errors import FormatError, find_duplicate, suggest_match
from coevo.files.files import MAX_TEXT_BYTES, load_json, open_source

__all__ = ["CsvRow", "UserFile", "read_csv_rows", "read_json"]


class CsvRow(NamedTuple):
    """One row of a small table: its line number, and its cells by column name."""

    line: int
    cells: dict[str, str]


class UserFile:
    """The text of a file. It is read once, because the second reading of a pipe never ends."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with open_source(path) as source:
            source.skip_bom()
            data = source.read_all(MAX_TEXT_BYTES)
        try:
            self.text = data.decode()
        except UnicodeDecodeError:
            raise FormatError(f"{str(path)!r} is not UTF-8 text. Save it as UTF-8.") from None

    @property
    def is_json(self) -> bool:
        """Whether the file holds JSON, by its name or else by its first character."""
        return self.path.suffix.lower() == ".json" or self.text.lstrip()[:1] in ("{", "[")


def read_json(file: UserFile) -> Any:
    """Return the value of a JSON file; raise `FormatError` if an object has the same key twice."""
    path = file.path

    def check_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        duplicate = find_duplicate(key for key, _ in pairs)
        if duplicate is not None:
            raise FormatError(f"{str(path)!r} has {duplicate!r} twice. Remove one of them.")
        return dict(pairs)

    try:
        return load_json(file.text, check_keys)
    except FormatError:
        raise
    except ValueError as error:
        raise FormatError(f"{str(path)!r} is not JSON: {error}.") from None


def read_csv_rows(
    file: UserFile, required: Sequence[str], optional: Sequence[str] = ()
) -> list[CsvRow]:
    """Return the rows of a comma-separated table with these columns, without blank lines.

    Spaces around a cell are ignored. A line may leave out empty cells at its end.
    """
    path, lines = file.path, _read_lines(file)
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


def _read_lines(file: UserFile) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the cells of each line that is not blank."""
    reader = csv.reader(io.StringIO(file.text, newline=""), skipinitialspace=True)
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                yield reader.line_num, [cell.strip() for cell in cells]
    except csv.Error as error:
        raise FormatError(f"{str(file.path)!r}, line {reader.line_num}: {error}.") from None
