"""The second half of PC: direct the edges that the tests have left, and find a DAG.

Arcs that the constraints demand come first: required ones, and edges of which one direction is
forbidden. Then come the colliders a -> c <- b, the surest first. In finite data colliders
contradict each other: one that would turn an arc or close a cycle is left out. Meek's rules direct
what follows.

The answer of finite data may have no consistent extension: an extension is a DAG with these arcs
and edges and no other collider. Then the DAG has as few other colliders as the order of
elimination lets see.

The limits on parents and tables are no part of PC. A variable with too many parents keeps the arcs
with the smallest p-values.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from coevo.graph import ArcRules
from coevo.graph.pdag import Directions, close_under_meek, extend_to_dag, is_acyclic
from coevo.search.pc_tests import Separators

__all__ = ["find_triples", "orient"]

PValues = NDArray[np.float64]  # (n, n), symmetric: the largest p of all tests of a pair
Collider = tuple[int, int, int]  # (a, c, b): a -> c <- b


def find_triples(edges: Directions, separators: Separators) -> list[Collider]:
    """Return all a - c - b of which a test has separated a and b."""
    return [
        (a, c, b)
        for c in range(len(edges))
        for a, b in combinations(np.flatnonzero(edges[c]).tolist(), 2)
        if not edges[a, b] and (a, b) in separators
    ]


def orient(
    edges: Directions, colliders: list[Collider], p_values: PValues, rules: ArcRules
) -> tuple[Directions, Directions]:
    """Return the partially directed graph, and a DAG that fulfils the rules.

    The colliders come in falling order of confidence.
    """
    graph = close_under_meek(_direct(_apply_rules(edges, rules), colliders))
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


def _direct(known: Directions, colliders: list[Collider]) -> Directions:
    """Return the graph with the colliders that turn no arc and close no cycle.

    Forbidden directions may leave a cycle from the beginning. The DAG then lacks one of its edges.
    """
    graph, may_check = known, is_acyclic(known & ~known.T)
    for a, c, b in colliders:
        if graph[a, c] and graph[b, c]:
            after = graph.copy()
            after[c, a] = after[c, b] = False
            if not may_check or is_acyclic(after & ~after.T):
                graph = after
    return graph


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
