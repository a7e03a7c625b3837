"""Counting the configurations of a few variables: the hot loops of the house.

A *table* counts the rows for each joint configuration of k variables. Its axes run in
the order of their rank, the most lopsided variable first and slowest, so that the same
variables always have the same layout, whoever counts them and whoever is the child.

Nearly all real variables have a state that most rows share. A table is therefore built
from the end: take the table of the last variables, which many families have in common
and which is kept (see `family_kernels`), and put one variable before it at a time. Only
the rows in which that variable is *not* in its most common state are looked at; what
they leave over belongs to the most common state, by subtraction (the idea of the AD-tree
of Moore and Lee 1998, without the tree). The rows of such a *level* are counted by

    rows   visiting them one by one: the cost grows with their number; or by
    bits   ANDing their bit sets and counting bits: the cost grows with the cells

and where neither pays there is one pass over all rows (`count_all_rows`). All give the
same integers, so that the choice between them (`level_costs`) is one of time only.

What a kernel must know of a variable stands in one row of `facts`, by the column names
below. Nothing is range-checked here: `FamilyScorer` did that. Indices into counts are
unsigned in the hot loops, because numba tests signed ones for being negative, which
halves their speed. Two habits keep compilation short: arrays are copied in loops, since
numba compiles a slice assignment with its error message, string formatting and all; and
a number that is passed on is written ``np.int64(0)``, since numba compiles a callee anew
for a literal 0.
"""

from __future__ import annotations

import numpy as np

from coevo.jit import inlined, kernel, popcount

__all__ = ["add_level", "count_all_rows", "level_costs", "set_strides"]

# Columns of `facts`, one row a variable
ARITY, RANK, COMMON, SINGLE, N_OTHERS, COMPACT, BITS = 0, 1, 2, 3, 4, 5, 6
N_FACTS = 7
# ARITY       number of states
# RANK        place on the axes of a table
# COMMON      the most common state
# SINGLE      where the counts of its states begin in the pool of known tables
# N_OTHERS    number of rows in which it is not in the common state
# COMPACT     where its compact columns begin, or -1: just those rows, of the variable
#             itself and of every variable of higher rank, one column after another
# BITS        its first row of `bits`, or -1; the common state has no row

# Rows of `work`, one column an axis
STRIDE, POSITION, STATE, CELL = 0, 1, 2, 3
N_WORK = 4

WORDS_A_BLOCK = 512  # 4 KiB a bit set: one for each depth stays in the first-level cache
ROWS_A_BLOCK = 4096  # joint codes of one block: 8 or 16 KiB
MOST_CELLS_BY_LEVELS = 1 << 16  # so that a joint code takes two bytes, and twice as many fit

# Nanoseconds, measured by benchmarks/kernels.py on one core (a word costs 0.22 in sets of
# hundreds of words, 0.4 in sets of 80). Only their ratios matter, and they only decide
# which of several equal answers is computed.
ROW, ROW_AND_COLUMN = 0.5, 0.06  # a row of a level, and each column that it reads
NODE, WORD = 15.0, 0.4  # a cell by bit sets, and each word of a set


@inlined
def set_strides(facts, variables, k, work):
    """Overwrite the strides of a table over k variables; return its number of cells."""
    cells = np.int64(1)
    for axis in range(k - 1, -1, -1):
        work[STRIDE, axis] = cells
        cells *= facts[variables[axis], ARITY]
    return cells


@inlined
def level_costs(facts, bits, first, n_columns, stride, has_bits):
    """Return what a level would cost by rows and by bits, infinite where it cannot be.

    `first` is its variable, `n_columns` and `stride` the axes and the cells of one of its
    states; `has_bits` says whether all variables after it have bit sets.
    """
    by_rows, by_bits = np.inf, np.inf
    if facts[first, COMPACT] >= 0:
        by_rows = facts[first, N_OTHERS] * (ROW + ROW_AND_COLUMN * n_columns)
    if has_bits and facts[first, BITS] >= 0:
        by_bits = (facts[first, ARITY] - 1.0) * stride * (NODE + WORD * bits.shape[1])
    return by_rows, by_bits


