"""The result of `learn`: the network, the search, and what is known about each arc."""

from __future__ import annotations

import contextlib
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from coevo import __version__
from coevo.checks import have_equal_fields
from coevo.data import ColumnInfo, Dataset, Decision, Finding, Table
from coevo.data.table_audit import describe_roots, is_root_name
from coevo.errors import DependencyError, NetworkError, warn_caller
from coevo.graph import CPDAG, DAG, Arc, DirectedBy, find_directions
from coevo.learning.nothing_found import explain_no_arcs
from coevo.network.fit import FittedNetwork, fit_and_count
from coevo.score import Addition, ArcEffect, NearMiss, Score, name_gain
from coevo.search import HistoryRow, Method, SearchResult, SearchSpec
from coevo.search.species import summarise_species

if TYPE_CHECKING:
    from coevo.exact import Proof
    from coevo.learning.result_picture import LineWidths
    from coevo.missing import ImputationResult
    from coevo.network import BayesianNetwork
    from coevo.parallel import Traffic
    from coevo.posteriors import ArcStrength, BootstrapResult, Posterior
    from coevo.view.picture import Picture

__all__ = ["POSTERIOR", "PROOF", "STRENGTH", "LearnResult"]

STRENGTH = "strength"  # the folder of the bootstrap, in the run folder
POSTERIOR = "posterior"  # the folder of the posterior, in the run folder
PROOF = "proof"  # the folder of the proof, in the run folder
CLASSIFIERS = ("naive_bayes", "tan")  # the methods whose class must be a parent
MAX_CONFIGURATIONS = 5000  # of the parents of a variable whose counts are written
SHARED = ("version", "command", "method", "scoring", "ess", "n_rows", "n_variables", "data_hash")

ParentCounts = Mapping[str, NDArray[np.int64] | NDArray[np.float64]]  # by child


