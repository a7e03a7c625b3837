"""The kernel that measures pairs of variables: what a single parent adds, for all pairs.

With many variables there are too many pairs to score each as a family, which costs about a
microsecond. Here a pair costs a few AND operations of bit sets: no tables, no cache, no search for
shared counts.
"""

from __future__ import annotations

import numpy as np

from coevo.jit import INT, array_of, inline, kernel, popcount
from coevo.score.count_kernels import ARITY, BITS, COMMON, SINGLE

__all__ = ["measure_pairs"]

FACTS, SETS = array_of(np.int64, 2), array_of(np.uint64, 2, True)
CELLS, NUMBERS = array_of(np.uint32, 1, True), array_of(np.float64, 1, True)


@inline
def _count_common(bits, one, other):
    """Return the number of rows that are in both bit sets."""
    total = 0
    for word in range(bits.shape[1]):
        total += popcount(bits[one, word] & bits[other, word])
    return total


@kernel((FACTS, SETS, CELLS, NUMBERS, INT, array_of(np.int64), array_of(np.float64)))
def measure_pairs(facts, bits, singles, x_log_x, child, column, gains):
    """Overwrite ``gains[v]`` with the log likelihood that a variable v adds to a child alone.

    That is the number of rows times the mutual information. ``x_log_x[c]`` is c log c, and
    `singles` are the counts of the states of each variable. The counts of the most common states,
    which have no bit set, follow by subtraction. `column` is scratch, one cell for each state of
    the child. The child itself gets 0.
    """
    r, common = facts[child, ARITY], facts[child, COMMON]
    own = facts[child, SINGLE]
    n_rows = np.int64(0)
    base = 0.0
    for a in range(r):
        n_rows += singles[own + a]
        base -= x_log_x[singles[own + a]]
    base += x_log_x[n_rows]
    for v in range(len(gains)):
        gains[v] = 0.0
        if v == child:
            continue
        other = facts[v, SINGLE]
        for a in range(r):
            column[a] = singles[own + a]  # of the most common state of v, by subtraction
        total = base
        bit_set = facts[v, BITS]
        for b in range(facts[v, ARITY]):
            count = np.int64(singles[other + b])
            total -= x_log_x[count]
            if b == facts[v, COMMON]:
                continue
            rest, mine = count, facts[child, BITS]
            for a in range(r):
                if a != common:
                    both = _count_common(bits, mine, bit_set)
                    mine += 1
                    rest -= both
                    column[a] -= both
                    total += x_log_x[both]
            column[common] -= rest
            total += x_log_x[rest]
            bit_set += 1
        for a in range(r):
            total += x_log_x[column[a]]
        gains[v] = total
