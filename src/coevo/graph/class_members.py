"""The members of an equivalence class: list them, count them, choose one.

The undirected edges of a CPDAG form connected chordal graphs, the *chain components*. A member of
the class directs each component without a cycle and without a new v-structure, and every such
choice gives a member. The components can be directed independently of each other.

Let a component be directed from a clique, so that the clique comes first in an order of its
variables. The edges that are then directed alike in all members divide the rest into smaller
components, which the first step of a partition refinement finds [1]_. Two uses follow:

- With a clique of one variable, its only source: each member of the component has one source, so
  that this lists every member once [2]_.
- With the maximal cliques: each member is counted at one of them, if the orders of the clique that
  are counted elsewhere are left out. That is the Clique-Picking algorithm [1]_, and it counts in
  polynomial time.

.. [1] M. Wienöbst, M. Bannach and M. Liskiewicz, Polynomial-time algorithms for counting and
   sampling Markov equivalent DAGs, AAAI 2021.
.. [2] Y. He, J. Jia and B. Yu, Counting and exploring sizes of Markov equivalence classes of
   directed acyclic graphs, Journal of Machine Learning Research 16, 2015.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence

__all__ = ["count_orientations", "extend_edges", "iterate_orientations"]

Edge = tuple[str, str]
Near = Mapping[str, frozenset[str]]  # the neighbours of each variable by undirected edges
Component = tuple[str, ...]  # connected variables, sorted by name
# Linked lists share what choices have in common: (first, rest) or None.
Components = tuple[Component, "Components"] | None
Arcs = tuple[list[Edge], "Arcs"] | None


def make_neighbours(edges: Iterable[Edge]) -> dict[str, frozenset[str]]:
    """Return the neighbours of each variable that has an edge."""
    near: dict[str, set[str]] = {}
    for one, other in edges:
        near.setdefault(one, set()).add(other)
        near.setdefault(other, set()).add(one)
    return {name: frozenset(near[name]) for name in sorted(near)}


def _find_components(near: Near, names: Iterable[str]) -> list[Component]:
    """Return the connected components of some variables, in the order of their names."""
    waiting, components = sorted(names, reverse=True), []
    left = set(waiting)
    while waiting:
        first = waiting.pop()
        if first not in left:
            continue
        left.remove(first)
        found, new = [first], [first]
        while new:
            reached = near[new.pop()] & left
            left -= reached
            found += reached
            new += reached
        components.append(tuple(sorted(found)))
    return components


def _refine(near: Near, component: Component, clique: Sequence[str]) -> list[list[str]]:
    """Return the classes of the other variables once a component is directed from a clique.

    Edges between two classes, and from the clique, lead from the earlier one to the later one.
    Those inside a class stay undirected. A class is what the partition refinement of a
    lexicographic breadth-first search has not divided when it reaches the first of its variables.
    """
    parts = [sorted(clique), [name for name in component if name not in clique]]
    done, classes = set(clique), []
    while parts:
        if not parts[0]:
            parts.pop(0)
            continue
        node = parts[0][0]
        if node not in done:
            classes.append(list(parts[0]))
            done.update(parts[0])
        parts[0] = parts[0][1:]
        near_node = near[node]
        divided = []
        for part in parts:
            inside = [name for name in part if name in near_node]
            if len(inside) in (0, len(part)):
                divided.append(part)
            else:
                divided += [inside, [name for name in part if name not in near_node]]
        parts = divided
    return classes


def iterate_orientations(edges: Iterable[Edge]) -> Iterator[list[Edge]]:
    """Yield the arcs of each acyclic orientation of chordal edges without a v-structure, once.

    >>> for arcs in iterate_orientations([("a", "b"), ("b", "c")]):
    ...     print(sorted(arcs))
    [('a', 'b'), ('b', 'c')]
    [('b', 'a'), ('b', 'c')]
    [('b', 'a'), ('c', 'b')]
    """
    near = make_neighbours(edges)
    waiting: Components = None
    for component in reversed(_find_components(near, near)):
        waiting = (component, waiting)
    stack: list[tuple[Components, Arcs]] = [(waiting, None)]
    while stack:
        components, chosen = stack.pop()
        if components is None:
            arcs: list[Edge] = []
            while chosen is not None:
                some, chosen = chosen
                arcs += some
            yield arcs
            continue
        component, others = components
        for source in reversed(component):
            some, smaller = _direct_from(near, component, source)
            rest = others
            for part in reversed(smaller):
                rest = (part, rest)
            stack.append((rest, (some, chosen)))


def _direct_from(
    near: Near, component: Component, source: str
) -> tuple[list[Edge], list[Component]]:
    """Return the arcs of a component with this source, and the components that stay undirected."""
    classes = _refine(near, component, [source])
    rank = {name: i for i, names in enumerate(classes) for name in names} | {source: -1}
    arcs = [
        (one, other)
        for one in component
        for other in sorted(near[one])
        if other in rank and rank[one] < rank[other]
    ]
    smaller = [part for names in classes for part in _find_components(near, names)]
    return arcs, [part for part in smaller if len(part) > 1]


def extend_edges(edges: Iterable[Edge]) -> list[Edge]:
    """Return one orientation: the one of a maximum cardinality search.

    Each variable gets an arc from all its neighbours that were visited before. In a chordal graph
    these are connected with each other, so that no v-structure arises.

    >>> extend_edges([("a", "b"), ("b", "c")])
    [('a', 'b'), ('b', 'c')]
    """
    near = make_neighbours(edges)
    arcs = []
    for component in _find_components(near, near):
        order = _search_cardinality(near, component)
        place = {name: i for i, name in enumerate(order)}
        arcs += [
            (one, other)
            for one in component
            for other in sorted(near[one])
            if place[one] < place[other]
        ]
    return arcs


def _search_cardinality(near: Near, component: Component) -> list[str]:
    """Return a maximum cardinality order: next comes who has most neighbours before it."""
    levels: list[dict[str, None]] = [dict.fromkeys(component)]  # by number of such neighbours
    level_of = dict.fromkeys(component, 0)
    order: list[str] = []
    while level_of:
        while not levels[-1]:
            levels.pop()
        node = min(levels[-1]) if not order else next(iter(levels[-1]))
        del levels[-1][node], level_of[node]
        order.append(node)
        for other in sorted(near[node]):
            if other not in level_of:
                continue
            level = level_of[other]
            del levels[level][other]
            if level + 1 == len(levels):
                levels.append({})
            levels[level + 1][other] = None
            level_of[other] = level + 1
    return order


def count_orientations(edges: Iterable[Edge]) -> int:
    """Return the number of orientations that `iterate_orientations` yields, in polynomial time.

    >>> from itertools import combinations
    >>> count_orientations(combinations("abcde", 2))  # the orders of five variables
    120
    """
    near = make_neighbours(edges)
    known: dict[Component, int] = {}
    return math.prod(_count_component(near, part, known) for part in _find_components(near, near))


def _count_component(near: Near, component: Component, known: dict[Component, int]) -> int:
    """Return the number of orientations of a component; `known` holds what was counted."""
    if len(component) == 1:
        return 1
    if component in known:
        return known[component]
    total = 0
    for clique, forbidden in _list_cliques(near, component):
        n_orders = _count_orders(len(clique), forbidden)
        if not n_orders:
            continue
        for names in _refine(near, component, clique):
            for part in _find_components(near, names):
                n_orders *= _count_component(near, part, known)
        total += n_orders
    known[component] = total
    return total


def _list_cliques(near: Near, component: Component) -> list[tuple[list[str], list[int]]]:
    """Return the maximal cliques, each with the sizes of its forbidden prefixes, ascending.

    The cliques are the nodes of a rooted tree. An orientation may start with several of them. It is
    counted at the first one: orders of a clique that begin with what two neighbours on the path
    from the root have in common are counted above. The sets that are subsets of the clique include
    each other, so that their sizes say everything.
    """
    order = _search_cardinality(near, component)
    place = {name: i for i, name in enumerate(order)}
    cliques: list[list[str]] = []
    above: list[int] = []  # the clique that each one hangs on
    own: dict[str, int] = {}  # the clique that each variable came with
    for node in order:
        before = sorted(
            (n for n in near[node] if place.get(n, math.inf) < place[node]), key=place.__getitem__
        )
        if not before:
            cliques.append([node])
            above.append(-1)
            own[node] = 0
            continue
        host = own[before[-1]]
        if set(cliques[host]) == set(before):
            cliques[host].append(node)
            own[node] = host
        else:
            own[node] = len(cliques)
            cliques.append([*before, node])
            above.append(host)
    found = []
    for i, clique in enumerate(cliques):
        sizes, members, below = set(), set(clique), i
        while above[below] >= 0:
            shared = set(cliques[below]) & set(cliques[above[below]])
            if shared <= members:
                sizes.add(len(shared))
            below = above[below]
        found.append((clique, sorted(sizes)))
    return found


def _count_orders(n: int, forbidden: Sequence[int]) -> int:
    """Return the orders of n variables none of whose prefixes is one of some nested sets.

    Orders whose smallest forbidden prefix is the set of size k: those of the set without a smaller
    one, times all orders of the others.

    >>> _count_orders(3, []), _count_orders(3, [1]), _count_orders(3, [1, 2])
    (6, 4, 3)
    """
    first: list[int] = []
    for i, k in enumerate(forbidden):
        smaller = zip(first, forbidden[:i], strict=True)
        first.append(math.factorial(k) - sum(f * math.factorial(k - s) for f, s in smaller))
    taken = sum(f * math.factorial(n - k) for f, k in zip(first, forbidden, strict=True))
    return math.factorial(n) - taken
