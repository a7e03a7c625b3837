"""The kernel that looks for violated cluster cuts.

In every set C of at least k variables, at least k have fewer than k parents in C: the first k of an
order of the network. The *value* of C in a solution of the linear programme is the sum of x over
the families whose child is in C and that have fewer than k parents there. A value below k violates
the cut. `grow_clusters` starts with a child and one of its parents and adds the variable that
lowers the value most, one at a time.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from coevo.jit import INT, array_of, kernel, part

__all__ = ["grow_clusters"]

LEAST_DIFFERENCE = 1e-9
PATIENCE = 6  # further variables without a lower value


@part
def _add_member(
    children: Any, parents: Any, x: Any, k: Any, added: Any, inside: Any, hits: Any, change: Any
) -> Any:
    """Add a variable to a cluster; return its value, and write how each further one changes it.

    ``hits[f]`` is the number of parents of family f in the cluster.
    """
    inside[added] = True
    change[:] = 0.0
    value = 0.0
    n_families, width = parents.shape
    for f in range(n_families):
        for i in range(width):
            if parents[f, i] == added:
                hits[f] += 1
        if hits[f] >= k:
            continue
        if not inside[children[f]]:
            change[children[f]] += x[f]
            continue
        value += x[f]
        if hits[f] == k - 1:
            for i in range(width):
                change[parents[f, i]] -= x[f]
    return value


@part
def _measure(children: Any, parents: Any, x: Any, k: Any, cluster: Any) -> Any:
    """Return the value of a cluster."""
    value = 0.0
    for f in range(len(children)):
        if cluster[children[f]]:
            hits = 0
            for i in range(parents.shape[1]):
                hits += cluster[parents[f, i]]
            if hits < k:
                value += x[f]
    return value


@part
def _shrink(children: Any, parents: Any, x: Any, k: Any, cluster: Any, value: Any) -> Any:
    """Remove variables as long as that lowers the value of the cluster; return the value."""
    size = cluster.sum()
    is_improved = True
    while is_improved:
        is_improved = False
        for removed in range(len(cluster) - 1):
            if not cluster[removed] or size <= k + 1:
                continue
            cluster[removed] = False
            after = _measure(children, parents, x, k, cluster)
            if after < value - LEAST_DIFFERENCE:
                value = after
                size -= 1
                is_improved = True
            else:
                cluster[removed] = True
    return value


@kernel(
    (
        array_of(np.int64),
        array_of(np.int64, 2),
        array_of(np.float64),
        INT,
        array_of(np.int64, 2),
        array_of(np.bool_, 2),
        array_of(np.float64),
    )
)
def grow_clusters(
    children: Any, parents: Any, x: Any, k: Any, starts: Any, clusters: Any, values: Any
) -> None:
    """Overwrite row s of `clusters` with the best cluster found from start s, and its value.

    The families are those with x above 0; a row of `parents` ends with the number of variables n.
    The last column of `clusters`, for n, stays False. There are more than k variables.
    """
    n = clusters.shape[1] - 1
    inside = np.empty(n + 1, dtype=np.bool_)
    hits = np.empty(len(children), dtype=np.int64)
    change = np.empty(n + 1)
    order = np.empty(n, dtype=np.int64)
    for s in range(len(starts)):
        inside[:] = False
        hits[:] = 0
        best, n_best, size = np.inf, n, 0
        while size < n and size <= n_best + PATIENCE:
            added = -1
            if size < 2:
                added = starts[s, size]
            else:
                for v in range(n):
                    if not inside[v] and (added < 0 or change[v] < change[added]):
                        added = v
            order[size] = added
            size += 1
            value = _add_member(children, parents, x, k, added, inside, hits, change)
            if size > k and value < best - LEAST_DIFFERENCE:
                best, n_best = value, size
        clusters[s, :] = False
        for i in range(n_best):
            clusters[s, order[i]] = True
        values[s] = _shrink(children, parents, x, k, clusters[s], best)
