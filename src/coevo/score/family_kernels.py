"""Kernels for a batch of families: choose a counting method for each, count, score.

`plan_families` sorts the variables of each family by rank, chooses a counting method by its
estimated cost and requests the shared tables of two and three variables. `evaluate_families`
counts these tables and the families. `sparse_kernels.evaluate_sparse` counts the families whose
tables would be too large. Only `plan_families` reserves room for shared tables. The other kernels
may run on several threads, each on its own part of the batch and of the pool.

`SharedTables` is an open-addressing hash table that stays from batch to batch. The table of a
family is built on the table of its last three variables, and many families share these
variables. The memory is bounded: when it is full, all shared tables are dropped. That costs
time and changes no count.
"""

from __future__ import annotations

import functools
from collections import namedtuple
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coevo.engine import Structure, array, number, read_array
from coevo.jit import INT, inline, kernel, part
from coevo.score.count_kernels import (
    ARITY,
    BITS,
    COMMON,
    HIGH,
    MOST_CELLS_BY_LEVELS,
    RANK,
    SINGLE,
    STRIDE,
    add_level,
    count_all_rows,
    estimate_level_costs,
    set_strides,
)
from coevo.score.score_kernels import score_table

__all__ = [
    "BatchPlan",
    "Scratch",
    "SharedTables",
    "TableSums",
    "evaluate_families",
    "find_stride",
    "plan_families",
    "sort_by_rank",
]

BY_LEVELS, ALL_ROWS, SPARSE, STORE = 0, 1, 2, 3  # counting methods

MAX_SHARED_VARIABLES = 3
MAX_SHARED_CELLS = 1024

# Nanoseconds, as in `count_kernels`
ALL_ROW, ALL_ROW_AND_COLUMN = 0.6, 0.1  # a row of the pass over all rows, and each column
CELL = 1.0  # to clear, subtract and score a cell


class SharedTables(Structure):
    """Tables of one, two and three variables that the families of all batches share."""

    slots: NDArray[np.int64] = array(np.int64, 2)  # (n_slots, 2): key or -1, first cell in `pool`
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
    joint: NDArray[np.uint32] = array(np.uint32)  # (ROWS_PER_BLOCK,): cells of a block of rows
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


INDEX = SHARED = SCRATCH = SPEC = PLAN = SUMS = SCORES = None


def _make_tuple(value: Any) -> Any:
    if not isinstance(value, Structure):
        return value
    fields = value.__dict__ | {name: value.__dict__[name] for name in value.field_types}
    if isinstance(value, Scratch):  # what numba still wants
        n = len(value.stride)
        fields |= {"work": np.zeros((4, n), dtype=np.int64), "short": value.joint.view(np.uint16)}
    fields.pop("address")
    return _make_kind(type(value).__name__, tuple(fields))(**fields)


_make_kind = functools.cache(namedtuple)


def over_tuples(compiled: Any) -> Any:
    """Call a numba kernel with named tuples in the place of structures; it goes with numba."""
    return lambda *values: compiled(*map(_make_tuple, values))


@inline
def _choose_shared_size(facts, variables, k):
    """Return how many of the last variables a shared table may cover: at least 1."""
    cells = facts[variables[k - 1], ARITY]
    n = 1
    while n < k and n < MAX_SHARED_VARIABLES:
        cells *= facts[variables[k - 1 - n], ARITY]
        if cells > MAX_SHARED_CELLS:
            break
        n += 1
    return n


@part
def _find_slot(slots, facts, variables, k, n):
    """Return the key and the slot of the last n of k variables; an empty slot if it is new."""
    key = np.int64(0)
    for axis in range(k - n, k):
        key = key * (len(facts) + 1) + facts[variables[axis], RANK] + 1
    mask = len(slots) - 1
    slot = (key ^ (key >> 15) ^ (key >> 31)) * 40503 & mask
    while slots[slot, 0] != -1 and slots[slot, 0] != key:
        slot = (slot + 1) & mask
    return key, slot


@inline
def _reserve_table(slots, pool, used, facts, variables, k, n):
    """Reserve room for the table of the last n variables.

    Return where the table begins, -1 if there is no room, and whether the table is new.
    """
    key, slot = _find_slot(slots, facts, variables, k, n)
    if slots[slot, 0] == key:
        return slots[slot, 1], False
    cells = 1
    for axis in range(k - n, k):
        cells *= facts[variables[axis], ARITY]
    if 2 * used[0] >= len(slots) or used[1] + cells > len(pool):
        return np.int64(-1), False
    slots[slot, 0], slots[slot, 1] = key, used[1]
    used[0] += 1
    used[1] += cells
    return slots[slot, 1], True


