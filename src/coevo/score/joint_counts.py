"""How often each configuration of some variables occurs, for those who fit tables.

Rows in memory are counted directly. Of rows in shards only the tallies of families come,
whose tables have axes in an order of their own; here they are turned.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from coevo.data import Dataset
from coevo.score.count_kernels import RANK
from coevo.score.counting import dense_limit
from coevo.score.families import FamilyBatch
from coevo.score.shards import Shards
from coevo.score.tallies import CELLS_A_TRIP, Distinct, table_begins, trips
from coevo.threads import Threads

__all__ = ["joint_counts"]

Counts = NDArray[np.int64]  # one axis a variable, states in canonical order


def joint_counts(table: Dataset | Shards, groups: Sequence[Sequence[int]]) -> Iterator[Counts]:
    """Yield the counts of each group of variables, with an axis for each in its order.

    >>> from coevo.data import Variable
    >>> table = Dataset([Variable("a", ("0", "1")), Variable("b", ("0", "1"))], [[0, 1], [0, 0]])
    >>> [counts.tolist() for counts in joint_counts(table, [[0], [1, 0]])]
    [[1, 1], [[1, 1], [0, 0]]]
    """
    if isinstance(table, Shards):
        return _in_shards(table, groups)
    return (_in_memory(table, list(group)) for group in groups)


def _in_memory(dataset: Dataset, group: list[int]) -> Counts:
    return _in_rows(dataset.codes[group], dataset.weights, dataset.arities[group].tolist())


def _in_rows(
    codes: NDArray[np.unsignedinteger], weights: NDArray[np.int64] | None, shape: Sequence[int]
) -> Counts:
    """Count rows, each so many times."""
    joint = np.zeros(codes.shape[1], dtype=np.intp)
    for column, arity in zip(codes, shape, strict=True):
        joint *= arity
        joint += column
    counts = np.bincount(joint, weights=weights, minlength=math.prod(shape))
    return counts.astype(np.int64).reshape(shape)


def _in_shards(shards: Shards, groups: Sequence[Sequence[int]]) -> Iterator[Counts]:
    families = FamilyBatch.from_pairs([(group[-1], group[:-1]) for group in groups])
    limit = dense_limit(shards.n_rows)
    for first, last in trips(table_begins(families, shards.arities, limit), CELLS_A_TRIP):
        part = families.part(first, last)
        found = shards.tallies(part, Threads(1))
        cells, begin = found.cells(), table_begins(part, shards.arities, limit)
        for number, group in enumerate(groups[first:last]):
            if number in found.distinct:
                members = part.members[part.start[number] : part.start[number + 1]]
                yield _of_distinct(shards, found.distinct[number], members.tolist(), group)
            else:
                yield _turned(shards, cells[begin[number] : begin[number + 1]], group)


def _turned(shards: Shards, cells: NDArray[np.uint32], group: Sequence[int]) -> Counts:
    """Return the table of a family with its axes in the order of a group."""
    stored = sorted(group, key=lambda variable: int(shards.facts[variable, RANK]))
    table = cells.reshape(shards.arities[stored])
    return table.transpose([stored.index(variable) for variable in group]).astype(np.int64)


def _of_distinct(
    shards: Shards, found: Distinct, members: list[int], group: Sequence[int]
) -> Counts:
    """Return the table of a family of which only configurations that occur are known."""
    codes = found.codes[[members.index(variable) for variable in group]]
    return _in_rows(codes, found.counts, shards.arities[list(group)].tolist())
