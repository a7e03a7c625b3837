"""The posterior over structures: probabilities of arcs, edges, paths, and any other feature."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coevo.checks import finite_or_none, is_int
from coevo.data import Dataset
from coevo.errors import ParameterError, bad_parameter, format_count, suggest_match
from coevo.graph import DAG, Arc
from coevo.network.bayesian_network import Evidence
from coevo.network.distribution import Distribution
from coevo.network.rows import Prediction
from coevo.posteriors.consensus import EdgeProbability, find_median_graph, list_edges
from coevo.posteriors.diagnostics import ChainDiagnostics
from coevo.posteriors.sample import AveragedNetwork, DagSample
from coevo.posteriors.settings import PosteriorSettings
from coevo.signatures import check_keywords
from coevo.view.picture import Link, Picture, draw_graph
from coevo.view.picture.notebook import Table, render_block, render_graph_and_table

__all__ = ["Posterior"]

MAX_AVERAGED = 100  # networks whose answers are averaged


@dataclass(frozen=True, eq=False)
class Posterior:
    """The posterior over structures.

    Attributes
    ----------
    names : tuple of str
        The variables.
    arcs : array of float, (n, n)
        The posterior probability of each arc, ``[parent, child]``. For an arc that the chains do
        not consider it is the mean probability in a family of the child that is drawn again among
        all families (`coevo.posteriors.outside`).
    errors : array of float, (n, n)
        The standard error of each; 0 if it is exact, nan for arcs that the chains do not consider.
    sample : DagSample
        DAGs that were drawn from the posterior: independent ones if the posterior is exact.
    sampler : str
        How it was computed: ``'exact'`` or ``'chains'``.
    settings : PosteriorSettings
        The priors and the other settings.
    network : DAG
        The best structure that was found.
    score : float
        Its score.
    scoring : str
        The name of the score.
    seed : int
        The same seed gives the same posterior on the same data with the same settings.
    seconds : float
        The time that it took, without the search.
    n_families : int
        Number of families that were scored.
    log_evidence : float or None
        The log of the sum of the weights of all structures, if it is exact.
    diagnostics : ChainDiagnostics or None
        How far the chains agree; None if it is exact.
    trace : array of float, (n_chains, m), or None
        The log weight of the states of each chain, thinned, after the burn-in.
    n_steps, n_moves : int
        Number of steps, and of moves of all chains.
    exchange_rate : float or None
        The share of accepted exchanges between temperatures; None with a single temperature.
    stop_reason : str
        ``'finished'`` if it is exact or the chains agree, or the limit that stopped them.
    dropped : float
        An upper bound on the probability of all scored families that were dropped as improbable.
    left_out : array of float, (n,), or None
        The measured probability that the family of each variable has a parent that was not
        considered: one outside its candidates (`coevo.posteriors.outside`). None if it is exact,
        nan if there was no time to measure it.
    n_candidates : int or None
        Number of candidate parents of each variable if the time limit or Ctrl-C ended their choice
        early; None if the choice is complete.
    dataset : Dataset or None
        The rows, for averaged answers.
    """

    names: tuple[str, ...]
    arcs: NDArray[np.float64]
    errors: NDArray[np.float64]
    sample: DagSample
    sampler: str
    settings: PosteriorSettings
    network: DAG
    score: float
    scoring: str
    seed: int
    seconds: float
    n_families: int
    log_evidence: float | None = None
    diagnostics: ChainDiagnostics | None = None
    trace: NDArray[np.float64] | None = None
    n_steps: int = 0
    n_moves: int = 0
    exchange_rate: float | None = None
    stop_reason: str = "finished"
    dropped: float = 0.0
    left_out: NDArray[np.float64] | None = None
    n_candidates: int | None = None
    dataset: Dataset | None = None

    @property
    def is_converged(self) -> bool:
        """Whether the posterior is exact, or the chains agree within the tolerance."""
        found = self.diagnostics
        return found is None or found.is_converged(self.settings.tolerance)

    @property
    def verdict(self) -> str:
        """One sentence that says how far the probabilities can be trusted."""
        found = self.diagnostics
        if found is None:
            return "Exact: the weights of all structures are summed."
        chains = format_count(self.settings.chains, "chain")
        if not found.n_rounds:
            return f"Too few steps to compare the {chains}: run on."
        largest = f"{found.largest_difference:.3f}"
        if self.is_converged:
            return f"The {chains} agree: no arc differs between two of them by more than {largest}."
        if found.n_disagreements:
            number = format_count(found.n_disagreements, "arc")
            return f"Not converged: two chains disagree about {number} by more than 0.1. Run on."
        return f"Not converged: an arc differs between two chains by {largest}. Run on."

    @property
    def coverage(self) -> str:
        """How much probability the candidate parents leave out, and whether their choice ended."""
        if self.left_out is None:
            return "Every family is considered."
        if self.n_candidates is None:
            return self._describe_left_out(self.left_out, self.settings.candidates)
        cause = "Ctrl-C" if self.stop_reason == "interrupt" else "The time limit"
        return (
            f"{cause} ended the choice of candidate parents: more of them, or better ones, were to "
            f"be found. {self._describe_left_out(self.left_out, self.n_candidates)}"
        )

    def _describe_left_out(self, left_out: NDArray[np.float64], candidates: int) -> str:
        total, worst = float(left_out.sum()), int(left_out.argmax())
        subject = f"The {candidates} candidate parents of each variable leave out"
        if math.isnan(total):
            return f"{subject} an unknown number of families: there was no time to measure it."
        if total < 0.001:
            return f"{subject} less than 0.001 families of a network."
        return (
            f"{subject} {total:.3f} families of a network on average, at most "
            f"{left_out[worst]:.3f} of one variable ({self.names[worst]})."
        )

    @cached_property
    def edges(self) -> tuple[EdgeProbability, ...]:
        """The edges with a probability of at least 0.001, the most probable first."""
        found, errors = self.diagnostics, self.errors
        if found is not None:
            is_unknown = np.isnan(errors) | (self.arcs == 0)
            errors = np.where(is_unknown & is_unknown.T, np.nan, found.edge_error)
        return list_edges(self.names, self.arcs, errors)

    @cached_property
    def median_graph(self) -> tuple[tuple[Arc, ...], tuple[Arc, ...]]:
        """The arcs and the undirected edges with a probability above one half."""
        return find_median_graph(self.edges)

    def arc_probability(self, parent: str, child: str) -> float:
        """Return the probability of the arc from parent to child."""
        return float(self.arcs[self._find(parent), self._find(child)])

    def edge_probability(self, one: str, other: str) -> float:
        """Return the probability that two variables are joined, in either direction."""
        return self.arc_probability(one, other) + self.arc_probability(other, one)

    @cached_property
    def ancestors(self) -> NDArray[np.float64]:
        """The probability of a directed path from i to j, ``[i, j]``, from the sample."""
        return self.sample.measure_ancestors()

    @cached_property
    def blankets(self) -> NDArray[np.float64]:
        """The probability that i is in the Markov blanket of j, from the sample."""
        return self.sample.measure_blankets()

    def path_probability(self, ancestor: str, descendant: str) -> float:
        """Return the probability of a directed path between two variables."""
        return float(self.ancestors[self._find(ancestor), self._find(descendant)])

    def blanket_of(self, variable: str) -> dict[str, float]:
        """Return the probability of each variable to be in a Markov blanket, the largest first."""
        place = self._find(variable)
        shares = self.blankets[:, place]
        ranked = sorted(range(len(self.names)), key=lambda i: (-shares[i], self.names[i]))
        return {self.names[i]: float(shares[i]) for i in ranked if shares[i] > 0}

    def probability_of(self, feature: Callable[[DAG], float]) -> float:
        """Return the probability of a feature: the mean of a function over the sampled DAGs."""
        return self.sample.measure(feature)

    def top_networks(self, number: int = 10) -> list[tuple[DAG, float]]:
        """Return the structures that were drawn most often, with their share of the draws."""
        if not is_int(number, 1):
            raise bad_parameter("number", "top_networks", "an int >= 1", number)
        counted = self.sample.count_networks()[:number]
        return [(self.sample[first], count / len(self.sample)) for first, count in counted]

    @cached_property
    def averaged(self) -> AveragedNetwork:
        """The sampled networks with their tables, at most 100 of them."""
        if self.dataset is None:
            raise ParameterError(
                "Averaged answers need the rows in memory. Compute the posterior without shards."
            )
        return AveragedNetwork.from_sample(self.sample.thin(MAX_AVERAGED), self.dataset)

    @check_keywords()
    def query(self, targets: str | Iterable[str], given: Evidence | None = None) -> Distribution:
        """Return a distribution given evidence, averaged over networks; see `AveragedNetwork`."""
        return self.averaged.query(targets, given)

    @check_keywords()
    def predict(self, table: Any, target: str) -> Prediction:
        """Return the prediction of a column, averaged over networks; see `AveragedNetwork`."""
        return self.averaged.predict(table, target)

    def _find(self, name: str) -> int:
        if name not in self.names:
            raise bad_parameter(
                "variable", "Posterior", f"a variable{suggest_match(str(name), self.names)}", name
            )
        return self.names.index(name)

    def plot(self) -> Picture:
        """Draw the median probability graph. The width of a line is the probability of its edge."""
        directed, undirected = self.median_graph
        by_pair = {frozenset((edge.parent, edge.child)): edge for edge in self.edges}
        links = []
        for arc in (*directed, *undirected):
            edge = by_pair[frozenset(arc)]
            note = f"probability {edge.probability:.2f}, direction {edge.direction:.2f}"
            links.append(Link(*arc, share=edge.probability, note=note, is_directed=arc in directed))
        return draw_graph(self.names, links)

    def _repr_html_(self) -> str:
        rows = [
            (
                *(edge.parent, edge.child),
                *(f"{edge.probability:.2f}", f"{edge.direction:.2f}"),
            )
            for edge in self.edges
        ]
        table = Table(["parent", "child", "probability", "direction"], rows, numbers={2, 3})
        graph = render_graph_and_table(
            len(self.names),
            self.plot,
            table,
            "The median probability graph. Wider lines are more probable edges.",
            "Edges, the most probable first",
        )
        return render_block(f"{repr(self)[1:-1]} {self.verdict}", graph)

    def as_dict(self) -> dict[str, Any]:
        """Return the result as plain values; without the sample."""
        directed, undirected = self.median_graph
        found = self.diagnostics
        return {
            "sampler": self.sampler,
            "settings": asdict(self.settings),
            "scoring": self.scoring,
            "seed": self.seed,
            "verdict": self.verdict,
            "is_converged": self.is_converged,
            "edges": [edge.as_dict() for edge in self.edges],
            "median_graph": {
                "arcs": list(map(list, directed)),
                "edges": list(map(list, undirected)),
            },
            "network": [{"from": a, "to": b} for a, b in self.network.arcs],
            "score": self.score,
            "log_evidence": self.log_evidence,
            "n_networks": len(self.sample),
            "n_families": self.n_families,
            "n_steps": self.n_steps,
            "n_moves": self.n_moves,
            "exchange_rate": self.exchange_rate,
            "stop_reason": self.stop_reason,
            "seconds": round(self.seconds, 4),
            "dropped": self.dropped,
            "coverage": self.coverage,
            "left_out": None
            if self.left_out is None or np.isnan(self.left_out).any()
            else dict(zip(self.names, self.left_out.round(6).tolist(), strict=True)),
            "diagnostics": None if found is None else _describe(found),
        }

    def __repr__(self) -> str:
        directed, undirected = self.median_graph
        number = format_count(len(directed) + len(undirected), "edge")
        return f"<Posterior: {len(self.names)} variables, {number} above 0.5, {self.sampler}>"


def _describe(found: ChainDiagnostics) -> dict[str, Any]:
    """Return the diagnostics as plain values."""
    finite = found.effective_size[np.isfinite(found.effective_size)]
    return {
        "largest_difference": found.largest_difference,
        "n_disagreements": found.n_disagreements,
        "largest_r_hat": finite_or_none(float(found.r_hat.max(initial=1.0))),
        "least_effective_size": finite_or_none(float(finite.min())) if len(finite) else None,
        "trace_r_hat": finite_or_none(found.trace_r_hat),
        "trace_effective_size": finite_or_none(found.trace_size),
        "n_rounds": found.n_rounds,
    }
