"""The kind of a file, and whether a spreadsheet is too large to be read.

Detect the kind of a file: by its first bytes, and only then by its name.

A name is not enough: spreadsheet programs save text tables as ``.xls``, and a stream has no name.
A file of a kind that coevo does not read gives an error with the way out.
"""

from __future__ import annotations

import re
import struct
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any
from xml.parsers import expat

from coevo.data.decisions import STRICT_UNDO, Decision
from coevo.errors import CoevoError, DataError, FileError, format_list
from coevo.files.files import ByteSource
from coevo.runtime.memory import check_memory, get_machine_memory

__all__ = ["BYTES_PER_CELL", "detect_kind", "measure_spreadsheet", "open_archive"]


# Measure a spreadsheet before it is read: its bytes without compression, and its cells.
#
# A file of a few kilobytes can name a cell in the last row and the last column. The reader of
# spreadsheets makes a cell for each place up to there, and the process ends when they do not fit
# into memory. The size that an archive declares can be wrong, too. So every file of the archive is
# decompressed here, part by part, and searched for the places of its cells.
#
#     xlsx    the attribute ``r`` of rows and cells, as in ``r="B7"``; if they are too many, only
#     the
#             cells that have a value
#     xlsb    the records of rows and of cells
#     ods     how often a row or a cell is repeated


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


_HEAD_BYTES = 4096
_SAS = bytes(12) + bytes.fromhex("c2ea8160b31411cfbd92080009c7318c181f1011")
_MAGIC = (
    (b"PAR1", "parquet"),
    (b"ARROW1", "arrow"),
    (b"FEA1", "arrow"),
    (b"\xff\xff\xff\xff", "arrow"),
    (b"SQLite format 3\0", "sqlite"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "excel"),
    (b"PK\x03\x04", "zip"),
    (b"PK\x05\x06", "zip"),
    (b"<stata_dta>", "stata"),
    (b"$FL2", "spss"),
    (b"$FL3", "spss"),
    (_SAS, "sas"),
    (b"HEADER RECORD*******LIB", "sas_transport"),
)
_SUFFIXES = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".feather": "arrow",
    ".arrow": "arrow",
    ".arrows": "arrow",
    ".ipc": "arrow",
    ".xlsx": "excel",
    ".xlsm": "excel",
    ".xlsb": "excel",
    ".xls": "excel",
    ".ods": "excel",
    ".sqlite": "sqlite",
    ".sqlite3": "sqlite",
    ".dta": "stata",
    ".sav": "spss",
    ".zsav": "spss",
    ".por": "spss_portable",
    ".sas7bdat": "sas",
    ".xpt": "sas_transport",
    ".json": "json",
    ".jsonl": "json",
    ".ndjson": "json",
}
_TITLES = {
    "arrow": "a Feather or Arrow file",
    "excel": "a spreadsheet",
    "sqlite": "an SQLite file",
    "stata": "a Stata file",
    "spss": "an SPSS file",
    "spss_portable": "an SPSS file",
    "sas": "a SAS file",
    "sas_transport": "a SAS file",
}
_SAVE_AS_CSV = "Save its table as CSV."
# Kinds of files that coevo does not read.
_FOREIGN = (
    (rb"RD[AX][23]\n|[XAB]\n\0\0\0[\x02\x03]", "is an R file. In R, save its table with write.csv"),
    (rb"\x93NUMPY", "is a NumPy file. Load it with numpy.load, and give the array and names="),
    (rb"\x89HDF\r\n", "is an HDF5 file. Save its table as CSV or Parquet"),
    (rb"MATLAB 5", "is a MATLAB file. In MATLAB, save its table with writetable"),
    (rb"\x80[\x02-\x05][\x95}c(\x8c\]]", "is a Python pickle, which can run code. Save it as CSV"),
    (rb"%PDF-", "is a PDF document. Copy its table into a spreadsheet and save it as CSV"),
    (rb"\{\\rtf", "is a text document. Copy its table into a spreadsheet and save it as CSV"),
    (
        rb"(?i)\s*<(!doctype html|html|head|table)\b",
        "is a web page. Download the table itself, or copy it into a spreadsheet and save it as "
        "CSV",
    ),
    (rb"(?i)\s*<\?xml\b", "is an XML document. Save its table as CSV"),
)
_JSON = re.compile(rb'\s*(\[\s*(\{|\[|\])|\{\s*("|\}))')


