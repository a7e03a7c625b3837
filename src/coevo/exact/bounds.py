"""The bound that weights of clusters prove, and the tree of decisions whose leaves have weights.

In every set C of at least k variables of a network, at least k have fewer than k parents in C: the
first k of an order of the network. (For k = 1: some variable of C has no parent in C, or there
would be a cycle.) C with k is a *cluster*. So for any weights w >= 0 of clusters, the score of
every network is at most

    sum over children of the largest [score + sum of w over the clusters with the child in C and
    fewer than k parents there] - sum of k w over all clusters

over the families of the child: the families of a network receive at least the sum of all k w. The
weights are the proof of the bound. All sums are exact (`coevo.exact.families`).

A cut on a few variables has a table (`coevo.exact.cuts`) and k = 0: a family receives its
points times w, and the right side of the table takes the place of k.

The clusters with k = 1 are those of Jaakkola, Sontag, Globerson and Meila (2010), those with a
larger k of Cussens (2011).

**The tree.** The root stands for all networks. A node that is split has two children: the networks
with an arc, and those without it. Each leaf has weights of clusters, which prove an upper bound for
its networks. All networks of the tree are at most as good as the best leaf.

A node with the arc u -> v has none from v to u. In general, if a path of arcs that a node has leads
from u to v, then v is no parent of u there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from coevo.exact.families import Families, Units
from coevo.exact.proof_kernels import find_best_networks, make_local_scratch, make_networks

__all__ = [
    "LARGEST_SIZE",
    "MOST_POINTS",
    "NO_ARC",
    "Bound",
    "Clusters",
    "Filter",
    "Node",
    "Table",
    "Weights",
    "allow_families",
    "bound_networks",
    "count_least_points",
    "list_decisions",
]


LARGEST_SIZE = 8  # variables of a table
MOST_POINTS = 9

Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Table:
    """Points of each variable for each set of parents; every network receives at least `right`."""

    right: int
    points: Numbers  # (s, 2 ** s)


def count_least_points(points: Numbers) -> int:
    """Return the fewest points of a network.

    >>> count_least_points(np.array([[1, 1, 0, 0], [1, 0, 1, 0]]))  # a cluster of two variables
    1
    """
    local = make_networks(points.astype(np.float64))
    find_best_networks(local, make_local_scratch(len(points)))
    return int(local.totals.min())


NO_FAMILY = -(1 << 61)  # units: the bound where a child has no family

Flags = NDArray[np.bool_]
Hits = tuple[Numbers, Numbers]  # families, and their points


@dataclass(frozen=True, slots=True)
class Bound:
    """An upper bound in units, with the value of each family and the best one of each child.

    A network with family f has a score of at most ``total - best[child] + values[f]``.
    """

    total: int
    values: Units  # (m,), the score with the weights
    best: Units  # (n,)

    def find_possible(self, families: Families, floor: int) -> Flags:
        """Return the families that a network with a score of at least `floor` may have."""
        if self.total == NO_FAMILY:
            return np.zeros(len(families), dtype=np.bool_)
        return np.asarray(self.total - self.best[families.children] + self.values >= floor)

    def find_certain_arcs(self, families: Families, is_allowed: Flags, floor: int) -> Flags:
        """Return the arcs of all networks with a score of at least `floor`, ``[parent, child]``.

        If there is no such network, all arcs are.
        """
        n = families.n_variables
        if self.total < floor:
            return np.ones((n, n), dtype=np.bool_)
        possible = np.flatnonzero(self.find_possible(families, floor) & is_allowed)
        children, width = families.children[possible], families.parents.shape[1]
        counts = np.zeros((n + 1, n), dtype=np.int64)
        np.add.at(counts, (families.parents[possible].ravel(), np.repeat(children, width)), 1)
        return np.asarray(counts[:n] == np.bincount(children, minlength=n))


@dataclass(frozen=True, slots=True)
class Clusters:
    """Clusters: the variables of each one, and its k, or 0 and a table.

    Row c of `members` has one flag for each variable, and a last one that is False.
    """

    members: Flags  # (c, n + 1)
    orders: Numbers  # (c,), the k of each cluster
    tables: tuple[Table | None, ...]  # (c,)

    @classmethod
    def make_empty(cls, n_variables: int) -> Clusters:
        """Return no clusters."""
        return cls.make(np.zeros((0, n_variables + 1), dtype=np.bool_), 1)

    @classmethod
    def make(cls, members: Flags, k: int) -> Clusters:
        """Return clusters of one k."""
        return cls(members, np.full(len(members), k, dtype=np.int64), (None,) * len(members))

    @classmethod
    def from_tables(cls, members: Flags, tables: Sequence[Table]) -> Clusters:
        """Return cuts with tables."""
        return cls(members, np.zeros(len(members), dtype=np.int64), tuple(tables))

    def join(self, others: Clusters) -> Clusters:
        """Return these clusters and then the others."""
        members = np.concatenate([self.members, others.members])
        orders = np.concatenate([self.orders, others.orders])
        return Clusters(members, orders, (*self.tables, *others.tables))

    def take(self, numbers: Numbers) -> Clusters:
        """Return the clusters with these numbers."""
        tables = tuple(self.tables[number] for number in numbers.tolist())
        return Clusters(self.members[numbers], self.orders[numbers], tables)

    @property
    def rights(self) -> Numbers:
        """The number of points that every network receives at least, of each cluster."""
        rights = [
            k if table is None else table.right
            for k, table in zip(self.orders.tolist(), self.tables, strict=True)
        ]
        return np.array(rights, dtype=np.int64)

    def find_hits(self, families: Families) -> list[Hits]:
        """Return for each cluster the families that receive points, and how many."""
        return [
            _find_hits(families, members, int(k))
            if table is None
            else _find_points(families, members, table)
            for members, k, table in zip(self.members, self.orders, self.tables, strict=True)
        ]

    def __len__(self) -> int:
        return len(self.orders)


def _find_points(families: Families, members: Flags, table: Table) -> Hits:
    """Return the families that receive points by a table."""
    places = np.flatnonzero(members)
    bits = np.zeros(families.n_variables + 1, dtype=np.int64)
    bits[places] = 1 << np.arange(len(places))
    parts, points = [], []
    for row, child in zip(table.points, places, strict=True):
        first, last = families.begin[child], families.begin[child + 1]
        own = row[bits[families.parents[first:last]].sum(axis=1)]
        parts.append(first + np.flatnonzero(own))
        points.append(own[own > 0])
    return np.concatenate(parts), np.concatenate(points)


def _find_hits(families: Families, members: Flags, k: int) -> Hits:
    """Return the families whose child is in a cluster, with fewer than k parents there."""
    parts = []
    for child in np.flatnonzero(members):
        first, last = families.begin[child], families.begin[child + 1]
        n_inside = members[families.parents[first:last]].sum(axis=1)
        parts.append(first + np.flatnonzero(n_inside < k))
    hits = np.concatenate(parts)
    return hits, np.ones(len(hits), dtype=np.int64)


def bound_networks(
    families: Families,
    hits: Sequence[Hits],
    rights: Numbers,
    weights: Units,
    is_allowed: Flags,
) -> Bound:
    """Return the bound for networks of the allowed families; ``hits[i]`` belongs to cluster i."""
    values = families.units.copy()
    for number in np.flatnonzero(weights).tolist():
        places, points = hits[number]
        values[places] += points * weights[number]
    allowed = np.append(np.where(is_allowed, values, NO_FAMILY), NO_FAMILY)
    best = np.maximum.reduceat(allowed, families.begin[:-1])
    best[families.begin[1:] == families.begin[:-1]] = NO_FAMILY
    if (best == NO_FAMILY).any():
        return Bound(NO_FAMILY, values, best)
    return Bound(int(best.sum()) - int((rights * weights).sum()), values, best)


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
