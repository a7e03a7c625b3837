"""The drawn edges of a graph: the arcs of a structure, and those of a second one to compare.

There are two views. In the DAG view all arcs are directed. In the CPDAG view only those arcs are
directed whose direction is known: from the data, or from the constraints of the search. If two
structures are compared, an edge is in both (same), only in the first (added), only in the second
(missing), or in both with different directions (reversed).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from coevo.graph import CPDAG, DAG, DirectedBy, compare, find_directions
from coevo.graph.dag import Arc
from coevo.view.page.model import ArcFacts, Page

__all__ = ["DrawnEdge", "EdgeKind", "list_drawn_edges", "orient_for_layout"]

EdgeKind = Literal["same", "added", "missing", "reversed"]


@dataclass(frozen=True, slots=True)
class DrawnEdge:
    """One edge of the drawing."""

    parent: str
    child: str
    directed_by: DirectedBy | None  # in the CPDAG view
    facts: ArcFacts
    kind: EdgeKind  # in the DAG view
    class_kind: EdgeKind  # in the CPDAG view

    @property
    def is_directed(self) -> bool:
        """Whether the direction is known."""
        return self.directed_by is not None


def list_drawn_edges(page: Page) -> list[DrawnEdge]:
    """Return the edges of a page, those of its own structure first, sorted by name.

    >>> page = Page(DAG("abc", [("a", "b")]), other=DAG("abc", [("b", "a"), ("b", "c")]))
    >>> [(edge.parent, edge.child, edge.kind, edge.class_kind) for edge in list_drawn_edges(page)]
    [('a', 'b', 'reversed', 'same'), ('b', 'c', 'missing', 'missing')]
    """
    directions = find_directions(page.dag) | dict.fromkeys(page.known, "knowledge")
    kinds, class_kinds = ({}, {}) if page.other is None else _compare_edges(page.dag, page.other)
    edges = [
        DrawnEdge(
            *arc,
            directed_by=directions[arc],
            facts=page.arcs.get(arc, ArcFacts()),
            kind=kinds.get(arc, "same"),
            class_kind=class_kinds.get(arc, "same"),
        )
        for arc in page.dag.arcs
    ]
    if page.other is not None:
        theirs = find_directions(page.other)
        edges += [
            DrawnEdge(*arc, theirs[arc], ArcFacts(), "missing", "missing")
            for arc, kind in kinds.items()
            if kind == "missing"
        ]
    return edges


def _compare_edges(found: DAG, true: DAG) -> tuple[dict[Arc, EdgeKind], dict[Arc, EdgeKind]]:
    """Return the kinds of the edges that differ between two structures, for both views."""
    difference = compare(found, true)
    kinds: dict[Arc, EdgeKind] = {}
    kinds.update(dict.fromkeys(difference.reversed, "reversed"))
    kinds.update(dict.fromkeys(difference.added, "added"))
    kinds.update(dict.fromkeys(difference.missing, "missing"))
    ours, theirs = CPDAG(found).directions, CPDAG(true).directions
    class_kinds = dict(kinds)
    for arc in (*difference.correct, *difference.reversed):
        is_same = (arc in ours, arc[::-1] in ours) == (arc in theirs, arc[::-1] in theirs)
        class_kinds[arc] = "same" if is_same else "reversed"
    return kinds, class_kinds


def orient_for_layout(dag: DAG, edges: list[DrawnEdge]) -> dict[Arc, Arc]:
    """Return for each edge the arc that is laid out for it.

    Arcs of the second structure could close cycles. They are laid out in the topological order
    of the first structure.
    """
    place = {node: i for i, node in enumerate(dag.topological_order)}
    return {
        (edge.parent, edge.child): (edge.parent, edge.child)
        if place[edge.parent] < place[edge.child]
        else (edge.child, edge.parent)
        for edge in edges
    }
