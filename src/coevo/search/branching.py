"""The best branching: a forest in which each variable has at most one parent.

Given the gain of each arc, `find_best_branching` returns the forest with the largest total gain.
If the gain of an arc does not depend on its direction, this is a maximum-weight spanning forest,
as Chow and Liu (1968) use it. Some scores and all constraints depend on the direction, so the
algorithm is that of Chu and Liu (1965) and Edmonds (1967): each variable takes its best arc; a
cycle of these arcs is contracted to one node, whose arcs are worth what they gain over the arc
that they replace. A virtual root with arcs of gain 0 lets a variable stay without a parent.

All ties go to the first variable by name.

References ---------- C. K. Chow, C. N. Liu (1968). Approximating discrete probability
distributions with dependence trees. IEEE Transactions on Information Theory 14, 462-467.

J. Edmonds (1967). Optimum branchings. Journal of Research of the National Bureau of Standards 71B,
233-240.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coevo.search.base import LEAST_GAIN
from coevo.work_time import check_deadline

__all__ = ["NO_PARENT", "Gains", "Parents", "choose_first_roots", "find_best_branching"]

NO_PARENT = -1

Gains = NDArray[np.float64]  # (n, n), gain of each arc ``[parent, child]``; -inf: not possible
Parents = NDArray[np.int64]  # (n,), the parent of each variable, or NO_PARENT


def find_best_branching(gains: Gains, fixed: Parents | None = None) -> Parents:
    """Return the parent of each variable in the forest with the largest total gain.

    Only arcs with a gain are used. `fixed` has the parents of variables that are decided already;
    without a cycle among them there is always a forest.

    >>> gains = np.full((3, 3), -np.inf)
    >>> gains[0, 1], gains[1, 0], gains[2, 0], gains[1, 2] = 6, 7, 5, 3
    >>> find_best_branching(gains).tolist()
    [2, 0, -1]
    """
    return _Contraction(gains, fixed).find_parents()


class _Contraction:
    """The state of the algorithm: nodes (variables, then contracted cycles) and their arcs.

    The arcs into a node are one array over all variables and the virtual root. `child` has the
    variable inside the node that each arc leads to.
    """

    def __init__(self, gains: Gains, fixed: Parents | None) -> None:
        n = len(gains)
        self.root = n
        self.gain: list[NDArray[np.float64]] = []
        self.child: list[NDArray[np.int64]] = []
        self.members: list[list[int]] = [[] for _ in range(n + 1)]
        self.node_of = np.arange(n + 1)  # the outermost node of each variable
        self.arc: dict[int, tuple[int, int]] = {}  # the chosen arc into each node
        for variable in range(n):
            check_deadline()
            column = gains[:, variable]
            own = np.append(np.where(column > LEAST_GAIN, column, -np.inf), 0.0)
            if fixed is not None and fixed[variable] != NO_PARENT:
                own[:] = -np.inf
                own[fixed[variable]] = 0.0
            own[variable] = -np.inf
            self.gain.append(own)
            self.child.append(np.full(n + 1, variable))
        self.gain.append(np.full(n + 1, -np.inf))  # no arc leads to the root
        self.child.append(np.full(n + 1, n))

    def find_parents(self) -> Parents:
        """Connect each variable to the root, backwards along the best arcs; then expand."""
        is_connected = {self.root}
        for variable in range(self.root):
            check_deadline()
            path: list[int] = []
            node = int(self.node_of[variable])
            while node not in is_connected:
                before = self._choose_arc(node)
                path.append(node)
                if before in path:
                    start = path.index(before)
                    node = self._contract(path[start:])
                    del path[start:]
                else:
                    node = before
            is_connected.update(path)
        return self._expand()

    def _choose_arc(self, node: int) -> int:
        """Choose the best arc into a node; return the node that it comes from."""
        gain = self.gain[node]
        parent = int(np.argmax(gain >= gain.max() - LEAST_GAIN))
        self.arc[node] = (parent, int(self.child[node][parent]))
        return int(self.node_of[parent])

    def _contract(self, cycle: list[int]) -> int:
        """Make one node of a cycle; return it."""
        gains = np.array([self.gain[node] - self.gain[node][self.arc[node][0]] for node in cycle])
        best = np.argmax(gains >= gains.max(axis=0) - LEAST_GAIN, axis=0)
        new, everywhere = len(self.gain), np.arange(self.root + 1)
        gain = gains[best, everywhere]
        inside = np.isin(self.node_of, cycle)
        gain[inside] = -np.inf
        self.node_of[inside] = new
        self.gain.append(gain)
        self.child.append(np.array([self.child[node] for node in cycle])[best, everywhere])
        self.members.append(list(cycle))
        return new

    def _expand(self) -> Parents:
        """Return the parents of all variables: the arc into a cycle replaces one of its arcs."""
        inside = {member: node for node, members in enumerate(self.members) for member in members}
        for node in reversed(range(self.root + 1, len(self.gain))):
            entered = self.arc[node][1]
            while inside[entered] != node:
                entered = inside[entered]
            self.arc[entered] = self.arc[node]
        parents = np.array([self.arc[variable][0] for variable in range(self.root)], dtype=np.int64)
        return np.where(parents == self.root, NO_PARENT, parents)


def choose_first_roots(parents: Parents, gains: Gains) -> Parents:
    """Return the same trees, each with its first variable as the root if that costs no gain.

    The direction of the arcs of a tree does not matter to most scores; this makes it canonical.

    >>> gains = np.ones((3, 3))
    >>> choose_first_roots(np.array([1, 2, -1]), gains).tolist()
    [-1, 0, 1]
    """
    found = parents.copy()
    is_done = np.zeros(len(parents), dtype=np.bool_)  # its tree has its final root
    for first in range(len(parents)):
        path = [first]
        while found[path[-1]] != NO_PARENT:
            path.append(int(found[path[-1]]))
        if is_done[path[-1]]:
            continue
        children, old = np.array(path[:-1], dtype=np.int64), np.array(path[1:], dtype=np.int64)
        change = gains[children, old] - gains[old, children]  # of each arc that is reversed
        if change.sum() >= -LEAST_GAIN * len(path):
            found[old], found[first] = children, NO_PARENT
            is_done[first] = True
    return found
