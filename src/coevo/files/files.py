"""Read files of any kind, and JSON that anyone may have written.

Open files and replace them, with a clear message for every kind of failure.

An input file may be compressed with gzip, bzip2, xz or zstd. Its first bytes decide that, not its
name. The path ``-`` is the standard input for the readers of tables (`open_input`). How files are
written stands in `coevo.files.output_files`; its functions are here, too.
"""

from __future__ import annotations

import bz2
import contextlib
import gzip
import importlib
import io
import json
import lzma
import os
import re
import stat
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterator
from itertools import accumulate
from pathlib import Path
from typing import Any, Protocol

from coevo.errors import FileError, bad_parameter, import_optional, suggest_match
from coevo.files.output_files import (
    check_output_path,
    make_folder_error,
    remove_temporary_files,
    replace_file,
    write_text,
)
from coevo.runtime.memory import format_bytes, get_machine_memory

__all__ = [
    "MAX_DEPTH",
    "MAX_DIGITS",
    "MAX_TEXT_BYTES",
    "ByteSource",
    "ByteStream",
    "check_output_path",
    "is_stream",
    "load_json",
    "open_input",
    "open_source",
    "remove_temporary_files",
    "replace_file",
    "write_text",
]


def _open_zstd(raw: Any) -> Any:
    """Decompress with Python 3.14, or with PyArrow."""
    try:
        return importlib.import_module("compression.zstd").ZstdFile(raw)
    except ImportError:
        arrow = import_optional("pyarrow", "PyArrow", "parquet")
        return arrow.CompressedInputStream(arrow.PythonFile(raw, mode="r"), "zstd")


MAX_TEXT_BYTES = 1 << 29  # of a network, of JSON and of other files that are no tables
CHUNK_BYTES = 1 << 24
STDIN = Path("<stdin>")  # how messages name the standard input
_DECOMPRESSORS: tuple[tuple[bytes, Callable[[Any], Any]], ...] = (
    (b"\x1f\x8b", lambda raw: gzip.GzipFile(fileobj=raw, mode="rb")),
    (b"BZh", bz2.BZ2File),
    (b"\xfd7zXZ\0", lzma.LZMAFile),
    (b"\x28\xb5\x2f\xfd", _open_zstd),
)
_DAMAGES = (gzip.BadGzipFile, zlib.error, lzma.LZMAError, zipfile.BadZipFile)
_UTF8_BOM = b"\xef\xbb\xbf"
# The BOM of UTF-32 starts with the BOM of UTF-16, so UTF-32 comes first.
_UNSUPPORTED_KINDS = (
    (b"\xff\xfe\x00\x00", "is UTF-32 text. Save it as UTF-8."),
    (b"\x00\x00\xfe\xff", "is UTF-32 text. Save it as UTF-8."),
    (b"\xff\xfe", "is UTF-16 text. Save it as UTF-8."),
    (b"\xfe\xff", "is UTF-16 text. Save it as UTF-8."),
    (b"PK\x03\x04", "is a zip archive or a spreadsheet. Save its table as CSV."),
)


class ByteStream(Protocol):
    """What `ByteSource` reads from."""

    def read(self, size: int, /) -> bytes:
        """Return at most `size` bytes, all if it is negative, none at the end."""