@inlined
def add_level(facts, compact, bits, variables, k, axis, by_bits, counts, twin, work, joint, words):
    """Put the variable of one axis before a table that is already there.

    Of the table over the axes from `axis` on, the part where the first variable is in
    its most common state holds, on entry, the counts over the axes after it. On return
    the whole of it is right. Variables of earlier axes stay in their common state.
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


@inlined
def _count_by_rows(facts, compact, variables, k, axis, offset, counts, twin, work, joint):
    """Add the rows where the first variable is not in its most common state.

    They lie side by side in its compact columns, so that the vector unit can compute
    the cells of a block of rows before they are counted.
    """
    first = variables[axis]
    n_others = facts[first, N_OTHERS]
    for start in range(0, n_others, ROWS_A_BLOCK):
        n = np.uint64(min(ROWS_A_BLOCK, n_others - start))
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


@kernel
def _add_rows(joint, n, counts, twin):
    """Count each of the first n cells in `joint`, every other one in `twin`.

    Neighbouring rows often share a cell, and the processor waits for one addition to a
    cell before the next; with two tables it waits half as often.
    """
    one, two = np.uint64(1), np.uint64(2)
    for i in range(one, n, two):
        counts[joint[i - one]] += 1
        twin[joint[i]] += 1
    if n % two:
        counts[joint[n - one]] += 1


@inlined
def count_all_rows(codes, weights, variables, k, n_cells, counts, twin, work, joint):
    """Overwrite the table over k variables with one pass over all rows."""
    for cell in range(n_cells):
        counts[cell] = twin[cell] = 0
    n_stored = codes.shape[1]
    for start in range(0, n_stored, ROWS_A_BLOCK):
        n = min(ROWS_A_BLOCK, n_stored - start)
        for axis in range(k):
            column, p = codes[variables[axis], start : start + n], np.uint32(work[STRIDE, axis])
            if axis == 0:
                for i in range(n):
                    joint[i] = column[i] * p
            else:
                for i in range(n):
                    joint[i] += np.uint32(column[i] * p)
        if len(weights):
            for i in range(n):
                counts[joint[i]] += np.uint32(weights[start + i])
        else:
            _add_rows(joint, np.uint64(n), counts, twin)
    for cell in range(n_cells):
        counts[cell] += twin[cell]


@inlined
def _count_by_bits(facts, bits, variables, k, axis, offset, counts, work, words):
    """Do the work of `_count_by_rows` with bit sets, a block of words at a time.

    Cells are first filled as if the most common state of a later variable meant "any
    state", which takes no AND; `_from_any_to_common` then takes the other states away.
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
        for start in range(0, n_words, WORDS_A_BLOCK):
            stop = min(start + WORDS_A_BLOCK, n_words)
            found = _and_count(bits[bit_set, start:stop], bits[bit_set, start:stop], words[0])
            counts[cell] += found
            if found and axis < k - 1:
                work[CELL, 0] = cell
                _walk(facts, bits, start, stop, variables, k, axis, counts, work, words)
        _from_any_to_common(facts, variables, k, axis, offset + state * stride, counts, work)
        bit_set += 1


@inlined
def _walk(facts, bits, start, stop, variables, k, axis, counts, work, words):
    """Count all configurations of the later axes within ``words[0]``, depth first.

    Depth d has chosen d states, on ascending axes; ``words[d]`` are its rows. A
    configuration that no row has is not followed any further.
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


@kernel
def _and_count(left, right, both):
    """Overwrite `both` with the bits set in left and right; return their number."""
    total = 0
    for i in range(len(right)):
        word = left[i] & right[i]
        both[i] = word
        total += popcount(word)
    return total


@inlined
def _from_any_to_common(facts, variables, k, axis, start, counts, work):
    """Make "any state" mean "the most common state" on the later axes, by subtraction."""
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
