"""Counts of each configuration of some variables, where the rows are in shards.

Only the counts of families come from shards. Their tables have axes in an order of their own;
here they are transposed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from coevo.outofcore.family_counts import (
    CELLS_PER_BATCH,
    DistinctRows,
    split_into_batches,
    table_offsets,
)
from coevo.outofcore.shards import Shards
from coevo.score.count_kernels import RANK
from coevo.score.counting import dense_limit
from coevo.score.families import FamilyBatch
from coevo.score.joint_counts import JointCounts, count_rows, joint_counts
from coevo.threads import Threads

__all__ = ["joint_counts"]


@joint_counts.register
def _(table: Shards, groups: Sequence[Sequence[int]]) -> Iterator[JointCounts]:
    families = FamilyBatch.from_pairs([(group[-1], group[:-1]) for group in groups])
    limit = dense_limit(table.n_rows)
    offsets = table_offsets(families, table.arities, limit)
    for first, last in split_into_batches(offsets, CELLS_PER_BATCH):
        part = families.part(first, last)
        found = table.count_families(part, Threads(1))
        cells, begin = found.cells(), table_offsets(part, table.arities, limit)
        for number, group in enumerate(groups[first:last]):
            if number in found.distinct:
                members = part.members[part.start[number] : part.start[number + 1]]
                yield _count_distinct(table, found.distinct[number], members.tolist(), group)
            else:
                yield _transpose(table, cells[begin[number] : begin[number + 1]], group)


def _transpose(shards: Shards, cells: NDArray[np.uint32], group: Sequence[int]) -> JointCounts:
    """Return the table of a family with its axes in the order of a group."""
    stored = sorted(group, key=lambda variable: int(shards.facts[variable, RANK]))
    table = cells.reshape(shards.arities[stored])
    return table.transpose([stored.index(variable) for variable in group]).astype(np.int64)


def _count_distinct(
    shards: Shards, found: DistinctRows, members: list[int], group: Sequence[int]
) -> JointCounts:
    """Return the table of a family of which only configurations that occur are known."""
    codes = found.codes[[members.index(variable) for variable in group]]
    return count_rows(codes, found.counts, shards.arities[list(group)].tolist())
