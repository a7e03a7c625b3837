"""The fields of a text table: bytes to fields, fields to codes or numbers.

One column of a text table while it is read: codes of labels, or numbers.

A column has at most 65,535 labels. A column of measurements can have more distinct values. If
the caller wants bins, the reader then stores the column as numbers, and creates its labels from
the numbers. A few cells that are no numbers become missing values, and the column names them
(`Column.strays`). A column of text with more labels is an error, or the reader gives it up
(`Column.overflow`) if it is lenient.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coevo.data.columns import Column, Stray, make_overflow_error
from coevo.data.labels import MISSING_LABELS, NumberLabels, find_decimal, parse_numbers
from coevo.data.prepare.missing_labels import looks_like_code
from coevo.data.read.csv_layout import LabelDecoder
from coevo.data.read_options import ReadPlan
from coevo.engine import INT, Structure, array, kernel, read_array

__all__ = [
    "BLOCK_ROWS",
    "ENCODING_ERRORS",
    "MAX_STRAYS",
    "CsvBlock",
    "CsvField",
    "LabelStore",
    "LabelTable",
    "RowTexts",
    "encode",
    "insert_labels",
    "parse_label_values",
    "render_uint8",
    "render_uint16",
    "split",
]


# A block of rows of a text table, with the exact text of every cell.
#
# A block stores the distinct texts of each column once, and a code for each row. The CSV reader
# yields blocks and the CSV writer writes them, so that a table can be copied with some of its
# cells replaced. The copy is UTF-8; half of a surrogate pair, which UTF-8 cannot hold, is ``?``.


# A column of a block has at most one text per row. One replacement of all texts can double the
# number of texts, and 16-bit codes still suffice.
BLOCK_ROWS = 1 << 15
ENCODING_ERRORS = "replace"


@dataclass(frozen=True, slots=True)
class CsvBlock:
    """Some rows of a text table.

    Attributes
    ----------
    labels : list of list of str
        The distinct texts of each column.
    codes : array of int, (n_columns, n_rows)
        For each cell an index into the texts of its column.

    Examples
    --------
    >>> block = CsvBlock.from_texts([["no", "yes", "no"], ["1", "?", "?"]])
    >>> block.replace_texts(1, np.array([2]), ["7"])
    >>> block.list_texts(1)
    ['1', '?', '7']
    """

    labels: list[list[str]]
    codes: NDArray[np.uint16]

    @classmethod
    def from_texts(cls, columns: Sequence[Sequence[str]]) -> CsvBlock:
        """Return a block of columns of text, at most `BLOCK_ROWS` rows."""
        labels = [list(dict.fromkeys(column)) for column in columns]
        codes = np.empty((len(columns), len(columns[0])), dtype=np.uint16)
        for i, column in enumerate(columns):
            code_of = {label: code for code, label in enumerate(labels[i])}
            codes[i] = [code_of[text] for text in column]
        return cls(labels, codes)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.codes.shape[1])

    def list_texts(self, column: int) -> list[str]:
        """Return the text of each cell of a column."""
        labels = self.labels[column]
        return [labels[code] for code in self.codes[column].tolist()]

    def replace_texts(self, column: int, rows: NDArray[np.intp], texts: Sequence[str]) -> None:
        """Replace the texts of some rows of a column, in place."""
        labels = self.labels[column]
        code_of = {label: code for code, label in enumerate(labels)}
        for text in texts:
            if text not in code_of:
                code_of[text] = len(labels)
                labels.append(text)
        self.codes[column, rows] = [code_of[text] for text in texts]


# The kernels of CSV: bytes to fields, fields to codes, and codes back to bytes; see engine/csv.h.
#
# `split` stores the position of every field, `encode` turns the fields of one column into codes,
# and `render` writes codes as text. No cell becomes a Python object.


# The status that `split` returns.
MORE = 1  # it needs more bytes, or space for more rows
RAGGED = 2  # a record and the header have different numbers of fields
UNCLOSED = 3  # the file ends inside quotes

# The entries of the cursor of `split`. POSITION to STOP is the rest of the buffer; FINAL says
# that the file ends at STOP. LINE is the line of the next record. FIELD explains an error: it is
# the number of fields, or the line of an unclosed quote.
POSITION, STOP, FINAL, DELIMITER, ROW, LINE, FIELD, CURSOR_SIZE = range(8)

MAX_LABELS = 65_535  # codes have 16 bits
MAX_POINT = 1 << 30  # the hash of a table of labels draws a point below it


class LabelTable(Structure):
    """The labels of one column."""

    slots: NDArray[np.int32] = array(np.int32)  # a power of two: label + 1, or 0 for empty
    hashes: NDArray[np.int64] = array(np.int64)  # (n,), the hash of each label
    starts: NDArray[np.int64] = array(np.int64)  # (n + 1,), where each label starts in the pool
    pool: NDArray[np.uint8] = array(np.uint8)
    count: NDArray[np.int64] = array(np.int64)  # number of labels, and the point of the hash


class RowTexts(Structure):
    """The bytes of the text of each code, with what follows it, and the bytes of the lines.

    The text of code k of variable v is ``pool[starts[t]:starts[t + 1]]`` with
    ``t = first_text[v] + k``; it ends with its delimiter or line end. The rows of
    `first_text` are pairs of variable and first text, in the order of output.
    """

    first_text: NDArray[np.int64] = read_array(np.int64, 2)
    starts: NDArray[np.int64] = read_array(np.int64)
    pool: NDArray[np.uint8] = read_array(np.uint8)
    out: NDArray[np.uint8] = array(np.uint8)  # with room for the longest lines that can occur


@kernel(read_array(np.uint8), array(np.int64), array(np.int32, 2), array(np.int32, 2), returns=INT)
def split(
    buffer: NDArray[np.uint8],
    cursor: NDArray[np.int64],
    starts: NDArray[np.int32],
    lengths: NDArray[np.int32],
) -> int:
    """Overwrite `starts` and `lengths`, both (n_fields, n_rows), with the next records.

    A negative length means that quotes must still be removed from the field. The cursor moves to
    the end of the last complete record. If a record is invalid, the cursor stays before it.
    """
    raise NotImplementedError


@kernel(
    array(np.uint8), read_array(np.int32), array(np.int32), INT, LabelTable, array(np.uint16),
    returns=INT,
)  # fmt: skip
def encode(
    buffer: NDArray[np.uint8],
    starts: NDArray[np.int32],
    lengths: NDArray[np.int32],
    first: int,
    table: LabelTable,
    codes: NDArray[np.uint16],
) -> int:
    """Overwrite ``codes[first:]`` with the codes of fields; add new labels to `table`.

    Return the number of encoded rows, which is less than the number of rows if the table is
    full. Remove the quotes of fields in place, in `buffer` and `lengths`.
    """
    raise NotImplementedError


@kernel(LabelTable)
def insert_labels(table: LabelTable) -> None:
    """Insert all labels into empty slots, after the table has grown."""


@kernel(read_array(np.uint8, 2), read_array(np.int64), RowTexts, returns=INT)
def render_uint8(codes: NDArray[np.uint8], rows: NDArray[np.int64], texts: RowTexts) -> int:
    """Write rows of text into `out` of `texts` and return the number of bytes written."""
    raise NotImplementedError


@kernel(read_array(np.uint16, 2), read_array(np.int64), RowTexts, returns=INT)
def render_uint16(codes: NDArray[np.uint16], rows: NDArray[np.int64], texts: RowTexts) -> int:
    """Write rows of text as `render_uint8` does, from codes of two bytes."""
    raise NotImplementedError


# The distinct labels of one column of a text table.
#
# The kernel `encode` fills the arrays of a store and returns if one of them is full. The store
# then enlarges its arrays. `list_labels` returns the labels as bytes.


INITIAL_LABELS = 16  # most columns have fewer states
INITIAL_BYTES = 256


class LabelStore:
    """Distinct labels in the order of first occurrence; the code of a label is its position.

    >>> store = LabelStore()
    >>> buffer = np.frombuffer(b"no,yes,no", dtype=np.uint8).copy()
    >>> codes = np.zeros(3, dtype=np.uint16)
    >>> starts, lengths = np.array([[0, 3, 7], [2, 3, 2]], dtype=np.int32)
    >>> store.encode(buffer, starts, lengths, codes)
    3
    >>> codes.tolist(), store.list_labels()
    ([0, 1, 0], [b'no', b'yes'])
    """

    def __init__(self) -> None:
        self._table = LabelTable(
            slots=np.zeros(4 * INITIAL_LABELS, dtype=np.int32),  # few of them collide
            hashes=np.zeros(INITIAL_LABELS, dtype=np.int64),
            starts=np.zeros(INITIAL_LABELS + 1, dtype=np.int64),
            pool=np.zeros(INITIAL_BYTES, dtype=np.uint8),
            count=np.array([0, secrets.randbelow(MAX_POINT)], dtype=np.int64),
        )

    def __len__(self) -> int:
        return int(self._table.count[0])

    def encode(
        self,
        buffer: NDArray[np.uint8],
        starts: NDArray[np.int32],
        lengths: NDArray[np.int32],
        codes: NDArray[np.uint16],
    ) -> int:
        """Overwrite `codes` with the codes of fields; return the number of encoded fields.

        It is less than the number of fields if the store reaches its maximum of labels.
        """
        done = 0
        while True:
            done = encode(buffer, starts, lengths, done, self._table, codes)
            if done == len(codes) or len(self) == MAX_LABELS:
                return done
            self._grow(int(lengths[done]))

    def list_labels(self) -> list[bytes]:
        """Return the labels in the order of their codes."""
        pool = self._table.pool.tobytes()
        starts = self._table.starts[: len(self) + 1].tolist()
        return [pool[a:b] for a, b in pairwise(starts)]

    def _grow(self, n_bytes: int) -> None:
        """Double the space for labels if it is used up; add space for a label of `n_bytes`."""
        old, n = self._table, len(self)
        used = int(old.starts[n])
        pool = old.pool
        if used + n_bytes > len(pool):
            pool = _extend(pool, used + n_bytes)
        if n < len(old.hashes):
            self._table = LabelTable(old.slots, old.hashes, old.starts, pool, old.count)
        else:
            hashes, starts = _extend(old.hashes, n), _extend(old.starts, n)
            slots = np.zeros(2 * len(old.slots), dtype=np.int32)
            self._table = LabelTable(slots, hashes, starts, pool, old.count)
            insert_labels(self._table)


def _extend(values: NDArray[Any], n_more: int) -> NDArray[Any]:
    """Return a copy with zeros at its end."""
    return np.concatenate([values, np.zeros(n_more, dtype=values.dtype)])


MAX_STRAYS = 50  # distinct labels that are no numbers; more are no slips


def parse_label_values(
    labels: Sequence[str | None],
) -> tuple[NDArray[np.float64], list[int]] | None:
    """Return the value of each label of a column with very many labels, and the codes of strays.

    NaN stands for a missing value. None if too many labels are no numbers.
    """
    numbers = parse_numbers(labels)
    if numbers is not None:
        return numbers, []
    values = np.full(len(labels), np.nan)
    strays: list[int] = []
    for code, label in enumerate(labels):
        own = parse_numbers([label])
        if own is not None:
            values[code] = own[0]
        elif len(strays) == MAX_STRAYS or looks_like_code(str(label)):
            return None
        else:
            strays.append(code)
    return values, strays


class CsvField:
    """The fields of one column, encoded chunk by chunk."""

    def __init__(
        self, name: str, options: ReadPlan, decoder: LabelDecoder, is_index: bool = False
    ) -> None:
        self._name, self._decoder = name, decoder
        self._declared = options.states.get(name)
        self._find_missing = options.find_missing
        self._wants_numbers = options.wants_numbers(name) or options.is_lenient or is_index
        self._is_lenient = options.is_lenient or is_index
        self._store = LabelStore()
        self._codes: list[NDArray[np.unsignedinteger]] = []
        self._numbers: list[NDArray[np.float64]] | None = None
        self._start: Column | None = None  # of a column that was given up
        self._strays: dict[str, Stray] = {}

    def add(
        self, buffer: NDArray[np.uint8], starts: NDArray[np.int32], lengths: NDArray[np.int32]
    ) -> None:
        """Add the fields of the next rows."""
        while self._start is None:
            codes = np.empty(len(starts), dtype=np.uint16)
            done = self._store.encode(buffer, starts, lengths, codes)
            part = codes[:done]
            self._codes.append(part.astype(np.uint8) if len(self._store) <= 256 else part)
            if done == len(starts):
                break
            self._convert_to_numbers(self._wants_numbers)
            starts, lengths = starts[done:], lengths[done:]
        if self._numbers is not None:
            self._convert_to_numbers(True)

    def build_column(self) -> Column:
        """Return the column of all rows."""
        if self._start is not None:
            return self._start
        if self._numbers is None:
            labels, codes = self._decode_labels()
            column = Column(self._name, labels, codes, self._declared)
            missing = set(self._find_missing(column))
            kept = [label for code, label in enumerate(labels) if code not in missing]
            if any((label or "").strip() in MISSING_LABELS for label in kept):
                return column  # the caller keeps such a label, so the column holds text
            texts = ["" if code in missing else label for code, label in enumerate(labels)]
            return replace(column, decimal=find_decimal(texts))
        values = np.concatenate(self._numbers)
        distinct, indices = np.unique(values, return_inverse=True)
        fractions = np.flatnonzero(distinct != np.floor(distinct))
        decimal = int(fractions[0]) if len(fractions) else None
        strays = tuple(self._strays[label] for label in sorted(self._strays))
        column = Column(self._name, NumberLabels(distinct), indices, self._declared, decimal)
        return replace(column, strays=strays)

    def _convert_to_numbers(self, is_allowed: bool) -> None:
        """Convert the codes so far to numbers and start again with no labels.

        If that is not allowed, or if a label is not a number, give the column up, or raise
        `DataError`.
        """
        labels, codes = self._decode_labels()
        found = parse_label_values(labels) if is_allowed else None
        if found is not None and len({*self._strays, *(labels[c] for c in found[1])}) <= MAX_STRAYS:
            numbers, strays = found
            self._add_strays(labels, codes, strays)
            self._numbers = [*(self._numbers or []), numbers[codes]]
        else:
            decimal = find_decimal(labels)
            column = Column(self._name, labels, codes, self._declared, decimal, overflow=True)
            if not self._is_lenient:
                raise make_overflow_error(column, is_late=self._numbers is not None)
            self._start, self._numbers = column, None
        self._store, self._codes = LabelStore(), []

    def _add_strays(
        self,
        labels: Sequence[str | None],
        codes: NDArray[np.unsignedinteger],
        strays: Sequence[int],
    ) -> None:
        """Count the labels that are no numbers."""
        n_before = sum(map(len, self._numbers or []))
        for code in strays:
            label, rows = str(labels[code]), np.flatnonzero(codes == code)
            known = self._strays.get(label)
            first = n_before + int(rows[0]) if known is None else known.first_row
            count = len(rows) + (0 if known is None else known.count)
            self._strays[label] = Stray(label, count, first)

    def _decode_labels(self) -> tuple[list[str | None], NDArray[np.unsignedinteger]]:
        """Return the labels as text, and the codes so far."""
        labels: list[str | None] = []
        codes = np.concatenate(self._codes)
        for code, text in enumerate(self._store.list_labels()):
            try:
                labels.append(text.decode())
            except UnicodeDecodeError:
                n_before = sum(map(len, self._numbers or []))
                row = n_before + int(np.argmax(codes == code)) + 1
                place = f"Column {self._name!r} in row {row:,}"
                labels.append(self._decoder.decode(text, place))
        return _merge_labels(labels, codes)


def _merge_labels(
    labels: list[str | None], codes: NDArray[np.unsignedinteger]
) -> tuple[list[str | None], NDArray[np.unsignedinteger]]:
    """Return labels that are all different; two encodings can give the same text."""
    distinct = list(dict.fromkeys(labels))
    if len(distinct) == len(labels):
        return labels, codes
    code_of = {label: code for code, label in enumerate(distinct)}
    recode = np.array([code_of[label] for label in labels], dtype=np.uint16)
    return distinct, recode[codes]
