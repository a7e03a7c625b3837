"""The cliques of a network as a tree, with the product of its tables in each of them.

The cliques come from the elimination order that `elimination_order` finds for a network without
evidence. A clique that is part of a neighbour is merged into it. All tables have their axes in one
global order (the variable that is eliminated last comes first), so they combine without a
transposition.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coevo.errors import ParameterError
from coevo.memory import check_memory
from coevo.network.bayesian_network import BayesianNetwork
from coevo.network.elimination import Cost, broadcast_shape, count_bytes
from coevo.network.elimination_order import EliminationStep, find_steps

__all__ = ["CliqueTree", "make_clique_tree"]

Names = tuple[str, ...]
Table = NDArray[np.float64]
Edge = tuple[int, int]


@dataclass(frozen=True)
class CliqueTree:
    """Cliques, their neighbours, and where each variable is found.

    Variables with one state are in no clique. A network with several components has several trees.
    """

    cliques: Sequence[Names]  # in the order of the axes
    potentials: Sequence[Table]  # the product of the tables of the clique
    neighbours: Sequence[list[int]]
    separators: dict[Edge, Names]  # in both directions
    components: Sequence[list[int]]  # the cliques of each tree, its root first
    towards_roots: Sequence[Edge]  # all edges in that direction
    holders: dict[str, list[int]]  # the cliques with a variable, the smallest first
    residents: Sequence[list[tuple[Edge, list[str]]]]  # of a clique: where marginals are computed

    def walk(self, root: int) -> tuple[list[int], dict[int, int]]:
        """Return the cliques of a component from its root outwards, and the one above each."""
        order, above = [root], dict[int, int]()
        for i in order:  # it grows during the loop
            for j in self.neighbours[i]:
                if j != above.get(i):
                    above[j] = i
                    order.append(j)
        return order, above


def make_clique_tree(network: BayesianNetwork, is_limited: bool = False) -> CliqueTree:
    """Return the cliques of a network. Raise `ParameterError` if they do not fit into memory.

    If it `is_limited`, refuse also a tree whose messages take more than about a minute of work.
    """
    arity = {v.name: v.arity for v in network.variables if v.arity > 1}
    scopes = {
        name: [n for n in (*network.parents(name), name) if n in arity]
        for name in sorted(v.name for v in network.variables)
    }
    order = network.dag.topological_order
    steps = find_steps([scope for scope in scopes.values() if scope], arity, (), order)
    cliques, above, clique_of = _merge_cliques(steps)
    # The product of the tables, the same restricted, and one more product. A cell also takes about
    # as long as three of an elimination.
    n_cells = 3 * sum(math.prod(arity[n] for n in clique) for clique in cliques)
    cost = Cost(count_bytes(n_cells), n_cells)
    what = "The junction tree of the best elimination order found"
    way_out = "Use query or marginals of the network."
    check_memory(cost.n_bytes, what, way_out)
    if is_limited and not cost.is_feasible:
        raise ParameterError(f"{what} takes {n_cells / 1e9:,.1f} billion operations. {way_out}")
    neighbours: list[list[int]] = [[] for _ in cliques]
    separators: dict[Edge, Names] = {}
    for i, j in above.items():
        shared = set(cliques[j])
        separators[i, j] = separators[j, i] = tuple(n for n in cliques[i] if n in shared)
        neighbours[i].append(j)
        neighbours[j].append(i)
    holders = _find_holders(cliques, arity)
    return CliqueTree(
        cliques,
        _multiply_tables(network, scopes, cliques, clique_of, arity),
        [sorted(each) for each in neighbours],
        separators,
        _find_components(len(cliques), above),
        list(above.items()),
        holders,
        _find_residents(cliques, separators, arity),
    )


def _merge_cliques(
    steps: Sequence[EliminationStep],
) -> tuple[list[Names], dict[int, int], dict[str, int]]:
    """Return the maximal cliques, the neighbour of each nearer to the root, and a third mapping.

    That has, for each variable, the clique of a family in which it is eliminated first.
    """
    cliques: list[Names] = []
    above: dict[int, int] = {}
    clique_of: dict[str, int] = {}
    for step in reversed(steps):
        upper = clique_of[step.separator[-1]] if step.separator else None
        if upper is not None and len(cliques[upper]) == len(step.separator):
            cliques[upper] = step.clique  # it contains the upper one
            clique_of[step.variable] = upper
            continue
        clique_of[step.variable] = len(cliques)
        if upper is not None:
            above[len(cliques)] = upper
        cliques.append(step.clique)
    return cliques, above, clique_of


def _multiply_tables(
    network: BayesianNetwork,
    scopes: dict[str, list[str]],
    cliques: Sequence[Names],
    clique_of: dict[str, int],
    arity: dict[str, int],
) -> list[Table]:
    """Return the product of the tables in each clique."""
    position = {name: i for i, name in enumerate(clique_of)}  # the one eliminated last first
    potentials = [np.ones([arity[n] for n in clique]) for clique in cliques]
    for node, scope in scopes.items():
        if not scope:
            continue
        table = network.table(node).reshape([arity[n] for n in scope])
        axes = sorted(range(len(scope)), key=lambda k: position[scope[k]])
        i = clique_of[max(scope, key=position.__getitem__)]
        shape = broadcast_shape(scope, cliques[i], arity)
        potentials[i] *= table.transpose(axes).reshape(shape)
    return potentials


def _find_components(n: int, above: dict[int, int]) -> list[list[int]]:
    """Return the cliques of each tree, its root first."""
    root: list[int] = []
    for i in range(n):  # a clique comes after the one above it
        root.append(root[above[i]] if i in above else i)
    members: dict[int, list[int]] = {}
    for i, top in enumerate(root):
        members.setdefault(top, []).append(i)
    return list(members.values())


def _find_holders(cliques: Sequence[Names], arity: dict[str, int]) -> dict[str, list[int]]:
    sizes = [math.prod(arity[n] for n in clique) for clique in cliques]
    holders: dict[str, list[int]] = {}
    for i in sorted(range(len(cliques)), key=lambda i: (sizes[i], i)):
        for name in cliques[i]:
            holders.setdefault(name, []).append(i)
    return holders


def _find_residents(
    cliques: Sequence[Names], separators: dict[Edge, Names], arity: dict[str, int]
) -> list[list[tuple[Edge, list[str]]]]:
    """Return for each clique where the marginals of some variables are computed.

    That is the smallest separator or clique with the variable. The edge (i, i) is clique i.
    """
    places: list[tuple[int, Edge, Names]] = [
        (math.prod(arity[n] for n in names), edge, names)
        for edge, names in [*separators.items(), *(((i, i), c) for i, c in enumerate(cliques))]
        if edge[0] <= edge[1]
    ]
    home: dict[str, Edge] = {}
    for _, edge, names in sorted(places):
        for name in names:
            home.setdefault(name, edge)
    residents: list[dict[Edge, list[str]]] = [{} for _ in cliques]
    for name, edge in sorted(home.items()):
        for i in sorted(set(edge)):
            residents[i].setdefault(edge, []).append(name)
    return [list(each.items()) for each in residents]
