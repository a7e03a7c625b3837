"""The search for a proof: cut rounds at the root, then branch and bound.

`ProofSearch.start` makes the first state, `ProofSearch.step` the next one; both are pure. A step is
one round of cuts at the root, or the bound of one node. All that a step needs is in the state: the
linear programme is made again where it does not fit, and begins at the basis of the state. So a
proof that is resumed is the same as one that was never stopped.

Whatever the linear programme returns, the bound of a node is computed from its weights in whole
units (`coevo.exact.families`). A better network that is met on the way becomes the best one.

A network comes from the shares of a linear programme through an order: the next variable is the one
whose families inside the variables before it have the largest share. The best families under the
order are then looked up.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from coevo.exact.bounds import (
    NO_ARC,
    Bound,
    Clusters,
    Filter,
    Node,
    Weights,
    allow_families,
    bound_networks,
    list_decisions,
)
from coevo.exact.cuts import choose_arc, find_violated_clusters
from coevo.exact.families import UNITS_PER_NAT, Families, to_nats
from coevo.exact.relaxation import Basis, Relaxation, Solution
from coevo.runtime.deadline import check_deadline, compute_remaining_time

__all__ = ["TOLERANCE", "ProofSearch", "ProofState", "make_adjacency"]


@dataclass(frozen=True, slots=True)
class ProofState:
    """All that the next step needs.

    Attributes
    ----------
    generation : int
        Number of steps so far.
    evaluations : int
        Number of linear programmes that were solved.
    improved : int
        The step that found the best network.
    score : float
        The score of the best network, the sum of its local scores.
    chosen : array, (n,)
        The family of each variable in the best network, as numbers of `Families`.
    clusters : Clusters
        All clusters.
    rows : array
        The clusters in the linear programme, in its order.
    nodes : tuple of Node
        The tree; the root comes first.
    filters : tuple of Weights
        Weights at the root that dropped families for the rest of the tree.
    root_bounds : tuple of int
        The bound after each round at the root.
    basis : Basis or None
        Where the last linear programme ended.
    """

    generation: int
    evaluations: int
    improved: int
    score: float
    chosen: NDArray[np.int64]
    clusters: Clusters
    rows: NDArray[np.int64]
    nodes: tuple[Node, ...]
    filters: tuple[Filter, ...] = ()
    root_bounds: tuple[int, ...] = ()
    basis: Basis | None = None


LEAST_SHARE = 1e-7


def order_by_shares(families: Families, shares: NDArray[np.float64]) -> list[int]:
    """Return an order of the variables; ties go to the lower number."""
    n = families.n_variables
    used = np.flatnonzero(shares > LEAST_SHARE)
    children, parents, weights = families.children[used], families.parents[used], shares[used]
    is_placed = np.zeros(n + 1, dtype=np.bool_)
    is_placed[n] = True
    order: list[int] = []
    while len(order) < n:
        is_inside = is_placed[parents].all(axis=1)
        inside = np.bincount(children, weights=weights * is_inside, minlength=n)
        inside[is_placed[:n]] = -1.0
        chosen = int(inside.argmax())
        order.append(chosen)
        is_placed[chosen] = True
    return order


def find_best_families(families: Families, order: list[int]) -> NDArray[np.int64] | None:
    """Return the best family of each variable under an order; None if one has no family."""
    n = families.n_variables
    is_placed = np.zeros(n + 1, dtype=np.bool_)
    is_placed[n] = True
    chosen = np.empty(n, dtype=np.int64)
    for v in order:
        first, last = families.begin[v], families.begin[v + 1]
        is_inside = is_placed[families.parents[first:last]].all(axis=1)
        if not is_inside.any():
            return None
        chosen[v] = first + int(is_inside.argmax())  # the best come first
        is_placed[v] = True
    return chosen


def sum_units(families: Families, chosen: NDArray[np.int64]) -> int:
    """Return the score of a network in units."""
    return int(families.units[chosen].sum())


def make_adjacency(families: Families, chosen: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return the adjacency matrix of a network, ``[parent, child]``."""
    n = families.n_variables
    adjacency = np.zeros((n + 1, n), dtype=np.bool_)
    for child, family in enumerate(chosen):
        adjacency[families.parents[family], child] = True
    return adjacency[:n]


