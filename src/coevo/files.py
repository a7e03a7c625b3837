"""Open files and replace them, with a clear message for every kind of failure.

An input file may be compressed with gzip, bzip2, xz or zstd. Its first bytes decide that, not its
name. The path ``-`` is the standard input for the readers of tables (`open_input`). An output file
is written under a temporary name in the same folder and renamed when it is complete, so that no
reader ever sees half a file.
"""

from __future__ import annotations

import bz2
import contextlib
import gzip
import importlib
import io
import lzma
import os
import re
import secrets
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any, Protocol

from coevo.errors import FileError, import_optional, suggest_match

__all__ = [
    "ByteSource",
    "ByteStream",
    "check_output_path",
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


STDIN = Path("<stdin>")  # how messages name the standard input
_DECOMPRESSORS: tuple[tuple[bytes, Callable[[Any], Any]], ...] = (
    (b"\x1f\x8b", lambda raw: gzip.GzipFile(fileobj=raw, mode="rb")),
    (b"BZh", bz2.BZ2File),
    (b"\xfd7zXZ\0", lzma.LZMAFile),
    (b"\x28\xb5\x2f\xfd", _open_zstd),
)
_DAMAGES = (gzip.BadGzipFile, zlib.error, lzma.LZMAError, zipfile.BadZipFile)
_UTF8_BOM = b"\xef\xbb\xbf"
# The names that `replace_file` uses.
_TEMPORARY_NAME = re.compile(r"\..+\.[0-9a-f]{8}\.tmp", flags=re.DOTALL)
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

    def read_all(self) -> bytes:
        """Return all remaining bytes."""
        ahead, self._ahead = self._ahead, b""
        return ahead + self._read_stream(-1)

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
        if b"\0" in part:
            raise FileError(
                f"{str(self.path)!r} holds zero bytes, so it is not a table in text form. "
                "Save it as CSV in UTF-8."
            )
        return part

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
        raise _make_folder_error(path) from None
    except OSError as error:
        # Some systems report a folder as missing permission.
        raise (
            _make_folder_error(path) if os.path.isdir(path) else _make_read_error(path, error)
        ) from None
    with raw:
        yield ByteSource(path, raw)


def check_output_path(path: Path) -> None:
    """Raise `FileError` if a file with this path cannot be written."""
    if path.is_dir():
        raise _make_folder_error(path)
    if not path.parent.is_dir():
        raise _make_no_folder_error(path)
    if not os.access(path.parent, os.W_OK):
        raise FileError(f"{str(path)!r} cannot be written: its folder is write-protected.")


@contextlib.contextmanager
def replace_file(path: Path) -> Iterator[IO[bytes]]:
    """Open a file for writing under a temporary name; rename it when the block ends.

    If the block raises, the temporary file is removed and an existing file stays as it was.
    """
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        stream = temporary.open("xb")
    except FileNotFoundError:
        raise _make_no_folder_error(path) from None
    except OSError as error:
        raise _make_write_error(path, error) from None
    try:
        with stream:
            yield stream
        os.replace(temporary, path)
    except BaseException as error:
        temporary.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise _make_write_error(path, error) from None
        raise


def remove_temporary_files(folder: Path) -> None:
    """Remove the temporary files of processes that were killed inside `replace_file`."""
    for path in folder.glob(".*.tmp"):
        if _TEMPORARY_NAME.fullmatch(path.name):
            path.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write a text as UTF-8. The file is complete, or it is not written."""
    with replace_file(path) as stream:
        stream.write(text.encode())


def _suggest_similar_file(path: Path) -> str:
    """Return a hint that names a similar file in the same folder, if there is one."""
    try:
        names = sorted(entry.name for entry in path.parent.iterdir())
    except (OSError, ValueError):
        return ""
    return suggest_match(path.name, names)


def _make_folder_error(path: Path) -> FileError:
    return FileError(f"{str(path)!r} is a folder. Name a file in it.")


def _make_no_folder_error(path: Path) -> FileError:
    return FileError(f"{str(path)!r} cannot be written: there is no folder {str(path.parent)!r}.")


def _make_read_error(path: Path, error: OSError) -> FileError:
    return FileError(f"{str(path)!r} cannot be read: {error.strerror or error}.")


def _make_write_error(path: Path, error: OSError) -> FileError:
    return FileError(f"{str(path)!r} cannot be written: {error.strerror or error}.")
