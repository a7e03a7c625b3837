"""The second half of PC: direct the edges that the tests have left, and find a DAG.

Arcs that the constraints demand come first: required ones, and edges of which one direction is
forbidden. Then each pair a, b that was separated without c, their common neighbour, makes a
collider a -> c <- b. In finite data colliders contradict each other. The pair with the larger
p-value is the surer one and comes first; a later collider that would turn an arc is left out.
Meek's rules direct what follows. If the graph has no consistent extension, the least sure collider
is left out, and so on.

The limits on parents and tables are no part of PC. A variable with too many parents keeps the arcs
with the smallest p-values.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from coevo.graph import ArcRules
from coevo.graph.pdag import Directions, close_under_meek, extend_to_dag

__all__ = ["Separators", "orient"]

Separators = Mapping[tuple[int, int], frozenset[int]]  # by pair, the lower number first
PValues = NDArray[np.float64]  # (n, n), symmetric: the largest p of all tests of a pair
Collider = tuple[int, int, int]  # (a, c, b): a -> c <- b


def orient(
    edges: Directions, separators: Separators, p_values: PValues, rules: ArcRules
) -> tuple[Directions, Directions]:
    """Return the partially directed graph, and a DAG that fulfils the rules."""
    known = _apply_rules(edges, rules)
    colliders = _list_colliders(edges, separators, p_values)
    graph, used = _direct(known, colliders)
    dag = extend_to_dag(graph)
    while dag is None and used:
        graph, used = _direct(known, used[:-1])
        dag = extend_to_dag(graph)
    if dag is None:
        dag = extend_to_dag(graph, is_strict=False)
        assert dag is not None  # it is not strict
    return graph, _fit_to_rules(dag, p_values, rules)


def _apply_rules(edges: Directions, rules: ArcRules) -> Directions:
    """Return the edges, directed where the rules leave one direction."""
    known = edges & rules.allowed
    known &= ~rules.required.T
    return known | rules.required


def _list_colliders(edges: Directions, separators: Separators, p_values: PValues) -> list[Collider]:
    """Return all colliders that the separators show, the surest first."""
    colliders = []
    for c in range(len(edges)):
        for a, b in combinations(np.flatnonzero(edges[c]).tolist(), 2):
            if not edges[a, b] and c not in separators.get((a, b), (c,)):
                colliders.append((a, c, b))
    return sorted(colliders, key=lambda triple: (-p_values[triple[0], triple[2]], triple))


def _direct(known: Directions, colliders: list[Collider]) -> tuple[Directions, list[Collider]]:
    """Direct colliders as long as they fit; return the closed graph and those that fit."""
    graph, used = known.copy(), []
    for a, c, b in colliders:
        if graph[a, c] and graph[b, c]:
            graph[c, a] = graph[c, b] = False
            used.append((a, c, b))
    return close_under_meek(graph), used


def _fit_to_rules(dag: Directions, p_values: PValues, rules: ArcRules) -> Directions:
    """Return the arcs that can be added one by one: required ones first, then by p-value."""
    arcs = np.argwhere(dag).tolist()
    arcs.sort(key=lambda arc: (not rules.required[*arc], p_values[*arc], arc))
    fitted, reaches = np.zeros_like(dag), np.eye(len(dag), dtype=np.bool_)
    for parent, child in arcs:
        parents = [*np.flatnonzero(fitted[:, child]).tolist(), parent]
        if reaches[child, parent] or len(parents) > rules.max_parents:
            continue
        if rules.fits(child, parents):
            fitted[parent, child] = True
            reaches |= np.outer(reaches[:, parent], reaches[child])
    return fitted