@inline
def _choose_method(facts, codes, weights, bits, variables, k, dense_limit):
    """Return the cheapest method to count the table over k variables."""
    cells = 1.0
    is_wide = False
    for axis in range(k):
        cells *= facts[variables[axis], ARITY]
        is_wide = is_wide or facts[variables[axis], HIGH] >= 0
    if cells > dense_limit:
        return SPARSE
    if is_wide or len(weights) or cells > MOST_CELLS_BY_LEVELS:
        return ALL_ROWS
    all_rows = codes.shape[1] * (ALL_ROW + ALL_ROW_AND_COLUMN * k)
    first_shared = k - _choose_shared_size(facts, variables, k)
    levels, stride = 0.0, float(facts[variables[k - 1], ARITY])
    has_bits = facts[variables[k - 1], BITS] >= 0
    for axis in range(k - 2, -1, -1):
        first = variables[axis]
        by_rows, by_bits = estimate_level_costs(facts, bits, first, k - axis, stride, has_bits)
        cost = min(by_rows, by_bits)
        if axis < first_shared or cost == np.inf:  # shared levels are free, if possible
            levels += cost + CELL * stride
        stride *= facts[first, ARITY]
        has_bits = has_bits and facts[first, BITS] >= 0
    return BY_LEVELS if levels <= all_rows else ALL_ROWS


@inline
def sort_by_rank(facts, members, begin, k, variables):
    """Overwrite `variables` with the k members from `begin` on, sorted by rank."""
    for n in range(k):
        member = members[begin + n]
        place = n
        while place > 0 and facts[variables[place - 1], RANK] > facts[member, RANK]:
            variables[place] = variables[place - 1]
            place -= 1
        variables[place] = member


@over_tuples
@kernel((INDEX, PLAN, SHARED, INT, INT))
def plan_families(index, batch, shared, first, dense_limit):
    """Plan families from `first` on; return where it stops and how many tables it requests.

    It stops early, before the first family whose tables do not fit into `shared`. The caller
    must then clear `shared` before it continues, because some tables have room and no counts.
    """
    facts, codes, weights, bits = index.facts, index.codes, index.weights, index.bits
    start, members, all_variables = batch.start, batch.members, batch.variables
    slots, pool, used = shared.slots, shared.pool, shared.used
    new_pairs, new_triples = batch.new_pairs, batch.new_triples
    methods, begins = batch.method, batch.shared_start
    n_pairs = n_triples = 0
    for family in range(first, len(start) - 1):
        k = start[family + 1] - start[family]
        variables = all_variables[start[family] : start[family + 1]]
        sort_by_rank(facts, members, start[family], k, variables)
        method = _choose_method(facts, codes, weights, bits, variables, k, dense_limit)
        methods[family] = method
        if method != BY_LEVELS:
            continue
        n_shared = n = _choose_shared_size(facts, variables, k)
        begins[family] = facts[variables[k - 1], SINGLE]
        while n > 1:  # a new table of three variables is built on a table of two
            begin, is_new = _reserve_table(slots, pool, used, facts, variables, k, n)
            if begin < 0:  # nor is a table counted if its own base has no room
                return family, n_pairs, n_triples - (n < n_shared)
            if n == n_shared:
                begins[family] = begin
            if not is_new:
                break
            if n == 2:
                new_pairs[n_pairs, 0], new_pairs[n_pairs, 1] = variables[k - 2], variables[k - 1]
                n_pairs += 1
            else:
                for i in range(3):
                    new_triples[n_triples, i] = variables[k - 3 + i]
                n_triples += 1
            n -= 1
    return len(start) - 1, n_pairs, n_triples


@inline
def _copy_shared_table(facts, pool, begin, variables, k, n, counts, work):
    """Copy the table of the last n variables to its place in the table of all k."""
    offset = np.int64(0)
    for axis in range(k - n):
        offset += facts[variables[axis], COMMON] * work[STRIDE, axis]
    for i in range(work[STRIDE, k - n] * facts[variables[k - n], ARITY]):
        counts[offset + i] = pool[begin + i]


