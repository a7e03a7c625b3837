"""The structural intervention distance (SID) between a learned structure and the true one.

A structure says how to compute the effect of an intervention: adjust for the parents. The SID [1]_
counts the ordered pairs (i, j) for which the parents of i in the learned structure give a wrong
distribution of j after an intervention on i, in some network with the true structure. The SID is
not symmetric. It is 0 exactly if the learned structure has all true arcs: further arcs do no harm.

If j is a learned parent of i, the learned structure says that i has no effect on j. This is wrong
if j is a descendant of i. Otherwise the learned parents of i must be a valid adjustment set for
(i, j) in the true structure [2]_:

1. no learned parent is a variable (other than i) on a directed path from i to j, or a descendant
   of such a variable;
2. the learned parents block every path from i to j that is not directed.

`find_wrong_effects` decides this for all j in one walk over the arcs. The walk is that of
d-separation. It also notes whether it has only followed arcs away from i. Such a walk may visit a
variable twice, which a path may not. This makes no difference: a walk of this kind that leaves i
along an arc and is not directed turns back at a learned parent or at an ancestor of one. If
leaving out its loops makes it a directed path to j, condition 1 fails for j.

Data determine a structure up to its equivalence class. `bound_sid` returns the smallest and the
largest SID of all members of the class [1]_. The undirected edges of a CPDAG form chain components
that can be directed independently of each other. One is directed by the choice of its only
source. This directs further edges and leaves smaller components, which have the same properties
[3]_. All variables of such a component have the same parents outside it, so each component is
solved once.

.. [1] J. Peters and P. Bühlmann, Structural intervention distance for evaluating causal graphs,
   Neural Computation 27, 2015.
.. [2] I. Shpitser, T. VanderWeele and J. M. Robins, On the validity of covariate adjustment for
   estimating causal effects, UAI 2010.
.. [3] Y. He, J. Jia and B. Yu, Counting and exploring sizes of Markov equivalence classes of
   directed acyclic graphs, Journal of Machine Learning Research 16, 2015.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from coevo.graph.cpdag import CPDAG
from coevo.graph.dag import DAG

__all__ = ["MAX_COMPONENTS", "bound_sid", "count_sid", "find_wrong_effects"]

MAX_COMPONENTS = 5_000  # that `bound_sid` solves, in a second; a clique of n variables has 2^n
_CAUSAL, _FROM_CHILD, _FROM_PARENT = range(3)  # how a walk has entered a variable
Bits = int  # a set of variables: bit number i stands for variable i
Bounds = tuple[int, int]


class _TrueGraph:
    """The true structure as lists and bit sets of numbers of variables."""

    def __init__(self, true: DAG) -> None:
        self.number = {node: i for i, node in enumerate(true.nodes)}
        self.parents = [[self.number[p] for p in true.parents(node)] for node in true.nodes]
        self.children = [[self.number[c] for c in true.children(node)] for node in true.nodes]
        self.below: list[Bits] = [0] * len(true.nodes)  # each variable with its descendants
        self.above: list[Bits] = [0] * len(true.nodes)  # each variable with its ancestors
        order = [self.number[node] for node in true.topological_order]
        for sets, near, places in (
            (self.below, self.children, order[::-1]),
            (self.above, self.parents, order),
        ):
            for i in places:
                sets[i] = 1 << i
                for other in near[i]:
                    sets[i] |= sets[other]
        self._counts: dict[tuple[int, Bits], int] = {}

    def count_wrong(self, i: int, adjusted: Bits) -> int:
        """Return the number of wrong effects of i, if these are its learned parents."""
        key = (i, adjusted)
        if key not in self._counts:
            self._counts[key] = self.find_wrong(i, adjusted).bit_count()
        return self._counts[key]

    def find_wrong(self, i: int, adjusted: Bits) -> Bits:
        """Return the variables on which the effect of i is wrong."""
        opened = 0  # the learned parents with their ancestors: open as colliders
        for parent in _list_members(adjusted):
            opened |= self.above[parent]
        wrong = self._walk(i, adjusted, opened)
        below = self.below[i] & ~(1 << i)
        for between in _list_members(below & opened):
            wrong |= self.below[between]  # condition 1 fails
        return (wrong & ~adjusted | below & adjusted) & ~(1 << i)

    def _walk(self, i: int, adjusted: Bits, opened: Bits) -> Bits:
        """Return the variables that an open walk from i reaches that is not a directed path."""
        seen = [0, 0, 0]
        waiting = [(child, _CAUSAL) for child in self.children[i]]
        waiting += [(parent, _FROM_CHILD) for parent in self.parents[i]]
        while waiting:
            node, entered = waiting.pop()
            bit = 1 << node
            if node == i or seen[entered] & bit:
                continue
            seen[entered] |= bit
            if not adjusted & bit:
                onward = _CAUSAL if entered == _CAUSAL else _FROM_PARENT
                waiting += [(child, onward) for child in self.children[node]]
            if not adjusted & bit if entered == _FROM_CHILD else opened & bit:
                waiting += [(parent, _FROM_CHILD) for parent in self.parents[node]]
        return seen[_FROM_CHILD] | seen[_FROM_PARENT]

    def make_set(self, nodes: Iterable[str]) -> Bits:
        """Return variables as a bit set."""
        return sum(1 << self.number[node] for node in nodes)


def _list_members(bits: Bits) -> list[int]:
    """Return the numbers of a bit set.

    >>> _list_members(0b1101)
    [0, 2, 3]
    """
    members = []
    while bits:
        lowest = bits & -bits
        members.append(lowest.bit_length() - 1)
        bits ^= lowest
    return members


def find_wrong_effects(found: DAG, true: DAG) -> tuple[tuple[str, str], ...]:
    """Return each (cause, effect) that the learned structure infers wrongly, sorted by name.

    Both structures must have the same variables. Their number is the SID.

    >>> true = DAG("abc", [("a", "b"), ("b", "c")])
    >>> find_wrong_effects(DAG("abc", [("b", "a"), ("b", "c")]), true)
    (('a', 'b'), ('a', 'c'), ('b', 'a'))
    """
    graph = _TrueGraph(true)
    pairs = []
    for node in true.nodes:
        wrong = graph.find_wrong(graph.number[node], graph.make_set(found.parents(node)))
        pairs += [(node, true.nodes[j]) for j in _list_members(wrong)]
    return tuple(sorted(pairs))


def count_sid(found: DAG, true: DAG) -> int:
    """Return the structural intervention distance; both must have the same variables.

    >>> true = DAG("abc", [("a", "b"), ("b", "c")])
    >>> count_sid(DAG("abc", [("a", "b"), ("b", "c"), ("a", "c")]), true)
    0
    >>> count_sid(DAG("abc"), true)
    3
    """
    graph = _TrueGraph(true)
    return sum(
        graph.count_wrong(graph.number[node], graph.make_set(found.parents(node)))
        for node in true.nodes
    )


def bound_sid(found: DAG, true: DAG) -> Bounds | None:
    """Return the smallest and the largest SID of all DAGs that are equivalent to `found`.

    Return None if that takes too long: if a chain component has a clique of more than twelve
    variables.

    >>> true = DAG("abc", [("a", "b"), ("b", "c")])
    >>> bound_sid(DAG("abc", [("b", "a"), ("b", "c")]), true)
    (0, 6)
    """
    try:
        return _ClassBounds(found, true).compute()
    except _TooManyComponents:
        return None


class _TooManyComponents(Exception):  # noqa: N818
    """There are more than `MAX_COMPONENTS` components."""


class _ClassBounds:
    """The bounds of the SID over an equivalence class."""

    def __init__(self, found: DAG, true: DAG) -> None:
        self._graph = _TrueGraph(true)
        number, cpdag = self._graph.number, CPDAG(found)
        self._compelled: list[Bits] = [0] * len(number)
        self._near: list[Bits] = [0] * len(number)  # the neighbours by edges
        for parent, child in cpdag.arcs:
            self._compelled[number[child]] |= 1 << number[parent]
        for one, other in cpdag.edges:
            self._near[number[one]] |= 1 << number[other]
            self._near[number[other]] |= 1 << number[one]
        self._solved: dict[tuple[Bits, Bits], Bounds] = {}

    def compute(self) -> Bounds:
        """Return the sum of the bounds of all chain components."""
        near = dict(enumerate(self._near))
        return _add(self._solve(part, 0) for part in _split_components(near))

    def _solve(self, part: Bits, above: Bits) -> Bounds:
        """Return the bounds of a component; arcs lead from `above` to all of its variables."""
        key = (part, above)
        if key not in self._solved:
            if len(self._solved) >= MAX_COMPONENTS:
                raise _TooManyComponents
            choices = [self._solve_from(source, part, above) for source in _list_members(part)]
            self._solved[key] = min(low for low, _ in choices), max(high for _, high in choices)
        return self._solved[key]

    def _solve_from(self, source: int, part: Bits, above: Bits) -> Bounds:
        """Return the bounds of a component with this source.

        The distance from the source divides the component into layers. Arcs lead from each layer
        to the next one, and `_direct_layer` directs edges inside a layer.
        """
        own = self._graph.count_wrong(source, self._compelled[source] | above)
        bounds = [(own, own)]
        layer, rest = 1 << source, part & ~(1 << source)
        while rest:
            following = 0
            for node in _list_members(layer):
                following |= self._near[node] & rest
            parents = {node: self._near[node] & layer for node in _list_members(following)}
            undirected = self._direct_layer(following, parents)
            for smaller in _split_components(undirected):
                shared = parents[_list_members(smaller)[0]]  # all its variables have these
                bounds.append(self._solve(smaller, above | shared))
            layer, rest = following, rest & ~following
        return _add(bounds)

    def _direct_layer(self, layer: Bits, parents: dict[int, Bits]) -> dict[int, Bits]:
        """Direct the edges of a layer that must be directed; return the neighbours by the others.

        An edge leads away from a variable with a parent that is not joined to the other end: else
        there would be a new v-structure. The new arcs are added to `parents`.
        """
        undirected = {node: self._near[node] & layer for node in parents}
        is_changed = True
        while is_changed:
            is_changed = False
            for node in parents:
                for other in _list_members(undirected[node]):
                    if parents[node] & ~self._near[other]:
                        undirected[node] &= ~(1 << other)
                        undirected[other] &= ~(1 << node)
                        parents[other] |= 1 << node
                        is_changed = True
        return undirected


def _split_components(near: Mapping[int, Bits]) -> list[Bits]:
    """Return the connected components of a graph, given the neighbours of each variable.

    >>> _split_components({0: 0b100, 1: 0, 2: 0b001})
    [5, 2]
    """
    waiting = sum(1 << node for node in near)
    parts = []
    while waiting:
        part, new = 0, waiting & -waiting
        while new:
            part |= new
            reached = 0
            for node in _list_members(new):
                reached |= near[node]
            new = reached & ~part
        parts.append(part)
        waiting &= ~part
    return parts


def _add(bounds: Iterable[Bounds]) -> Bounds:
    """Return the sums of lower and of upper bounds."""
    low = high = 0
    for lower, upper in bounds:
        low, high = low + lower, high + upper
    return low, high
