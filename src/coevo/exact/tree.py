"""The tree of a proof: decisions about arcs, and the weights that bound each leaf.

The root stands for all networks. A node that is split has two children: the networks with an arc,
and those without it. Each leaf has weights of clusters, which prove an upper bound for its
networks. All networks of the tree are at most as good as the best leaf.

A node with the arc u -> v has none from v to u. In general, if a path of arcs that a node has leads
from u to v, then v is no parent of u there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from coevo.exact.families import Families
from coevo.exact.units import Units

__all__ = ["NO_ARC", "Filter", "Node", "Weights", "allow_families", "list_decisions"]

NO_ARC = (-1, -1)


@dataclass(frozen=True, slots=True)
class Weights:
    """The weights of some clusters, in units; the others have none."""

    clusters: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    values: Units = field(default_factory=lambda: np.empty(0, dtype=np.int64))

    @classmethod
    def from_rows(cls, weights: Units, rows: NDArray[np.int64]) -> Weights:
        """Keep the weights above 0; `rows` has the number of each cluster."""
        used = np.flatnonzero(weights)
        return cls(rows[used], weights[used])


@dataclass(frozen=True, slots=True)
class Filter:
    """Weights at the root. A family is dropped if all networks with it are below `floor` units."""

    weights: Weights
    floor: int


@dataclass(frozen=True, slots=True)
class Node:
    """A node: its parent, the decision that leads to it, and its bound in units.

    A node that is neither split nor closed is open: a better network may be in it.
    """

    parent: int  # -1 for the root
    arc: tuple[int, int]  # (parent, child) of the decision; NO_ARC for the root
    is_in: bool  # whether the networks of the node have the arc
    bound: int
    weights: Weights
    certain: NDArray[np.bool_]  # (n, n), arcs of all its networks that are good enough
    is_split: bool = False
    is_stuck: bool = False  # no rule can lower its bound


def list_decisions(nodes: Sequence[Node], number: int) -> list[tuple[int, int, bool]]:
    """Return the decisions (parent, child, is_in) from the root to a node."""
    decisions = []
    while nodes[number].parent >= 0:
        node = nodes[number]
        decisions.append((*node.arc, node.is_in))
        number = node.parent
    return decisions[::-1]


def allow_families(
    families: Families, decisions: Sequence[tuple[int, int, bool]], required: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Return which families agree with decisions; `required` arcs are in all families."""
    n = families.n_variables
    leads_to = required.copy()
    is_allowed = np.ones(len(families), dtype=np.bool_)
    for parent, child, is_in in decisions:
        own = slice(families.begin[child], families.begin[child + 1])
        is_allowed[own] &= (families.parents[own] == parent).any(axis=1) == is_in
        if is_in:
            leads_to[parent, child] = True
    for middle in range(n):
        leads_to |= leads_to[:, middle, None] & leads_to[None, middle]
    is_barred = np.zeros((n + 1, n), dtype=np.bool_)
    is_barred[:n] = leads_to.T  # [parent, child]: the child leads to the parent
    for child in np.flatnonzero(is_barred.any(axis=0)).tolist():
        own = slice(families.begin[child], families.begin[child + 1])
        is_allowed[own] &= ~is_barred[families.parents[own], child].any(axis=1)
    return is_allowed
