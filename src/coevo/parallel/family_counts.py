"""Counts of the families of a batch: the sufficient statistics that shards send.

Most families have a small table with one cell for each configuration. The tables of a batch
follow one another in one array. Between processes the array is packed: one bit for each cell,
and one count for each cell that is not 0. A family whose table would be too large for that has
the configurations that occur instead, as distinct rows with a count each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coevo.data import Codes

__all__ = [
    "CELLS_PER_BATCH",
    "Cells",
    "DistinctRows",
    "FamilyCounts",
    "add_counts",
    "find_distinct_rows",
]

Cells = NDArray[np.uint32]  # the cells of all tables, one table after another
LARGEST_KEY = 1 << 62
CELLS_PER_BATCH = 1 << 24  # cells that are counted and sent together: 64 MiB


@dataclass(frozen=True, eq=False)
class DistinctRows:
    """The configurations that occur and their counts, in no particular order."""

    codes: Codes  # (n_members, n_distinct)
    counts: NDArray[np.int64]  # (n_distinct,)

    @property
    def n_bytes(self) -> int:
        """The size of the message."""
        return self.codes.nbytes + self.counts.nbytes


@dataclass(frozen=True, eq=False)
class FamilyCounts:
    """The packed counts of the families of a batch, small enough to send."""

    n_cells: int
    is_nonzero: NDArray[np.uint8]  # one bit for each cell
    counts: NDArray[np.unsignedinteger]  # of the nonzero cells, in their order
    distinct: dict[int, DistinctRows]  # by family number, for families without a table

    @classmethod
    def pack(cls, cells: Cells, distinct: dict[int, DistinctRows]) -> FamilyCounts:
        """Pack the cells of the tables."""
        nonzero = cells != 0
        counts = cells[nonzero]
        dtype = np.min_scalar_type(int(counts.max(initial=0)))
        return cls(len(cells), np.packbits(nonzero), counts.astype(dtype), distinct)

    def unpack(self) -> Cells:
        """Return the cells of the tables."""
        cells = np.zeros(self.n_cells, dtype=np.uint32)
        cells[np.unpackbits(self.is_nonzero, count=self.n_cells).view(np.bool_)] = self.counts
        return cells

    @property
    def n_bytes(self) -> int:
        """The size of the message."""
        sparse = sum(rows.n_bytes for rows in self.distinct.values())
        return self.is_nonzero.nbytes + self.counts.nbytes + sparse


def add_counts(counts: Sequence[FamilyCounts]) -> FamilyCounts:
    """Return the sum of counts of the same families in different rows."""
    if len(counts) == 1:
        return counts[0]
    cells = reduce(np.add, (part.unpack() for part in counts))
    distinct = {
        family: find_distinct_rows(
            np.concatenate([part.distinct[family].codes for part in counts], axis=1),
            np.concatenate([part.distinct[family].counts for part in counts]),
        )
        for family in counts[0].distinct
    }
    return FamilyCounts.pack(cells, distinct)


def find_distinct_rows(codes: Codes, weights: NDArray[np.int64] | None = None) -> DistinctRows:
    """Return the distinct rows and how often each occurs.

    >>> distinct = find_distinct_rows(np.array([[0, 1, 0], [2, 2, 2]], dtype=np.uint8))
    >>> distinct.codes.tolist(), distinct.counts.tolist()
    ([[0, 1], [2, 2]], [2, 1])
    """
    keys: NDArray[Any] = np.zeros(codes.shape[1], dtype=np.int64)
    size = 1
    for column in codes:
        states = int(column.max(initial=0)) + 1
        if size * states >= LARGEST_KEY:  # replace the keys by smaller ones
            distinct, keys = np.unique(keys, return_inverse=True)
            size = len(distinct)
        keys = keys * states + column
        size *= states
    _, first, number = np.unique(keys, return_index=True, return_inverse=True)
    counts = np.bincount(number, weights=weights, minlength=len(first)).astype(np.int64)
    rows: Codes = codes[:, first].copy(order="C")
    return DistinctRows(rows, counts)
