"""Partially directed graphs over numbered variables: Meek's rules and consistent extensions.

A graph is a matrix of *directions*: ``[i, j]`` says that the edge between i and j may lead from i
to j. An arc has one direction, an edge both. Constraint-based learning directs what colliders
force; `close_under_meek` adds what follows from that [1]_, and `extend_to_dag` directs the rest
without a new collider, if that is possible [2]_.

All loops visit variables in ascending order, so that the same graph gives the same answer.

.. [1] C. Meek, Causal inference and causal explanation with background knowledge, UAI 1995.
.. [2] D. Dor and M. Tarsi, A simple algorithm to construct a consistent extension of a partially
   oriented graph, Technical report R-185, UCLA, 1992.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["Directions", "close_under_meek", "extend_to_dag", "is_acyclic"]

Directions = NDArray[np.bool_]  # (n, n), False on the diagonal


def is_acyclic(arcs: Directions) -> bool:
    """Return whether arcs close no cycle.

    >>> is_acyclic(np.array([[False, True], [False, False]]))
    True
    """
    left = np.flatnonzero(arcs.any(axis=0))
    while len(left):
        inner = left[arcs[np.ix_(left, left)].any(axis=0)]
        if len(inner) == len(left):
            return False
        left = inner
    return True


def close_under_meek(directions: Directions) -> Directions:
    """Return the graph with all edges directed that Meek's four rules direct.

    If the rules contradict each other, the direction from the lower number holds. A direction that
    closes a cycle is left out.

    >>> chain = np.zeros((3, 3), dtype=np.bool_)
    >>> chain[0, 1] = chain[1, 2] = chain[2, 1] = True
    >>> close_under_meek(chain)[2, 1]
    np.False_
    """
    closed, left_out = directions.copy(), np.zeros_like(directions)
    may_check = is_acyclic(directions & ~directions.T)
    while True:
        forced = _find_forced(closed) & ~left_out
        both = forced & forced.T
        forced &= ~np.tril(both)
        if not forced.any():
            return closed
        after = closed & ~forced.T
        if may_check and not is_acyclic(after & ~after.T):
            after = closed
            for a, b in np.argwhere(forced).tolist():
                one = after.copy()
                one[b, a] = False
                if is_acyclic(one & ~one.T):
                    after = one
                else:
                    left_out[a, b] = True
        closed = after


def _find_forced(directions: Directions) -> Directions:
    """Return the directions of edges that one of the rules forces."""
    arcs, edges = directions & ~directions.T, directions & directions.T
    if not edges.any():
        return np.zeros_like(directions)
    apart = ~(directions | directions.T)
    np.fill_diagonal(apart, False)
    counts = arcs.astype(np.float32)
    forced = (counts.T @ apart.astype(np.float32)) > 0  # a -> b - c, a and c apart: b -> c
    forced |= (counts @ counts) > 0  # a -> b -> c, a - c: a -> c
    forced &= edges
    for a, b in np.argwhere(edges & ~forced).tolist():
        into = np.flatnonzero(arcs[:, b] & edges[a])
        if apart[np.ix_(into, into)].any():  # a - c -> b, a - d -> b, c and d apart: a -> b
            forced[a, b] = True
            continue
        beyond = apart[:, b] & (directions[a] | directions[:, a])
        middle = arcs[:, b] & (directions[a] | directions[:, a])
        if arcs[np.ix_(beyond, middle)].any():  # c -> d -> b, b and c apart, a next to c, d: a -> b
            forced[a, b] = True
    return forced


def extend_to_dag(directions: Directions, is_strict: bool = True) -> Directions | None:
    """Return a DAG with these arcs and edges and no further collider; None if there is none.

    Without `is_strict`, add as few colliders as the order of elimination lets see, and leave arcs
    that are in a cycle as they are: the answer is then not None, and may have a cycle.

    >>> triangle = ~np.eye(3, dtype=np.bool_)
    >>> extend_to_dag(triangle).sum()
    np.int64(3)
    """
    rest, dag = directions.copy(), directions & ~directions.T
    left = list(range(len(directions)))
    while left:
        sink = _find_sink(rest, left, is_strict)
        if sink is None:
            if is_strict:
                return None
            return dag | np.triu(rest & rest.T)
        dag[:, sink] |= rest[:, sink]
        rest[sink, :] = rest[:, sink] = False
        left.remove(sink)
    return dag


def _find_sink(rest: Directions, left: list[int], is_strict: bool) -> int | None:
    """Return a variable without arcs out whose edges may all lead to it; None if there is none.

    Each neighbour by an edge must be next to all other neighbours. If no variable fulfils that and
    the search is not strict, return the one with the fewest pairs that are apart.
    """
    arcs = rest & ~rest.T
    best, fewest = None, np.inf
    for variable in left:
        if arcs[variable].any():
            continue
        near = np.flatnonzero(rest[:, variable])
        linked = np.flatnonzero(rest[variable])
        touch = (rest | rest.T)[np.ix_(linked, near)]
        n_apart = touch.size - int(touch.sum()) - len(linked)  # no variable is next to itself
        if n_apart == 0:
            return variable
        if n_apart < fewest:
            best, fewest = variable, n_apart
    return None if is_strict else best
