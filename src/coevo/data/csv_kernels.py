"""The kernels of CSV: bytes to fields, fields to codes, and codes back to bytes; see engine/csv.h.

`split` stores the position of every field, `encode` turns the fields of one column into codes, and
`render` writes codes as text. No cell becomes a Python object.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coevo.engine import INT, Structure, array, kernel, read_array

__all__ = [
    "LabelTable",
    "RowTexts",
    "encode",
    "insert_labels",
    "render_uint8",
    "render_uint16",
    "split",
]

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
