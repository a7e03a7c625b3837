"""A batch of families: choose how to count each one, count, score.

`plan` puts the variables of each family in the order of the axes, chooses a way of
counting by estimated cost and asks for the tables of two and three variables that it
will need. `evaluate_by_levels` counts those tables and the families built on them,
`evaluate_all_rows` the others (two kernels, so that only what a data set needs has to be
compiled), and `sparse_kernels.evaluate_sparse` those whose tables would be too large. Only `plan`
makes room in what is shared; the others may run on several threads, each on its own part
of the batch and of the pool.

The *known* tables are kept from batch to batch in an open-addressing hash table, because
a family's table is built on that of its last three variables and many families have
those in common. The store is bounded: when it is full it is emptied, which costs time
and changes no number.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coevo.jit import inlined, kernel
from coevo.score.count_kernels import (
    ARITY,
    BITS,
    COMMON,
    MOST_CELLS_BY_LEVELS,
    RANK,
    SINGLE,
    STRIDE,
    add_level,
    count_all_rows,
    level_costs,
    set_strides,
)
from coevo.score.score_kernels import score_table

__all__ = [
    "Batch",
    "Index",
    "Known",
    "ScoreSpec",
    "Scratch",
    "evaluate_all_rows",
    "evaluate_by_levels",
    "plan",
    "put_in_order",
    "stride_of",
    "table_by_levels",
    "table_of_all_rows",
]

BY_LEVELS, ALL_ROWS, SPARSE, KEEP = 0, 1, 2, 3  # ways of counting

MAX_KNOWN_VARIABLES = 3
MAX_KNOWN_CELLS = 1024

# Nanoseconds, as in `count_kernels`
ALL_ROW, ALL_ROW_AND_COLUMN = 0.6, 0.1  # a row of the pass over all rows, and each column
CELL = 1.0  # clearing, subtracting and scoring a cell


class Index(NamedTuple):
    """What counting needs to know of a data set."""

    facts: NDArray[np.int64]  # (n_vars, N_FACTS), see `count_kernels`
    codes: NDArray[np.unsignedinteger]  # (n_vars, n_stored)
    weights: NDArray[np.int64]  # (n_stored,), or (0,) when every row counts once
    compact: NDArray[np.unsignedinteger]  # columns of rows not in the most common state
    bits: NDArray[np.uint64]  # (n_sets, n_words)


class Known(NamedTuple):
    """Tables of one, two and three variables that have been counted."""

    slots: NDArray[np.int64]  # (n_slots, 2): key or -1, first cell in `pool`
    pool: NDArray[np.uint32]  # the tables, one after another; those of one variable first
    used: NDArray[np.int64]  # (2,): slots and cells in use
    n_singles: int  # cells of the tables of one variable


class Scratch(NamedTuple):
    """Working memory of one thread."""

    counts: NDArray[np.uint32]  # the table
    margin: NDArray[np.uint32]  # the table summed over the child; a second table while counting
    work: NDArray[np.int64]  # (N_WORK, max_k)
    joint: NDArray[np.uint32]  # (ROWS_A_BLOCK,) cells of a block of rows
    short: NDArray[np.uint16]  # the same in two bytes
    words: NDArray[np.uint64]  # (64 or max_k, WORDS_A_BLOCK)
    rising: NDArray[np.float64]  # see `score_kernels`


class ScoreSpec(NamedTuple):
    """What a kernel needs to know of a score."""

    kind: int
    ess: float  # equivalent sample size of the Dirichlet kinds
    price: float  # of one free parameter
    n_rows: int  # the largest count there can be
    table: NDArray[np.float64]  # log n! (K2) or n log n (LIKELIHOOD), for n below its length


class Batch(NamedTuple):
    """Families as arrays, and what `plan` finds out about them."""

    members: NDArray[np.int32]  # of each family: the child, then its parents
    start: NDArray[np.int64]  # (n + 1,) where each family begins
    variables: NDArray[np.int32]  # the same members in the order of the axes
    method: NDArray[np.int8]  # (n,) how to count
    known: NDArray[np.int64]  # (n,) where the known table begins in the pool
    new_pairs: NDArray[np.int32]  # (n, 2) tables of two variables to be counted
    new_triples: NDArray[np.int32]  # (n, 3)


@inlined
def _n_known(facts, variables, k):
    """Return how many of the last variables a known table may span: at least 1."""
    cells = facts[variables[k - 1], ARITY]
    n = 1
    while n < k and n < MAX_KNOWN_VARIABLES:
        cells *= facts[variables[k - 1 - n], ARITY]
        if cells > MAX_KNOWN_CELLS:
            break
        n += 1
    return n


@kernel
def _slot(slots, facts, variables, k, n):
    """Return key and slot of the last n of k variables; the slot is empty if unknown."""
    key = np.int64(0)
    for axis in range(k - n, k):
        key = key * (len(facts) + 1) + facts[variables[axis], RANK] + 1
    mask = len(slots) - 1
    slot = (key ^ (key >> 15) ^ (key >> 31)) * 40503 & mask
    while slots[slot, 0] != -1 and slots[slot, 0] != key:
        slot = (slot + 1) & mask
    return key, slot


@inlined
def _claim(slots, pool, used, facts, variables, k, n):
    """Return where the table of the last n variables begins, and whether it is new.

    It begins at -1 when there is no room for it.
    """
    key, slot = _slot(slots, facts, variables, k, n)
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


@inlined
def _method(facts, codes, weights, bits, variables, k, dense_limit):
    """Return the cheapest way to count the table over k variables."""
    cells = 1.0
    for axis in range(k):
        cells *= facts[variables[axis], ARITY]
    if cells > dense_limit:
        return SPARSE
    if len(weights) or cells > MOST_CELLS_BY_LEVELS:
        return ALL_ROWS
    all_rows = codes.shape[1] * (ALL_ROW + ALL_ROW_AND_COLUMN * k)
    known = k - _n_known(facts, variables, k)
    levels, stride = 0.0, float(facts[variables[k - 1], ARITY])
    has_bits = facts[variables[k - 1], BITS] >= 0
    for axis in range(k - 2, -1, -1):
        first = variables[axis]
        by_rows, by_bits = level_costs(facts, bits, first, k - axis, stride, has_bits)
        cost = min(by_rows, by_bits)
        if axis < known or cost == np.inf:  # known tables must be countable, and are free
            levels += cost + CELL * stride
        stride *= facts[first, ARITY]
        has_bits = has_bits and facts[first, BITS] >= 0
    return BY_LEVELS if levels <= all_rows else ALL_ROWS


@inlined
def put_in_order(facts, members, begin, k, variables):
    """Overwrite `variables` with the k members from `begin` on, in the order of the axes."""
    for n in range(k):
        member = members[begin + n]
        place = n
        while place > 0 and facts[variables[place - 1], RANK] > facts[member, RANK]:
            variables[place] = variables[place - 1]
            place -= 1
        variables[place] = member


@kernel
def plan(index, batch, known, first, dense_limit):
    """Plan families from `first` on; return where it stopped and the tables asked for.

    It stops early, before the first family whose tables do not fit into `known` any more,
    which the caller must empty before it goes on: some of them may have been promised.
    """
    facts, codes, weights, bits = index.facts, index.codes, index.weights, index.bits
    start, members, all_variables = batch.start, batch.members, batch.variables
    slots, pool, used = known.slots, known.pool, known.used
    new_pairs, new_triples = batch.new_pairs, batch.new_triples
    methods, begins = batch.method, batch.known
    n_pairs = n_triples = 0
    for family in range(first, len(start) - 1):
        k = start[family + 1] - start[family]
        variables = all_variables[start[family] : start[family + 1]]
        put_in_order(facts, members, start[family], k, variables)
        method = _method(facts, codes, weights, bits, variables, k, dense_limit)
        methods[family] = method
        if method != BY_LEVELS:
            continue
        n_known = n = _n_known(facts, variables, k)
        begins[family] = facts[variables[k - 1], SINGLE]
        while n > 1:  # a new table of three variables is built on one of two
            begin, is_new = _claim(slots, pool, used, facts, variables, k, n)
            if begin < 0:  # nor may a table be counted whose own base got no room
                return family, n_pairs, n_triples - (n < n_known)
            if n == n_known:
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


@inlined
def _start_from_known(facts, pool, begin, variables, k, n, counts, work):
    """Copy the table of the last n variables to its place in that of all k."""
    offset = np.int64(0)
    for axis in range(k - n):
        offset += facts[variables[axis], COMMON] * work[STRIDE, axis]
    for i in range(work[STRIDE, k - n] * facts[variables[k - n], ARITY]):
        counts[offset + i] = pool[begin + i]


@inlined
def stride_of(child, variables, k, work):
    """Return the stride of the child's axis."""
    stride = np.int64(0)
    for axis in range(k):
        if variables[axis] == child:
            stride = work[STRIDE, axis]
    return stride


