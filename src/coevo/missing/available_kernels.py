"""Counting and scoring families on the rows in which none of their cells is missing."""

from __future__ import annotations

import numpy as np

from coevo.jit import inline, kernel
from coevo.score.score_kernels import score_table

__all__ = ["evaluate_available"]


@kernel
def evaluate_available(
    codes, missing, arities, spec, members, start, first, last, scratch, scores, n_seen
):
    """Overwrite the scores of some families, and on how many rows each was counted.

    At the place of the child stands the score of the family, at that of a parent the score of
    the family without it, on the same rows. The tables are counted cell by cell, the child
    varying fastest. A family whose table does not fit into the working memory counts as seen
    in no row.
    """
    counts, reduced, margin, rising = scratch
    n_rows = codes.shape[1]
    for family in range(first, last):
        begin, end = start[family], start[family + 1]
        n_cells = 1.0
        for i in range(begin, end):
            n_cells *= arities[members[i]]
        if n_cells > len(counts):
            n_seen[family] = 0
            continue
        size = np.int64(n_cells)
        counts[:size] = 0
        seen = 0
        for row in range(n_rows):
            cell, is_whole = np.int64(0), True
            for i in range(end - 1, begin - 1, -1):
                v = members[i]
                if missing[v, row]:
                    is_whole = False
                    break
                cell = cell * arities[v] + codes[v, row]
            if is_whole:
                counts[cell] += np.uint32(1)
                seen += 1
        n_seen[family] = seen
        arity = arities[members[begin]]
        scores[begin] = score_table(spec, counts, size, np.int64(1), arity, margin, rising)
        stride = np.int64(arity)
        for i in range(begin + 1, end):
            own = np.int64(arities[members[i]])
            _sum_over(counts, size, stride, own, reduced)
            smaller = size // own
            scores[i] = score_table(spec, reduced, smaller, np.int64(1), arity, margin, rising)
            stride *= own


@inline
def _sum_over(counts, size, stride, arity, reduced):
    """Overwrite `reduced` with a table summed over one axis."""
    place = 0
    for block in range(0, size, stride * arity):
        for i in range(block, block + stride):
            total = counts[i]
            for state in range(1, arity):
                total += counts[i + state * stride]
            reduced[place] = total
            place += 1