class ByteSource:
    """The bytes of an open file, decompressed if needed.

    `magic` holds the first four bytes, which identify the kind of file. `is_file` says that the
    bytes are those of the file `path`: it is neither compressed nor the standard input.
    """

    def __init__(self, path: Path, raw: io.BufferedReader, is_file: bool = True) -> None:
        self.path, self.is_file = path, is_file
        self._stream: ByteStream = raw
        self._is_packed = False
        first = self._translate_errors(lambda: raw.peek(6))
        for magic, decompress in _DECOMPRESSORS:
            if first.startswith(magic):
                self._stream, self.is_file, self._is_packed = decompress(raw), False, True
        self._ahead = self._read_stream(4)
        self.magic = self._ahead

    @property
    def is_parquet(self) -> bool:
        """Whether the first bytes or the name are those of a Parquet file."""
        return self.magic == b"PAR1" or self.path.suffix.lower() in (".parquet", ".pq")

    def read(self, size: int) -> bytes:
        """Return the next `size` bytes, or fewer at the end of the file."""
        ahead, self._ahead = self._ahead[:size], self._ahead[size:]
        return ahead + self._read_stream(size - len(ahead)) if len(ahead) < size else ahead

    def read_all(self, limit: int | None = None) -> bytes:
        """Return all remaining bytes; raise `FileError` if there are more than the limit.

        The limit is half of the memory, if it is not given.
        """
        most = _find_memory_limit() if limit is None else limit
        content = io.BytesIO()
        content.write(self._ahead)
        self._ahead = b""
        while part := self._read_stream(CHUNK_BYTES):
            if content.write(part) and content.tell() > most:
                raise self._make_size_error(most, limit is None)
        return content.getvalue()

    def peek(self, size: int) -> bytes:
        """Return the next `size` bytes, or fewer at the end of the file, and keep them."""
        part = self.read(size)
        self.unread(part)
        return part

    def replace_stream(self, make_stream: Callable[[ByteStream], ByteStream]) -> None:
        """Read from a new stream, which can read all remaining bytes of this source."""
        old = _Remainder(self._ahead, self._stream)
        self._stream, self._ahead, self.is_file = make_stream(old), b"", False

    def unread(self, part: bytes) -> None:
        """Push bytes back; the next read returns them again."""
        self._ahead = part + self._ahead

    def read_text(self, size: int) -> bytes:
        """Return the next `size` bytes; raise `FileError` if they cannot be text."""
        part = self.read(size)
        self.check_text(part)
        return part

    def check_text(self, data: bytes) -> None:
        """Raise `FileError` if bytes cannot be text."""
        if b"\0" in data:
            raise FileError(
                f"{str(self.path)!r} holds zero bytes, so it is not a table in text form. "
                "Save it as CSV in UTF-8."
            )

    def skip_bom(self) -> None:
        """Skip the UTF-8 byte order mark (BOM); raise `FileError` for other encodings and kinds."""
        for magic, message in _UNSUPPORTED_KINDS:
            if self.magic.startswith(magic):
                raise FileError(f"{str(self.path)!r} {message}")
        self._ahead = self._ahead.removeprefix(_UTF8_BOM)

    def _read_stream(self, size: int) -> bytes:
        return self._translate_errors(lambda: self._stream.read(size))

    def _translate_errors(self, read: Callable[[], bytes]) -> bytes:
        """Return what `read` returns; raise `FileError` in place of its errors."""
        try:
            return read()
        except FileError:  # of a stream inside this one
            raise
        except EOFError:
            raise FileError(
                f"{str(self.path)!r} ends in the middle of its compressed data. "
                "Copy or download it again."
            ) from None
        except _DAMAGES:
            raise self._make_damage_error() from None
        except OSError as error:
            if self._is_packed and error.errno is None:  # of bzip2 and zstd
                raise self._make_damage_error() from None
            raise _make_read_error(self.path, error) from None

    def _make_size_error(self, limit: int, is_memory: bool) -> FileError:
        way_out = (
            "which do not fit into memory. Save the table as Parquet and learn with shards= "
            "(--shards DIR)"
            if is_memory
            else "and a file of this kind may have no more"
        )
        return FileError(f"{str(self.path)!r} holds more than {format_bytes(limit)}, {way_out}.")

    def _make_damage_error(self) -> FileError:
        path = str(self.path)
        return FileError(f"{path!r} has damaged compressed data. Copy or download it again.")


class _Remainder:
    """The bytes that were read ahead, then those of a stream."""

    def __init__(self, ahead: bytes, stream: ByteStream) -> None:
        self._ahead, self._stream = ahead, stream

    def read(self, size: int, /) -> bytes:
        """Return at most `size` bytes, all if it is negative, none at the end."""
        if size < 0:
            part, self._ahead = self._ahead + self._stream.read(-1), b""
        elif self._ahead:
            part, self._ahead = self._ahead[:size], self._ahead[size:]
        else:
            part = self._stream.read(size)
        return part


def check_path(path: Any, name: str, owner: str, expected: str = "a path") -> None:
    """Raise `ParameterError` unless a parameter is a path."""
    if not isinstance(path, str | os.PathLike):
        raise bad_parameter(name, owner, expected, path)


