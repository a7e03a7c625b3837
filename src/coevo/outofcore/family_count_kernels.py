"""Kernels that count families and score them separately, so that shards can be added.

`add_tables` counts the families of a batch in one shard. `score_tables` scores the sums over all
shards. Both use the functions of `family_kernels` and the same order of cells. A score is
therefore equal, to the last bit, to the score of all rows in one place.
"""

from __future__ import annotations

import numpy as np

from coevo.jit import kernel
from coevo.score.count_kernels import ARITY, set_strides
from coevo.score.family_kernels import (
    ALL_ROWS,
    BY_LEVELS,
    count_family_by_levels,
    count_family_over_all_rows,
    find_stride,
    sort_by_rank,
)
from coevo.score.score_kernels import score_table

__all__ = ["add_tables", "score_tables"]


@kernel
def add_tables(index, batch, first, last, shared, scratch, begin, cells):
    """Add the table of each family f to ``cells``, from ``begin[f]`` on.

    Skip families whose tables would be too large.
    """
    counts = scratch.counts
    for family in range(first, last):
        method = batch.method[family]
        if method == BY_LEVELS:
            n_cells = count_family_by_levels(index, batch, family, shared, scratch)
        elif method == ALL_ROWS:
            n_cells = count_family_over_all_rows(index, batch, family, scratch)
        else:
            continue
        at = begin[family]
        for cell in range(n_cells):
            cells[at + cell] += counts[cell]


@kernel
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
