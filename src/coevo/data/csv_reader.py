"""Text tables, compressed or not, as columns of codes.

The file is read in pieces of a few megabytes. Each goes through the kernel `tokenize`,
which leaves one code a cell behind; the unfinished record at the end of a piece is put
before the next one. Memory is therefore one or two bytes a cell plus the distinct labels,
and no cell ever becomes a Python object.

Text is kept exactly as it stands, with its spaces. A label is decoded once, however often
it occurs.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from coevo.data import csv_kernels as k
from coevo.data.columns import Column
from coevo.data.csv_dialect import HEAD_BYTES, detect_delimiter
from coevo.data.csv_fields import CsvField
from coevo.data.label_store import LabelStore
from coevo.data.read_options import ReadOptions
from coevo.errors import DataError
from coevo.files import ByteSource

__all__ = ["CHUNK_BYTES", "read_csv"]

Spans = NDArray[np.int32]  # (n_fields, n_rows), a place or a length in the buffer

CHUNK_BYTES = 4 << 20
MAX_RECORD_BYTES = 64 << 20  # a longer one is a quote that nobody closed
_DELIMITER_HINT = " Fields are separated by a comma, a semicolon, a tab or '|'."


def read_csv(
    source: ByteSource, request: ReadOptions, chunk_bytes: int = CHUNK_BYTES
) -> list[Column]:
    """Read the columns of a text table that is open at its start."""
    return _CsvReader(source, request, chunk_bytes).columns()


class _CsvReader:
    """One pass over one file."""

    def __init__(self, source: ByteSource, request: ReadOptions, chunk_bytes: int) -> None:
        self._source, self._request, self._chunk_bytes = source, request, chunk_bytes
        self._path: Path = source.path
        source.skip_bom()
        self._buffer: NDArray[np.uint8] = np.zeros(0, dtype=np.uint8)
        self._cursor: NDArray[np.int64] = np.zeros(k.CURSOR_SIZE, dtype=np.int64)
        self._names = self._read_header()

    def columns(self) -> list[Column]:
        """Read all rows and return the columns to keep."""
        request, names = self._request, self._names
        kept = request.kept(names, _DELIMITER_HINT if len(names) == 1 else "")
        fields = [CsvField(names[i], request, self._not_utf8) for i in kept]
        for starts, lengths in self._pieces(len(names)):
            for i, field in zip(kept, fields, strict=True):
                field.add(self._buffer, starts[i], lengths[i])
        return [field.column() for field in fields]

    def _pieces(self, n_fields: int) -> Iterator[tuple[Spans, Spans]]:
        """Yield start and length of each field, (n_fields, n_rows), a piece at a time."""
        while not self._cursor[k.FINAL]:
            self._refill()
            # A field has at least one byte with its delimiter, but for the last of a file.
            n_rows = len(self._buffer) // n_fields + 1
            starts, lengths = self._split(n_fields, n_rows)
            yield starts, lengths

    def _split(self, n_fields: int, n_rows: int) -> tuple[Spans, Spans]:
        """Return start and length of the fields of up to `n_rows` complete records."""
        starts = np.empty((n_fields, n_rows), dtype=np.int32)
        lengths = np.empty((n_fields, n_rows), dtype=np.int32)
        self._cursor[k.ROW] = 0
        status = k.split(self._buffer, self._cursor, starts, lengths)
        if status == k.RAGGED:
            raise self._ragged(int(self._cursor[k.LINE]), int(self._cursor[k.FIELD]), n_fields)
        if status == k.UNCLOSED:
            raise self._unclosed(int(self._cursor[k.FIELD]))
        found = int(self._cursor[k.ROW])
        return starts[:, :found], lengths[:, :found]

    def _refill(self) -> None:
        """Put the next piece of the file behind the unfinished record."""
        rest = self._buffer[int(self._cursor[k.POSITION]) :]
        if len(rest) > MAX_RECORD_BYTES:
            raise self._unclosed(int(self._cursor[k.LINE]))
        # A long record is read again with each piece, so that the pieces must grow with it.
        piece = self._source.read_text(max(self._chunk_bytes, len(rest)))
        self._set_buffer(np.concatenate([rest, np.frombuffer(piece, dtype=np.uint8)]), not piece)

    def _set_buffer(self, buffer: NDArray[np.uint8], is_final: bool) -> None:
        self._buffer = buffer
        self._cursor[k.POSITION], self._cursor[k.STOP] = 0, len(buffer)
        self._cursor[k.FINAL] = is_final

    def _read_header(self) -> list[str]:
        """Read the names, and leave the source at the first row."""
        head = self._source.read_text(HEAD_BYTES)
        more = self._source.read_text(1)
        if not head.strip(b"\r\n"):
            raise DataError(f"{str(self._path)!r} is empty. It needs a header and rows below it.")
        delimiter, n_fields = detect_delimiter(head, is_whole=not more)
        self._cursor[k.DELIMITER], self._cursor[k.LINE] = ord(delimiter), 1
        self._set_buffer(np.frombuffer(head, dtype=np.uint8).copy(), not more)
        starts, lengths = self._split(n_fields, 1)
        if not starts.size:
            raise DataError(
                f"The header of {str(self._path)!r} does not end within {HEAD_BYTES:,} bytes. "
                "Look for a quote that is not closed."
            )
        self._source.unread(head[int(self._cursor[k.POSITION]) :] + more)
        names = LabelStore()
        codes = np.zeros(n_fields, dtype=np.uint16)
        names.encode(self._buffer, starts[:, 0].copy(), lengths[:, 0].copy(), codes)
        self._set_buffer(self._buffer[:0], False)
        texts = names.texts()
        return [self._name(texts[code]) for code in codes.tolist()]

    def _name(self, text: bytes) -> str:
        try:
            return text.decode()
        except UnicodeDecodeError:
            raise self._not_utf8("A name in the header", text) from None

    def _not_utf8(self, place: str, text: bytes) -> DataError:
        shown = text if len(text) <= 40 else text[:40] + b"..."
        name = str(self._path)
        return DataError(
            f"{place} of {name!r} is not UTF-8 text: {shown!r}. Save the file as UTF-8, for "
            "example with: iconv -f ISO-8859-1 -t UTF-8"
        )

    def _ragged(self, line: int, n_fields: int, expected: int) -> DataError:
        fields = "1 field" if n_fields == 1 else f"{n_fields:,} fields"
        return DataError(
            f"Line {line:,} of {str(self._path)!r} has {fields}; its header has {expected:,}. "
            "Correct the line, or put quotes around text that holds the delimiter "
            f"{chr(int(self._cursor[k.DELIMITER]))!r}."
        )

    def _unclosed(self, line: int) -> DataError:
        return DataError(
            f"A quote that opens in line {line:,} of {str(self._path)!r} is never closed. "
            "Close it, or put the text in quotes and double the quotes inside."
        )
