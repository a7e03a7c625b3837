"""Directed acyclic graphs over named variables.

A `DAG` is a value: immutable, comparable, hashable. It knows names and arcs and nothing
of scores, tables or files. Wherever an order is free it is the order of the names, so
that two equal graphs behave equally however they were built.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from coevo.errors import GraphError, first_repeated, suggestion

__all__ = ["DAG", "Arc", "VStructure"]

Arc = tuple[str, str]  # (parent, child)
VStructure = tuple[str, str, str]  # (parent, child, parent), the parents by name


class DAG:
    """A directed acyclic graph.

    Parameters
    ----------
    nodes : sequence of str
        All variables, isolated ones too. Their order is kept for output.
    arcs : iterable of (parent, child)
        Each arc once; an arc that is given twice, a loop, an unknown name or a cycle
        raises `GraphError`.

    Examples
    --------
    >>> dag = DAG(["rain", "sprinkler", "wet"], [("rain", "wet"), ("sprinkler", "wet")])
    >>> dag.parents("wet")
    ('rain', 'sprinkler')
    >>> dag.topological_order
    ('rain', 'sprinkler', 'wet')
    >>> DAG(["a", "b"], [("a", "b"), ("b", "a")])
    Traceback (most recent call last):
    coevo.errors.GraphError: The arcs contain a cycle: 'a' -> 'b' -> 'a'.
    """

    __slots__ = ("__dict__", "_children", "_nodes", "_parents")

    def __init__(self, nodes: Sequence[str], arcs: Iterable[Arc] = ()) -> None:
        self._nodes = tuple(nodes)
        twice = first_repeated(self._nodes)
        if twice is not None:
            raise GraphError(f"The variable {twice!r} is listed twice.")
        parents: dict[str, list[str]] = {node: [] for node in self._nodes}
        children: dict[str, list[str]] = {node: [] for node in self._nodes}
        for parent, child in sorted(arcs):
            for end in (parent, child):
                if end not in parents:
                    raise GraphError(
                        f"The arc {parent!r} -> {child!r} names {end!r}, which is not a "
                        f"variable.{suggestion(end, self._nodes)}"
                    )
            if parents[child] and parents[child][-1] == parent:
                raise GraphError(f"The arc {parent!r} -> {child!r} is given twice.")
            parents[child].append(parent)
            children[parent].append(child)
        self._parents = {node: tuple(found) for node, found in parents.items()}
        self._children = {node: tuple(found) for node, found in children.items()}
        if len(self.topological_order) != len(self._nodes):
            cycle = " -> ".join(repr(node) for node in self._find_cycle())
            raise GraphError(f"The arcs contain a cycle: {cycle}.")

    @classmethod
    def from_parents(cls, parents: Mapping[str, Iterable[str]]) -> DAG:
        """Build a DAG from a mapping of each variable to its parents.

        >>> DAG.from_parents({"a": [], "b": ["a"]}).arcs
        (('a', 'b'),)
        """
        return cls(list(parents), [(p, child) for child, given in parents.items() for p in given])

    @property
    def nodes(self) -> tuple[str, ...]:
        """All variables, in the order in which they were given."""
        return self._nodes

    @cached_property
    def arcs(self) -> tuple[Arc, ...]:
        """All arcs as (parent, child), sorted by name."""
        return tuple(
            sorted((p, child) for child, parents in self._parents.items() for p in parents)
        )

    def parents(self, node: str) -> tuple[str, ...]:
        """Return the parents of `node`, sorted by name."""
        self._check_node(node)
        return self._parents[node]

    def children(self, node: str) -> tuple[str, ...]:
        """Return the children of `node`, sorted by name."""
        self._check_node(node)
        return self._children[node]

    def ancestors(self, nodes: str | Iterable[str]) -> tuple[str, ...]:
        """Return all variables from which arcs lead to one of `nodes`, sorted by name.

        >>> DAG("abcd", [("a", "b"), ("b", "c"), ("d", "c")]).ancestors("b")
        ('a',)
        """
        return self._reached(nodes, self._parents)

    def descendants(self, nodes: str | Iterable[str]) -> tuple[str, ...]:
        """Return all variables to which arcs lead from one of `nodes`, sorted by name.

        >>> DAG("abcd", [("a", "b"), ("b", "c"), ("d", "c")]).descendants(["a", "d"])
        ('b', 'c')
        """
        return self._reached(nodes, self._children)

    def _reached(
        self, nodes: str | Iterable[str], following: Mapping[str, tuple[str, ...]]
    ) -> tuple[str, ...]:
        found: set[str] = set()
        waiting = list(self._listed(nodes))
        while waiting:
            new = [other for other in following[waiting.pop()] if other not in found]
            found.update(new)
            waiting.extend(new)
        return tuple(sorted(found))

    def markov_blanket(self, node: str) -> tuple[str, ...]:
        """Return the parents, the children and the children's other parents, sorted by name.

        Given these, no other variable says anything more about `node`.

        >>> DAG("abcd", [("a", "b"), ("b", "c"), ("d", "c")]).markov_blanket("b")
        ('a', 'c', 'd')
        """
        children = self.children(node)
        found = {*self._parents[node], *children}
        found.update(parent for child in children for parent in self._parents[child])
        return tuple(sorted(found - {node}))

    @cached_property
    def v_structures(self) -> tuple[VStructure, ...]:
        """Each a -> c <- b without an arc between a and b, as (a, c, b), sorted by name.

        >>> DAG("abcd", [("a", "c"), ("b", "c"), ("c", "d")]).v_structures
        (('a', 'c', 'b'),)
        """
        return tuple(
            sorted(
                (one, child, other)
                for child, parents in self._parents.items()
                for one, other in combinations(parents, 2)
                if one not in self._parents[other] and other not in self._parents[one]
            )
        )

    def is_d_separated(
        self, one: str | Iterable[str], other: str | Iterable[str], given: str | Iterable[str] = ()
    ) -> bool:
        """Return whether `given` blocks every path between `one` and `other`.

        Then every network with this structure makes them independent given the rest. The
        three may be names or lists of names, and share none. The time is linear in the
        number of arcs.

        Examples
        --------
        >>> dag = DAG(["rain", "sprinkler", "wet"], [("rain", "wet"), ("sprinkler", "wet")])
        >>> dag.is_d_separated("rain", "sprinkler")
        True
        >>> dag.is_d_separated("rain", "sprinkler", given="wet")
        False
        """
        sources, ends, known = (set(self._listed(nodes)) for nodes in (one, other, given))
        shared = (sources & ends) | (sources & known) | (ends & known)
        if shared:
            raise GraphError(
                f"{min(shared)!r} is on two sides of the question; each variable can be on one."
            )
        return ends.isdisjoint(self._connected(sources, known))

    def _connected(self, sources: set[str], known: set[str]) -> set[str]:
        """Return what a ball that starts at `sources` can reach, as Bayes-ball lets it roll.

        Coming from a child, it goes on to parents and children unless the node is known.
        Coming from a parent, it goes on to children unless the node is known, and back to
        parents if the node or a descendant is known.
        """
        opened = known.union(self.ancestors(known))
        visited: set[tuple[str, bool]] = set()
        waiting = [(node, True) for node in sources]  # True: it comes from a child
        while waiting:
            visit = waiting.pop()
            if visit in visited:
                continue
            visited.add(visit)
            node, from_child = visit
            if node not in known:
                waiting.extend((child, False) for child in self._children[node])
            if node not in known if from_child else node in opened:
                waiting.extend((parent, True) for parent in self._parents[node])
        return {node for node, _ in visited}

    def _listed(self, nodes: str | Iterable[str]) -> tuple[str, ...]:
        """Return one name, or several, as a tuple of known names."""
        names = (nodes,) if isinstance(nodes, str) else tuple(nodes)
        for name in names:
            self._check_node(name)
        return names

    def _check_node(self, node: str) -> None:
        if node not in self._parents:
            raise GraphError(
                f"There is no variable {node!r} in the graph.{suggestion(node, self._nodes)}"
            )

    @cached_property
    def topological_order(self) -> tuple[str, ...]:
        """Parents before children; of several candidates the first by name goes first."""
        waiting = {node: len(self._parents[node]) for node in self._nodes}
        ready = [node for node, count in waiting.items() if count == 0]
        heapq.heapify(ready)
        order = []
        while ready:
            node = heapq.heappop(ready)
            order.append(node)
            for child in self._children[node]:
                waiting[child] -= 1
                if waiting[child] == 0:
                    heapq.heappush(ready, child)
        return tuple(order)

    def adjacency(self) -> NDArray[np.bool_]:
        """Return the matrix whose entry [i, j] is True when ``nodes[i] -> nodes[j]``."""
        position = {node: i for i, node in enumerate(self._nodes)}
        matrix = np.zeros((len(self._nodes), len(self._nodes)), dtype=np.bool_)
        for parent, child in self.arcs:
            matrix[position[parent], position[child]] = True
        return matrix

    def _find_cycle(self) -> list[str]:
        """Return one cycle, its first node repeated at the end. There must be one."""
        stuck = set(self._nodes) - set(self.topological_order)
        walk = [min(stuck)]
        while walk[-1] not in walk[:-1]:
            walk.append(next(p for p in self._parents[walk[-1]] if p in stuck))
        cycle = walk[walk.index(walk[-1]) : -1][::-1]
        first = cycle.index(min(cycle))
        return cycle[first:] + cycle[: first + 1]

    def __eq__(self, other: object) -> bool:
        """Return whether both have the same variables and the same arcs."""
        if not isinstance(other, DAG):
            return NotImplemented
        return self._parents == other._parents

    def __hash__(self) -> int:
        return hash((frozenset(self._nodes), self.arcs))

    def __repr__(self) -> str:
        return f"<DAG: {len(self._nodes)} variables, {len(self.arcs)} arcs>"
