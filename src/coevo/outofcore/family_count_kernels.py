"""Tables of families counted apart from their scores, so that shards can be add_counts up.

`add_tables` counts the families of a batch in one shard, `score_tables` scores the sums.
Both use the parts of which `family_kernels` consists, on the same layout of a table, so
that a score is the same to the last bit as if all rows had been in one place.
"""

from __future__ import annotations

import numpy as np

from coevo.jit import kernel
from coevo.score.count_kernels import ARITY, set_strides
from coevo.score.family_kernels import (
    ALL_ROWS,
    BY_LEVELS,
    put_in_order,
    stride_of,
    table_by_levels,
    table_of_all_rows,
)
from coevo.score.score_kernels import score_table

__all__ = ["add_tables", "score_tables"]


@kernel
def add_tables(index, batch, first, last, known, scratch, begin, cells):
    """Add the tables of families to ``cells``, that of f from ``begin[f]`` on.

    Families whose tables would be too large are passed over.
    """
    counts = scratch.counts
    for family in range(first, last):
        method = batch.method[family]
        if method == BY_LEVELS:
            n_cells = table_by_levels(index, batch, family, known, scratch)
        elif method == ALL_ROWS:
            n_cells = table_of_all_rows(index, batch, family, scratch)
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
        put_in_order(facts, members, start, k, variables)
        set_strides(facts, variables, k, work)
        for cell in range(n_cells):
            counts[cell] = cells[at + cell]
        child = members[start]
        stride, arity = stride_of(child, variables, k, work), facts[child, ARITY]
        scores[family] = score_table(spec, counts, n_cells, stride, arity, margin, rising)
