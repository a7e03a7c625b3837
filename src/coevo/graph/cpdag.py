"""Markov equivalence classes of DAGs, represented by CPDAGs.

Two DAGs are equivalent if they state the same conditional independences. They do exactly if
they have the same edges and the same v-structures (a -> c <- b without an edge between a and
b) [1]_. Data cannot distinguish equivalent DAGs: scores such as BDeu and BIC are the same for
all DAGs of an equivalence class. A `CPDAG` (completed partially directed acyclic graph, or
essential graph) represents such a class. An arc is compelled if all members have it, and
reversible if some member has its reverse.

Chickering's rules [2]_ label the arcs, parents before children. For each variable they use
only its parents, and the parents of the last of these in a topological order.

.. [1] T. Verma and J. Pearl, Equivalence and synthesis of causal models, UAI 1990.
.. [2] D. M. Chickering, A transformational characterization of equivalent Bayesian network
   structures, UAI 1995.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from coevo.errors import bad_parameter
from coevo.graph.dag import DAG, Arc

if TYPE_CHECKING:
    from coevo.view.picture import Picture

__all__ = ["CPDAG", "Edge"]

Edge = tuple[str, str]  # two variables, sorted by name


class CPDAG:
    """The equivalence class of a DAG: all DAGs that state the same independences.

    Two DAGs are equivalent exactly if their CPDAGs are equal.

    Parameters
    ----------
    dag : DAG
        Any member of the equivalence class.

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
        if not isinstance(dag, DAG):
            raise bad_parameter("dag", "CPDAG", "a DAG", dag)
        compelled = _find_compelled_parents(dag)
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
        """All variables, in the order of the DAG."""
        return self._nodes

    @property
    def arcs(self) -> tuple[Arc, ...]:
        """The compelled arcs as (parent, child), sorted by name."""
        return self._arcs

    @property
    def edges(self) -> tuple[Edge, ...]:
        """The reversible arcs as undirected edges; each pair and all pairs are sorted by name."""
        return self._edges

    @cached_property
    def directions(self) -> frozenset[Arc]:
        """The compelled arcs, and both directions of each edge."""
        reverses = ((second, first) for first, second in self._edges)
        return frozenset((*self._arcs, *self._edges, *reverses))

    @cached_property
    def n_members(self) -> int:
        """The number of DAGs in the class, counted exactly, in polynomial time.

        >>> CPDAG(DAG("abcd", [("a", "b"), ("b", "c"), ("b", "d")])).n_members
        4
        """
        from coevo.graph.class_members import count_orientations

        return count_orientations(self._edges)

    def members(self) -> Iterator[DAG]:
        """Yield each DAG of the class once, in an order that depends on the names alone.

        There can be very many: `n_members` says how many.

        >>> for dag in CPDAG(DAG("abc", [("a", "b"), ("b", "c")])).members():
        ...     print(dag.arcs)
        (('a', 'b'), ('b', 'c'))
        (('b', 'a'), ('b', 'c'))
        (('b', 'a'), ('c', 'b'))
        """
        from coevo.graph.class_members import iterate_orientations

        for arcs in iterate_orientations(self._edges):
            yield DAG(self._nodes, [*self._arcs, *arcs])

    def extend(self) -> DAG:
        """Return one DAG of the class: the same one for the same class.

        >>> CPDAG(DAG("abc", [("c", "b"), ("b", "a")])).extend().arcs
        (('a', 'b'), ('b', 'c'))
        """
        from coevo.graph.class_members import extend_edges

        return DAG(self._nodes, [*self._arcs, *extend_edges(self._edges)])

    def plot(self, arc_values: Mapping[Arc, float] | None = None) -> Picture:
        """Draw the class: compelled arcs with a head, edges without one.

        Parameters
        ----------
        arc_values : mapping of (str, str) to float, optional
            A number for each arc or edge, such as its strength: the larger, the wider the line.
            The names of an edge may be in any order.

        Returns
        -------
        Picture
            It shows itself in a notebook. ``save("graph.svg")`` writes it as SVG, PNG or PDF.
        """
        from coevo.view.picture import draw_graph, list_links

        return draw_graph(self._nodes, list_links(self._arcs, self._edges, arc_values))

    def __eq__(self, other: object) -> bool:
        """Return whether both are the same equivalence class over the same variables."""
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

    def _repr_html_(self) -> str:
        from coevo.view.picture.notebook import Table, render_block, render_graph

        links = [(*arc, "arc") for arc in self._arcs] + [(*edge, "edge") for edge in self._edges]
        caption = f"{repr(self)[1:-1]} (data cannot direct an edge)"
        table = Table(["parent", "child", "kind"], links)
        return render_block(caption, render_graph(len(self._nodes), self.plot, table))


def _find_compelled_parents(dag: DAG) -> dict[str, frozenset[str]]:
    """Return for each variable the parents whose arcs are in every equivalent DAG.

    Let x be the last parent of y in a topological order. All parents of y are compelled if
    another parent of y is not adjacent to x (a v-structure), or if a compelled parent of x is
    not a parent of y (reversing x -> y would make a new v-structure). Otherwise the compelled
    parents of y are the compelled parents of x.
    """
    position = {node: i for i, node in enumerate(dag.topological_order)}
    parents = {node: frozenset(dag.parents(node)) for node in dag.nodes}
    compelled: dict[str, frozenset[str]] = {}
    for node in dag.topological_order:
        if not parents[node]:
            compelled[node] = frozenset()
            continue
        last = max(parents[node], key=position.__getitem__)
        has_v_structure = not parents[node] - {last} <= parents[last]
        has_forced_arc = not compelled[last] <= parents[node]
        is_all = has_v_structure or has_forced_arc
        compelled[node] = parents[node] if is_all else compelled[last]
    return compelled
