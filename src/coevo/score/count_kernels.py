"""Kernels that count the configurations of a few variables: the hot loops of coevo.

A *table* holds the counts (sufficient statistics) of k variables: the number of rows for each
joint configuration. Its axes are sorted by the rank of the variables. The most skewed variable
has the first and slowest axis. The same variables therefore always have the same order of
cells, whatever the family and its child.

Nearly all real variables have a state that most rows share. The kernels therefore build a
table from the end. They start with the table of the last variables, which many families share
(see `family_kernels`), and add one variable at a time in front of it. For each new variable
they count only the rows in which it is *not* in its most common state. The counts of the most
common state follow by subtraction (the idea of the AD-tree of Moore and Lee 1998, without the
tree). Such a step is a *level*. There are two methods for a level:

    rows   visit these rows one by one: the cost grows with their number;
    bits   AND their bit sets and count the bits: the cost grows with the cells.

Where neither method pays off, `count_all_rows` makes one pass over all rows. All methods give
the same integers. The choice between them (`estimate_level_costs`) changes only the time.

One row of `facts` describes one variable; the column names are below. A code is one byte. A
variable with more than 256 states has a second row of codes, and only passes over all rows count
it: then one compiled kernel serves all tables. The kernels check no
ranges: `FamilyScorer` has done that. The hot loops use unsigned indices into counts, because
numba tests whether signed indices are negative, which halves the speed. Two habits keep
compilation short. Loops copy arrays, because numba compiles a slice assignment together with
its error message and the string formatting. A constant argument is written ``np.int64(0)``,
because numba compiles the called function again for a literal 0.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coevo.engine import Structure, read_array
from coevo.jit import inline, part, popcount

__all__ = ["CountIndex", "add_level", "count_all_rows", "estimate_level_costs", "set_strides"]


class CountIndex(Structure):
    """The arrays that counting needs of a dataset."""

    facts: NDArray[np.int64] = read_array(np.int64, 2)  # (n_vars, N_FACTS)
    codes: NDArray[np.uint8] = read_array(np.uint8, 2)
    # (n_vars and those with high bytes, n_stored)
    weights: NDArray[np.int64] = read_array(np.int64)  # (n_stored,), or (0,) if all are 1
    compact: NDArray[np.uint8] = read_array(np.uint8)  # compact columns, see COMPACT
    bits: NDArray[np.uint64] = read_array(np.uint64, 2)  # (n_sets, n_words)


# Columns of `facts`, one row for each variable
ARITY, RANK, COMMON, SINGLE, N_OTHERS, COMPACT, BITS, HIGH = 0, 1, 2, 3, 4, 5, 6, 7
N_FACTS = 8
# ARITY       number of states
# RANK        position in the order of the axes
# COMMON      the most common state
# SINGLE      where the counts of its states begin in the pool of shared tables
# N_OTHERS    number of rows in which it is not in its most common state
# COMPACT     where its compact columns begin, or -1: these rows only, of the variable
#             itself and of every variable of higher rank, one column after another
# BITS        its first row of `bits`, or -1; the most common state has no row
# HIGH        the row of `codes` with the high bytes, or -1 if it has at most 256 states

# Rows of `work`, one column for each axis
STRIDE, POSITION, STATE, CELL = 0, 1, 2, 3
N_WORK = 4

WORDS_PER_BLOCK = 512  # 4 KiB of a bit set: one block for each depth fits into the L1 cache
ROWS_PER_BLOCK = 4096  # joint codes of one block: 8 or 16 KiB
MOST_CELLS_BY_LEVELS = 1 << 16  # a joint code then takes two bytes, and twice as many fit

# Nanoseconds, measured by benchmarks/kernels.py on one core (a word costs 0.22 in sets of
# hundreds of words, 0.4 in sets of 80). Only their ratios matter. They decide which method
# computes a result, and all methods give the same result.
ROW, ROW_AND_COLUMN = 0.5, 0.06  # a row of a level, and each column of it
NODE, WORD = 15.0, 0.4  # a cell by bit sets, and each word of a set


@inline
def set_strides(facts, variables, k, work):
    """Overwrite the strides of a table over k variables; return its number of cells."""
    cells = np.int64(1)
    for axis in range(k - 1, -1, -1):
        work[STRIDE, axis] = cells
        cells *= facts[variables[axis], ARITY]
    return cells


@inline
def estimate_level_costs(facts, bits, first, n_columns, stride, has_bits):
    """Return the cost of a level by rows and by bits; infinite if a method is not possible.

    `first` is the variable of the level. `n_columns` and `stride` are the numbers of axes and
    of cells of one of its states. `has_bits` says whether all later variables have bit sets.
    """
    by_rows, by_bits = np.inf, np.inf
    if facts[first, COMPACT] >= 0:
        by_rows = facts[first, N_OTHERS] * (ROW + ROW_AND_COLUMN * n_columns)
    if has_bits and facts[first, BITS] >= 0:
        by_bits = (facts[first, ARITY] - 1.0) * stride * (NODE + WORD * bits.shape[1])
    return by_rows, by_bits


@inline
def add_level(facts, compact, bits, variables, k, axis, by_bits, counts, twin, work, joint, words):
    """Add the variable of one axis in front of a table.

    Take the part of the table over the axes from `axis` on. On entry, the cells where the
    first variable is in its most common state hold the counts over the later axes. On return,
    all cells of this part are right. Variables of earlier axes stay in their most common
    state. `twin` is a second table for the counts, see `_add_rows`.
    """
    first = variables[axis]
    common, arity = np.uint64(facts[first, COMMON]), np.uint64(facts[first, ARITY])
    stride = np.uint64(work[STRIDE, axis])
    offset = np.uint64(0)
    for earlier in range(axis):
        offset += np.uint64(facts[variables[earlier], COMMON] * work[STRIDE, earlier])
    for state in range(arity):
        if state != common:
            for cell in range(offset + state * stride, offset + (state + np.uint64(1)) * stride):
                counts[cell] = twin[cell] = 0
    if by_bits:
        _count_by_bits(facts, bits, variables, k, axis, np.int64(offset), counts, work, words)
    else:
        _count_by_rows(facts, compact, variables, k, axis, offset, counts, twin, work, joint)
    rest = offset + common * stride
    for state in range(arity):
        if state != common:
            part = offset + state * stride
            for i in range(stride):
                counts[part + i] += twin[part + i]
                counts[rest + i] -= counts[part + i]


@inline
def _count_by_rows(facts, compact, variables, k, axis, offset, counts, twin, work, joint):
    """Add the rows in which the first variable is not in its most common state.

    These rows are contiguous in its compact columns, so that the vector unit can compute the
    cells of a block of rows before the rows are counted.
    """
    first = variables[axis]
    n_others = facts[first, N_OTHERS]
    for start in range(0, n_others, ROWS_PER_BLOCK):
        n = np.uint64(min(ROWS_PER_BLOCK, n_others - start))
        for later in range(axis, k):
            place = facts[variables[later], RANK] - facts[first, RANK]
            begin = np.uint64(facts[first, COMPACT] + place * n_others + start)
            p = np.uint16(work[STRIDE, later])
            if later == axis:
                for i in range(n):
                    joint[i] = np.uint16(offset + compact[begin + i] * p)
            else:
                for i in range(n):
                    joint[i] += np.uint16(compact[begin + i] * p)
        _add_rows(joint, n, counts, twin)


@part
def _add_rows(joint, n, counts, twin):
    """Count the first n cells in `joint`, in `counts` and `twin` by turns.

    Neighbouring rows often share a cell, and the processor must finish one addition to a cell
    before the next. With two tables it waits half as often.
    """
    one, two = np.uint64(1), np.uint64(2)
    for i in range(one, n, two):
        counts[joint[i - one]] += 1
        twin[joint[i]] += 1
    if n % two:
        counts[joint[n - one]] += 1


@inline
def count_all_rows(facts, codes, weights, variables, k, n_cells, counts, twin, work, joint):
    """Overwrite the table over k variables with one pass over all rows."""
    for cell in range(n_cells):
        counts[cell] = twin[cell] = 0
    n_stored = codes.shape[1]
    for start in range(0, n_stored, ROWS_PER_BLOCK):
        n = min(ROWS_PER_BLOCK, n_stored - start)
        for axis in range(k):
            column, p = codes[variables[axis], start : start + n], np.uint32(work[STRIDE, axis])
            if axis == 0:
                for i in range(n):
                    joint[i] = column[i] * p
            else:
                for i in range(n):
                    joint[i] += np.uint32(column[i] * p)
            high = facts[variables[axis], HIGH]
            if high >= 0:
                column, p = codes[high, start : start + n], np.uint32(256 * work[STRIDE, axis])
                for i in range(n):
                    joint[i] += np.uint32(column[i] * p)
        if len(weights):
            for i in range(n):
                counts[joint[i]] += np.uint32(weights[start + i])
        else:
            _add_rows(joint, np.uint64(n), counts, twin)
    for cell in range(n_cells):
        counts[cell] += twin[cell]


@inline
def _count_by_bits(facts, bits, variables, k, axis, offset, counts, work, words):
    """Count the same rows as `_count_by_rows` with bit sets, a block of words at a time.

    The first step counts the most common state of a later variable as "any state", which needs
    no AND. `_subtract_other_states` then subtracts the counts of the other states.
    """
    first = variables[axis]
    common, stride = facts[first, COMMON], work[STRIDE, axis]
    n_words = bits.shape[1]
    bit_set = facts[first, BITS]
    for state in range(facts[first, ARITY]):
        if state == common:
            continue
        cell = offset + state * stride
        for later in range(axis + 1, k):
            cell += facts[variables[later], COMMON] * work[STRIDE, later]
        for start in range(0, n_words, WORDS_PER_BLOCK):
            stop = min(start + WORDS_PER_BLOCK, n_words)
            found = _and_count(bits[bit_set, start:stop], bits[bit_set, start:stop], words[0])
            counts[cell] += found
            if found and axis < k - 1:
                work[CELL, 0] = cell
                _count_depth_first(
                    facts, bits, start, stop, variables, k, axis, counts, work, words
                )
        _subtract_other_states(facts, variables, k, axis, offset + state * stride, counts, work)
        bit_set += 1


@inline
def _count_depth_first(facts, bits, start, stop, variables, k, axis, counts, work, words):
    """Count all configurations of the later axes within ``words[0]``, depth first.

    At depth d the states of d ascending axes are chosen, and ``words[d]`` is the bit set of
    the matching rows. The loop goes no deeper where no row matches.
    """
    depth = 1
    work[POSITION, 1], work[STATE, 1] = axis + 1, -1
    while depth > 0:
        at = work[POSITION, depth]
        variable = variables[at]
        common = facts[variable, COMMON]
        state = work[STATE, depth] + 1
        if state == common:
            state += 1
        if state >= facts[variable, ARITY]:
            if at == k - 1:
                depth -= 1
            else:
                work[POSITION, depth], work[STATE, depth] = at + 1, -1
            continue
        work[STATE, depth] = state
        bit_set = facts[variable, BITS] + state - (state > common)
        found = _and_count(words[depth - 1], bits[bit_set, start:stop], words[depth])
        cell = work[CELL, depth - 1] + (state - common) * work[STRIDE, at]
        counts[cell] += found
        if found and at < k - 1:
            work[CELL, depth] = cell
            depth += 1
            work[POSITION, depth], work[STATE, depth] = at + 1, -1


@part
def _and_count(left, right, both):
    """Overwrite `both` with the bits that `left` and `right` share; return their number."""
    total = 0
    for i in range(len(right)):
        word = left[i] & right[i]
        both[i] = word
        total += popcount(word)
    return total


@inline
def _subtract_other_states(facts, variables, k, axis, start, counts, work):
    """Turn counts of "any state" into counts of the most common state, on the later axes."""
    for later in range(axis + 1, k):
        stride, arity = work[STRIDE, later], facts[variables[later], ARITY]
        common = facts[variables[later], COMMON]
        for block in range(start, start + work[STRIDE, axis], stride * arity):
            rest = block + common * stride
            for state in range(arity):
                if state != common:
                    part = block + state * stride
                    for i in range(stride):
                        counts[rest + i] -= counts[part + i]
