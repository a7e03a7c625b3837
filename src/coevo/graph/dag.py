"""Directed acyclic graphs over named variables.

A `DAG` is a value: immutable, comparable, hashable. It holds names and arcs, and knows
nothing about scores, tables or files. Where the order of a result is free, it is the order of
the names. Two equal graphs therefore behave the same, however they were built.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from coevo.errors import GraphError, bad_parameter, find_duplicate, suggest_match
from coevo.graph.arguments import read_arcs, read_names

if TYPE_CHECKING:
    from coevo.view.picture import Picture

__all__ = ["DAG", "Arc", "VStructure"]

Arc = tuple[str, str]  # (parent, child)
VStructure = tuple[str, str, str]  # (parent, child, parent), the parents sorted by name
MAX_CYCLE = 10  # names of a cycle in a message


class DAG:
    """A directed acyclic graph.

    Parameters
    ----------
    nodes : sequence of str
        All variables, including isolated ones. Output keeps their order.
    arcs : iterable of (parent, child)
        Each arc once. A duplicate arc, a loop, an unknown name or a cycle raises
        `GraphError`.

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
        self._nodes = read_names(tuple(nodes) if isinstance(nodes, str) else nodes, "nodes", "DAG")
        duplicate = find_duplicate(self._nodes)
        if duplicate is not None:
            raise GraphError(f"The variable {duplicate!r} is listed twice.")
        parents: dict[str, list[str]] = {node: [] for node in self._nodes}
        children: dict[str, list[str]] = {node: [] for node in self._nodes}
        for parent, child in sorted(read_arcs(arcs, "arcs", "DAG")):
            for end in (parent, child):
                if end not in parents:
                    raise GraphError(
                        f"The arc {parent!r} -> {child!r} names {end!r}, which is not a "
                        f"variable.{suggest_match(end, self._nodes)}"
                    )
            if parents[child] and parents[child][-1] == parent:
                raise GraphError(f"The arc {parent!r} -> {child!r} is given twice.")
            parents[child].append(parent)
            children[parent].append(child)
        self._parents = {node: tuple(names) for node, names in parents.items()}
        self._children = {node: tuple(names) for node, names in children.items()}
        if len(self.topological_order) != len(self._nodes):
            raise GraphError(f"The arcs contain a cycle: {_format_cycle(self._find_cycle())}.")

    @classmethod
    def from_parents(cls, parents: Mapping[str, Iterable[str]]) -> DAG:
        """Build a DAG from a mapping of each variable to its parents.

        >>> DAG.from_parents({"a": [], "b": ["a"]}).arcs
        (('a', 'b'),)
        """
        if not isinstance(parents, Mapping):
            raise bad_parameter(
                "parents", "DAG", "a mapping of each variable to its parents", parents
            )
        for names in parents.values():
            if not isinstance(names, Iterable):
                raise bad_parameter(
                    "parents", "DAG", "lists of the parents of each variable", names
                )
        return cls(list(parents), [(p, child) for child, names in parents.items() for p in names])

    @property
    def nodes(self) -> tuple[str, ...]:
        """All variables, in the given order."""
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
        """Return all variables with a directed path to one of `nodes`, sorted by name.

        >>> DAG("abcd", [("a", "b"), ("b", "c"), ("d", "c")]).ancestors("b")
        ('a',)
        """
        return self._find_reachable(nodes, self._parents)

    def descendants(self, nodes: str | Iterable[str]) -> tuple[str, ...]:
        """Return all variables with a directed path from one of `nodes`, sorted by name.

        >>> DAG("abcd", [("a", "b"), ("b", "c"), ("d", "c")]).descendants(["a", "d"])
        ('b', 'c')
        """
        return self._find_reachable(nodes, self._children)

    def _find_reachable(
        self, nodes: str | Iterable[str], neighbours: Mapping[str, tuple[str, ...]]
    ) -> tuple[str, ...]:
        reached: set[str] = set()
        waiting = list(self._check_nodes(nodes))
        while waiting:
            new = [other for other in neighbours[waiting.pop()] if other not in reached]
            reached.update(new)
            waiting.extend(new)
        return tuple(sorted(reached))

    def markov_blanket(self, node: str) -> tuple[str, ...]:
        """Return the parents, the children and the other parents of the children, sorted by name.

        Given these, `node` is independent of all other variables.

        >>> DAG("abcd", [("a", "b"), ("b", "c"), ("d", "c")]).markov_blanket("b")
        ('a', 'c', 'd')
        """
        children = self.children(node)
        blanket = {*self._parents[node], *children}
        blanket.update(parent for child in children for parent in self._parents[child])
        return tuple(sorted(blanket - {node}))

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

        If so, `one` and `other` are independent given `given` in every network with this
        structure. Each of the three is a name or a list of names; no name may be in two of
        them. The time is linear in the number of arcs.

        Examples
        --------
        >>> dag = DAG(["rain", "sprinkler", "wet"], [("rain", "wet"), ("sprinkler", "wet")])
        >>> dag.is_d_separated("rain", "sprinkler")
        True
        >>> dag.is_d_separated("rain", "sprinkler", given="wet")
        False
        """
        sources, ends, known = (set(self._check_nodes(nodes)) for nodes in (one, other, given))
        shared = (sources & ends) | (sources & known) | (ends & known)
        if shared:
            raise GraphError(
                f"{min(shared)!r} is in two of 'one', 'other' and 'given'. Name it in one of them."
            )
        return ends.isdisjoint(self._find_connected(sources, known))

    def _find_connected(self, sources: set[str], known: set[str]) -> set[str]:
        """Return the nodes that an active path connects with `sources` (Bayes-ball algorithm).

        A path that enters a node from a child continues to its parents and children, unless
        the node is known. A path that enters from a parent continues to the children unless
        the node is known, and to the parents if the node or one of its descendants is known.
        """
        known_or_ancestors = known.union(self.ancestors(known))
        visited: set[tuple[str, bool]] = set()
        waiting = [(node, True) for node in sources]  # True: entered from a child
        while waiting:
            visit = waiting.pop()
            if visit in visited:
                continue
            visited.add(visit)
            node, from_child = visit
            if node not in known:
                waiting.extend((child, False) for child in self._children[node])
            if node not in known if from_child else node in known_or_ancestors:
                waiting.extend((parent, True) for parent in self._parents[node])
        return {node for node, _ in visited}

    def _check_nodes(self, nodes: str | Iterable[str]) -> tuple[str, ...]:
        """Return one or several names as a tuple; raise `GraphError` for an unknown name."""
        names = (nodes,) if isinstance(nodes, str) else tuple(nodes)
        for name in names:
            self._check_node(name)
        return names

    def _check_node(self, node: str) -> None:
        if node not in self._parents:
            raise GraphError(
                f"There is no variable {node!r} in the graph.{suggest_match(node, self._nodes)}"
            )

    @cached_property
    def topological_order(self) -> tuple[str, ...]:
        """All variables, parents before children; ties are broken by name."""
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
        """Return the matrix whose entry [i, j] is True if ``nodes[i] -> nodes[j]``."""
        position = {node: i for i, node in enumerate(self._nodes)}
        matrix = np.zeros((len(self._nodes), len(self._nodes)), dtype=np.bool_)
        for parent, child in self.arcs:
            matrix[position[parent], position[child]] = True
        return matrix

    def plot(self, arc_values: Mapping[Arc, float] | None = None) -> Picture:
        """Draw the graph, parents above children.

        Parameters
        ----------
        arc_values : mapping of (parent, child) to float, optional
            A number for each arc, such as its strength: the larger, the wider the line.

        Returns
        -------
        Picture
            It shows itself in a notebook. ``save("graph.svg")`` writes it as SVG, PNG or PDF.

        Examples
        --------
        >>> DAG(["rain", "wet"], [("rain", "wet")]).plot()
        <Picture: 2 variables, 1 arc, 76 x 118>
        """
        from coevo.view.picture import draw_graph, list_links

        return draw_graph(self._nodes, list_links(self.arcs, (), arc_values))

    def _find_cycle(self) -> list[str]:
        """Return one cycle, its first node repeated at the end. There must be one."""
        unordered = set(self._nodes) - set(self.topological_order)
        walk: dict[str, int] = {}  # the nodes so far, with their positions
        node = min(unordered)
        while node not in walk:
            walk[node] = len(walk)
            node = next(p for p in self._parents[node] if p in unordered)
        cycle = list(walk)[walk[node] :][::-1]
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

    def _repr_html_(self) -> str:
        from coevo.view.picture.notebook import Table, render_block, render_graph

        arcs = Table(["parent", "child"], self.arcs)
        caption = repr(self)[1:-1]
        return render_block(caption, render_graph(len(self._nodes), self.plot, arcs))


def _format_cycle(cycle: list[str]) -> str:
    """Return a cycle for a message, without the middle of a long one.

    >>> _format_cycle([*"abcdefghijkl", "a"])
    "'a' -> 'b' -> 'c' -> 'd' -> 'e' -> 'f' -> 'g' -> 'h' -> ... -> 'a' (12 variables)"
    """
    names = [repr(node) for node in cycle]
    if len(cycle) <= MAX_CYCLE:
        return " -> ".join(names)
    shown = [*names[: MAX_CYCLE - 2], "...", names[-1]]
    return f"{' -> '.join(shown)} ({len(cycle) - 1:,} variables)"
