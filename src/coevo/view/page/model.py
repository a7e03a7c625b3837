"""The content of a page as plain values, and the drawn edges of its graph.

Everything except the structure is optional. The edges are the arcs of the structure, and those of a
second one to compare.

There are two views. In the DAG view all arcs are directed. In the CPDAG view only those arcs are
directed whose direction is known: from the data, or from the constraints of the search. If two
structures are compared, an edge is in both (same), only in the first (added), only in the second
(missing), or in both with different directions (reversed).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from coevo.errors import GraphError, format_count
from coevo.graph import CPDAG, DAG, DirectedBy, compare, find_directions
from coevo.graph.dag import Arc
from coevo.network import BayesianNetwork
from coevo.score import NearMiss, name_gain

__all__ = [
    "ArcFacts",
    "BootstrapArc",
    "BootstrapSummary",
    "DrawnEdge",
    "EdgeKind",
    "Page",
    "ScorePoint",
    "list_drawn_edges",
    "orient_for_layout",
]


@dataclass(frozen=True, slots=True)
class ArcFacts:
    """The gain, the confidence and the meaning of an arc. Higher numbers mean more."""

    gain: float | None = None  # local score of the child with the arc, minus that without it
    strength: float | None = None  # share of bootstrap samples that join the two variables
    direction: float | None = None  # share of these samples whose CPDAG has the arc
    says: str = ""  # what the arc says about its two variables, as a sentence without a stop
    probability: float | None = None  # posterior, that the two variables are joined
    reverse: float | None = None  # share of the samples whose CPDAG has the reverse of the arc

    @property
    def word(self) -> str:
        """The word for the gain; empty if the gain is unknown."""
        return "" if self.gain is None else name_gain(self.gain)


@dataclass(frozen=True, slots=True)
class BootstrapArc:
    """An arc of a bootstrap sample, with its strength."""

    parent: str
    child: str
    strength: float
    in_network: bool


@dataclass(frozen=True, slots=True)
class BootstrapSummary:
    """The arc strengths of a bootstrap."""

    n_bootstraps: int
    threshold: float  # above which an arc is significant
    arcs: Sequence[BootstrapArc]


@dataclass(frozen=True, slots=True)
class ScorePoint:
    """The best score at one moment of a search."""

    seconds: float
    generation: int
    score: float


@dataclass(frozen=True)
class Page:
    """The content of a page.

    Parameters
    ----------
    dag : DAG
        The structure.
    network : BayesianNetwork, optional
        The same structure with its probability tables, which the page shows too.
    title : str
        The title of the page.
    facts : mapping of str to str
        The main facts, such as the score.
    arcs : mapping of arc to ArcFacts
        Facts about arcs of the structure.
    rejected : str
        A sentence about the best rejected arc.
    reason : str
        Why the structure has no arcs; empty if it has some.
    near_misses : sequence of NearMiss
        Arcs that the structure lacks and that are not improbable.
    samples : str
        A sentence about the samples of a quick bootstrap, if strengths come from one.
    posterior : str
        A sentence about how far the posterior probabilities can be trusted, if there are any.
    proof : str
        A sentence about how far from the best network this one can be, if that was proved.
    bootstrap : BootstrapSummary, optional
        The arc strengths of a bootstrap.
    history : sequence of ScorePoint
        The best score over time.
    audit : sequence of str
        The findings of the audit, one sentence each.
    decisions : sequence of str
        What was done to the table without being asked, one sentence each.
    columns : mapping of str to str
        The type and treatment of each column.
    settings : mapping of str to str
        The settings of the search.
    command : str
        The command that repeats the search.
    stamp : mapping of str to str
        The version of coevo, the seed and the hash of the data.
    other : DAG, optional
        A second structure over the same variables, to compare with.
    other_name : str
        The name of the second structure.
    parent_counts : mapping of str to sequence of numbers
        For each variable the number of rows behind each row of its probability table. A variable
        whose counts are unknown is left out.
    are_counts_means : bool
        Whether the counts are means over imputed tables.
    is_learned : bool
        Whether the structure was learned from data. The page then opens on the directions that are
        known, else on the DAG.
    known : collection of arcs
        The arcs that the constraints of the search direct.
    n_rows : int, optional
        The number of rows of the table.
    hints : sequence of str
        Sentences about the result for the summary.
    species : mapping, optional
        The two species at the end of the search: ``variables`` (their names), and the summary of
        `coevo.search.species`.
    credit : sequence of lists
        A generation and the credit of each mask then.

    Examples
    --------
    >>> Page(DAG("ab", [("a", "b")]), arcs={("a", "b"): ArcFacts(gain=12.5)}).title
    'Bayesian network'
    >>> Page(DAG("ab", [("a", "b")]), arcs={("b", "a"): ArcFacts()})
    Traceback (most recent call last):
    coevo.errors.GraphError: 'arcs' of Page has the arc 'b' -> 'a', but the structure does not.
    """

    dag: DAG
    network: BayesianNetwork | None = None
    title: str = "Bayesian network"
    facts: Mapping[str, str] = field(default_factory=dict)
    arcs: Mapping[Arc, ArcFacts] = field(default_factory=dict)
    rejected: str = ""
    reason: str = ""
    near_misses: Sequence[NearMiss] = ()
    samples: str = ""
    posterior: str = ""
    proof: str = ""
    bootstrap: BootstrapSummary | None = None
    history: Sequence[ScorePoint] = ()
    audit: Sequence[str] = ()
    decisions: Sequence[str] = ()
    columns: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)
    command: str = ""
    stamp: Mapping[str, str] = field(default_factory=dict)
    other: DAG | None = None
    other_name: str = "the other network"
    parent_counts: Mapping[str, Sequence[float]] = field(default_factory=dict)
    are_counts_means: bool = False
    is_learned: bool = False
    known: Collection[Arc] = ()
    n_rows: int | None = None
    hints: Sequence[str] = ()
    species: Mapping[str, Any] | None = None
    credit: Sequence[Sequence[float]] = ()

    def __post_init__(self) -> None:
        if self.network is not None and self.network.dag != self.dag:
            raise GraphError("The network of the page must have the structure of the page.")
        for name, counts in self.parent_counts.items():
            n_rows = 0 if self.network is None else len(self.network.table(name))
            if len(counts) != n_rows:
                raise GraphError(
                    f"'parent_counts' of Page has {format_count(len(counts), 'number')} for "
                    f"{name!r}; its table has {format_count(n_rows, 'row')}."
                )
        known = set(self.dag.arcs)
        for parent, child in self.arcs:
            if (parent, child) not in known:
                raise GraphError(
                    f"'arcs' of Page has the arc {parent!r} -> {child!r}, but the structure does "
                    "not."
                )


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
