"""Measure a spreadsheet before it is read: its bytes without compression, and its cells.

A file of a few kilobytes can name a cell in the last row and the last column. The reader of
spreadsheets makes a cell for each place up to there, and the process ends when they do not fit into
memory. The size that an archive declares can be wrong, too. So every file of the archive is
decompressed here, part by part, and searched for the places of its cells.

    xlsx    the attribute ``r`` of rows and cells, as in ``r="B7"``; if they are too many, only the
            cells that have a value
    xlsb    the records of rows and of cells
    ods     how often a row or a cell is repeated
"""

from __future__ import annotations

import re
import struct
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from typing import IO
from xml.parsers import expat

from coevo.errors import DataError
from coevo.memory import get_machine_memory

__all__ = ["BYTES_PER_CELL", "measure_spreadsheet"]

BYTES_PER_CELL = 64  # in the reader, and as an object of Python
PART = 1 << 20  # bytes
SHARE = 0.25  # of the memory: for more places of cells, those with a value are counted
MOST_REPEATED = 2_000_000  # cells of a sheet that are repeated, and not written out
LONGEST = 200  # bytes of what is searched for, so that none is cut by the end of a part
LOCAL_HEADER = struct.Struct("<4s5H3I2H")
_PLACE = re.compile(rb"\sr\s*=\s*[\"']\s*([A-Za-z]*)([0-9]+)\s*[\"']")
_REPEATED = re.compile(
    rb"<(?:[\w-]+:)?(table-row|table-cell|covered-table-cell)\b([^<>]{0,4000})(/?)>"
)
_TIMES = re.compile(rb"number-(?:rows|columns)-repeated\s*=\s*[\"']\s*([0-9]{1,9})")


def measure_spreadsheet(file: IO[bytes], members: Iterable[zipfile.ZipInfo]) -> tuple[int, int]:
    """Return the bytes of all files of a spreadsheet, and the largest number of cells of a sheet.

    Raises an error of many types if the archive is damaged.
    """
    n_bytes = n_cells = 0
    for member in members:
        parts = _decompress(file, member)
        if member.filename.lower().endswith(".bin"):
            content = b"".join(parts)
            size, cells = len(content), _count_record_cells(content)
        elif member.filename.lower().endswith("content.xml"):
            content = b"".join(parts)
            expat.ParserCreate().Parse(content, True)  # the reader never ends on malformed XML
            size, cells = len(content), _count_repeated_cells(content)
            if cells > max(MOST_REPEATED, size):
                raise DataError(f"The spreadsheet repeats {cells:,} cells. Save its table as CSV.")
        else:
            size, cells = _count_placed_cells(parts)
            if BYTES_PER_CELL * cells > SHARE * (get_machine_memory() or 0):
                cells = _count_valued_cells(_decompress(file, member))
        n_bytes, n_cells = n_bytes + size, max(n_cells, cells)
    return n_bytes, n_cells


def _decompress(file: IO[bytes], member: zipfile.ZipInfo) -> Iterator[bytes]:
    """Yield the content of a file of an archive, whatever size the archive declares."""
    file.seek(member.header_offset)
    header = LOCAL_HEADER.unpack(file.read(LOCAL_HEADER.size))
    file.seek(header[-2] + header[-1], 1)  # the name and the extra field
    is_packed = member.compress_type == zipfile.ZIP_DEFLATED
    unpacker = zlib.decompressobj(-zlib.MAX_WBITS)
    left = member.compress_size
    while left > 0 and (raw := file.read(min(left, PART))):
        left -= len(raw)
        while is_packed and raw:
            yield unpacker.decompress(raw, PART)
            raw = unpacker.unconsumed_tail
        yield raw


def _count_placed_cells(parts: Iterable[bytes]) -> tuple[int, int]:
    """Return the bytes of a file of XML, and the cells up to the last row and column it names."""
    n_bytes = last_row = 0
    letters, before = {b"A"}, b""
    for part in parts:
        n_bytes += len(part)
        found = _PLACE.findall(before + part) if b"r" in part else []
        before = part[-LONGEST:]
        letters.update({column.upper() for column, _ in found})
        last_row = max(last_row, max((int(row[:10]) for _, row in found), default=0))
    return n_bytes, last_row * max(map(_number_column, letters))


def _count_valued_cells(parts: Iterable[bytes]) -> int:
    """Return the cells of the smallest rectangle around all cells with a value of a sheet."""
    rows, columns, place = [1 << 62, 0], [1 << 62, 0], [0, 0]

    def begin(name: str, attributes: dict[str, str]) -> None:
        name, found = (
            name.rpartition(":")[2],
            _PLACE.match(f' r="{attributes.get("r", "")}"'.encode()),
        )
        if name == "row":
            place[:] = int(found[2]) if found else place[0] + 1, 0
        elif name == "c":
            place[1] += 1
            if found:
                place[:] = int(found[2]), _number_column(found[1].upper())
        elif name in ("v", "is", "f"):
            rows[:] = min(rows[0], place[0]), max(rows[1], place[0])
            columns[:] = min(columns[0], place[1]), max(columns[1], place[1])

    parser = expat.ParserCreate()
    parser.StartElementHandler = begin
    for part in parts:
        parser.Parse(part)
    parser.Parse(b"", True)
    return max(0, rows[1] - rows[0] + 1) * max(0, columns[1] - columns[0] + 1)


def _number_column(letters: bytes) -> int:
    """Return the number of a column, from 1.

    >>> _number_column(b"A"), _number_column(b"AB")
    (1, 28)
    """
    number = 0
    for letter in letters[:8]:
        number = 26 * number + letter - 64
    return number


def _count_record_cells(content: bytes) -> int:
    """Return the cells up to the last row and column of a sheet of xlsb.

    A record has a number of one or two bytes, a length of one to four, and its content. The record
    0 is a row, the records 1 to 11 are cells; both begin with their place, counted from 0.
    """
    place = last_row = last_column = 0
    while place < len(content):
        kind = content[place]
        place += 1 + (kind >= 128)
        length = shift = 0
        while place < len(content) and shift < 28:
            byte = content[place]
            length, place, shift = length | (byte & 127) << shift, place + 1, shift + 7
            if byte < 128:
                break
        if kind <= 11 and length >= 4:
            number = 1 + int.from_bytes(content[place : place + 4], "little")
            if kind == 0:
                last_row = max(last_row, number)
            else:
                last_column = max(last_column, number)
        place += length
    return last_row * last_column


def _count_repeated_cells(content: bytes) -> int:
    """Return the number of cells with a value of all sheets of an ODS file."""
    total = times = 0
    for name, attributes, end in _REPEATED.findall(content):
        found = _TIMES.search(attributes)
        repeated = int(found[1]) if found else 1
        if name == b"table-row":
            times = repeated
        elif not end:
            total += times * repeated
    return total
