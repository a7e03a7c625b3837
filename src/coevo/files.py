"""Opening and replacing files, with a sentence for each way in which that can fail.

A table may be compressed; that is decided by its first bytes, not by its name. What is
written goes to a temporary name beside the target and takes its place only once it is
complete, so that nobody ever reads half a file.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import os
import re
import secrets
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from coevo.errors import FileError, suggestion

__all__ = [
    "ByteSource",
    "check_folder",
    "open_source",
    "remove_leftovers",
    "replacing",
    "write_text",
]

_GZIP = b"\x1f\x8b"
_UTF8_MARK = b"\xef\xbb\xbf"
_LEFTOVER = re.compile(r"\..+\.[0-9a-f]{8}\.tmp", flags=re.DOTALL)  # the names of `replacing`
# The four bytes of UTF-32 start with the two of UTF-16, so they come first.
_OTHER_KINDS = (
    (b"\xff\xfe\x00\x00", "is UTF-32 text. Save it as UTF-8."),
    (b"\x00\x00\xfe\xff", "is UTF-32 text. Save it as UTF-8."),
    (b"\xff\xfe", "is UTF-16 text. Save it as UTF-8."),
    (b"\xfe\xff", "is UTF-16 text. Save it as UTF-8."),
    (b"PK\x03\x04", "is a zip archive or a spreadsheet. Save its table as CSV."),
)


class ByteSource:
    """The bytes of an open file, decompressed where needed.

    `magic` holds the first bytes, by which kinds of file are told apart.
    """

    def __init__(self, path: Path, raw: io.BufferedReader) -> None:
        self.path = path
        self._stream: io.BufferedReader | gzip.GzipFile = raw
        if self._peeked(raw)[:2] == _GZIP:
            self._stream = gzip.GzipFile(fileobj=raw, mode="rb")
        self._ahead = self._pull(4)
        self.magic = self._ahead

    @property
    def is_parquet(self) -> bool:
        """Whether this is a Parquet file, by its first bytes or its name."""
        return self.magic == b"PAR1" or self.path.suffix.lower() in (".parquet", ".pq")

    def read(self, size: int) -> bytes:
        """Return up to `size` more bytes; none at the end of the file."""
        ahead, self._ahead = self._ahead[:size], self._ahead[size:]
        return ahead + self._pull(size - len(ahead)) if len(ahead) < size else ahead

    def read_all(self) -> bytes:
        """Return all bytes that are left."""
        ahead, self._ahead = self._ahead, b""
        return ahead + self._pull(-1)

    def unread(self, part: bytes) -> None:
        """Put bytes back, to be read again."""
        self._ahead = part + self._ahead

    def read_text(self, size: int) -> bytes:
        """Return up to `size` more bytes of text; refuse what cannot be text."""
        part = self.read(size)
        if b"\0" in part:
            raise FileError(
                f"{str(self.path)!r} holds zero bytes, so it is not a table in text form. "
                "Save it as CSV in UTF-8."
            )
        return part

    def skip_bom(self) -> None:
        """Skip the mark that some programs put before UTF-8 text; refuse other kinds."""
        for start, sentence in _OTHER_KINDS:
            if self.magic.startswith(start):
                raise FileError(f"{str(self.path)!r} {sentence}")
        self._ahead = self._ahead.removeprefix(_UTF8_MARK)

    def _peeked(self, raw: io.BufferedReader) -> bytes:
        try:
            return raw.peek(2)
        except OSError as error:
            raise _unreadable(self.path, error) from None

    def _pull(self, size: int) -> bytes:
        try:
            return self._stream.read(size)
        except EOFError:
            raise FileError(
                f"{str(self.path)!r} ends in the middle of its compressed data. "
                "Copy or download it again."
            ) from None
        except (gzip.BadGzipFile, zlib.error):
            raise FileError(
                f"{str(self.path)!r} has damaged compressed data. Copy or download it again."
            ) from None
        except OSError as error:
            raise _unreadable(self.path, error) from None


@contextlib.contextmanager
def open_source(path: Path) -> Iterator[ByteSource]:
    """Open a file for reading, or say why that cannot be done.

    >>> with open_source(Path("no_such_file.csv")):
    ...     pass
    Traceback (most recent call last):
    coevo.errors.FileError: There is no file 'no_such_file.csv'.
    """
    try:
        raw = path.open("rb")
    except (FileNotFoundError, ValueError):  # ValueError: a name that no file can have
        raise FileError(f"There is no file {str(path)!r}.{_similar(path)}") from None
    except IsADirectoryError:
        raise _is_folder(path) from None
    except OSError as error:
        # Some systems report a folder as a lack of permission.
        raise (_is_folder(path) if os.path.isdir(path) else _unreadable(path, error)) from None
    with raw:
        yield ByteSource(path, raw)


def check_folder(path: Path) -> None:
    """Raise `FileError` unless a file of this name could be written."""
    if path.is_dir():
        raise _is_folder(path)
    if not path.parent.is_dir():
        raise _no_folder(path)
    if not os.access(path.parent, os.W_OK):
        raise FileError(f"{str(path)!r} cannot be written: its folder is write-protected.")


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """Write a file under a temporary name and rename it once it is complete."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        stream = temporary.open("xb")
    except FileNotFoundError:
        raise _no_folder(path) from None
    except OSError as error:
        raise _unwritable(path, error) from None
    try:
        with stream:
            yield stream
        os.replace(temporary, path)
    except BaseException as error:
        temporary.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise _unwritable(path, error) from None
        raise


def remove_leftovers(folder: Path) -> None:
    """Remove what processes that were killed while they replaced a file have left of it."""
    for path in folder.glob(".*.tmp"):
        if _LEFTOVER.fullmatch(path.name):
            path.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write a text as UTF-8, whole or not at all."""
    with replacing(path) as stream:
        stream.write(text.encode())


def _similar(path: Path) -> str:
    """Return a question that names a similar file of the same folder, if there is one."""
    try:
        names = sorted(entry.name for entry in path.parent.iterdir())
    except (OSError, ValueError):
        return ""
    return suggestion(path.name, names)


def _is_folder(path: Path) -> FileError:
    return FileError(f"{str(path)!r} is a folder. Name a file in it.")


def _no_folder(path: Path) -> FileError:
    return FileError(f"{str(path)!r} cannot be written: there is no folder {str(path.parent)!r}.")


def _unreadable(path: Path, error: OSError) -> FileError:
    return FileError(f"{str(path)!r} cannot be read: {error.strerror or error}.")


def _unwritable(path: Path, error: OSError) -> FileError:
    return FileError(f"{str(path)!r} cannot be written: {error.strerror or error}.")
