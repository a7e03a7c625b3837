"""Markov equivalence: what data can tell of a DAG.

DAGs are equivalent when they state the same conditional independences; that is so exactly
when they have the same edges and the same v-structures (a -> c <- b without an edge between
a and b) [1]_. Scores such as BDeu and BIC are the same for all DAGs of a class. A `CPDAG`
(completed partially directed acyclic graph, or essential graph) is the name of a class: an
arc is compelled when all members have it, and reversible when some member has its reverse.

The arcs are labelled by Chickering's rules [2]_, parents before children. For each variable
they look at its parents and at the parents of the last of these, and nowhere else.

.. [1] T. Verma and J. Pearl, Equivalence and synthesis of causal models, UAI 1990.
.. [2] D. M. Chickering, A transformational characterization of equivalent Bayesian network
   structures, UAI 1995.
"""

from __future__ import annotations

from functools import cached_property

from coevo.graph.dag import DAG, Arc

__all__ = ["CPDAG", "Edge"]

Edge = tuple[str, str]  # sorted by name


class CPDAG:
    """The class of all DAGs that state the same independences as a given one.

    Two DAGs are equivalent exactly when their CPDAGs are equal.

    Parameters
    ----------
    dag : DAG
        Any member of the class.

    Examples
    --------
    >>> chain = CPDAG(DAG(["a", "b", "c"], [("a", "b"), ("b", "c")]))
    >>> chain.arcs, chain.edges
    ((), (('a', 'b'), ('b', 'c')))
    >>> chain == CPDAG(DAG(["a", "b", "c"], [("b", "a"), ("b", "c")]))
    True
    >>> collider = CPDAG(DAG(["a", "b", "c"], [("a", "b"), ("c", "b")]))
    >>> collider.arcs, collider.edges
    ((('a', 'b'), ('c', 'b')), ())
    """

    __slots__ = ("__dict__", "_arcs", "_edges", "_nodes")

    def __init__(self, dag: DAG) -> None:
        compelled = _compelled_parents(dag)
        self._nodes = dag.nodes
        self._arcs = tuple(arc for arc in dag.arcs if arc[0] in compelled[arc[1]])
        self._edges = tuple(
            sorted(
                (min(parent, child), max(parent, child))
                for parent, child in dag.arcs
                if parent not in compelled[child]
            )
        )

    @property
    def nodes(self) -> tuple[str, ...]:
        """All variables, in the order that they have in the DAG."""
        return self._nodes

    @property
    def arcs(self) -> tuple[Arc, ...]:
        """The compelled arcs as (parent, child), sorted by name."""
        return self._arcs

    @property
    def edges(self) -> tuple[Edge, ...]:
        """The reversible arcs without their direction, each pair and all pairs by name."""
        return self._edges

    @cached_property
    def directions(self) -> frozenset[Arc]:
        """The compelled arcs, and both directions of each edge."""
        turned = ((second, first) for first, second in self._edges)
        return frozenset((*self._arcs, *self._edges, *turned))

    def __eq__(self, other: object) -> bool:
        """Return whether both are the same class of DAGs over the same variables."""
        if not isinstance(other, CPDAG):
            return NotImplemented
        return self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    @cached_property
    def _key(self) -> tuple[frozenset[str], tuple[Arc, ...], tuple[Edge, ...]]:
        return frozenset(self._nodes), self._arcs, self._edges

    def __repr__(self) -> str:
        return (
            f"<CPDAG: {len(self._nodes)} variables, {len(self._arcs)} arcs, "
            f"{len(self._edges)} edges>"
        )


def _compelled_parents(dag: DAG) -> dict[str, frozenset[str]]:
    """Return for each variable the parents whose arcs every equivalent DAG has.

    Let x be the last of the parents of y in a topological order. All of them are compelled
    if another parent of y is not adjacent to x (a v-structure), or if a compelled parent of
    x is no parent of y (with x -> y turned, it would make a new v-structure). If neither is
    so, then those parents of y are compelled that are compelled parents of x.
    """
    place = {node: i for i, node in enumerate(dag.topological_order)}
    parents = {node: frozenset(dag.parents(node)) for node in dag.nodes}
    compelled: dict[str, frozenset[str]] = {}
    for node in dag.topological_order:
        if not parents[node]:
            compelled[node] = frozenset()
            continue
        last = max(parents[node], key=place.__getitem__)
        collides = not parents[node] - {last} <= parents[last]
        forced = not compelled[last] <= parents[node]
        compelled[node] = parents[node] if collides or forced else compelled[last]
    return compelled
