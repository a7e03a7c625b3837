"""The kernel that scores the tables of families after they are added up over all shards.

The kernels of `family_kernels` count the families in each shard. `score_tables` uses the same
order of cells. A score is therefore equal, to the last bit, to the score of all rows in one
place.
"""

from __future__ import annotations

import numpy as np

from coevo.jit import INT, array_of, kernel
from coevo.score._numba_parts import (
    SCORES,
    SCRATCH,
    SPEC,
    find_stride,
    over_tuples,
    score_table,
    set_strides,
    sort_by_rank,
)
from coevo.score.count_kernels import ARITY

__all__ = ["score_tables"]

FACTS, STARTS = array_of(np.int64, 2), array_of(np.int64, 1, True)
MEMBERS, CELLS = array_of(np.int32, 1, True), array_of(np.uint32, 1, True)


@over_tuples
@kernel((FACTS, SPEC, MEMBERS, STARTS, INT, INT, STARTS, CELLS, SCRATCH, SCORES))
def score_tables(facts, spec, members, starts, first, last, begin, cells, scratch, scores):
    """Overwrite ``scores[f]`` of the families from `first` to before `last` that have a table."""
    counts, work, margin, rising = scratch.counts, scratch.work, scratch.margin, scratch.rising
    variables = np.empty(work.shape[1], dtype=np.int32)
    for family in range(first, last):
        at, n_cells = begin[family], begin[family + 1] - begin[family]
        if n_cells == 0:
            continue
        start = starts[family]
        k = starts[family + 1] - start
        sort_by_rank(facts, members, start, k, variables)
        set_strides(facts, variables, k, work)
        for cell in range(n_cells):
            counts[cell] = cells[at + cell]
        child = members[start]
        stride, arity = find_stride(child, variables, k, work), facts[child, ARITY]
        scores[family] = score_table(spec, counts, n_cells, stride, arity, margin, rising)