TOLERANCE = 1e-6  # nats: a network that is less better than this is not looked for
MOST_ROUNDS = 50  # of cuts at a node that is not the root
TAIL = 6  # rounds at the root that must gain
LEAST_GAIN = 0.1  # of the gap, over these rounds

Flags = NDArray[np.bool_]


class ProofSearch:
    """A proof for a list of families.

    Parameters
    ----------
    families : Families
        All families that can be in an optimal network.
    required : array of bool, (n, n)
        The arcs that all families have.
    """

    def __init__(self, families: Families, required: Flags) -> None:
        self.families, self.required = families, required
        self._programme: _Programme | None = None

    def start(self, chosen: NDArray[np.int64]) -> ProofState:
        """Return the first state, for the network of these families."""
        best, part = self.families.units[self.families.begin[:-1]], self.families.part
        best = best if part is None else part.bounds
        root = Node(-1, NO_ARC, True, int(best.sum()), Weights(), np.zeros_like(self.required))
        none = np.empty(0, dtype=np.int64)
        clusters = Clusters.make_empty(self.families.n_variables)
        score = float(np.sum(self.families.scores[chosen]))
        state = ProofState(0, 0, 0, score, chosen, clusters, none, (root,))
        certain = self.find_certain_arcs(state)
        return replace(state, nodes=(replace(root, certain=certain),))

    def compute_floor(self, state: ProofState) -> int:
        """Return units that every network as good as the best one has at least."""
        return sum_units(self.families, state.chosen) - self.families.n_variables

    def compute_bound(self, state: ProofState) -> int:
        """Return units that no network exceeds."""
        leaves = [node.bound for node in state.nodes if not node.is_split]
        return max(self.compute_floor(state), *leaves)

    def compute_gap(self, state: ProofState) -> float:
        """Return how many nats better than the best network another one can be, rounded up."""
        return to_nats(self.compute_bound(state) - self.compute_floor(state))

    def combine_certain_arcs(self, state: ProofState) -> Flags:
        """Return arcs that are in every optimal network, as far as the nodes have noted them.

        This costs little. A node notes arcs for the best network of its time, so that
        `find_certain_arcs` can find more.
        """
        floor = self.compute_floor(state)
        leaves = [node for node in state.nodes if not node.is_split and node.bound >= floor]
        return np.asarray(np.logical_and.reduce([node.certain for node in leaves]))

    def find_certain_arcs(self, state: ProofState) -> Flags:
        """Return the arcs that are in every optimal network, ``[parent, child]``.

        An optimal network is in some leaf, and has the arcs that are certain there. (A network of
        dominated families can be replaced by one that has fewer arcs and is as good.)
        """
        families, floor = self._add_rests(), self.compute_floor(state)
        is_alive = np.ones(len(families), dtype=np.bool_)
        for one in state.filters:
            bound = _apply(one.weights, state.clusters, families, is_alive)
            is_alive &= bound.find_possible(families, floor)
        certain = np.ones_like(self.required)
        for number, node in enumerate(state.nodes):
            if not node.is_split:
                decisions = list_decisions(state.nodes, number)
                is_allowed = allow_families(families, decisions, self.required) & is_alive
                bound = _apply(node.weights, state.clusters, families, is_allowed)
                certain &= bound.find_certain_arcs(families, is_allowed, floor)
        return certain

    def _add_rests(self) -> Families:
        """Return the families; one with the required parents alone stands for all not listed."""
        families = self.families
        if families.part is None:
            return families
        more = []
        for child, rest in enumerate(families.part.rests.tolist()):
            sets = np.flatnonzero(self.required[:, child])[None]
            n_more = int(rest > -np.inf)
            more.append((sets[:n_more], np.full(n_more, rest)))
        return families.add(more)

    def restore(self, state: ProofState) -> ProofState:
        """Return a state from a file, with all bounds computed again from its weights."""
        if self.families.part is not None:
            return state
        families, floor = self.families, self.compute_floor(state)
        is_alive = self.filter_families(state)
        nodes = []
        for number, node in enumerate(state.nodes):
            is_allowed = allow_families(
                families, list_decisions(state.nodes, number), self.required
            )
            is_allowed &= is_alive if number else True
            bound = _apply(node.weights, state.clusters, families, is_allowed)
            certain = bound.find_certain_arcs(families, is_allowed, floor)
            nodes.append(replace(node, bound=bound.total, certain=certain))
        return replace(state, nodes=tuple(nodes))

    def list_open(self, state: ProofState) -> list[int]:
        """Return the open nodes, the one with the largest bound first."""
        # a node whose bound is no more than this above the best network is closed
        limit = sum_units(self.families, state.chosen) + int(TOLERANCE / 2 * UNITS_PER_NAT)
        waiting = [
            number
            for number, node in enumerate(state.nodes)
            if not (node.is_split or node.is_stuck) and node.bound > limit
        ]
        return sorted(waiting, key=lambda number: (-state.nodes[number].bound, number))

    def is_finished(self, state: ProofState) -> bool:
        """Return whether no node is open. A partial list of families has no better bound."""
        return self.families.part is not None or not self.list_open(state)

    def filter_families(self, state: ProofState) -> Flags:
        """Return the families that the filters leave."""
        families = self.families
        is_alive = np.ones(len(families), dtype=np.bool_)
        for one in state.filters:
            bound = _apply(one.weights, state.clusters, families, is_alive)
            is_alive &= bound.find_possible(families, one.floor)
        return is_alive

    def step(self, state: ProofState) -> ProofState:
        """Return the next state: after a round of cuts at the root, or after one more node."""
        number = self.list_open(state)[0]
        programme = self._open_programme(state)
        work = _NodeWork(self, programme, state, number)
        for _ in range(1 if number == 0 else MOST_ROUNDS):
            if not work.run_round():
                break
        return work.finish()

    def _open_programme(self, state: ProofState) -> _Programme:
        """Return the linear programme of a state, made again unless the last one fits."""
        known = self._programme
        n_filters = len(state.filters)
        if known is None or known.n_filters != n_filters or not known.is_prefix_of(state.rows):
            price = 2.0 + 2.0 * float(
                self.families.scores[self.families.begin[:-1]].sum() - state.score
            )
            families = self.families.take(self.filter_families(state))
            known = _Programme(Relaxation(families, price), n_filters)
            self._programme = known
        known.add_rows(state.rows[len(known.rows) :], state.clusters)
        return known