@contextlib.contextmanager
def open_input(path: Path) -> Iterator[ByteSource]:
    """Open a file for reading, or the standard input if the path is ``-``."""
    if str(path) != "-":
        with open_source(path) as source:
            yield source
        return
    stream = getattr(sys.stdin, "buffer", None)
    if stream is None:
        raise FileError("The standard input cannot be read as bytes. Give the path of a file.")
    raw = stream if isinstance(stream, io.BufferedReader) else io.BufferedReader(stream)
    yield ByteSource(STDIN, raw, is_file=False)


@contextlib.contextmanager
def open_source(path: Path) -> Iterator[ByteSource]:
    """Open a file for reading; raise `FileError` if that fails.

    >>> with open_source(Path("no_such_file.csv")):
    ...     pass
    Traceback (most recent call last):
    coevo.errors.FileError: There is no file 'no_such_file.csv'.
    """
    try:
        raw = path.open("rb")
    except (FileNotFoundError, ValueError):  # ValueError: an invalid file name
        raise FileError(f"There is no file {str(path)!r}.{_suggest_similar_file(path)}") from None
    except IsADirectoryError:
        raise make_folder_error(path) from None
    except OSError as error:
        # Some systems report a folder as missing permission.
        raise (
            make_folder_error(path) if os.path.isdir(path) else _make_read_error(path, error)
        ) from None
    with raw:
        yield ByteSource(path, raw)


def is_stream(path: Path) -> bool:
    """Return whether a path is a pipe or a device, which can be read only once."""
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _find_memory_limit() -> int:
    """Return how many bytes of a table may be read at once: half of the memory."""
    return (get_machine_memory() or MAX_TEXT_BYTES) // 2


def _suggest_similar_file(path: Path) -> str:
    """Return a hint that names a similar file in the same folder, if there is one."""
    try:
        names = sorted(entry.name for entry in path.parent.iterdir())
    except (OSError, ValueError):
        return ""
    return suggest_match(path.name, names)


def _make_read_error(path: Path, error: OSError) -> FileError:
    return FileError(f"{str(path)!r} cannot be read: {error.strerror or error}.")


# Parse JSON that anyone may have written, with errors of one kind.
#
# Python's parser raises `RecursionError` for lists in lists in lists, or returns a value that
# later code cannot print. It also returns integers of hundreds of digits, which no float can hold.
# `load_json` raises `ValueError` for both.


MAX_DEPTH = 100  # of lists and objects in each other
MAX_DIGITS = 300  # of an integer; a float can hold 308
_STEPS = dict.fromkeys(b"[{", 1) | dict.fromkeys(b"]}", -1)
_OTHERS = bytes(set(range(256)) - _STEPS.keys())
_STRING = re.compile(r'"(?:[^"\\]|\\.)*+"?', re.DOTALL)


def load_json(
    text: str,
    build_object: Callable[[list[tuple[str, Any]]], Any] | None = None,
    parse_constant: Callable[[str], Any] | None = None,
) -> Any:
    """Return the value of a JSON text; raise `ValueError` if there is none.

    `build_object` and `parse_constant` are the hooks of `json.loads`.

    >>> load_json('{"a": [1, 2.5]}')
    {'a': [1, 2.5]}
    >>> load_json("[" * 1000 + "]" * 1000)
    Traceback (most recent call last):
    ValueError: it is nested more than 100 deep
    """
    # Brackets in strings do not nest. They are removed only if they could change the answer.
    if _measure_depth(text) > MAX_DEPTH and _measure_depth(_STRING.sub("", text)) > MAX_DEPTH:
        raise ValueError(f"it is nested more than {MAX_DEPTH} deep")
    return json.loads(
        text, object_pairs_hook=build_object, parse_int=_parse_int, parse_constant=parse_constant
    )


def _measure_depth(text: str) -> int:
    """Return how deep the brackets of a text are nested, those in strings included."""
    brackets = text.encode("utf-8", "surrogatepass").translate(None, _OTHERS)
    return max(accumulate(map(_STEPS.__getitem__, brackets)), default=0)


def _parse_int(digits: str) -> int:
    if len(digits) > MAX_DIGITS:
        raise ValueError(
            f"it holds an integer of {len(digits):,} digits; the longest may have {MAX_DIGITS}"
        )
    return int(digits)