@inline
def find_stride(child, variables, k, work):
    """Return the stride of the child's axis."""
    stride = np.int64(0)
    for axis in range(k):
        if variables[axis] == child:
            stride = work[STRIDE, axis]
    return stride


@inline
def _count_by_levels(index, batch, family, shared, scratch):
    """Count a family level by level, into the scratch; return the number of cells."""
    facts, compact, bits = index.facts, index.compact, index.bits
    counts, work, words, short = scratch.counts, scratch.work, scratch.words, scratch.short
    slots, pool, margin = shared.slots, shared.pool, scratch.margin
    start = batch.start[family]
    k = batch.start[family + 1] - start
    variables = batch.variables[start : start + k]
    n_cells = set_strides(facts, variables, k, work)
    n, begin = k - 1, facts[variables[k - 1], SINGLE]
    if batch.method[family] == BY_LEVELS:
        n, begin = _choose_shared_size(facts, variables, k), batch.shared_start[family]
    elif n > 1:
        begin = slots[_find_slot(slots, facts, variables, k, n)[1], 1]
    _copy_shared_table(facts, pool, begin, variables, k, n, counts, work)
    has_bits = True
    for axis in range(k - n, k):
        has_bits = has_bits and facts[variables[axis], BITS] >= 0
    for axis in range(k - n - 1, -1, -1):
        one, cells = variables[axis], float(work[STRIDE, axis])
        by_rows, by_bits = estimate_level_costs(facts, bits, one, k - axis, cells, has_bits)
        has_bits = has_bits and facts[one, BITS] >= 0
        win = by_bits < by_rows
        add_level(facts, compact, bits, variables, k, axis, win, counts, margin, work, short, words)
    return n_cells


@inline
def _count_over_all_rows(index, batch, family, scratch):
    """Count a family in one pass over all rows, into the scratch; return the number of cells."""
    start = batch.start[family]
    k = batch.start[family + 1] - start
    variables = batch.variables[start : start + k]
    n_cells = set_strides(index.facts, variables, k, scratch.work)
    count_all_rows(
        index.facts,
        index.codes,
        index.weights,
        variables,
        k,
        n_cells,
        scratch.counts,
        scratch.margin,
        scratch.work,
        scratch.joint,
    )
    return n_cells


@inline
def _score_family(index, spec, batch, family, n_cells, scratch):
    """Return the local score of the table in the scratch."""
    start = batch.start[family]
    k = batch.start[family + 1] - start
    child = batch.members[start]
    stride = find_stride(child, batch.variables[start : start + k], k, scratch.work)
    arity = index.facts[child, ARITY]
    return score_table(spec, scratch.counts, n_cells, stride, arity, scratch.margin, scratch.rising)


@inline
def _add_table(sums, family, counts, n_cells):
    """Add the table of a family to the sums over all shards."""
    begin, cells = sums.begin[family], sums.cells
    for cell in range(n_cells):
        cells[begin + cell] += counts[cell]


@over_tuples
@kernel((INDEX, SPEC, PLAN, INT, INT, SHARED, SCRATCH, SUMS, SCORES))
def evaluate_families(index, spec, batch, first, last, shared, scratch, sums, scores):
    """Count families; overwrite their ``scores[f]``, or add up their tables.

    Skip the families from `first` to before `last` that have the method SPARSE. The shared tables
    that `plan_families` requests have the method STORE: they go into the pool and get no
    score. Tables of two variables must come before tables of three.
    """
    slots, pool, counts = shared.slots, shared.pool, scratch.counts
    for family in range(first, last):
        method = batch.method[family]
        if method == SPARSE:
            continue
        if method == ALL_ROWS:
            n_cells = _count_over_all_rows(index, batch, family, scratch)
        else:
            n_cells = _count_by_levels(index, batch, family, shared, scratch)
        if method == STORE:
            start = batch.start[family]
            k = batch.start[family + 1] - start
            variables = batch.variables[start : start + k]
            begin = slots[_find_slot(slots, index.facts, variables, k, k)[1], 1]
            for cell in range(n_cells):
                pool[begin + cell] = counts[cell]
        elif len(sums.begin) > 0:
            _add_table(sums, family, counts, n_cells)
        else:
            scores[family] = _score_family(index, spec, batch, family, n_cells, scratch)
