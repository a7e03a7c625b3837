"""The distinct labels of one column of a text table.

The kernel `encode` fills the arrays of a store and returns if one of them is full. The store
then enlarges its arrays. `list_labels` returns the labels as bytes.
"""

from __future__ import annotations

import secrets
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from coevo.data.csv_kernels import MAX_LABELS, LabelTable, encode

__all__ = ["LabelStore"]

INITIAL_LABELS = 16  # most columns have fewer states
INITIAL_BYTES = 256
MAX_POINT = 1 << 30


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
            slots=np.zeros(4 * INITIAL_LABELS, dtype=np.int32),
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
        starts: NDArray[np.integer],
        lengths: NDArray[np.integer],
        codes: NDArray[np.uint16],
    ) -> int:
        """Overwrite `codes` with the codes of fields; return the number of encoded fields.

        It is less than the number of fields if the store reaches its maximum of labels.
        """
        done = 0
        while True:
            done = int(encode(buffer, starts, lengths, done, self._table, codes))
            if done == len(codes) or len(self) == MAX_LABELS:
                return done
            self._grow(abs(int(lengths[done])))

    def list_labels(self) -> list[bytes]:
        """Return the labels in the order of their codes."""
        pool = self._table.pool.tobytes()
        starts = self._table.starts[: len(self) + 1].tolist()
        return [pool[a:b] for a, b in pairwise(starts)]

    def _grow(self, n_bytes: int) -> None:
        """Double the space for labels if it is used up; add space for a label of `n_bytes`."""
        old, n = self._table, len(self)
        if 2 * n >= len(old.slots) or n == len(old.hashes):
            hashes = np.concatenate([old.hashes, np.zeros(len(old.hashes), dtype=np.int64)])
            starts = np.concatenate([old.starts, np.zeros(len(old.hashes), dtype=np.int64)])
            slots = _build_slots(hashes[:n].tolist(), 4 * len(hashes))
            old = old._replace(hashes=hashes, starts=starts, slots=slots)
        used = int(old.starts[n])
        if used + n_bytes > len(old.pool):
            pool = np.zeros(2 * used + n_bytes, dtype=np.uint8)
            pool[:used] = old.pool[:used]
            old = old._replace(pool=pool)
        self._table = old


def _build_slots(hashes: list[int], n_slots: int) -> NDArray[np.int32]:
    """Return a hash table with `n_slots` slots, a power of two, for labels with these hashes."""
    slots = [0] * n_slots
    for label, hash_ in enumerate(hashes):
        slot = hash_ & (n_slots - 1)
        while slots[slot]:
            slot = (slot + 1) & (n_slots - 1)
        slots[slot] = label + 1
    return np.array(slots, dtype=np.int32)
