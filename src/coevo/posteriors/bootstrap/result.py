"""The result of a bootstrap: the strength of each arc, and the consensus network."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from coevo.graph import CPDAG, DAG, Arc
from coevo.posteriors.bootstrap.consensus import ArcStrength, find_interval

if TYPE_CHECKING:
    from coevo.picture import Picture

__all__ = ["BootstrapResult"]


@dataclass(frozen=True)
class BootstrapResult:
    """The strength of each arc over bootstrap samples, and the consensus network.

    Attributes
    ----------
    arcs : tuple of ArcStrength
        Every arc of any sample's network or of the original table's, each pair of variables once,
        strongest first.
    threshold : float
        The strength above which an arc is significant, estimated from the strengths.
    consensus : DAG
        The significant arcs, added by falling strength, without those that would close a cycle.
    network : DAG
        The network of the original table, to which the gains refer.
    score : float
        Its score.
    n_bootstraps : int
        Number of bootstrap samples that this result is based on.
    n_asked : int
        Number of samples that were asked for; larger than `n_bootstraps` after Ctrl-C.
    seed : int
        The same seed gives the same result on the same data with the same settings.
    """

    arcs: tuple[ArcStrength, ...]
    threshold: float
    consensus: DAG
    network: DAG
    score: float
    n_bootstraps: int
    n_asked: int
    seed: int

    @property
    def cpdag(self) -> CPDAG:
        """The equivalence class of the consensus."""
        return CPDAG(self.consensus)

    @cached_property
    def _by_pair(self) -> dict[frozenset[str], ArcStrength]:
        return {frozenset((arc.parent, arc.child)): arc for arc in self.arcs}

    @property
    def is_complete(self) -> bool:
        """Whether every bootstrap sample was run."""
        return self.n_bootstraps == self.n_asked

    def strength_of(self, arc: Arc) -> tuple[float, float]:
        """Return the strength of an arc, and its direction.

        The direction is the share of the samples that join the two variables whose CPDAG has the
        arc. It is 0 if no sample joins them.
        """
        found = self._by_pair.get(frozenset(arc))
        if found is None:
            return 0.0, 0.0
        return found.strength, found.direction if arc[0] == found.parent else found.reverse

    def describe_arc(self, arc: Arc) -> dict[str, Any]:
        """Return the strength of an arc, its interval and its two directions, by name."""
        strength, direction = self.strength_of(arc)
        found = self._by_pair.get(frozenset(arc))
        interval = find_interval(0, self.n_bootstraps) if found is None else found.interval
        return {
            "strength": strength,
            "interval": list(interval),
            "direction": direction,
            "reverse": self.strength_of((arc[1], arc[0]))[1],
        }

    def arcs_missing_in(self, dag: DAG) -> tuple[ArcStrength, ...]:
        """Return the significant arcs between variables that a network does not join."""
        joined = {frozenset(arc) for arc in dag.arcs}
        return tuple(
            arc
            for arc in self.arcs
            if arc.strength > self.threshold and {arc.parent, arc.child} not in joined
        )

    def plot(self, *, cpdag: bool = True) -> Picture:
        """Draw the consensus. The width of a line is the strength of its arc.

        Parameters
        ----------
        cpdag : bool
            Whether only those arcs have an arrowhead that most samples direct so (default: True).
            False draws the consensus as a DAG, with an arrowhead on each arc.

        Returns
        -------
        Picture
            It shows itself in a notebook. ``save("graph.svg")`` writes it as SVG, PNG or PDF.
        """
        from coevo.picture import Link, draw_graph

        links = []
        for arc in self.consensus.arcs:
            strength, direction = self.strength_of(arc)
            note = f"strength {strength:.2f}, direction {direction:.2f}"
            is_directed = not cpdag or direction > 0.5
            links.append(Link(*arc, is_directed=is_directed, share=strength, note=note))
        return draw_graph(self.consensus.nodes, links)

    def _repr_html_(self) -> str:
        from coevo.picture.notebook import Table, render_block, render_graph_and_table

        rows = [
            (
                *(arc.parent, arc.child, f"{arc.strength:.2f}"),
                *(f"{arc.direction:.2f}", f"{arc.reverse:.2f}"),
                "yes" if arc.in_consensus else "no",
            )
            for arc in self.arcs
        ]
        headers = ["parent", "child", "strength", "direction", "reverse", "in consensus"]
        table = Table(headers, rows, numbers={2, 3, 4})
        graph = render_graph_and_table(
            len(self.consensus.nodes),
            self.plot,
            table,
            "The consensus network. Wider lines are stronger arcs. An arrowhead stands where most "
            "samples direct the arc.",
            "Arcs, the strongest first",
        )
        return render_block(repr(self)[1:-1], graph)

    def as_dict(self) -> dict[str, Any]:
        """Return the result as plain values."""
        cpdag = self.cpdag
        return {
            "arcs": [arc.as_dict() for arc in self.arcs],
            "threshold": self.threshold,
            "consensus": [{"from": a, "to": b} for a, b in self.consensus.arcs],
            "cpdag": {"arcs": list(map(list, cpdag.arcs)), "edges": list(map(list, cpdag.edges))},
            "network": [{"from": a, "to": b} for a, b in self.network.arcs],
            "score": self.score,
            "n_bootstraps": self.n_bootstraps,
            "n_asked": self.n_asked,
            "seed": self.seed,
        }

    def __repr__(self) -> str:
        return (
            f"<BootstrapResult: {len(self.consensus.arcs)} of {len(self.arcs)} arcs above "
            f"{self.threshold:g}, {self.n_bootstraps:,} bootstrap samples>"
        )
