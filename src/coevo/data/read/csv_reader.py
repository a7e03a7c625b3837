"""Read text tables: detect the layout, split and encode the file chunk by chunk.

The kernel `split` finds the fields in a chunk; the kernel `encode` turns them into codes. An
incomplete record at the end of a chunk is moved to the start of the next chunk. A table takes one
or two bytes per cell plus its distinct labels; no cell becomes a Python object. Python handles
only the lines with another number of fields than the header (`coevo.data.read.csv_start`).

The text of a cell is not changed; spaces are part of it. Each distinct label is decoded once.

`read_csv` returns columns for a `Dataset`. `CsvReader.iter_blocks` yields the text of the cells,
for a copy of the table (see `coevo.data.write_imputed`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from coevo.data.columns import Column
from coevo.data.decisions import Decision, RawTable
from coevo.data.read import csv_fields as k
from coevo.data.read.csv_fields import BLOCK_ROWS, CsvBlock, CsvField, LabelStore
from coevo.data.read.csv_layout import SPACES, is_comment
from coevo.data.read.csv_start import (
    FOOTER_BYTES,
    HEAD_BYTES,
    Repairs,
    is_footer,
    keep_filled_rows,
    open_text,
)
from coevo.data.read.header_names import clean_names, drop_unnamed
from coevo.data.read_options import ReadPlan
from coevo.data.source_options import DEFAULT_OPENING, SourceOptions
from coevo.errors import DataError
from coevo.files.files import ByteSource
from coevo.runtime.memory import check_memory

__all__ = ["CHUNK_BYTES", "CsvReader", "read_csv"]

Spans = NDArray[np.int32]  # (n_fields, n_rows), a position or a length in the buffer

CHUNK_BYTES = 4 << 20
MAX_RECORD_BYTES = 64 << 20  # a longer record has a quote that is not closed
SKIP_HINT = " Or leave such lines out with bad_rows='skip' (--bad-rows skip)."
BYTES_PER_CELL = 4  # a code of two bytes, and a copy of it
_SHARDS_HINT = "Save it as Parquet and learn with shards= (--shards DIR)."
_DELIMITER_HINT = " Fields are separated by a comma, a semicolon, a tab, '|' or spaces."


def read_csv(source: ByteSource, options: ReadPlan, chunk_bytes: int = CHUNK_BYTES) -> RawTable:
    """Read the columns of a text table; `source` is at the start of the file."""
    return CsvReader(source, options.opening, chunk_bytes).read_table(options)


class CsvReader:
    """One pass over a text table.

    The constructor reads the header. Call one of `read_table` and `iter_blocks`, once. `header` has
    the names as they are in the file, `names` the corrected names.
    """

    def __init__(
        self,
        source: ByteSource,
        opening: SourceOptions = DEFAULT_OPENING,
        chunk_bytes: int = CHUNK_BYTES,
    ) -> None:
        self._source, self._chunk_bytes = source, chunk_bytes
        self._path = source.path
        self._buffer: NDArray[np.uint8] = np.zeros(0, dtype=np.uint8)
        self._cursor: NDArray[np.int64] = np.zeros(k.CURSOR_SIZE, dtype=np.int64)
        self._repairs = Repairs()
        self._opening = opening
        self._start = open_text(source, opening)
        self._layout = self._start.layout
        self._cursor[k.DELIMITER] = ord(self._layout.delimiter)
        self._cursor[k.LINE] = self._layout.line
        self.header = self._read_header()
        self.clean = clean_names(self.header, opening)
        self._repairs.add_layout(self._layout, self._start.decoder)
        self._tail = b""  # the end of the previous chunk

    @property
    def names(self) -> list[str]:
        """The corrected names of all columns."""
        return self.clean.names

    def read_table(self, options: ReadPlan) -> RawTable:
        """Read all rows and return the selected columns, and what was decided."""
        names = self.names
        kept = self.clean.select(options, _DELIMITER_HINT if len(names) == 1 else "")
        decoder, unnamed = self._start.decoder, self.clean.unnamed
        fields = [CsvField(names[i], options, decoder, is_index=i in unnamed) for i in kept]
        keeps_empty = any("" in states for states in options.states.values())
        n_cells = 0
        for starts, lengths in self._iter_chunks(keeps_empty):
            n_cells += starts.shape[1] * len(kept)
            check_memory(BYTES_PER_CELL * n_cells, "The table", _SHARDS_HINT)
            for i, field in zip(kept, fields, strict=True):
                field.add(self._buffer, starts[i], lengths[i])
        columns = [
            self._declare_states(field.build_column(), self.header[i])
            for i, field in zip(kept, fields, strict=True)
        ]
        table = drop_unnamed(columns, self.clean, options)
        return RawTable(table.columns, [*self._list_decisions(), *table.decisions])

    def _declare_states(self, column: Column, name: str) -> Column:
        """Return a column with the states that the file declares for this name, if they suffice."""
        states = self._start.nominal.get(name)
        if states is None or column.declared is not None or column.overflow:
            return column
        labels = {column.labels[code] for code in np.flatnonzero(column.counts).tolist()}
        return replace(column, declared=states) if labels <= {*states, "?"} else column

    def _list_decisions(self) -> list[Decision]:
        """Return what was decided about the file; the names are not part of it."""
        decoder = self._start.decoder
        return [*decoder.decisions, *self._start.decisions, *self._repairs.list_decisions()]

    def iter_blocks(
        self, positions: Sequence[int], keeps_empty_rows: bool = False
    ) -> Iterator[CsvBlock]:
        """Yield the texts of the columns at these positions, up to `BLOCK_ROWS` rows at a time."""
        for starts, lengths in self._iter_chunks(keeps_empty_rows):
            for first in range(0, starts.shape[1], BLOCK_ROWS):
                rows = slice(first, first + BLOCK_ROWS)
                yield self._encode_block(starts[:, rows], lengths[:, rows], positions)

    def _encode_block(self, starts: Spans, lengths: Spans, positions: Sequence[int]) -> CsvBlock:
        codes = np.empty((len(positions), starts.shape[1]), dtype=np.uint16)
        labels = []
        decode = self._start.decoder.decode
        for i, position in enumerate(positions):
            store = LabelStore()
            store.encode(self._buffer, starts[position], lengths[position], codes[i])
            place = f"Column {self.names[position]!r}"
            labels.append([decode(text, place) for text in store.list_labels()])
        return CsvBlock(labels, codes)

    def _iter_chunks(self, keeps_empty_rows: bool) -> Iterator[tuple[Spans, Spans]]:
        """Yield start and length of each field, (n_fields, n_rows), chunk by chunk."""
        n_fields = self._layout.n_fields
        keeps_all = keeps_empty_rows or self._opening.keep_empty_rows
        while not (self._cursor[k.FINAL] and self._cursor[k.POSITION] == self._cursor[k.STOP]):
            self._read_chunk()
            # A field and its delimiter take at least one byte, except for the last of a file.
            n_rows = len(self._buffer) // n_fields + 1
            starts, lengths = self._split(n_fields, n_rows)
            if n_fields > 1 and not keeps_all:
                rows = keep_filled_rows(lengths)
                if rows is not None:
                    self._repairs.n_empty_rows += starts.shape[1] - len(rows)
                    starts = np.ascontiguousarray(starts[:, rows])
                    lengths = np.ascontiguousarray(lengths[:, rows])
            yield starts, lengths
        self._repairs.check_refused(self._path, n_fields)

    def _split(self, n_fields: int, n_rows: int) -> tuple[Spans, Spans]:
        """Return start and length of the fields of up to `n_rows` complete records."""
        starts = np.empty((n_fields, n_rows), dtype=np.int32)
        lengths = np.empty((n_fields, n_rows), dtype=np.int32)
        self._cursor[k.ROW] = 0
        while (status := k.split(self._buffer, self._cursor, starts, lengths)) == k.RAGGED:
            self._repair_record(starts, lengths)
        if status == k.UNCLOSED:
            raise self._make_unclosed_error(int(self._cursor[k.FIELD]))
        n_found = int(self._cursor[k.ROW])
        return starts[:, :n_found], lengths[:, :n_found]

    def _repair_record(self, starts: Spans, lengths: Spans) -> None:
        """Skip the next record, or add it to the rows, though its number of fields is wrong."""
        cursor, n_fields = self._cursor, len(starts)
        n_found, line, position = int(cursor[k.FIELD]), int(cursor[k.LINE]), int(cursor[k.POSITION])
        row = int(cursor[k.ROW])
        found_starts = np.empty((n_found, 1), dtype=np.int32)
        found_lengths = np.empty((n_found, 1), dtype=np.int32)
        cursor[k.ROW] = 0
        k.split(self._buffer, cursor, found_starts, found_lengths)
        cursor[k.ROW] = row
        record = self._buffer[position : int(cursor[k.POSITION])].tobytes()
        text = self._start.decoder.decode(record.strip(), f"Line {line:,}")
        if not text.strip():
            return
        if is_comment([text], self._start.comments):
            self._repairs.comments.add(line)
        elif not self._layout.is_regular:
            raise self._make_ragged_error(line, n_found, n_fields)
        elif self._opening.skipfooter is None and self._is_footer(text, n_found, position):
            self._repairs.footers.add(line, text)
        elif self._opening.bad_rows != "repair":
            is_skipped = self._opening.bad_rows == "skip"
            (self._repairs.skipped_rows if is_skipped else self._repairs.refused_rows).add(line)
        elif n_found < n_fields or not found_lengths[n_fields:].any():
            n = min(n_found, n_fields)
            starts[:n, row], starts[n:, row] = found_starts[:n, 0], 0
            lengths[:n, row], lengths[n:, row] = found_lengths[:n, 0], 0
            cursor[k.ROW] += 1
            (self._repairs.short if n_found < n_fields else self._repairs.long).add(line)
        else:
            raise self._make_ragged_error(line, n_found, n_fields, SKIP_HINT)

    def _is_footer(self, text: str, n_found: int, position: int) -> bool:
        """Return whether the record at `position` and all that follow are below the table."""
        if self._repairs.footers.n:
            return True
        rest = self._buffer[int(self._cursor[k.POSITION]) :].tobytes()
        if len(rest) <= FOOTER_BYTES:
            rest += self._source.peek(FOOTER_BYTES + 1 - len(rest))
        if len(rest) > FOOTER_BYTES:
            return False
        before = self._tail + self._buffer[max(0, position - 4) : position].tobytes()
        after_blank = before.replace(b"\r\n", b"\n").replace(b"\r", b"\n").endswith(b"\n\n")
        return is_footer(text, n_found, rest, self._layout, after_blank)

    def _read_chunk(self) -> None:
        """Append the next chunk of the file to the incomplete record."""
        position = int(self._cursor[k.POSITION])
        rest = self._buffer[position:]
        if len(rest) > MAX_RECORD_BYTES:
            raise self._make_unclosed_error(int(self._cursor[k.LINE]))
        self._tail = (self._tail + self._buffer[max(0, position - 4) : position].tobytes())[-4:]
        # Each chunk parses a long record from its start, so the chunks must grow with it.
        chunk = self._source.read_text(max(self._chunk_bytes, len(rest)))
        self._set_buffer(np.concatenate([rest, np.frombuffer(chunk, dtype=np.uint8)]), not chunk)

    def _set_buffer(self, buffer: NDArray[np.uint8], is_final: bool) -> None:
        self._buffer = buffer
        self._cursor[k.POSITION], self._cursor[k.STOP] = 0, len(buffer)
        self._cursor[k.FINAL] = is_final

    def _read_header(self) -> list[str]:
        """Read the column names, and leave the source at the first row."""
        layout = self._layout
        if layout.n_names == 0:
            texts = [name.encode("latin-1") for name in layout.comment_names]
            names = [self._decode_name(text) for text in texts]
            return names or [f"column_{i + 1}" for i in range(layout.n_fields)]
        head, is_complete = self._start.head, self._start.is_complete
        self._set_buffer(np.frombuffer(head, dtype=np.uint8).copy(), is_complete)
        starts, lengths = self._split(layout.n_names, 1)
        if not starts.size:
            raise DataError(
                f"The header of {str(self._path)!r} does not end within {HEAD_BYTES:,} bytes. "
                "Look for a quote that is not closed."
            )
        self._source.read(int(self._cursor[k.POSITION]))
        found = LabelStore()
        codes = np.zeros(layout.n_names, dtype=np.uint16)
        found.encode(self._buffer, starts[:, 0].copy(), lengths[:, 0].copy(), codes)
        self._set_buffer(self._buffer[:0], False)
        texts = found.list_labels()
        names = [self._decode_name(texts[code]) for code in codes.tolist()]
        padding = [""] * (layout.n_fields - layout.n_names)
        return padding + names if layout.has_row_names else names + padding

    def _decode_name(self, text: bytes) -> str:
        return self._start.decoder.decode(text, "A name in the header")

    def _make_ragged_error(
        self, line: int, n_fields: int, expected: int, hint: str = ""
    ) -> DataError:
        fields = "1 field" if n_fields == 1 else f"{n_fields:,} fields"
        delimiter = SPACES if self._start.has_spaces else self._layout.delimiter
        return DataError(
            f"Line {line:,} of {str(self._path)!r} has {fields}; its header has {expected:,}. "
            f"Correct the line, or put quotes around text that holds the delimiter {delimiter!r}."
            f"{hint}"
        )

    def _make_unclosed_error(self, line: int) -> DataError:
        return DataError(
            f"A quote that opens in line {line:,} of {str(self._path)!r} is never closed. "
            "Close it, or put the text in quotes and double the quotes inside."
        )