@inlined
def table_by_levels(index, batch, family, known, scratch):
    """Leave the table of a family in the scratch, counted level by level; return its cells."""
    facts, compact, bits = index.facts, index.compact, index.bits
    counts, work, words, short = scratch.counts, scratch.work, scratch.words, scratch.short
    slots, pool, margin = known.slots, known.pool, scratch.margin
    start = batch.start[family]
    k = batch.start[family + 1] - start
    variables = batch.variables[start : start + k]
    n_cells = set_strides(facts, variables, k, work)
    n, begin = k - 1, facts[variables[k - 1], SINGLE]
    if batch.method[family] == BY_LEVELS:
        n, begin = _n_known(facts, variables, k), batch.known[family]
    elif n > 1:
        begin = slots[_slot(slots, facts, variables, k, n)[1], 1]
    _start_from_known(facts, pool, begin, variables, k, n, counts, work)
    has_bits = True
    for axis in range(k - n, k):
        has_bits = has_bits and facts[variables[axis], BITS] >= 0
    for axis in range(k - n - 1, -1, -1):
        one, cells = variables[axis], float(work[STRIDE, axis])
        by_rows, by_bits = level_costs(facts, bits, one, k - axis, cells, has_bits)
        has_bits = has_bits and facts[one, BITS] >= 0
        win = by_bits < by_rows
        add_level(facts, compact, bits, variables, k, axis, win, counts, margin, work, short, words)
    return n_cells


