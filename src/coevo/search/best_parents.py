"""A structure from the gains of single arcs, for a search that runs out of time at its start.

On a wide table the first thing that a local search needs, the gain of each possible arc, may take
longer than its time limit. What is known by then is still worth something: each variable takes its
best parent, the arcs with the largest gain first, unless one closes a cycle.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coevo.search.base import LEAST_GAIN, Problem

__all__ = ["add_best_parents"]


def add_best_parents(problem: Problem, gains: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return the start structure of a problem with the best further parent of each variable.

    ``gains[parent, child]`` is the gain of adding an arc to the start; minus infinity where it is
    not known or not allowed.
    """
    adjacency, rules = problem.start.copy(), problem.rules
    has_room = adjacency.sum(axis=0) < rules.max_parents
    may_add = np.where(rules.allowed & ~adjacency & has_room, gains, -np.inf)
    parents = may_add.argmax(axis=0)
    best = may_add[parents, np.arange(len(parents))]
    above = [np.flatnonzero(column).tolist() for column in adjacency.T]
    for child in np.argsort(-best, kind="stable").tolist():
        if best[child] <= LEAST_GAIN:
            break
        parent = int(parents[child])
        if not _is_above(above, child, parent):
            adjacency[parent, child] = True
            above[child].append(parent)
    return adjacency


def _is_above(above: list[list[int]], variable: int, other: int) -> bool:
    """Return whether a variable is an ancestor of another one, or the same."""
    waiting, seen = [other], {other}
    while waiting:
        one = waiting.pop()
        if one == variable:
            return True
        new = [parent for parent in above[one] if parent not in seen]
        seen.update(new)
        waiting.extend(new)
    return False