def detect_kind(source: ByteSource) -> tuple[str, list[Decision]]:
    """Return the kind of a source, which does not move, and what was decided about it.

    The kinds are those of the readers in `coevo.data.read.sources`; ``'text'`` is the kind of all
    others.
    """
    head = source.peek(_HEAD_BYTES)
    suffix = _find_suffix(source.path)
    kind = _detect_content(head)
    if kind:
        return kind, []
    for pattern, message in _FOREIGN:
        if re.match(pattern, head):
            raise DataError(f"{str(source.path)!r} {message}.")
    named = _SUFFIXES.get(suffix, "text")
    if named in ("text", "json", "parquet"):
        is_json = named == "text" and _JSON.match(head.removeprefix(b"\xef\xbb\xbf")) is not None
        return ("json" if is_json else named), []
    title = _TITLES[named]
    if not head.strip() or not _is_text(head):
        raise DataError(
            f"{str(source.path)!r} is not {title}, or is damaged. Write it again, or save its "
            "table as CSV."
        )
    sentence = f"The name ends in {suffix}, but the file is not {title}; it was read as text."
    return "text", [Decision("format", (), sentence, STRICT_UNDO)]


def _find_suffix(path: Path) -> str:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if len(suffixes) > 1 and suffixes[-1] in (".gz", ".bz2", ".xz", ".zip"):
        return suffixes[-2]
    return suffixes[-1] if suffixes else ""


def _detect_content(head: bytes) -> str:
    """Return the kind of a file by its first bytes, or an empty text."""
    for magic, kind in _MAGIC:
        if head.startswith(magic):
            return kind
    if len(head) > 4 and 104 <= head[0] <= 115 and head[1] in (1, 2) and head[2:4] == b"\1\0":
        return "stata"
    if b"SPSS PORT FILE" in head[:220]:
        return "spss_portable"
    return ""


def _is_text(head: bytes) -> bool:
    """Return whether bytes can be text in a usual encoding."""
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return True
    n_control = sum(byte < 32 and byte not in b"\t\n\r\f\x1a" for byte in head)
    return n_control == 0


def open_archive(source: ByteSource, file: IO[bytes]) -> tuple[str, Path, Any]:
    """Return the kind of a zip archive, and if it has one table, its name and its stream.

    A spreadsheet is a zip archive, too; its kind is ``'excel'``.
    """
    path = str(source.path)
    try:
        archive = zipfile.ZipFile(file)
        names = [
            info.filename
            for info in archive.infolist()
            if not info.is_dir() and not info.filename.startswith("__MACOSX/")
        ]
        if "[Content_Types].xml" in names or "mimetype" in names:
            n_bytes, n_cells = measure_spreadsheet(file, archive.infolist())
            needed = 2 * n_bytes + BYTES_PER_CELL * n_cells
            check_memory(needed, "The spreadsheet", "Save its table as Parquet.")
            return "excel", source.path, None
        if names and all(name.endswith(".npy") for name in names):
            raise DataError(f"{path!r} {_FOREIGN[1][1]}.")
        if len(names) != 1:
            listed = f": {format_list([repr(name) for name in sorted(names)])}" if names else ""
            raise DataError(
                f"{path!r} is a zip archive of {len(names):,} files{listed}. Unpack it, and give "
                "the file of the table."
            )
        return "file", Path(names[0]), archive.open(names[0])
    except CoevoError:
        raise
    except Exception as error:  # a damaged archive gives errors of many types
        if "password" in str(error):
            raise FileError(
                f"{path!r} is an encrypted zip archive. Unpack it, and give the file of the table."
            ) from None
        raise FileError(
            f"{path!r} is a zip archive or a spreadsheet, but damaged. Copy or download it again."
        ) from None
