"""The lines of a picture: each arc of a structure, and beside them those of a second one.

A line says how it looks in two views. In the one all arcs are directed; in the other, that
of the CPDAG, only those are whose direction data can tell. Where two structures are compared,
a line is in both, in the first alone (added), in the second alone (missing), or in both but
not the same way (reversed).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from coevo.graph import CPDAG, DAG, compare
from coevo.graph.dag import Arc
from coevo.report.page.model import ArcFacts, Page

__all__ = ["Kind", "Line", "lines_of", "pairs_to_lay_out"]

Kind = Literal["same", "added", "missing", "reversed"]


@dataclass(frozen=True, slots=True)
class Line:
    """One arc of the picture."""

    parent: str
    child: str
    is_directed: bool  # in the CPDAG of its structure
    facts: ArcFacts
    kind: Kind  # all arcs directed
    class_kind: Kind  # in the view of the CPDAG


def lines_of(page: Page) -> list[Line]:
    """Return the lines of a page, those of its own structure first, each by name.

    >>> page = Page(DAG("abc", [("a", "b")]), other=DAG("abc", [("b", "a"), ("b", "c")]))
    >>> [(line.parent, line.child, line.kind, line.class_kind) for line in lines_of(page)]
    [('a', 'b', 'reversed', 'same'), ('b', 'c', 'missing', 'missing')]
    """
    compelled = set(CPDAG(page.dag).arcs)
    kinds, class_kinds = ({}, {}) if page.other is None else _kinds(page.dag, page.other)
    lines = [
        Line(
            *arc,
            is_directed=arc in compelled,
            facts=page.arcs.get(arc, ArcFacts()),
            kind=kinds.get(arc, "same"),
            class_kind=class_kinds.get(arc, "same"),
        )
        for arc in page.dag.arcs
    ]
    if page.other is not None:
        theirs = set(CPDAG(page.other).arcs)
        lines += [
            Line(*arc, arc in theirs, ArcFacts(), "missing", "missing")
            for arc, kind in kinds.items()
            if kind == "missing"
        ]
    return lines


def _kinds(found: DAG, true: DAG) -> tuple[dict[Arc, Kind], dict[Arc, Kind]]:
    """Return what is not the same in two structures, arc by arc, in both views."""
    difference = compare(found, true)
    kinds: dict[Arc, Kind] = {}
    kinds.update(dict.fromkeys(difference.reversed, "reversed"))
    kinds.update(dict.fromkeys(difference.added, "added"))
    kinds.update(dict.fromkeys(difference.missing, "missing"))
    ours, theirs = CPDAG(found).directions, CPDAG(true).directions
    class_kinds = dict(kinds)
    for arc in (*difference.correct, *difference.reversed):
        joined = (arc in ours, arc[::-1] in ours) == (arc in theirs, arc[::-1] in theirs)
        class_kinds[arc] = "same" if joined else "reversed"
    return kinds, class_kinds


def pairs_to_lay_out(dag: DAG, lines: list[Line]) -> dict[Arc, Arc]:
    """Return for each line the arc that is laid out for it.

    Arcs of the second structure might make cycles; they are laid out the way in which the
    order of the first one runs.
    """
    place = {node: i for i, node in enumerate(dag.topological_order)}
    return {
        (line.parent, line.child): (line.parent, line.child)
        if place[line.parent] < place[line.child]
        else (line.child, line.parent)
        for line in lines
    }
