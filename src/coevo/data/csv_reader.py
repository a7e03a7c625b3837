"""Read text tables, compressed or not, as columns of codes.

The reader reads the file in chunks of a few megabytes. The kernel `split` finds the fields of a
chunk, and the kernel `encode` turns them into codes. An incomplete record at the end of a chunk
is moved to the start of the next chunk. A table takes one or two bytes per cell plus its
distinct labels; no cell becomes a Python object.

The text of a cell is not changed; spaces are part of it. Each distinct label is decoded once.

`read_csv` returns columns for a `Dataset`. `CsvReader.iter_blocks` yields the exact text of the
cells, for a copy of the table (see `coevo.data.write_imputed`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from coevo.data import csv_kernels as k
from coevo.data.columns import Column
from coevo.data.csv_block import BLOCK_ROWS, ENCODING_ERRORS, CsvBlock
from coevo.data.csv_dialect import HEAD_BYTES, detect_delimiter
from coevo.data.csv_fields import CsvField
from coevo.data.label_store import LabelStore
from coevo.data.read_options import ReadOptions
from coevo.errors import DataError
from coevo.files import ByteSource

__all__ = ["CHUNK_BYTES", "CsvReader", "read_csv"]

Spans = NDArray[np.int32]  # (n_fields, n_rows), a position or a length in the buffer

CHUNK_BYTES = 4 << 20
MAX_RECORD_BYTES = 64 << 20  # a longer record has a quote that is not closed
_DELIMITER_HINT = " Fields are separated by a comma, a semicolon, a tab or '|'."


def read_csv(
    source: ByteSource, options: ReadOptions, chunk_bytes: int = CHUNK_BYTES
) -> list[Column]:
    """Read the columns of a text table; `source` is at the start of the file."""
    return CsvReader(source, chunk_bytes).read_columns(options)


class CsvReader:
    """One pass over a text table; `names` are its column names.

    The constructor reads the header. Call one of `read_columns` and `iter_blocks`, once.
    """

    def __init__(self, source: ByteSource, chunk_bytes: int = CHUNK_BYTES) -> None:
        self._source, self._chunk_bytes = source, chunk_bytes
        self._path: Path = source.path
        source.skip_bom()
        self._buffer: NDArray[np.uint8] = np.zeros(0, dtype=np.uint8)
        self._cursor: NDArray[np.int64] = np.zeros(k.CURSOR_SIZE, dtype=np.int64)
        self.names = self._read_header()

    def read_columns(self, options: ReadOptions) -> list[Column]:
        """Read all rows and return the selected columns."""
        names = self.names
        kept = options.select_columns(names, _DELIMITER_HINT if len(names) == 1 else "")
        fields = [CsvField(names[i], options, self._make_utf8_error) for i in kept]
        for starts, lengths in self._iter_chunks():
            for i, field in zip(kept, fields, strict=True):
                field.add(self._buffer, starts[i], lengths[i])
        return [field.build_column() for field in fields]

    def iter_blocks(self, positions: Sequence[int]) -> Iterator[CsvBlock]:
        """Yield the texts of the columns at these positions, up to `BLOCK_ROWS` rows at a time."""
        for starts, lengths in self._iter_chunks():
            for first in range(0, starts.shape[1], BLOCK_ROWS):
                rows = slice(first, first + BLOCK_ROWS)
                yield self._encode_block(starts[:, rows], lengths[:, rows], positions)

    def _encode_block(self, starts: Spans, lengths: Spans, positions: Sequence[int]) -> CsvBlock:
        codes = np.empty((len(positions), starts.shape[1]), dtype=np.uint16)
        labels = []
        for i, position in enumerate(positions):
            store = LabelStore()
            store.encode(self._buffer, starts[position], lengths[position], codes[i])
            labels.append([text.decode(errors=ENCODING_ERRORS) for text in store.list_labels()])
        return CsvBlock(labels, codes)

    def _iter_chunks(self) -> Iterator[tuple[Spans, Spans]]:
        """Yield start and length of each field, (n_fields, n_rows), chunk by chunk."""
        n_fields = len(self.names)
        while not self._cursor[k.FINAL]:
            self._read_chunk()
            # A field and its delimiter take at least one byte, except for the last of a file.
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
            raise self._make_ragged_error(
                int(self._cursor[k.LINE]), int(self._cursor[k.FIELD]), n_fields
            )
        if status == k.UNCLOSED:
            raise self._make_unclosed_error(int(self._cursor[k.FIELD]))
        n_found = int(self._cursor[k.ROW])
        return starts[:, :n_found], lengths[:, :n_found]

    def _read_chunk(self) -> None:
        """Append the next chunk of the file to the incomplete record."""
        rest = self._buffer[int(self._cursor[k.POSITION]) :]
        if len(rest) > MAX_RECORD_BYTES:
            raise self._make_unclosed_error(int(self._cursor[k.LINE]))
        # Each chunk parses a long record from its start, so the chunks must grow with it.
        chunk = self._source.read_text(max(self._chunk_bytes, len(rest)))
        self._set_buffer(np.concatenate([rest, np.frombuffer(chunk, dtype=np.uint8)]), not chunk)

    def _set_buffer(self, buffer: NDArray[np.uint8], is_final: bool) -> None:
        self._buffer = buffer
        self._cursor[k.POSITION], self._cursor[k.STOP] = 0, len(buffer)
        self._cursor[k.FINAL] = is_final

    def _read_header(self) -> list[str]:
        """Read the column names, and leave the source at the first row."""
        head = self._source.read_text(HEAD_BYTES)
        more = self._source.read_text(1)
        if not head.strip(b"\r\n"):
            raise DataError(f"{str(self._path)!r} is empty. It needs a header and rows below it.")
        delimiter, n_fields = detect_delimiter(head, is_complete=not more)
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
        texts = names.list_labels()
        return [self._decode_name(texts[code]) for code in codes.tolist()]

    def _decode_name(self, text: bytes) -> str:
        try:
            return text.decode()
        except UnicodeDecodeError:
            raise self._make_utf8_error("A name in the header", text) from None

    def _make_utf8_error(self, place: str, text: bytes) -> DataError:
        shown = text if len(text) <= 40 else text[:40] + b"..."
        name = str(self._path)
        return DataError(
            f"{place} of {name!r} is not UTF-8 text: {shown!r}. Save the file as UTF-8, for "
            "example with: iconv -f ISO-8859-1 -t UTF-8"
        )

    def _make_ragged_error(self, line: int, n_fields: int, expected: int) -> DataError:
        fields = "1 field" if n_fields == 1 else f"{n_fields:,} fields"
        return DataError(
            f"Line {line:,} of {str(self._path)!r} has {fields}; its header has {expected:,}. "
            "Correct the line, or put quotes around text that holds the delimiter "
            f"{chr(int(self._cursor[k.DELIMITER]))!r}."
        )

    def _make_unclosed_error(self, line: int) -> DataError:
        return DataError(
            f"A quote that opens in line {line:,} of {str(self._path)!r} is never closed. "
            "Close it, or put the text in quotes and double the quotes inside."
        )