def _apply(weights: Weights, clusters: Clusters, families: Families, is_allowed: Flags) -> Bound:
    """Return the bound that weights prove for the allowed families."""
    used = clusters.take(weights.clusters)
    hits = used.find_hits(families)
    return bound_networks(families, hits, used.rights, weights.values, is_allowed)


class _Programme:
    """A linear programme with the numbers of its clusters."""

    def __init__(self, relaxation: Relaxation, n_filters: int) -> None:
        self.relaxation, self.n_filters = relaxation, n_filters
        self.rows = np.empty(0, dtype=np.int64)

    def is_prefix_of(self, rows: NDArray[np.int64]) -> bool:
        """Return whether the clusters of the programme are the first of these."""
        return np.array_equal(self.rows, rows[: len(self.rows)])

    def add_rows(self, rows: NDArray[np.int64], clusters: Clusters) -> None:
        """Add clusters by their numbers."""
        self.relaxation.add_clusters(clusters.take(rows))
        self.rows = np.append(self.rows, rows)


class _NodeWork:
    """The work on one node: rounds of cuts, and then a decision."""

    def __init__(
        self, search: ProofSearch, programme: _Programme, state: ProofState, number: int
    ) -> None:
        self.search, self.programme, self.state, self.number = search, programme, state, number
        self.node = state.nodes[number]
        self.families = programme.relaxation.families
        decisions = list_decisions(state.nodes, number)
        self.is_allowed = allow_families(self.families, decisions, search.required)
        self.clusters, self.n_solved = state.clusters, 0
        self.chosen = state.chosen
        self.shares: NDArray[np.float64] | None = None
        self.has_cuts = False
        programme.relaxation.restrict(self.is_allowed)
        programme.relaxation.set_basis(state.basis)

    def run_round(self) -> bool:
        """Solve the programme once and add violated cuts; return whether another round may help."""
        check_deadline()
        relaxation = self.programme.relaxation
        solution = relaxation.solve(compute_remaining_time())
        check_deadline()
        self.shares, self.has_cuts = None, False
        if solution is None:
            return False
        self.n_solved += 1
        self._round(solution)
        self._take_bound(solution)
        if self._is_closed():
            return False
        self.shares = solution.shares
        clusters = find_violated_clusters(self.families, solution.shares, self.number == 0)
        if not len(clusters):
            return False
        first = len(self.clusters)
        self.clusters = self.clusters.join(clusters)
        self.programme.add_rows(np.arange(first, len(self.clusters)), self.clusters)
        self.has_cuts = True
        return not self._is_closed()

    def _take_bound(self, solution: Solution) -> None:
        """Lower the bound of the node, if the weights of the solution prove a lower one."""
        relaxation = self.programme.relaxation
        bound = relaxation.compute_bound(solution.weights, self.is_allowed)
        if bound.total < self.node.bound:
            weights = Weights.from_rows(solution.weights, self.programme.rows)
            certain = bound.find_certain_arcs(self.families, self.is_allowed, self._floor)
            self.node = replace(self.node, bound=bound.total, weights=weights, certain=certain)

    @property
    def _floor(self) -> int:
        families = self.search.families
        return sum_units(families, self.chosen) - families.n_variables

    def _is_closed(self) -> bool:
        units = sum_units(self.search.families, self.chosen)
        return self.node.bound <= units + int(TOLERANCE / 2 * UNITS_PER_NAT)

    def _round(self, solution: Solution) -> None:
        """Look for a better network near the solution."""
        families = self.search.families
        order = order_by_shares(self.families, solution.shares)
        chosen = find_best_families(families, order)
        if chosen is None:
            return
        gained = sum_units(families, chosen) - sum_units(families, self.chosen)
        if gained > TOLERANCE / 2 * UNITS_PER_NAT:
            self.chosen = chosen

    def finish(self) -> ProofState:
        """Return the state after the work on the node."""
        state = self.state
        after = replace(
            state,
            generation=state.generation + 1,
            evaluations=state.evaluations + self.n_solved,
            clusters=self.clusters,
            rows=self.programme.rows,
            basis=self.programme.relaxation.get_basis(),
        )
        if self.chosen is not state.chosen:
            score = float(np.sum(self.search.families.scores[self.chosen]))
            after = replace(after, chosen=self.chosen, score=score, improved=after.generation)
        if self.number == 0:
            after = replace(after, root_bounds=(*state.root_bounds, self.node.bound))
        if self._is_closed() or (self.number == 0 and self.has_cuts and self._is_gaining(after)):
            return self._put_nodes(after, self.node)
        if self.number == 0:
            # drop the families that no good network can have, and the clusters without weight
            weights = self.node.weights
            root = Filter(weights, self.search.compute_floor(after))
            after = replace(after, filters=(root,), rows=weights.clusters, basis=None)
        return self._split(after)

    def _is_gaining(self, state: ProofState) -> bool:
        """Return whether the last rounds at the root have lowered the bound by enough."""
        bounds = state.root_bounds
        if len(bounds) <= TAIL:
            return True
        gap = bounds[-1 - TAIL] - self.search.compute_floor(state)
        return bounds[-1 - TAIL] - bounds[-1] > LEAST_GAIN * gap

    def _split(self, state: ProofState) -> ProofState:
        """Return the state with the two children of the node; without a choice it is stuck."""
        arc = None if self.shares is None else choose_arc(self.families, self.shares)
        if arc is None:
            return self._put_nodes(state, replace(self.node, is_stuck=True))
        children = [self._make_child(arc, is_in) for is_in in (True, False)]
        return self._put_nodes(state, replace(self.node, is_split=True), *children)

    def _make_child(self, arc: tuple[int, int], is_in: bool) -> Node:
        """Return a child, with the bound that the weights of this node prove for it."""
        families, weights = self.families, self.node.weights
        decisions = [*list_decisions(self.state.nodes, self.number), (*arc, is_in)]
        is_allowed = allow_families(families, decisions, self.search.required)
        bound = _apply(weights, self.clusters, families, is_allowed)
        certain = bound.find_certain_arcs(families, is_allowed, self._floor)
        return Node(self.number, arc, is_in, bound.total, weights, certain)

    def _put_nodes(self, state: ProofState, node: Node, *children: Node) -> ProofState:
        before, behind = state.nodes[: self.number], state.nodes[self.number + 1 :]
        return replace(state, nodes=(*before, node, *behind, *children))