@dataclass(frozen=True, eq=False, repr=False)
class LearnResult:
    """A network learned from a table.

    Attributes
    ----------
    search : SearchResult
        The structure, its score and the history of the search.
    spec : SearchSpec
        The search that was run: method, score, constraints, weights, budget and seed.
    dataset : Table
        The observations; with missing values the imputed table. If the rows were in
        shards, it has no rows.
    columns : tuple of ColumnInfo
        The type of each column of the table, with states and cut points.
    audit : tuple of Finding
        Columns that a search cannot learn from, or that mislead it.
    gains : mapping of (parent, child) to float
        The best score with the arc minus the best score without it: see `arc_gains`.
    effects : mapping of (parent, child) to ArcEffect
        What each arc says: how the share of a state of the child differs with a state of the
        parent. An arc between variables that are independent in the table has none.
    best_rejected : Addition or None
        The arc outside the network whose addition would change the score most favourably; its
        gain is usually negative. None if no arc can be added.
    near_misses : tuple of NearMiss
        The best arcs outside the network, at most five, one for each pair of variables: the gain
        (below 0: how many nats are short) and the probability of the edge if nothing else changes.
    decisions : tuple of Decision
        What was done to the table without being asked, and how to undo it.
    imputation : ImputationResult or None
        The policy for missing values and the imputed table; None if no value is missing.
    bootstrap : BootstrapResult or None
        The strength of each arc over the bootstrap samples that were asked for; None without them.
    quick_bootstrap : BootstrapResult or None
        The strength of each arc over a few samples, learned by shorter searches; None if they
        would cost too much, or if bootstraps were asked for. `coevo.posteriors.quick_bootstrap`
        says what it costs.
    no_strengths : str
        Why there is no quick bootstrap, and how to measure strengths; empty if there is one, or if
        none was asked for.
    posterior : Posterior or None
        The posterior probability of every arc, if it was asked for.
    proof : Proof or None
        How far from the best network this one can be, if it was asked for.
    source : str or None
        The name of the table: of a file, or of an example.
    fitted_network : BayesianNetwork or None
        The network, where the rows were in shards; None elsewhere.
    fitted_counts : mapping of str to array, or None
        The `parent_counts`, where the rows were in shards; None elsewhere.
    traffic : Traffic or None
        The bytes sent to the workers of a cluster and received; None without one.
    files : mapping of str to str
        The files that were written, by content; empty without a run folder.
    cluster_by : str or None
        The column that says which rows belong together.
    """

    search: SearchResult
    spec: SearchSpec
    dataset: Table
    columns: tuple[ColumnInfo, ...]
    audit: tuple[Finding, ...]
    gains: Mapping[Arc, float]
    best_rejected: Addition | None
    near_misses: tuple[NearMiss, ...] = ()
    decisions: tuple[Decision, ...] = ()
    imputation: ImputationResult | None = None
    effects: Mapping[Arc, ArcEffect] = field(default_factory=dict)
    bootstrap: BootstrapResult | None = None
    quick_bootstrap: BootstrapResult | None = None
    no_strengths: str = ""
    posterior: Posterior | None = None
    proof: Proof | None = None
    source: str | None = None
    fitted_network: BayesianNetwork | None = None
    fitted_counts: ParentCounts | None = None
    traffic: Traffic | None = None
    files: Mapping[str, str] = field(default_factory=dict)
    cluster_by: str | None = None

    def __eq__(self, other: object) -> bool:
        """Return whether all fields are equal, times included; a result equals its own pickle."""
        return isinstance(other, LearnResult) and have_equal_fields(self, other)

    def __hash__(self) -> int:
        return hash((self.dag, self.score))

    @cached_property
    def dag(self) -> DAG:
        """The structure, its variables in the order of the table."""
        names = [variable.name for variable in self.dataset.source_variables]
        return DAG(names, self.search.dag.arcs)

    @cached_property
    def cpdag(self) -> CPDAG:
        """The equivalence class of the structure: its edges cannot be directed from data."""
        return CPDAG(self.dag)

    @cached_property
    def directions(self) -> dict[Arc, DirectedBy | None]:
        """What directs each arc: ``'data'``, ``'knowledge'`` (the constraints), or None.

        An arc without a direction is an edge: its reverse fits the data and the constraints as
        well. See `coevo.graph.arc_directions`.
        """
        return find_directions(self.dag, self.spec.constraints)

    @cached_property
    def suggested_roots(self) -> tuple[str, ...]:
        """Variables with parents that usually have none, by name: age, sex, trial arms, dates.

        If they cannot have parents, learn again with them as `roots`. A variable whose parents are
        required is not suggested, nor is one that a class must be a parent of.
        """
        if self.spec.method.name in CLASSIFIERS:
            return ()
        dates = {column.name for column in self.columns if column.source is not None}
        required = {child for _, child in self.spec.constraints.required}
        return tuple(
            name
            for name in self.dag.nodes
            if self.dag.parents(name)
            and name not in required
            and (name in dates or is_root_name(name))
        )

    @property
    def score(self) -> float:
        """The score, a natural logarithm; higher is better."""
        return self.search.score

    @property
    def scoring(self) -> Score:
        """The score that the search maximised."""
        return self.spec.score

    @property
    def history(self) -> tuple[HistoryRow, ...]:
        """The progress of the search, one row per generation."""
        return self.search.history

    @property
    def network(self) -> BayesianNetwork:
        """The structure with tables fitted to the data (`fit_network`), on first access.

        With missing values it is the mean over imputed tables. Raises `NetworkError` if a table
        would be too large.
        """
        if self.imputation is not None:
            return self.imputation.network
        return self._fit.network if self.fitted_network is None else self.fitted_network

    @property
    def parent_counts(self) -> ParentCounts:
        """The number of rows with each parent configuration of each variable.

        They are in the order of the rows of ``network.table``. With missing values they are means
        over imputed tables. Raises `NetworkError` if a table would be too large.
        """
        if self.imputation is not None:
            return self.imputation.parent_counts
        return self._fit.parent_counts if self.fitted_counts is None else self.fitted_counts

    @cached_property
    def _fit(self) -> FittedNetwork:
        return fit_and_count(self.dag, self.dataset)

    @property
    def n_clusters(self) -> int | None:
        """The number of clusters of rows; None if rows are independent."""
        table = self.dataset if self.imputation is None else self.imputation.table.dataset
        return table.n_clusters if isinstance(table, Dataset) else None

    @property
    def data_hash(self) -> str:
        """The content hash of the table, with its missing values."""
        table = self.dataset if self.imputation is None else self.imputation.table
        return table.content_hash

    @cached_property
    def support(self) -> dict[Arc, float] | None:
        """The share of the last population that joins the two variables of each arc.

        None if the method has no population. It is not a probability: see `coevo.search.result`.
        """
        shares = self.search.support
        if shares is None:
            return None
        place = {name: i for i, name in enumerate(self.search.dag.nodes)}
        return {(a, b): float(shares[place[a], place[b]]) for a, b in self.gains}

    @property
    def log_prior(self) -> float:
        """The part of the score that comes from arc weights and the parent penalty."""
        arcs = self.search.dag.arcs
        weights = math.fsum(self.spec.weights.get(arc, 0.0) for arc in arcs)
        return weights - self.spec.parent_penalty * len(arcs)

    @property
    def no_arcs_reason(self) -> str | None:
        """Why the network has no arcs, and what to try; None if it has arcs."""
        if self.search.dag.arcs:
            return None
        stopped = self.search.stop_reason
        return explain_no_arcs(self.dataset, self.spec, self.decisions, self.near_misses, stopped)

    def as_dict(self) -> dict[str, Any]:
        """Return the answer as plain values, as ``coevo learn --format json`` prints it.

        Its arcs are sorted by gain, the largest first.
        """
        result, rejected = self.search, self.best_rejected
        answer = {
            "score": result.score,
            "arcs": self._describe_arcs(),
            "n_arcs": len(result.dag.arcs),
            "cpdag": {
                "arcs": [list(arc) for arc in self.cpdag.arcs],
                "edges": [list(edge) for edge in self.cpdag.edges],
            },
            "best_rejected": rejected
            and {"from": rejected.parent, "to": rejected.child, "gain": rejected.gain},
            "near_misses": [
                {"from": m.parent, "to": m.child, "gain": m.gain, "probability": m.probability}
                for m in self.near_misses
            ],
            "seconds": round(result.seconds, 6),
            "generations": result.generations,
            "evaluations": result.evaluations,
            "stop_reason": result.stop_reason,
            "method": result.method,
            "scoring": self.scoring.name,
            "ess": getattr(self.scoring, "ess", None),
            **self.spec.describe_options(),
            "seed": result.seed,
            "n_rows": self.dataset.n_rows,
            "n_variables": self.dataset.n_variables,
            "data_hash": self.data_hash,
            "columns": {column.name: column.as_dict() for column in self.columns},
            "decisions": [decision.as_dict() for decision in self.decisions],
            "audit": [finding.as_dict() for finding in self.audit],
        }
        if self.suggested_roots:
            answer["suggested_roots"] = list(self.suggested_roots)
        if self.cluster_by is not None:
            answer["clusters"] = {"column": self.cluster_by, "n_clusters": self.n_clusters}
        if self.no_arcs_reason is not None:
            answer["no_arcs_reason"] = self.no_arcs_reason
        if isinstance(self.spec.start, Method):
            answer["start_method"] = self.spec.start.name
        if self.imputation is not None:
            answer["missing"] = self.imputation.as_dict()
        if self.bootstrap is not None:
            answer["bootstraps"] = _describe_bootstrap(self.bootstrap, self.dag)
        if self.quick_bootstrap is not None:
            answer["quick_bootstrap"] = _describe_bootstrap(self.quick_bootstrap, self.dag)
        if self.no_strengths:
            answer["no_strengths"] = self.no_strengths
        if self.posterior is not None:
            answer["posterior"] = _describe_posterior(self.posterior)
        if self.proof is not None:
            answer["proof"] = self.proof.as_dict()
        if self.traffic is not None:
            answer["traffic"] = self.traffic.as_dict()
        if self.spec.parent_penalty or self.spec.weights:
            answer["log_prior"] = self.log_prior
        return answer

    def _describe_arcs(self) -> list[dict[str, Any]]:
        """Return the facts about each arc, the largest gain first."""
        described = []
        for arc, gain in sorted(self.gains.items(), key=lambda item: (-item[1], item[0])):
            facts: dict[str, Any] = {
                "from": arc[0],
                "to": arc[1],
                "gain": gain,
                "word": name_gain(gain),
                "directed": self.directions[arc] is not None,
                "directed_by": self.directions[arc],
            }
            bootstrap = self.bootstrap or self.quick_bootstrap
            if bootstrap is not None:
                facts |= bootstrap.describe_arc(arc)
            if self.posterior is not None:
                facts["probability"] = self.posterior.edge_probability(*arc)
                if "direction" not in facts and facts["probability"] > 0:
                    along = self.posterior.arc_probability(*arc) / facts["probability"]
                    facts |= {"direction": along, "reverse": 1 - along}
            facts["says"] = str(self.effects[arc]) if arc in self.effects else None
            described.append(facts)
        return described

    def plot(self, *, widths: LineWidths = "gain", cpdag: bool = True) -> Picture:
        """Draw what the data say: an arc without a known direction has no arrowhead.

        Directions come from the data or from the constraints (`directions`). The facts about an
        arc appear while the pointer is on it.

        Parameters
        ----------
        widths : {'gain', 'strength', 'none'}
            What the width of a line shows: the square root of the gain, the strength over the
            bootstrap samples, or nothing.
        cpdag : bool
            Whether arcs without a known direction have no arrowhead (default: True). False draws
            the DAG, one of the members of the equivalence class, with an arrowhead on each arc.

        Returns
        -------
        Picture
            It shows itself in a notebook. ``save("graph.svg")`` writes it as SVG, PNG or PDF.
        """
        from coevo.learning.result_picture import draw_result

        return draw_result(self.dag.nodes, self._describe_arcs(), widths, cpdag)

    def _repr_html_(self) -> str:
        from coevo.learning.result_picture import render_result

        roots, notes = self.suggested_roots, []
        if roots:
            known = {"roots": list(roots)}
            notes = [f"{describe_roots(roots, f'constraints={known}')}."]
        return render_result(repr(self)[1:-1], self.dag.nodes, self._describe_arcs(), notes)

    def save(
        self, folder: str | os.PathLike[str], *, command: Sequence[str] | None = None
    ) -> dict[str, str]:
        """Write model.bif, run.json, history.jsonl and report.html into a run folder.

        The bootstrap goes into its sub-folder ``strength`` (see `write_strength`), the posterior
        into ``posterior`` (see `write_posterior`), a proof into ``proof``. Figures are left out if
        matplotlib is not installed.

        Parameters
        ----------
        folder : str or path
            The folder; it is made if it does not exist. The files of an older run are replaced.
        command : sequence of str, optional
            The arguments of ``coevo``, for run.json.

        Returns
        -------
        dict of str to str
            The paths: ``'model'``, ``'run'``, ``'history'`` and ``'report'``; and
            ``'strength'``, ``'posterior'`` and ``'proof'``, the folders of the bootstrap, the
            posterior and the proof.
        """
        files, notices = self.write(Path(folder), command)
        for notice in notices:
            warn_caller(notice)
        return files

    def write(
        self, folder: Path, command: Sequence[str] | None = None
    ) -> tuple[dict[str, str], list[str]]:
        """Write the run folder; return the files, and a sentence about each that is left out."""
        from coevo.io.run_folder import write_run
        from coevo.view.page import make_run_page, write_page

        facts = {
            "version": __version__,
            **({} if command is None else {"command": list(command)}),
            **({} if self.source is None else {"source": self.source}),
            **self._add_support(self.as_dict()),
            "settings": self.search.settings,
            "per_variable": self.search.per_variable,
            "families_scored": self.search.families_scored,
            "parent_counts": self._describe_parent_counts(),
            **self._describe_species(),
        }
        fitted: BayesianNetwork | None = None
        notices: list[str] = []
        try:
            fitted = self.network
        except NetworkError as error:  # the structure is valid without tables
            notices.append(f"model.bif is not written. {error}")
        history = [row.as_dict() for row in self.history]
        files = write_run(folder, fitted, facts, history)
        files["report"] = str(folder / "report.html")
        write_page(files["report"], make_run_page(facts, history, fitted))
        if self.bootstrap is not None:
            files["strength"] = str(folder / STRENGTH)
            notices += _write_bootstrap(self.bootstrap, files["strength"], facts)
        if self.posterior is not None:
            files["posterior"] = str(folder / POSTERIOR)
            notices += _write_posterior(self.posterior, files["posterior"], facts)
        if self.proof is not None:
            files["proof"] = str(folder / PROOF)
            self.proof.write(folder / PROOF)
        return files, notices

    def _add_support(self, answer: dict[str, Any]) -> dict[str, Any]:
        """Return an answer with the support of each arc, which only the files hold."""
        if self.support is not None:
            for arc in answer["arcs"]:
                arc["support"] = self.support[arc["from"], arc["to"]]
        if self.bootstrap is not None:
            answer["bootstraps"]["arcs"] = [arc.as_dict() for arc in self.bootstrap.arcs]
        return answer

    def _describe_parent_counts(self) -> dict[str, dict[str, Any]]:
        """Return the parents of each variable, and the number of rows with each configuration.

        Very large tables are left out; without a network all are.
        """
        with contextlib.suppress(NetworkError):
            return {
                child: {"parents": list(self.dag.parents(child)), "rows": counts.tolist()}
                for child, counts in self.parent_counts.items()
                if len(counts) <= MAX_CONFIGURATIONS
            }
        return {}

    def _describe_species(self) -> dict[str, Any]:
        """Return the species of the last state by name; nothing for a method that has none."""
        state = self.search.state
        populations = None if state is None else state.get_populations()
        if populations is None:
            return {}
        names = list(self.search.dag.nodes)
        return {"species": {"variables": names, **summarise_species(populations)}}

    def __repr__(self) -> str:
        return (
            f"<LearnResult: {len(self.dag.nodes)} variables, {len(self.dag.arcs)} arcs, "
            f"{self.scoring.name} {self.score:z.4f}, by {self.search.method}>"
        )


