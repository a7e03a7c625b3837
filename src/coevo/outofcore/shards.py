"""Rows in shards: parts of a table, of which only counts ever leave.

A `Shard` holds the codes of some rows and their bit sets, in memory or mapped from files.
`count_shards` counts a batch of families in several of them, one after another. `Shards` is
the table as a scorer sees it: variables, and a way to ask for counts.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from coevo.data import Codes, ColumnInfo, RowDigest, Table, combine_row_hashes, row_hashes
from coevo.outofcore.family_count_kernels import add_tables
from coevo.outofcore.family_counts import (
    Cells,
    DistinctRows,
    FamilyCounts,
    add_counts,
    distinct_rows,
    table_offsets,
)
from coevo.outofcore.schema import Schema
from coevo.score.counting import (
    dense_limit,
    facts_of,
    new_known,
    new_scratch,
    pack_bits,
    place_bits,
    plan_batches,
)
from coevo.score.families import FamilyBatch
from coevo.score.family_kernels import KEEP, Batch, Index, ScoreSpec, Scratch, evaluate_by_levels
from coevo.score.score_kernels import LIKELIHOOD
from coevo.threads import Threads

__all__ = ["Shard", "ShardedTable", "Shards", "Traffic", "count_shards"]

KNOWN_CELLS = 1 << 21  # as in `scorer`
SMALLEST_PART = 64
NO_SCORE = ScoreSpec(LIKELIHOOD, 0.0, 0.0, 1, np.empty(0))


@dataclass(frozen=True, eq=False)
class Shard:
    """Some rows: their codes, and a bit set for each state but the most common ones."""

    codes: Codes
    bits: NDArray[np.uint64]
    singles: NDArray[np.int64]  # how many of its rows are in each state of each variable
    digest: RowDigest

    @classmethod
    def of(cls, codes: Codes, table: ShardedTable) -> Shard:
        """Return the shard of some codes."""
        codes.flags.writeable = False
        digest = combine_row_hashes(row_hashes(codes))
        columns = zip(codes, table.arities, strict=True)
        singles = [np.bincount(column, minlength=int(arity)) for column, arity in columns]
        return cls(codes, pack_bits(codes, table.facts), np.concatenate(singles), digest)

    @property
    def n_bytes(self) -> int:
        """What it takes in memory or on disk."""
        return self.codes.nbytes + self.bits.nbytes


class ShardedTable(Table):
    """What is known of a table in shards; small enough to be sent to everyone."""

    def __init__(self, layout: Schema, digests: Iterable[RowDigest] = ()) -> None:
        self._source, self._variables = layout.source, layout.variables
        self.layout = layout
        self.facts = facts_of(self)
        place_bits(self.facts)
        self.digests = tuple(digests)

    @property
    def n_rows(self) -> int:
        """Number of observations."""
        return self.layout.n_rows

    @cached_property
    def state_counts(self) -> tuple[NDArray[np.int64], ...]:
        """How many observations are in each state, for each variable in canonical order."""
        return tuple(np.array(counts, dtype=np.int64) for counts in self.layout.counts)

    @property
    def row_digest(self) -> RowDigest:
        """Two numbers that no order of the rows changes, nor how shards part them."""
        return sum(one for one, _ in self.digests), sum(other for _, other in self.digests)

    @property
    def notes(self) -> tuple[ColumnInfo, ...]:
        """What was decided about each column."""
        return self.layout.notes


@dataclass(frozen=True)
class Traffic:
    """What went to shards that are elsewhere, and came back."""

    batches: int = 0
    families: int = 0
    sent: int = 0  # bytes
    received: int = 0

    def as_dict(self) -> dict[str, int]:
        """Return the numbers by name."""
        return asdict(self)


class Shards(ShardedTable):
    """A table whose rows are in shards, here or elsewhere, until it is closed."""

    traffic = Traffic()
    is_closed = False

    def close(self) -> None:
        """Note that the rows are gone."""
        self.is_closed = True

    def __repr__(self) -> str:
        return (
            f"<{type(self).__name__}: {self.n_rows:,} rows, {self.n_variables} variables, "
            f"{len(self.digests):,} shards>"
        )

    def without_rows(self) -> ShardedTable:
        """Return what is known of the table, to be kept when the rows are gone."""
        return ShardedTable(self.layout, self.digests)

    @abstractmethod
    def count_families(self, families: FamilyBatch, threads: Threads) -> FamilyCounts:
        """Return the counts of families over all rows."""

    @abstractmethod
    def memory(self) -> int:
        """Return how many bytes of this process it takes."""


def count_shards(
    table: ShardedTable, shards: Iterable[Shard], families: FamilyBatch, threads: Threads
) -> FamilyCounts:
    """Return the counts of families, summed over shards."""
    begin = table_offsets(families, table.arities, dense_limit(table.n_rows))
    without_table = np.flatnonzero(np.diff(begin) == 0)
    cells: Cells = np.zeros(int(begin[-1]), dtype=np.uint32)
    scratch = [new_scratch(table) for _ in range(threads.n)]
    found: list[dict[int, DistinctRows]] = []
    for shard in shards:
        _add_tables(table, shard, families, begin, cells, scratch, threads)
        found.append({int(f): _distinct(shard, families, int(f)) for f in without_table})
    none: Cells = np.zeros(0, dtype=np.uint32)
    distinct = add_counts([FamilyCounts.of(none, own) for own in found]).distinct
    return FamilyCounts.of(cells, distinct)


def _add_tables(
    table: ShardedTable,
    shard: Shard,
    families: FamilyBatch,
    begin: NDArray[np.int64],
    cells: Cells,
    scratch: list[Scratch],
    threads: Threads,
) -> None:
    """Add the tables of one shard to the cells."""
    known = new_known([shard.singles], KNOWN_CELLS)
    compact = np.empty(0, dtype=shard.codes.dtype)
    index = Index(table.facts, shard.codes, np.empty(0, dtype=np.int64), compact, shard.bits)
    no_scores = np.empty(0)
    for batch, first, last in plan_batches(index, families, known, dense_limit(table.n_rows)):

        def part(low: int, high: int, number: int, batch: Batch = batch, at: int = first) -> None:
            low, high, own = at + low, at + high, scratch[number]
            if batch.method[low] == KEEP:
                evaluate_by_levels(index, NO_SCORE, batch, low, high, known, own, no_scores)
            else:
                add_tables(index, batch, low, high, known, own, begin, cells)

        if last > first:
            threads.in_parts(part, last - first, SMALLEST_PART)


def _distinct(shard: Shard, families: FamilyBatch, family: int) -> DistinctRows:
    """Return the configurations of a family that occur in a shard."""
    members = families.members[families.start[family] : families.start[family + 1]]
    return distinct_rows(shard.codes[members])
