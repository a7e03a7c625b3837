"""Count and score families on their available cases: the rows that observe all their variables."""

from __future__ import annotations

import numpy as np

from coevo.jit import INT, array_of, inline, kernel
from coevo.score._numba_parts import SCORES, SPEC, over_tuples, score_table

__all__ = ["evaluate_available"]

CODES, MISSING = array_of(np.uint16, 2, True), array_of(np.bool_, 2, True)
ARITIES, STARTS = array_of(np.int64, 1, True), array_of(np.int64, 1, True)
MEMBERS, N_COMPLETE = array_of(np.int32, 1, True), array_of(np.int64)
COUNTS = array_of(np.uint32)
SCRATCH = None


@over_tuples
@kernel((CODES, MISSING, ARITIES, SPEC, MEMBERS, STARTS, INT, INT, SCRATCH, SCORES, N_COMPLETE))
def evaluate_available(
    codes, missing, arities, spec, members, start, first, last, scratch, scores, n_complete
):
    """Overwrite the scores of families ``first:last``, and their numbers of complete rows.

    The position of the child in `members` gets the score of the family. The position of a parent
    gets the score of the family without this parent, on the same rows. The child varies fastest
    in the table of counts. A family whose table does not fit into the scratch memory gets 0
    complete rows and no score.
    """
    counts, reduced, margin, rising = scratch
    n_rows = codes.shape[1]
    for family in range(first, last):
        begin, end = start[family], start[family + 1]
        n_cells = 1.0
        for i in range(begin, end):
            n_cells *= arities[members[i]]
        if n_cells > len(counts):
            n_complete[family] = 0
            continue
        size = np.int64(n_cells)
        for cell in range(size):
            counts[cell] = 0
        n = 0
        for row in range(n_rows):
            cell, is_complete = np.int64(0), True
            for i in range(end - 1, begin - 1, -1):
                v = members[i]
                if missing[v, row]:
                    is_complete = False
                    break
                cell = cell * arities[v] + codes[v, row]
            if is_complete:
                counts[cell] += np.uint32(1)
                n += 1
        n_complete[family] = n
        arity = arities[members[begin]]
        scores[begin] = score_table(spec, counts, size, np.int64(1), arity, margin, rising)
        stride = np.int64(arity)
        for i in range(begin + 1, end):
            parent_arity = np.int64(arities[members[i]])
            _sum_over(counts, size, stride, parent_arity, reduced)
            reduced_size = size // parent_arity
            scores[i] = score_table(spec, reduced, reduced_size, np.int64(1), arity, margin, rising)
            stride *= parent_arity


@inline
def _sum_over(counts, size, stride, arity, reduced):
    """Overwrite `reduced` with the table of counts, summed over one variable."""
    position = 0
    for block in range(0, size, stride * arity):
        for i in range(block, block + stride):
            total = counts[i]
            for state in range(1, arity):
                total += counts[i + state * stride]
            reduced[position] = total
            position += 1