def _describe_bootstrap(bootstrap: BootstrapResult, dag: DAG) -> dict[str, Any]:
    """Return the facts about a bootstrap, and the significant arcs that a network lacks."""
    facts = bootstrap.as_dict()
    selected = ("n_bootstraps", "n_asked", "threshold", "consensus")
    return {name: facts[name] for name in selected} | {
        "not_in_network": _describe_strengths(bootstrap.arcs_missing_in(dag)),
        "arcs": _describe_strengths(bootstrap.arcs),
    }


def _describe_strengths(arcs: Iterable[ArcStrength]) -> list[dict[str, Any]]:
    """Return arcs with their strength, without support, which is no measure of confidence."""
    return [replace(arc, support=None).as_dict() for arc in arcs]


def _write_bootstrap(
    bootstrap: BootstrapResult, folder: str, facts: Mapping[str, Any]
) -> list[str]:
    """Write the files of a bootstrap; return a sentence if its figure is left out."""
    from coevo.posteriors import write_strength

    notices = _check_figures("arc strengths")
    shared = {name: facts[name] for name in SHARED if name in facts}
    write_strength(bootstrap, folder, figures=not notices, facts=shared)
    return notices


def _describe_posterior(posterior: Posterior) -> dict[str, Any]:
    """Return the facts about a posterior, and how many edges of it are probable."""
    facts = posterior.as_dict()
    selected = ("sampler", "verdict", "is_converged", "n_networks", "seconds")
    n_edges = sum(map(len, facts["median_graph"].values()))
    return {**{name: facts[name] for name in selected}, "n_edges": n_edges}


def _write_posterior(posterior: Posterior, folder: str, facts: Mapping[str, Any]) -> list[str]:
    """Write the files of a posterior; return a sentence if its figure is left out."""
    from coevo.posteriors import write_posterior

    notices = _check_figures("the posterior")
    shared = {name: facts[name] for name in SHARED if name in facts}
    write_posterior(posterior, folder, figures=not notices, facts=shared)
    return notices


def _check_figures(what: str) -> list[str]:
    """Return a sentence if a figure cannot be drawn, else nothing."""
    from coevo.view.figures import require_matplotlib

    try:
        require_matplotlib()
    except DependencyError as error:
        return [f"The figure of {what} is not written. {error}"]
    return []
