"""The kernels of scores: counts, families, sparse tables, pairs, the cache, independence.

The arrays of a dataset that counting needs; see engine/count.h.

`CountIndex.facts` has one row for each variable. The columns are:

    ARITY       number of states
    RANK        position in the order of the axes
    COMMON      the most common state
    SINGLE      where the counts of its states begin in the pool of shared tables
    N_OTHERS    number of rows in which it is not in its most common state
    COMPACT     where its compact columns begin, or -1: these rows only, of the variable
                itself and of every variable of higher rank, one column after another
    BITS        its first row of `bits`, or -1; the most common state has no row
    HIGH        the row of `codes` with the high bytes, or -1 if it has at most 256 states
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coevo.engine import INT, Structure, array, kernel, number, read_array

__all__ = [
    "ALL_ONES",
    "DIRICHLET",
    "DIRICHLET_SEEN",
    "FACTORISED",
    "G2",
    "GROUP_ARRAYS",
    "INDEPENDENCE_ARRAYS",
    "LIKELIHOOD",
    "QUOTIENT",
    "RISING_ROWS",
    "RISING_WIDTH",
    "X2",
    "BatchPlan",
    "CacheEntries",
    "CountIndex",
    "ScoreSpec",
    "Scratch",
    "SharedTables",
    "SparseScratch",
    "TableSums",
    "compute_upper_tails",
    "count_shared_tables",
    "evaluate_families",
    "evaluate_sparse",
    "find_or_add",
    "insert_all",
    "make_sparse_scratch",
    "measure_pairs",
    "measure_sparse",
    "measure_tables",
    "plan_families",
]

ARITY, RANK, COMMON, SINGLE, N_OTHERS, COMPACT, BITS, HIGH, N_FACTS = range(9)
WORDS_PER_BLOCK = 512  # of a bit set


class CountIndex(Structure):
    """The arrays that counting needs of a dataset."""

    facts: NDArray[np.int64] = read_array(np.int64, 2)  # (n_vars, N_FACTS)
    codes: NDArray[np.uint8] = read_array(np.uint8, 2)
    # (n_vars and those with high bytes, n_stored)
    weights: NDArray[np.int64] = read_array(np.int64)  # (n_stored,), or (0,) if all are 1
    compact: NDArray[np.uint8] = read_array(np.uint8)  # compact columns, see COMPACT
    bits: NDArray[np.uint64] = read_array(np.uint64, 2)  # (n_sets, n_words)


# The specification of a score, from which the engine computes it; see engine/score.h.


# The kinds from LIKELIHOOD on have the terms n log n.
ALL_ONES, DIRICHLET, DIRICHLET_SEEN, LIKELIHOOD, FACTORISED, QUOTIENT = range(6)
RISING_ROWS, RISING_WIDTH = 512, 258  # of the table of logarithms of rising factorials


class ScoreSpec(Structure):
    """The specification of a score."""

    kind: int = number(int)
    ess: float = number(float)  # equivalent sample size of the Dirichlet kinds
    penalty: float = number(float)  # of one free parameter
    n_rows: int = number(int)  # the largest possible count
    table: NDArray[np.float64] = read_array(np.float64)
    # log n! (K2) or n log n (likelihoods), for n below its length
    regret: NDArray[np.float64] = read_array(np.float64)
    # C(2, n) (FACTORISED) or log C(K, n_rows) (QUOTIENT)


# A batch of families: choose a counting method for each, count, score; see engine/family.h.
#
# `plan_families` chooses the methods and requests tables that families share,
# `count_shared_tables` counts these, and `evaluate_families` counts and scores the families. Only
# `plan_families` reserves room in `SharedTables`. The other kernels may run on several threads,
# each on its own part.


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


# Families whose table would be larger than the data: count what occurs; see engine/sparse.h.


GROUP_ARRAYS = 3  # rows of `groups` that one grouping takes


class SparseScratch(Structure):
    """Working memory of one thread. All arrays from `keys` on have room for each row."""

    slots: NDArray[np.uint32] = array(np.uint32)  # a power of two, at least twice the rows
    slot_keys: NDArray[np.int64] = array(np.int64)  # as many
    keys: NDArray[np.int64] = array(np.int64)
    groups: NDArray[np.uint32] = array(np.uint32, 2)  # GROUP_ARRAYS rows for each grouping
    terms: NDArray[np.float64] = array(np.float64)


def make_sparse_scratch(n_rows: int, n_arrays: int = GROUP_ARRAYS) -> SparseScratch:
    """Return working memory for a number of rows, with `n_arrays` rows of `groups`.

    >>> make_sparse_scratch(5).slots.shape
    (16,)
    """
    n_slots = 1 << max(1, (2 * n_rows - 1).bit_length())
    return SparseScratch(
        slots=np.empty(n_slots, dtype=np.uint32),
        slot_keys=np.empty(n_slots, dtype=np.int64),
        keys=np.empty(n_rows, dtype=np.int64),
        groups=np.empty((n_arrays, n_rows), dtype=np.uint32),
        terms=np.empty(n_rows),
    )


@kernel(CountIndex, ScoreSpec, BatchPlan, INT, INT, SparseScratch, array(np.float64))
def evaluate_sparse(
    index: CountIndex,
    spec: ScoreSpec,
    batch: BatchPlan,
    first: int,
    last: int,
    scratch: SparseScratch,
    scores: NDArray[np.float64],
) -> None:
    """Overwrite ``scores[f]`` of the families from `first` to before `last` that are sparse."""


# What a single parent adds, for all pairs of variables; see engine/pair.h.


@kernel(
    CountIndex,
    read_array(np.uint32),
    read_array(np.float64),
    INT,
    array(np.int64),
    array(np.float64),
)
def measure_pairs(
    index: CountIndex,
    singles: NDArray[np.uint32],
    x_log_x: NDArray[np.float64],
    child: int,
    column: NDArray[np.int64],
    gains: NDArray[np.float64],
) -> None:
    """Overwrite ``gains[v]`` with the log likelihood that a variable v adds to a child alone.

    That is the number of rows times the mutual information. ``x_log_x[c]`` is c log c, and
    `singles` are the counts of the states of each variable. All variables have bit sets. The counts
    of the most common states, which have none, follow by subtraction. `column` is scratch, one cell
    for each state of the child. The child itself gets 0.
    """


# The lookup of a family among millions; see engine/cache.h.


class CacheEntries(Structure):
    """The arrays of the table; `members` and `start` have room for more."""

    slots: NDArray[np.int64] = array(np.int64)  # a power of two, at most half full
    start: NDArray[np.int64] = array(np.int64)  # (capacity + 1,)
    members: NDArray[np.int32] = array(np.int32)


@kernel(
    CacheEntries, INT, read_array(np.int32), read_array(np.int64), INT, array(np.int64), returns=INT
)
def find_or_add(
    entries: CacheEntries,
    n_entries: int,
    members: NDArray[np.int32],
    start: NDArray[np.int64],
    n_variables: int,
    found: NDArray[np.int64],
) -> int:
    """Overwrite ``found[f]`` with the entry of each family f; add the family if it is new.

    Return the new number of entries, or -1 at the first invalid family. The caller has made
    room for all families and has checked that `start` fits `members`.
    """
    raise NotImplementedError


@kernel(CacheEntries, INT)
def insert_all(entries: CacheEntries, n_entries: int) -> None:
    """Insert all entries into empty slots, after the table has grown."""


# Tests of conditional independence; see engine/independence.h.


G2, X2 = 0, 1  # the statistics
INDEPENDENCE_ARRAYS = 14  # rows of `groups` in the scratch of `measure_sparse`


@kernel(
    read_array(np.int64, 2),
    read_array(np.int32),
    read_array(np.int64),
    TableSums,
    INT,
    INT,
    INT,
    array(np.int64),
    array(np.float64),
    array(np.float64),
)
def measure_tables(
    facts: NDArray[np.int64],
    members: NDArray[np.int32],
    start: NDArray[np.int64],
    sums: TableSums,
    kind: int,
    first: int,
    last: int,
    states: NDArray[np.int64],
    statistics: NDArray[np.float64],
    freedoms: NDArray[np.float64],
) -> None:
    """Overwrite the statistics and degrees of freedom of the tests that have a table.

    The members of a test are x, y, then Z. `states` has room for the counts of the states of x and
    y.
    """


@kernel(CountIndex, INT, read_array(np.int32), SparseScratch, array(np.float64))
def measure_sparse(
    index: CountIndex,
    kind: int,
    members: NDArray[np.int32],
    scratch: SparseScratch,
    measured: NDArray[np.float64],
) -> None:
    """Overwrite `measured` with the statistic and the degrees of freedom of one test.

    They follow from the rows, each with a positive weight. `groups` of the scratch has
    `INDEPENDENCE_ARRAYS` rows.
    """


@kernel(read_array(np.float64), read_array(np.float64), array(np.float64))
def compute_upper_tails(
    statistics: NDArray[np.float64], freedoms: NDArray[np.float64], tails: NDArray[np.float64]
) -> None:
    """Overwrite the chances of a chi-squared variable to be larger; 1 with 0 degrees of freedom."""
