"""The kernels of CSV: bytes to fields, fields to codes, and codes back to bytes.

`split` walks once over a buffer of bytes and stores the position of every field of each complete
record. `encode` then looks up the fields of one column in a hash table of labels; all labels are
in one pool of bytes. The code of a label is its rank by first occurrence. The kernels decode no
text and create no Python object per cell. A kernel that needs more space returns to Python,
which enlarges the arrays and calls the kernel again.

The rules for quotes are those of Python's `csv` module: a quote has a meaning only at the start
of a field, two quotes inside are one quote, and text after the closing quote is kept.

A hash is a polynomial of the bytes modulo the prime 2^31 - 1, at a point that each table draws for
itself. So nobody can write a file whose labels collide. No step overflows, with or without the JIT.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from coevo.jit import INT, array_of, kernel, part, tuple_of

__all__ = ["LabelTable", "encode", "render", "split"]

# The status that `split` returns.
DONE = 0  # one record is complete (used inside this module only)
MORE = 1  # it needs more bytes, or space for more rows
RAGGED = 2  # a record and the header have different numbers of fields
UNCLOSED = 3  # the file ends inside quotes

# The entries of the cursor of `split`. POSITION to STOP is the rest of the buffer; FINAL says
# that the file ends at STOP. LINE is the line of the next record. FIELD explains an error: it is
# the number of fields, or the line of an unclosed quote.
POSITION, STOP, FINAL, DELIMITER, ROW, LINE, FIELD = range(7)
CURSOR_SIZE = 7

MAX_LABELS = 65_535
_LF, _CR, _QUOTE = 10, 13, 34
_PRIME = 0x7FFFFFFF  # 2^31 - 1


class LabelTable(NamedTuple):
    """The labels of one column, as arrays that a kernel can use."""

    slots: Any  # (a power of two,) int32, open addressing: label + 1, or 0 for empty
    hashes: Any  # (n,) int64, hash of each label
    starts: Any  # (n + 1,) int64, the position of each label in the pool
    pool: Any  # (n_bytes,) uint8
    count: Any  # (2,) int64, number of labels, and the point of the hash (below 2^30)


BYTES, CURSOR, SPANS = array_of(np.uint8), array_of(np.int64), array_of(np.int32)
LABELS = tuple_of(SPANS, CURSOR, CURSOR, BYTES, CURSOR, kind=LabelTable)


@kernel((BYTES, CURSOR, array_of(np.int32, 2), array_of(np.int32, 2)))
def split(buffer: Any, cursor: Any, starts: Any, lengths: Any) -> Any:
    """Overwrite `starts` and `lengths`, both (n_fields, n_rows), with the next records.

    A negative length means that quotes must still be removed from the field. The cursor moves to
    the end of the last complete record. If a record is invalid, the cursor stays before it.
    """
    while cursor[POSITION] < cursor[STOP] and cursor[ROW] < starts.shape[1]:
        status = _split_record(buffer, cursor, starts, lengths)
        if status != DONE:
            return status
    return MORE


@part
def _split_record(buffer: Any, cursor: Any, starts: Any, lengths: Any) -> Any:
    """Split one record, or skip one blank line."""
    i, stop, row = cursor[POSITION], cursor[STOP], cursor[ROW]
    delimiter, final = cursor[DELIMITER], cursor[FINAL] != 0
    field = 0
    n_breaks = 0  # line breaks inside quotes
    while field > 0 or (buffer[i] != _LF and buffer[i] != _CR):
        start, length = i, -1
        if i < stop and buffer[i] == _QUOTE:
            start += 1
            i, is_plain, more_breaks = _find_end_of_quotes(buffer, start, stop)
            if i < 0:
                cursor[FIELD] = cursor[LINE] + n_breaks
                return UNCLOSED if final else MORE
            n_breaks += more_breaks
            length = i - start - 1 if is_plain else -1
        behind_quotes = i
        while i < stop and buffer[i] != delimiter and buffer[i] != _LF and buffer[i] != _CR:
            i += 1
        if i == stop and not final:
            return MORE  # the field can continue in the next bytes
        if start == behind_quotes:
            length = i - start  # there are no quotes
        elif length < 0 or i > behind_quotes:
            length = start - i
        if field < starts.shape[0]:
            starts[field, row] = start
            lengths[field, row] = length
        field += 1
        if i == stop or buffer[i] != delimiter:
            break
        i += 1
    return _end_record(buffer, i, field, starts.shape[0], n_breaks, cursor)


@part
def _end_record(
    buffer: Any, i: Any, n_fields: Any, expected: Any, n_breaks: Any, cursor: Any
) -> Any:
    """Skip the line end at `i`; count the record, unless the line is blank."""
    if i < cursor[STOP]:
        if buffer[i] == _CR:
            if i + 1 == cursor[STOP]:
                if cursor[FINAL] == 0:
                    return MORE  # a line feed can follow
            elif buffer[i + 1] == _LF:
                i += 1
        i += 1
    if n_fields > 0:
        if n_fields != expected:
            cursor[FIELD] = n_fields
            return RAGGED
        cursor[ROW] += 1
    cursor[POSITION] = i
    cursor[LINE] += n_breaks + 1
    return DONE


@part
def _find_end_of_quotes(buffer: Any, i: Any, stop: Any) -> Any:
    """Return the position behind the quotes that open before `i`, or -1 if they do not close.

    Also return whether no quote inside is doubled, and the number of line breaks.
    """
    is_plain = True
    n_breaks = 0
    while i < stop:
        if buffer[i] == _QUOTE:
            if i + 1 == stop or buffer[i + 1] != _QUOTE:
                return i + 1, is_plain, n_breaks
            is_plain = False
            i += 1
        elif buffer[i] == _LF or (buffer[i] == _CR and not (i + 1 < stop and buffer[i + 1] == _LF)):
            n_breaks += 1
        i += 1
    return -1, is_plain, n_breaks


@kernel((BYTES, SPANS, SPANS, INT, LABELS, array_of(np.uint16)))
def encode(buffer: Any, starts: Any, lengths: Any, first: Any, table: Any, codes: Any) -> Any:
    """Overwrite ``codes[first:]`` with the codes of fields; add new labels to `table`.

    Return the number of encoded rows, which is less than the number of rows if the table is
    full. Remove the quotes of fields in place, in `buffer` and `lengths`.
    """
    slots, hashes, known, pool = table.slots, table.hashes, table.starts, table.pool
    mask, point = slots.size - 1, table.count[1]
    for row in range(first, codes.size):
        start, length = np.int64(starts[row]), np.int64(lengths[row])
        if length < 0:
            length = _unquote(buffer, start, start - length)
            lengths[row] = length
        hash_ = length
        for i in range(start, start + length):
            hash_ = hash_ * point + np.int64(buffer[i])
            hash_ = (hash_ & _PRIME) + (hash_ >> 31)  # the same modulo the prime, below 2^32
        hash_ ^= hash_ >> 15
        slot = hash_ & mask
        code = np.int64(slots[slot]) - 1
        while code >= 0:
            if hashes[code] == hash_ and known[code + 1] - known[code] == length:
                i = 0
                while i < length and pool[known[code] + i] == buffer[start + i]:
                    i += 1
                if i == length:
                    break
            slot = (slot + 1) & mask
            code = np.int64(slots[slot]) - 1
        if code < 0:
            code = _insert(buffer, start, length, hash_, slot, table)
            if code < 0:
                return row
        codes[row] = code
    return codes.size


@part
def _unquote(buffer: Any, start: Any, stop: Any) -> Any:
    """Remove the quotes of a field in place and return its new length."""
    n = start
    i = start
    while buffer[i] != _QUOTE or (i + 1 < stop and buffer[i + 1] == _QUOTE):
        buffer[n] = buffer[i]
        n += 1
        i += 2 if buffer[i] == _QUOTE else 1
    for j in range(i + 1, stop):  # the text after the closing quote
        buffer[n] = buffer[j]
        n += 1
    return n - start


@part
def _insert(buffer: Any, start: Any, length: Any, hash_: Any, slot: Any, table: Any) -> Any:
    """Add a label to the table and return its code, or -1 if the table is full."""
    code = table.count[0]
    begin = table.starts[code]
    is_full = 2 * code >= table.slots.size or begin + length > table.pool.size
    if is_full or code == table.hashes.size or code == MAX_LABELS:
        return np.int64(-1)
    for i in range(length):
        table.pool[begin + i] = buffer[start + i]
    table.starts[code + 1] = begin + length
    table.hashes[code] = hash_
    table.slots[slot] = code + 1
    table.count[0] += 1
    return code


NUMBERS = array_of(np.int64, 1, True)
RENDERED = (NUMBERS, array_of(np.int64, 2, True), NUMBERS, array_of(np.uint8, 1, True), BYTES)


@kernel((array_of(np.uint8, 2, True), *RENDERED), (array_of(np.uint16, 2, True), *RENDERED))
def render(codes: Any, rows: Any, first_text: Any, texts: Any, pool: Any, out: Any) -> Any:
    """Write rows of text into `out` and return the number of bytes written.

    The text of code k of variable v is ``pool[texts[t]:texts[t + 1]]`` with
    ``t = first_text[v] + k``; it ends with its delimiter or line end. The rows of
    `first_text` are pairs of variable and first text, in the order of output.
    """
    n = 0
    for row in rows:
        for c in range(first_text.shape[0]):
            text = first_text[c, 1] + codes[first_text[c, 0], row]
            for i in range(texts[text], texts[text + 1]):
                out[n] = pool[i]
                n += 1
    return n
