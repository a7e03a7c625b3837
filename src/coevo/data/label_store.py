"""The distinct labels of one column of a text table.

The kernel `encode` fills the arrays of a store and returns if one of them is full. The store
then enlarges its arrays. `list_labels` returns the labels as bytes.
"""

from __future__ import annotations

import secrets
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coevo.data.csv_kernels import MAX_LABELS, MAX_POINT, LabelTable, encode, insert_labels

__all__ = ["LabelStore"]

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
