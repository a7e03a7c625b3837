"""Kernels for cuts on a few variables: the networks with the fewest points, and the lifting.

A table has one row for each of s variables, and one column for each set of parents among them, a
number of s bits. Entries whose parents contain the variable itself are never read. The fewest
points of all networks are found by dynamic programming over the sets of variables that come first.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from coevo.jit import FLOAT, array_of, kernel, part

__all__ = ["find_best_networks", "lift_points"]

BARRED = 1e12  # points of parents that are not allowed


@part
def _fill_states(points: Any, least: Any, chosen: Any, totals: Any, last: Any) -> None:
    """Overwrite four tables.

    ``least[v, inside]`` are the fewest points of v with parents inside a set, those of the parents
    ``chosen[v, inside]``. ``totals[inside]`` are the fewest points of a network of the set; its
    last variable is ``last[inside]``.
    """
    size, n_sets = points.shape
    for v in range(size):
        for inside in range(n_sets):
            if inside >> v & 1:
                continue
            least[v, inside], chosen[v, inside] = points[v, inside], inside
            for u in range(size):
                if inside >> u & 1:
                    fewer = inside ^ (1 << u)
                    if least[v, fewer] <= least[v, inside]:
                        least[v, inside], chosen[v, inside] = least[v, fewer], chosen[v, fewer]
    totals[0] = 0.0
    for inside in range(1, n_sets):
        totals[inside] = np.inf
        for v in range(size):
            if inside >> v & 1:
                before = inside ^ (1 << v)
                total = totals[before] + least[v, before]
                if total < totals[inside]:
                    totals[inside], last[inside] = total, v


@kernel((array_of(np.float64, 2), array_of(np.int64, 2), array_of(np.float64)))
def find_best_networks(points: Any, networks: Any, totals: Any) -> None:
    """Overwrite row v with the parents in a network whose last variable is v, and its points.

    It is one with the fewest points.
    """
    size, n_sets = points.shape
    least, chosen = np.empty(points.shape), np.empty(points.shape, dtype=np.int64)
    fewest, last = np.empty(n_sets), np.empty(n_sets, dtype=np.int64)
    _fill_states(points, least, chosen, fewest, last)
    for end in range(size):
        inside = (n_sets - 1) ^ (1 << end)
        networks[end, end] = chosen[end, inside]
        totals[end] = fewest[inside] + least[end, inside]
        while inside:
            v = last[inside]
            inside ^= 1 << v
            networks[end, v] = chosen[v, inside]


@kernel((array_of(np.float64, 2), FLOAT, array_of(np.int64, 2)))
def lift_points(points: Any, right: Any, places: Any) -> None:
    """Lower the points at some places, in this order, as far as each network keeps `right` points.

    A place is a variable and its parents.
    """
    n_sets = points.shape[1]
    least, chosen = np.empty(points.shape), np.empty(points.shape, dtype=np.int64)
    fewest, last = np.empty(n_sets), np.empty(n_sets, dtype=np.int64)
    for i in range(len(places)):
        v, parents = places[i, 0], places[i, 1]
        own = points[v].copy()
        points[v, :] = BARRED
        points[v, parents] = 0.0
        _fill_states(points, least, chosen, fewest, last)
        points[v, :] = own
        points[v, parents] = max(0.0, right - fewest[n_sets - 1])
