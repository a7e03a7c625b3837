"""What a page shows, as plain values; everything but the structure may be left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from coevo.errors import GraphError
from coevo.graph import DAG
from coevo.graph.dag import Arc
from coevo.network import BayesianNetwork

__all__ = ["ArcFacts", "FoundArc", "Page", "Progress", "Sureness"]


@dataclass(frozen=True, slots=True)
class ArcFacts:
    """How much an arc is worth, and how sure it is; higher is more in all of them."""

    gain: float | None = None  # local score of its child with it, minus that without it
    strength: float | None = None  # share of bootstrap samples that join the two, either way
    direction: float | None = None  # share of these that lead from parent to child
    support: float | None = None  # share of the last population that joins the two, either way


@dataclass(frozen=True, slots=True)
class FoundArc:
    """An arc that bootstraps found, of the network or not."""

    parent: str
    child: str
    strength: float
    in_network: bool


@dataclass(frozen=True, slots=True)
class Sureness:
    """What bootstraps say of a network."""

    n_bootstraps: int
    threshold: float  # above which an arc is significant
    arcs: Sequence[FoundArc]


@dataclass(frozen=True, slots=True)
class Progress:
    """The best score at some moment of a search."""

    seconds: float
    generation: int
    score: float


@dataclass(frozen=True)
class Page:
    """What a page shows.

    Parameters
    ----------
    dag : DAG
        The structure.
    network : BayesianNetwork, optional
        The same structure with tables, which the page then shows too.
    title : str
        What stands at the top.
    facts : mapping of str to str
        A few facts to know at first sight, such as the score.
    arcs : mapping of arc to ArcFacts
        What is known of arcs of the structure.
    rejected : str
        A sentence on the best of the arcs that were left out.
    sureness : Sureness, optional
        What bootstraps say.
    history : sequence of Progress
        How the score rose.
    audit : sequence of str
        What was noticed in the data, a sentence each.
    columns : mapping of str to str
        What was decided about each column.
    settings : mapping of str to str
        How the structure was found.
    command : str
        How to do that again.
    stamp : mapping of str to str
        What it was found with: version, seed, hash of the data.
    other : DAG, optional
        A second structure over the same variables, to compare with.
    other_name : str
        What that is called.

    Examples
    --------
    >>> Page(DAG("ab", [("a", "b")]), arcs={("a", "b"): ArcFacts(gain=12.5)}).title
    'Bayesian network'
    >>> Page(DAG("ab", [("a", "b")]), arcs={("b", "a"): ArcFacts()})
    Traceback (most recent call last):
    coevo.errors.GraphError: The page is told of the arc 'b' -> 'a', which its structure has not.
    """

    dag: DAG
    network: BayesianNetwork | None = None
    title: str = "Bayesian network"
    facts: Mapping[str, str] = field(default_factory=dict)
    arcs: Mapping[Arc, ArcFacts] = field(default_factory=dict)
    rejected: str = ""
    sureness: Sureness | None = None
    history: Sequence[Progress] = ()
    audit: Sequence[str] = ()
    columns: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)
    command: str = ""
    stamp: Mapping[str, str] = field(default_factory=dict)
    other: DAG | None = None
    other_name: str = "the other network"

    def __post_init__(self) -> None:
        if self.network is not None and self.network.dag != self.dag:
            raise GraphError("The network of the page must have the structure of the page.")
        known = set(self.dag.arcs)
        for parent, child in self.arcs:
            if (parent, child) not in known:
                raise GraphError(
                    f"The page is told of the arc {parent!r} -> {child!r}, which its structure "
                    "has not."
                )
