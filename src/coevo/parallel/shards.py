"""Shards: parts of a table. Counts leave a shard, rows never do.

A `Shard` holds the codes and the bit sets of some rows, in memory or mapped from files.
`count_shards` counts a batch of families in several shards, one after another. The counts are
the sufficient statistics of scores and of fitted tables. `Shards` is the complete table: it has
variables and returns counts. `count_configurations` of `coevo.score` accepts it too.

**Counts.** Most families have a small table with one cell for each configuration. The tables of a
batch follow one another in one array. Between processes the array is packed: one bit for each cell,
and one count for each cell that is not 0. A family whose table would be too large for that has the
configurations that occur instead, as distinct rows with a count each.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property, reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coevo.data import Codes, ColumnInfo, RowDigest, Table, combine_row_hashes, hash_rows
from coevo.parallel.chunks import Schema
from coevo.runtime.threads import Threads
from coevo.score.counting import (
    compute_dense_limit,
    compute_table_offsets,
    compute_variable_facts,
    make_count_index,
    make_scratch,
    make_shared_tables,
    pack_bits,
    place_bits,
    plan_batches,
    split_into_batches,
)
from coevo.score.families import FamilyBatch
from coevo.score.joint_counts import JointCounts, count_configurations, count_rows
from coevo.score.kernels import (
    LIKELIHOOD,
    RANK,
    BatchPlan,
    ScoreSpec,
    Scratch,
    TableSums,
    count_shared_tables,
    evaluate_families,
)

__all__ = [
    "CELLS_PER_BATCH",
    "Cells",
    "DistinctRows",
    "FamilyCounts",
    "Shard",
    "ShardedTable",
    "Shards",
    "Traffic",
    "add_counts",
    "count_shards",
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


SHARED_CELLS = 1 << 21  # as in `coevo.score.scorer`
SMALLEST_PART = 64  # families, as in `coevo.score.scorer`
NO_SCORE = ScoreSpec(LIKELIHOOD, 0.0, 0.0, 1, np.empty(0), np.empty(0))


@dataclass(frozen=True, eq=False)
class Shard:
    """Some rows: their codes, and a bit set for each state except the most common ones."""

    codes: Codes
    bits: NDArray[np.uint64]
    state_counts: NDArray[np.int64]  # the number of rows in each state of each variable
    digest: RowDigest

    @classmethod
    def from_codes(cls, codes: Codes, table: ShardedTable) -> Shard:
        """Build a shard from the codes of its rows; make the codes read-only."""
        codes.flags.writeable = False
        digest = combine_row_hashes(hash_rows(codes))
        columns = zip(codes, table.arities, strict=True)
        state_counts = [np.bincount(column, minlength=int(arity)) for column, arity in columns]
        return cls(codes, pack_bits(codes, table.facts), np.concatenate(state_counts), digest)

    @property
    def n_bytes(self) -> int:
        """The size in memory or on disk."""
        return self.codes.nbytes + self.bits.nbytes


class ShardedTable(Table):
    """A table in shards without its rows; it is small enough to send to every worker."""

    def __init__(self, schema: Schema, digests: Iterable[RowDigest] = ()) -> None:
        self._source, self._variables = schema.source, schema.variables
        self.schema = schema
        self.facts = compute_variable_facts(self)
        place_bits(self.facts)
        self.digests = tuple(digests)

    @property
    def n_rows(self) -> int:
        """Number of observations."""
        return self.schema.n_rows

    @cached_property
    def state_counts(self) -> tuple[NDArray[np.int64], ...]:
        """The number of observations in each state, for each variable in canonical order."""
        return tuple(np.array(counts, dtype=np.int64) for counts in self.schema.counts)

    @property
    def row_digest(self) -> RowDigest:
        """Two hashes that depend neither on the order of the rows nor on the shards."""
        return sum(first for first, _ in self.digests), sum(second for _, second in self.digests)

    @property
    def infos(self) -> tuple[ColumnInfo, ...]:
        """The inferred type of each column."""
        return self.schema.infos


@dataclass(frozen=True)
class Traffic:
    """What a scorer has sent to remote shards and received from them."""

    batches: int = 0
    families: int = 0
    sent: int = 0  # bytes
    received: int = 0  # bytes

    def as_dict(self) -> dict[str, int]:
        """Return the numbers by name."""
        return asdict(self)


class Shards(ShardedTable):
    """A table whose rows are in shards, on this machine or on a cluster, until it is closed."""

    traffic = Traffic()
    is_closed = False

    def close(self) -> None:
        """Mark the table as closed: its rows no longer exist."""
        self.is_closed = True

    def __repr__(self) -> str:
        return (
            f"<{type(self).__name__}: {self.n_rows:,} rows, {self.n_variables} variables, "
            f"{len(self.digests):,} shards>"
        )

    def without_rows(self) -> ShardedTable:
        """Return the table without its rows, for use after it is closed."""
        return ShardedTable(self.schema, self.digests)

    @abstractmethod
    def count_families(self, families: FamilyBatch, threads: Threads) -> FamilyCounts:
        """Return the counts of families over all rows."""

    @abstractmethod
    def estimate_memory(self) -> int:
        """Return the number of bytes that the table takes in this process."""


def count_shards(
    table: ShardedTable, shards: Iterable[Shard], families: FamilyBatch, threads: Threads
) -> FamilyCounts:
    """Return the counts of families, summed over some shards."""
    begin = compute_table_offsets(families, table.arities, compute_dense_limit(table.n_rows))
    without_table = np.flatnonzero(np.diff(begin) == 0).tolist()
    cells: Cells = np.zeros(int(begin[-1]), dtype=np.uint32)
    scratch = [make_scratch(table) for _ in range(threads.n)]
    distinct: list[dict[int, DistinctRows]] = []
    for shard in shards:
        _add_tables(table, shard, families, begin, cells, scratch, threads)
        distinct.append({f: _find_distinct(shard, families, f) for f in without_table})
    none: Cells = np.zeros(0, dtype=np.uint32)
    total = add_counts([FamilyCounts.pack(none, rows) for rows in distinct])
    return FamilyCounts.pack(cells, total.distinct)


def _add_tables(
    table: ShardedTable,
    shard: Shard,
    families: FamilyBatch,
    begin: NDArray[np.int64],
    cells: Cells,
    scratch: list[Scratch],
    threads: Threads,
) -> None:
    """Count the families in one shard; add their tables to the cells."""
    shared = make_shared_tables([shard.state_counts], table.arities, SHARED_CELLS)
    index = make_count_index(table.facts, shard.codes, bits=shard.bits)
    sums, no_scores = TableSums(begin, cells), np.empty(0)
    limit = compute_dense_limit(table.n_rows)
    for plan, size, first, last in plan_batches(index, families, shared, limit):

        def add_part(
            low: int,
            high: int,
            number: int,
            plan: BatchPlan = plan,
            size: int = size,
            at: int = first,
        ) -> None:
            low, high = at + low, at + high
            if size:
                count_shared_tables(index, plan, size, low, high, shared, scratch[number])
                return
            work = (index, NO_SCORE, plan, low, high)
            evaluate_families(*work, shared, scratch[number], sums, no_scores)

        threads.run_in_parts(add_part, last - first, SMALLEST_PART)


def _find_distinct(shard: Shard, families: FamilyBatch, family: int) -> DistinctRows:
    """Return the configurations of a family that occur in a shard."""
    members = families.members[families.start[family] : families.start[family + 1]]
    return find_distinct_rows(shard.codes[members])


@count_configurations.register
def _(table: Shards, groups: Sequence[Sequence[int]]) -> Iterator[JointCounts]:
    families = FamilyBatch.from_pairs([(group[-1], group[:-1]) for group in groups])
    limit = compute_dense_limit(table.n_rows)
    offsets = compute_table_offsets(families, table.arities, limit)
    for first, last in split_into_batches(offsets, CELLS_PER_BATCH):
        batch = families.slice(first, last)
        counts = table.count_families(batch, Threads(1))
        cells, begin = counts.unpack(), compute_table_offsets(batch, table.arities, limit)
        for number, group in enumerate(groups[first:last]):
            if number in counts.distinct:
                members = batch.members[batch.start[number] : batch.start[number + 1]]
                yield _expand_distinct(table, counts.distinct[number], members.tolist(), group)
            else:
                yield _transpose(table, cells[begin[number] : begin[number + 1]], group)


def _transpose(shards: Shards, cells: Cells, group: Sequence[int]) -> JointCounts:
    """Return the table of a family with its axes in the order of a group.

    The axes of a counted table are sorted by rank.
    """
    by_rank = sorted(group, key=lambda variable: int(shards.facts[variable, RANK]))
    table = cells.reshape(shards.arities[by_rank])
    return table.transpose([by_rank.index(variable) for variable in group]).astype(np.int64)


def _expand_distinct(
    shards: Shards, distinct: DistinctRows, members: list[int], group: Sequence[int]
) -> JointCounts:
    """Return the table of a family from the configurations that occur."""
    codes = distinct.codes[[members.index(variable) for variable in group]]
    return count_rows(codes, distinct.counts, shards.arities[list(group)].tolist())
