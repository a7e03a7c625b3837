"""A structure from the gains of single arcs, for a search that runs out of time at its start.

On a wide table the first thing that a local search needs, the gain of each possible arc, may take
longer than its time limit. What is known by then is still worth something: each variable takes its
best parent, the arcs with the largest gain first, unless one closes a cycle.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from coevo.search.base import LEAST_GAIN, Problem

__all__ = ["add_best_parents"]


def add_best_parents(
    problem: Problem, gains: Iterable[tuple[int, NDArray[np.float64]]]
) -> NDArray[np.bool_]:
    """Return the start structure of a problem with the best further parent of some variables.

    `gains` has these variables, each with the gain of adding every other one to its parents in the
    start structure; minus infinity where that is not allowed.
    """
    adjacency, rules = problem.start.copy(), problem.rules
    found: list[tuple[float, int, int]] = []
    for child, own_gains in gains:
        is_held = adjacency[:, child]
        if is_held.sum() < rules.max_parents:
            possible = np.where(rules.allowed[:, child] & ~is_held, own_gains, -np.inf)
            parent = int(possible.argmax())
            found.append((-float(possible[parent]), child, parent))
    above: dict[int, list[int]] = {}
    for parent, child in np.argwhere(adjacency).tolist():
        above.setdefault(child, []).append(parent)
    for loss, child, parent in sorted(found):
        if -loss > LEAST_GAIN and not _is_above(above, child, parent):
            adjacency[parent, child] = True
            above.setdefault(child, []).append(parent)
    return adjacency


def _is_above(above: Mapping[int, list[int]], variable: int, other: int) -> bool:
    """Return whether a variable is an ancestor of another one, or the same."""
    waiting, seen = [other], {other}
    while waiting:
        one = waiting.pop()
        if one == variable:
            return True
        new = [parent for parent in above.get(one, ()) if parent not in seen]
        seen.update(new)
        waiting.extend(new)
    return False
