"""How often each configuration of some families occurs: what shards send, and how it adds up.

Most families have a small table, one cell for each configuration. The tables of a batch
stand one after another; on the way from one process to another there is one bit for each
cell, and a count for each that is not 0. A family whose table would be larger than any
that is counted cell by cell has the configurations that occur instead, as few weighted rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coevo.data import Codes
from coevo.score.families import FamilyBatch

__all__ = [
    "CELLS_PER_BATCH",
    "Cells",
    "DistinctRows",
    "FamilyCounts",
    "add_counts",
    "distinct_rows",
    "split_into_batches",
    "table_offsets",
]

Cells = NDArray[np.uint32]  # tables, one after another
LARGEST_KEY = 1 << 62
CELLS_PER_BATCH = 1 << 24  # of tables that are counted and sent together: 64 MiB


@dataclass(frozen=True, eq=False)
class DistinctRows:
    """Configurations that occur, and how often; their order says nothing."""

    codes: Codes  # (n_members, n_distinct)
    counts: NDArray[np.int64]  # (n_distinct,)

    @property
    def n_bytes(self) -> int:
        """What it takes on the way."""
        return self.codes.nbytes + self.counts.nbytes


@dataclass(frozen=True, eq=False)
class FamilyCounts:
    """Counts of the families of a batch; small enough to be sent."""

    n_cells: int
    is_filled: NDArray[np.uint8]  # a bit a cell
    counts: NDArray[np.unsignedinteger]  # of the cells that are not 0, in their order
    distinct: dict[int, DistinctRows]  # by the number of the family, where there is no table

    @classmethod
    def of(cls, cells: Cells, distinct: dict[int, DistinctRows]) -> FamilyCounts:
        """Pack tables."""
        filled = cells != 0
        counts = cells[filled]
        dtype = np.min_scalar_type(int(counts.max(initial=0)))
        return cls(len(cells), np.packbits(filled), counts.astype(dtype), distinct)

    def cells(self) -> Cells:
        """Return the tables."""
        cells = np.zeros(self.n_cells, dtype=np.uint32)
        cells[np.unpackbits(self.is_filled, count=self.n_cells).view(np.bool_)] = self.counts
        return cells

    @property
    def n_bytes(self) -> int:
        """What they take on the way."""
        sparse = sum(found.n_bytes for found in self.distinct.values())
        return self.is_filled.nbytes + self.counts.nbytes + sparse


def add_counts(count_families: Sequence[FamilyCounts]) -> FamilyCounts:
    """Return the sum of the count_families of the same batch in different rows."""
    if len(count_families) == 1:
        return count_families[0]
    cells = reduce(np.add, (one.cells() for one in count_families))
    distinct = {
        family: distinct_rows(
            np.concatenate([one.distinct[family].codes for one in count_families], axis=1),
            np.concatenate([one.distinct[family].counts for one in count_families]),
        )
        for family in count_families[0].distinct
    }
    return FamilyCounts.of(cells, distinct)


def distinct_rows(codes: Codes, weights: NDArray[np.int64] | None = None) -> DistinctRows:
    """Return the rows that differ, and how often each occurs.

    >>> found = distinct_rows(np.array([[0, 1, 0], [2, 2, 2]], dtype=np.uint8))
    >>> found.codes.tolist(), found.counts.tolist()
    ([[0, 1], [2, 2]], [2, 1])
    """
    keys: NDArray[Any] = np.zeros(codes.shape[1], dtype=np.int64)
    size = 1
    for column in codes:
        states = int(column.max(initial=0)) + 1
        if size * states >= LARGEST_KEY:  # number the keys anew
            found, keys = np.unique(keys, return_inverse=True)
            size = len(found)
        keys = keys * states + column
        size *= states
    _, first, number = np.unique(keys, return_index=True, return_inverse=True)
    counts = np.bincount(number, weights=weights, minlength=len(first)).astype(np.int64)
    rows: Codes = codes[:, first].copy(order="C")
    return DistinctRows(rows, counts)


def table_offsets(
    families: FamilyBatch, arities: NDArray[np.int64], dense_limit: int
) -> NDArray[np.int64]:
    """Return where each family's table begins, and where the last one ends.

    A family that has none begins where the next one does.
    """
    if not len(families):
        return np.zeros(1, dtype=np.int64)
    states = arities[families.members].astype(np.float64)
    with np.errstate(over="ignore"):
        sizes = np.multiply.reduceat(states, families.start[:-1])
    sizes[sizes > dense_limit] = 0
    return np.concatenate([[0], np.cumsum(sizes.astype(np.int64))])


def split_into_batches(begin: NDArray[np.int64], most_cells: int) -> Iterator[tuple[int, int]]:
    """Yield families whose tables are counted together, from where to before where.

    `begin` says where their tables begin. They have so many cells together, or are one family.

    >>> list(split_into_batches(np.array([0, 4, 4, 9, 20]), 10))
    [(0, 3), (3, 4)]
    """
    first, n_families = 0, len(begin) - 1
    while first < n_families:
        end = int(np.searchsorted(begin, begin[first] + most_cells, side="right"))
        last = max(first + 1, end - 1)
        yield first, last
        first = last
