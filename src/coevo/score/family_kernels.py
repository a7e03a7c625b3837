"""A batch of families: choose a counting method for each, count, score; see engine/family.h.

`plan_families` chooses the methods and requests tables that families share, `count_shared_tables`
counts these, and `evaluate_families` counts and scores the families. Only `plan_families` reserves
room in `SharedTables`. The other kernels may run on several threads, each on its own part.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coevo.engine import INT, Structure, array, kernel, number, read_array
from coevo.score.count_kernels import CountIndex
from coevo.score.score_kernels import ScoreSpec

__all__ = [
    "BatchPlan",
    "Scratch",
    "SharedTables",
    "TableSums",
    "count_shared_tables",
    "evaluate_families",
    "plan_families",
]

BY_LEVELS, ALL_ROWS, SPARSE = range(3)  # counting methods
KEY, BEGIN, CREDIT, SLOT_WIDTH = range(4)  # columns of the slots of shared tables


class SharedTables(Structure):
    """Tables of one, two and three variables that the families of all batches share."""

    slots: NDArray[np.int64] = array(np.int64, 2)  # (n_slots, SLOT_WIDTH): columns in family.h
    pool: NDArray[np.uint32] = array(np.uint32)
    # the tables, one after another; tables of one variable first
    used: NDArray[np.int64] = array(np.int64)  # (2,): the numbers of slots and of cells in use
    n_singles: int = number(int)  # cells of the tables of one variable


class Scratch(Structure):
    """Working memory of one thread."""

    counts: NDArray[np.uint32] = array(np.uint32)  # the table
    margin: NDArray[np.uint32] = array(np.uint32)
    # the sums over the child; a second table while counting
    stride: NDArray[np.int64] = array(np.int64)  # (most axes,): of each axis of the table
    variables: NDArray[np.int32] = array(np.int32)
    # (most axes,): for a family that is sorted by rank
    words: NDArray[np.uint64] = array(np.uint64, 2)  # (most axes with bits, WORDS_PER_BLOCK)
    rising: NDArray[np.float64] = array(np.float64, 2)  # (RISING_ROWS, RISING_WIDTH)


class BatchPlan(Structure):
    """The families of a batch, and the counting method that `plan_families` chooses."""

    members: NDArray[np.int32] = read_array(np.int32)  # the child of each family, then its parents
    start: NDArray[np.int64] = read_array(np.int64)  # (n + 1,): where each family begins
    variables: NDArray[np.int32] = array(np.int32)  # the same members, sorted by rank
    method: NDArray[np.int8] = array(np.int8)  # (n,): the counting method
    shared_start: NDArray[np.int64] = array(np.int64)
    # (n,): where the shared table begins in the pool
    new_pairs: NDArray[np.int32] = array(np.int32, 2)
    # (n, 2): shared tables of two variables to count
    new_triples: NDArray[np.int32] = array(np.int32, 2)
    # (n, 3): shared tables of three variables to count


class TableSums(Structure):
    """Where tables are added up over shards instead of being scored; empty without shards."""

    begin: NDArray[np.int64] = read_array(np.int64)
    # (n + 1,): where the table of each family begins
    cells: NDArray[np.uint32] = array(np.uint32)


@kernel(CountIndex, BatchPlan, SharedTables, INT, INT, array(np.int64), returns=INT)
def plan_families(
    index: CountIndex,
    batch: BatchPlan,
    shared: SharedTables,
    first: int,
    dense_limit: int,
    requested: NDArray[np.int64],
) -> int:
    """Plan families from `first` on; return where it stops.

    Overwrite `requested` with the numbers of new pairs and new triples: tables to count before the
    families. It stops early, before the first family whose tables do not fit into `shared`. The
    caller must then clear `shared` before it continues. A table with more cells than `dense_limit`
    is SPARSE.
    """
    raise NotImplementedError


@kernel(CountIndex, BatchPlan, INT, INT, INT, SharedTables, Scratch)
def count_shared_tables(
    index: CountIndex,
    batch: BatchPlan,
    size: int,
    first: int,
    last: int,
    shared: SharedTables,
    scratch: Scratch,
) -> None:
    """Count shared tables that `plan_families` requests, from `first` to before `last`.

    These are the new pairs if `size` is 2, or the new triples if it is 3. All pairs must be counted
    before the triples.
    """


@kernel(
    CountIndex,
    ScoreSpec,
    BatchPlan,
    INT,
    INT,
    SharedTables,
    Scratch,
    TableSums,
    array(np.float64),
)
def evaluate_families(
    index: CountIndex,
    spec: ScoreSpec,
    batch: BatchPlan,
    first: int,
    last: int,
    shared: SharedTables,
    scratch: Scratch,
    sums: TableSums,
    scores: NDArray[np.float64],
) -> None:
    """Count families from `first` to before `last`; overwrite their scores, or add up their tables.

    Families that are SPARSE are skipped.
    """
