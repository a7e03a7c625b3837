"""Detect the kind of a file: by its first bytes, and only then by its name.

A name is not enough: spreadsheet programs save text tables as ``.xls``, and a stream has no name.
A file of a kind that coevo does not read gives an error with the way out.
"""

from __future__ import annotations

import re
import zipfile
from pathlib import Path
from typing import IO, Any

from coevo.data.decisions import STRICT_UNDO, Decision
from coevo.data.sheet_sizes import BYTES_PER_CELL, measure_spreadsheet
from coevo.errors import CoevoError, DataError, FileError, format_list
from coevo.files import ByteSource
from coevo.memory import check_memory

__all__ = ["detect_kind", "open_archive"]

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

    The kinds are those of the readers in `coevo.data.load`; ``'text'`` is the kind of all others.
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
