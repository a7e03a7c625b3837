"""Kernel that makes DAGs of graphs: insert arcs one after another, skip what closes a cycle."""

from __future__ import annotations

import numpy as np

from coevo.jit import FLOAT, INT, array_of, kernel, tuple_of

__all__ = ["insert_arcs"]

NUMBERS, FLAGS = array_of(np.int64), array_of(np.bool_, 2, True)
ARCS = tuple_of(NUMBERS, NUMBERS, NUMBERS)
LIMITS = tuple_of(INT, array_of(np.float64), FLOAT)


@kernel((ARCS, FLAGS, FLAGS, LIMITS, array_of(np.bool_, 3)))
def insert_arcs(arcs, required, reach_of_required, limits, graphs):
    """Overwrite ``graphs[g]`` with the required arcs and those of g that can be inserted.

    `arcs` holds where the arcs of each graph begin, then the parent and the child of each. They
    are inserted in this order. An arc is skipped if it closes a cycle, or if its child would have
    too many parents or a table with too many cells. `reach_of_required` says which variables are
    reachable from which over required arcs.
    """
    begin, parents, children = arcs
    max_parents, arities, max_cells = limits
    n = len(required)
    reach = np.empty((n, n), dtype=np.bool_)
    n_parents = np.empty(n, dtype=np.int64)
    n_cells = np.empty(n, dtype=np.float64)
    for g in range(len(graphs)):
        for child in range(n):
            n_parents[child] = 0
            n_cells[child] = arities[child]
            for parent in range(n):
                reach[parent, child] = reach_of_required[parent, child]
                graphs[g, parent, child] = required[parent, child]
                if required[parent, child]:
                    n_parents[child] += 1
                    n_cells[child] *= arities[parent]
        for i in range(begin[g], begin[g + 1]):
            parent, child = parents[i], children[i]
            cells = n_cells[child] * arities[parent]
            if reach[child, parent] or n_parents[child] >= max_parents or cells > max_cells:
                continue
            graphs[g, parent, child] = True
            n_parents[child] += 1
            n_cells[child] = cells
            if reach[parent, child]:
                continue
            for a in range(n):
                if a == parent or reach[a, parent]:
                    reach[a, child] = True
                    for b in range(n):
                        reach[a, b] |= reach[child, b]
