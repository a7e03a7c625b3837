"""The kernel of the smoothed BIC under which BLIP's results are published; see `blip_score`.

The kernels of a benchmark are compiled in each process. They are not in the cache of coevo.
"""

from __future__ import annotations

import math

import numba
import numpy as np

from coevo.score.count_kernels import ARITY, N_WORK, set_strides
from coevo.score.family_kernels import find_stride, sort_by_rank

__all__ = ["score_smoothed_tables"]


@numba.njit(nogil=True, error_model="numpy")
def score_smoothed_tables(facts, members, starts, begin, cells, n_rows, scores):
    """Overwrite ``scores[f]`` with the smoothed BIC of each family; -inf without a table."""
    work = np.empty((N_WORK, len(facts) + 1), dtype=np.int64)
    variables = np.empty(len(facts) + 1, dtype=np.int32)
    for family in range(len(starts) - 1):
        first, n_cells = begin[family], begin[family + 1] - begin[family]
        scores[family] = -np.inf
        if n_cells == 0:
            continue
        k = starts[family + 1] - starts[family]
        child = members[starts[family]]
        sort_by_rank(facts, members, starts[family], k, variables)
        set_strides(facts, variables, k, work)
        stride, arity = find_stride(child, variables, k, work), facts[child, ARITY]
        q = n_cells // arity
        of_cell, of_row = 1.0 / n_cells, 1.0 / arity if k > 1 else 1.0
        penalty = math.log(n_rows) * (0.5 if k > 1 else 1.0)
        total = -penalty * q * (arity - 1)
        for block in range(first, first + n_cells, stride * arity):
            for cell in range(block, block + stride):
                in_row = 0
                for state in range(arity):
                    count = np.int64(cells[cell + state * stride])
                    if count > 0:
                        total += count * math.log(count + of_cell)
                        in_row += count
                if in_row > 0:
                    total -= in_row * math.log(in_row + of_row)
        scores[family] = total
