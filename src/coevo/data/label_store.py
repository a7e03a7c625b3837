"""The labels that a CSV reader has met in one column.

The kernel `encode` fills the arrays of a store and returns when one of them is full. The
store makes room, and in the end gives the labels as bytes.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from coevo.data.csv_kernels import MAX_LABELS, LabelTable, encode

__all__ = ["LabelStore"]

FIRST_LABELS = 16  # most columns have fewer states
FIRST_BYTES = 256


class LabelStore:
    """Distinct labels in order of first sight; the code of a label is its position.

    >>> store = LabelStore()
    >>> buffer = np.frombuffer(b"no,yes,no", dtype=np.uint8).copy()
    >>> codes = np.zeros(3, dtype=np.uint16)
    >>> starts, lengths = np.array([[0, 3, 7], [2, 3, 2]], dtype=np.int32)
    >>> store.encode(buffer, starts, lengths, codes)
    3
    >>> codes.tolist(), store.texts()
    ([0, 1, 0], [b'no', b'yes'])
    """

    def __init__(self) -> None:
        self._table = LabelTable(
            slots=np.zeros(4 * FIRST_LABELS, dtype=np.int32),
            marks=np.zeros(FIRST_LABELS, dtype=np.int64),
            starts=np.zeros(FIRST_LABELS + 1, dtype=np.int64),
            pool=np.zeros(FIRST_BYTES, dtype=np.uint8),
            count=np.zeros(1, dtype=np.int64),
        )

    def __len__(self) -> int:
        return int(self._table.count[0])

    def encode(
        self,
        buffer: NDArray[np.uint8],
        starts: NDArray[np.integer],
        lengths: NDArray[np.integer],
        codes: NDArray[np.uint16],
    ) -> int:
        """Overwrite `codes` with the codes of fields; return how many could be coded.

        Not all can when there are more labels than codes.
        """
        done = 0
        while True:
            done = int(encode(buffer, starts, lengths, done, self._table, codes))
            if done == len(codes) or len(self) == MAX_LABELS:
                return done
            self._grow(abs(int(lengths[done])))

    def texts(self) -> list[bytes]:
        """Return the labels in the order of their codes."""
        pool = self._table.pool.tobytes()
        starts = self._table.starts[: len(self) + 1].tolist()
        return [pool[a:b] for a, b in pairwise(starts)]

    def _grow(self, n_bytes: int) -> None:
        """Make room for twice the labels, and for one more of `n_bytes`."""
        old, n = self._table, len(self)
        if 2 * n >= len(old.slots) or n == len(old.marks):
            marks = np.concatenate([old.marks, np.zeros(len(old.marks), dtype=np.int64)])
            starts = np.concatenate([old.starts, np.zeros(len(old.marks), dtype=np.int64)])
            slots = _filled_slots(marks[:n].tolist(), 4 * len(marks))
            old = old._replace(marks=marks, starts=starts, slots=slots)
        used = int(old.starts[n])
        if used + n_bytes > len(old.pool):
            pool = np.zeros(2 * used + n_bytes, dtype=np.uint8)
            pool[:used] = old.pool[:used]
            old = old._replace(pool=pool)
        self._table = old


def _filled_slots(marks: list[int], n_slots: int) -> NDArray[np.int32]:
    """Return a hash table of `n_slots` places, a power of two, for labels with these marks."""
    slots = [0] * n_slots
    for label, mark in enumerate(marks):
        slot = mark & (n_slots - 1)
        while slots[slot]:
            slot = (slot + 1) & (n_slots - 1)
        slots[slot] = label + 1
    return np.array(slots, dtype=np.int32)