@inlined
def table_of_all_rows(index, batch, family, scratch):
    """Leave the table of a family in the scratch, counted in one pass; return its cells."""
    start = batch.start[family]
    k = batch.start[family + 1] - start
    variables = batch.variables[start : start + k]
    n_cells = set_strides(index.facts, variables, k, scratch.work)
    count_all_rows(
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


@inlined
def _score(index, spec, batch, family, n_cells, scratch):
    """Return the local score of the table in the scratch."""
    start = batch.start[family]
    k = batch.start[family + 1] - start
    child = batch.members[start]
    stride = stride_of(child, batch.variables[start : start + k], k, scratch.work)
    arity = index.facts[child, ARITY]
    return score_table(spec, scratch.counts, n_cells, stride, arity, scratch.margin, scratch.rising)


@kernel
def evaluate_by_levels(index, spec, batch, first, last, known, scratch, scores):
    """Count families level by level; overwrite their ``scores[f]``.

    Of the families from `first` to before `last`, those planned otherwise are passed over.
    Tables that `plan` asked for come here too, with the method KEEP: they are put into
    the pool instead of being scored, those of two variables before those of three.
    """
    slots, pool, counts = known.slots, known.pool, scratch.counts
    for family in range(first, last):
        method = batch.method[family]
        if method != BY_LEVELS and method != KEEP:
            continue
        n_cells = table_by_levels(index, batch, family, known, scratch)
        if method == KEEP:
            start = batch.start[family]
            k = batch.start[family + 1] - start
            variables = batch.variables[start : start + k]
            begin = slots[_slot(slots, index.facts, variables, k, k)[1], 1]
            for cell in range(n_cells):
                pool[begin + cell] = counts[cell]
        else:
            scores[family] = _score(index, spec, batch, family, n_cells, scratch)


@kernel
def evaluate_all_rows(index, spec, batch, first, last, scratch, scores):
    """Do the same for the families that are counted in one pass over all rows."""
    for family in range(first, last):
        if batch.method[family] == ALL_ROWS:
            n_cells = table_of_all_rows(index, batch, family, scratch)
            scores[family] = _score(index, spec, batch, family, n_cells, scratch)
