"""Active paths: along which arcs a finding reaches a target (d-connection).

A path between two variables is active if each variable between its ends lets information pass
[1]_. A collider (``a -> c <- b``) passes it if there is evidence about the collider or about one of
its descendants. Every other variable passes it unless its state is known. Soft evidence, a
likelihood over the states of a variable, is like a child of this variable that is observed: it
opens colliders, and it blocks no path.

The search runs over pairs of a variable and the direction in which the path enters it. The
shortest walk over such pairs visits no variable twice. A first pass finds the distance of each pair
to the target; the paths are then enumerated by length, and by name among equal lengths.

.. [1] J. Pearl, Probabilistic Reasoning in Intelligent Systems, Morgan Kaufmann, 1988.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import pairwise

from coevo.graph.dag import DAG

__all__ = ["ActivePath", "find_active_paths", "find_connected"]

MAX_EXPANSIONS = 2000  # of partial paths; the shortest path needs far fewer
Visit = tuple[str, bool]  # a variable, and whether the path enters it from one of its children


@dataclass(frozen=True, slots=True)
class ActivePath:
    """An active path between two variables. ``str`` gives it with its arcs.

    Attributes
    ----------
    nodes : tuple of str
        The variables from one end to the other.
    is_forward : tuple of bool
        For each two neighbours, whether the arc leads from the first to the second.
    opened_by : tuple of str
        The variables with evidence that open the colliders of the path.

    Examples
    --------
    >>> str(ActivePath(("bronc", "dysp", "either"), (True, False), ("dysp",)))
    'bronc -> dysp <- either'
    """

    nodes: tuple[str, ...]
    is_forward: tuple[bool, ...]
    opened_by: tuple[str, ...] = ()

    def __str__(self) -> str:
        text = self.nodes[0]
        for node, forward in zip(self.nodes[1:], self.is_forward, strict=True):
            text += f" -> {node}" if forward else f" <- {node}"
        return text


def find_active_paths(
    dag: DAG,
    source: str,
    target: str,
    known: Collection[str] = (),
    soft: Collection[str] = (),
    most: int = 3,
) -> list[ActivePath]:
    """Return the shortest active paths between two variables, at most `most`.

    Parameters
    ----------
    dag : DAG
        The structure.
    source, target : str
        The two variables; neither may be in `known`.
    known : collection of str
        The other variables whose states are known.
    soft : collection of str
        The other variables with soft evidence.
    most : int
        Maximum number of paths.

    Returns
    -------
    list of ActivePath
        The paths by length, then by name; empty if the evidence separates the two variables. In a
        dense graph there may be fewer than `most`, but the first is always a shortest path.

    Examples
    --------
    >>> dag = DAG(["rain", "sprinkler", "wet"], [("rain", "wet"), ("sprinkler", "wet")])
    >>> find_active_paths(dag, "rain", "sprinkler")
    []
    >>> print(*find_active_paths(dag, "rain", "sprinkler", known=["wet"]))
    rain -> wet <- sprinkler
    """
    evidence = {*known, *soft}
    graph = _VisitGraph(dag, set(known), evidence)
    distances = graph.measure_distances(target)
    start = (source, True)
    found: list[ActivePath] = []
    if start not in distances:
        return found
    waiting: list[tuple[int, tuple[str, ...], bool]] = [(distances[start], (source,), True)]
    for _ in range(MAX_EXPANSIONS):
        if not waiting or len(found) == most:
            break
        _, nodes, from_child = heapq.heappop(waiting)
        if nodes[-1] == target:
            found.append(_make_path(dag, nodes, evidence))
            continue
        for visit in graph.iter_next((nodes[-1], from_child)):
            if visit in distances and visit[0] not in nodes:
                length = len(nodes) + distances[visit]
                heapq.heappush(waiting, (length, (*nodes, visit[0]), visit[1]))
    return found


def find_connected(
    dag: DAG, node: str, known: Collection[str] = (), soft: Collection[str] = ()
) -> set[str]:
    """Return the other variables, without `known`, that an active path connects with a variable.

    >>> dag = DAG(["a", "b", "c", "d"], [("a", "c"), ("b", "c"), ("c", "d")])
    >>> sorted(find_connected(dag, "a")), sorted(find_connected(dag, "a", known=["d"]))
    (['c', 'd'], ['b', 'c'])
    """
    distances = _VisitGraph(dag, set(known), {*known, *soft}).measure_distances(node)
    return {name for name, from_child in distances if from_child} - {node, *known}


class _VisitGraph:
    """Variables with the direction in which a path enters them, and the steps between them."""

    def __init__(self, dag: DAG, known: set[str], evidence: set[str]) -> None:
        self._dag, self._known = dag, known
        self._opened = evidence.union(dag.ancestors(evidence))

    def iter_next(self, visit: Visit) -> Iterator[Visit]:
        """Yield the visits that can follow a visit."""
        node, from_child = visit
        if node not in self._known:
            for child in self._dag.children(node):
                yield child, False
        if node not in self._known if from_child else node in self._opened:
            for parent in self._dag.parents(node):
                yield parent, True

    def measure_distances(self, target: str) -> dict[Visit, int]:
        """Return the number of arcs from each visit to the target, if an active path exists."""
        before: dict[Visit, list[Visit]] = {}
        for node in self._dag.nodes:
            for from_child in (False, True):
                for visit in self.iter_next((node, from_child)):
                    before.setdefault(visit, []).append((node, from_child))
        distances = {(target, False): 0, (target, True): 0}
        waiting = deque(distances)
        while waiting:
            visit = waiting.popleft()
            for other in before.get(visit, ()):
                if other not in distances:
                    distances[other] = distances[visit] + 1
                    waiting.append(other)
        return distances


def _make_path(dag: DAG, nodes: tuple[str, ...], evidence: set[str]) -> ActivePath:
    """Return a path with the directions of its arcs and the evidence that opens its colliders."""
    is_forward = tuple(node in dag.parents(other) for node, other in pairwise(nodes))
    opened: set[str] = set()
    for i in range(1, len(nodes) - 1):
        if is_forward[i - 1] and not is_forward[i]:
            below = {nodes[i], *dag.descendants(nodes[i])}
            opened |= {nodes[i]} if nodes[i] in evidence else below & evidence
    return ActivePath(nodes, is_forward, tuple(sorted(opened)))
