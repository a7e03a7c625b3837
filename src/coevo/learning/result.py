"""What `learn` returns: the network, how it was found, and what is known of each arc."""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from coevo import __version__, network
from coevo.bootstrap import BootstrapResult, write_strength
from coevo.data import ColumnInfo, Dataset, Table
from coevo.data.audit import Finding
from coevo.errors import CoevoWarning, DependencyError, NetworkError
from coevo.graph import CPDAG, DAG, Arc
from coevo.io import Knowledge, write_run
from coevo.learning.missing_cells import MissingCells
from coevo.network import BayesianNetwork
from coevo.outofcore import Traffic
from coevo.report import require_matplotlib
from coevo.report.page import run_page, write_page
from coevo.score import Addition, Score
from coevo.search import HistoryRow, SearchResult

__all__ = ["STRENGTH", "LearnResult"]

STRENGTH = "strength"  # the folder of the bootstraps, in that of the run
SHARED = ("version", "command", "method", "scoring", "ess", "n_rows", "n_variables", "data_hash")


@dataclass(frozen=True, eq=False, repr=False)
class LearnResult:
    """A network learned from a table.

    Attributes
    ----------
    search : SearchResult
        What the search found, and how.
    dataset : Table
        The observations; of rows in shards what is known of them without the rows.
    scoring : Score
        The score that was raised.
    parent_penalty : float
        What each parent costs.
    knowledge : Knowledge
        What was known beforehand.
    columns : tuple of ColumnInfo
        What was decided about each column of the table.
    audit : tuple of Finding
        Columns that a search cannot learn from, or that mislead it.
    gains : mapping of (parent, child) to float
        By how much the score would fall without each arc.
    best_rejected : Addition or None
        Of all arcs that are not there and might be, the one that would add most to the
        score (mostly something below 0); None if there is no such arc.
    strength : BootstrapResult or None
        How sure each arc is over bootstraps; None if none were asked for, or none was done.
    source : str or None
        What the table is called: the name of a file, or of an example.
    missing : MissingCells or None
        What became of missing cells; None if the table has none. `dataset` is then the table
        as it was filled, or with one more state.
    fitted : BayesianNetwork, NetworkError or None
        The network, or why there is none, where the rows were in shards; None elsewhere.
    traffic : Traffic or None
        What went to the workers of a cluster and came back; None without one.
    """

    search: SearchResult
    dataset: Table
    scoring: Score
    parent_penalty: float
    knowledge: Knowledge
    columns: tuple[ColumnInfo, ...]
    audit: tuple[Finding, ...]
    gains: Mapping[Arc, float]
    best_rejected: Addition | None
    strength: BootstrapResult | None = None
    source: str | None = None
    missing: MissingCells | None = None
    fitted: BayesianNetwork | NetworkError | None = None
    traffic: Traffic | None = None

    @cached_property
    def dag(self) -> DAG:
        """The structure, its variables in the order of the table."""
        names = [variable.name for variable in self.dataset.source_variables]
        return DAG(names, self.search.dag.arcs)

    @cached_property
    def cpdag(self) -> CPDAG:
        """All structures that the data cannot tell from it: which arcs have no direction."""
        return CPDAG(self.dag)

    @property
    def score(self) -> float:
        """The score, a natural logarithm; higher is better."""
        return self.search.score

    @property
    def history(self) -> tuple[HistoryRow, ...]:
        """How the search went, a row a generation."""
        return self.search.history

    @cached_property
    def network(self) -> BayesianNetwork:
        """The structure with tables fitted to the data (`coevo.fit`), made when asked for.

        Over missing cells it is the mean of what they may be. Raises `NetworkError` if a
        table would be too large.
        """
        if self.missing is not None:
            return self.missing.result.network
        if isinstance(self.fitted, NetworkError):
            raise self.fitted
        if self.fitted is not None:
            return self.fitted
        assert isinstance(self.dataset, Dataset)
        return network.fit(self.dag, self.dataset)

    @property
    def data_hash(self) -> str:
        """A digest of the table, with its missing cells."""
        table = self.dataset if self.missing is None else self.missing.table
        return table.content_hash

    @cached_property
    def support(self) -> dict[Arc, float] | None:
        """The share of the last population that joins the two variables of each arc.

        None without a population. It is no probability: see `coevo.search.support`.
        """
        shares = self.search.support
        if shares is None:
            return None
        place = {name: i for i, name in enumerate(self.search.dag.nodes)}
        return {(a, b): float(shares[place[a], place[b]]) for a, b in self.gains}

    @property
    def log_prior(self) -> float:
        """The part of the score that is the weights of arcs and the price of parents."""
        arcs = self.search.dag.arcs
        weights = math.fsum(self.knowledge.weights.get(arc, 0.0) for arc in arcs)
        return weights - self.parent_penalty * len(arcs)

    def as_dict(self) -> dict[str, Any]:
        """Return the answer as plain values, as ``coevo learn --format json`` prints it."""
        result, rejected = self.search, self.best_rejected
        answer = {
            "score": result.score,
            "arcs": self._arcs(),
            "n_arcs": len(result.dag.arcs),
            "cpdag": {
                "arcs": [list(arc) for arc in self.cpdag.arcs],
                "edges": [list(edge) for edge in self.cpdag.edges],
            },
            "best_rejected": rejected
            and {"from": rejected.parent, "to": rejected.child, "gain": rejected.gain},
            "seconds": round(result.seconds, 6),
            "generations": result.generations,
            "evaluations": result.evaluations,
            "stop_reason": result.stop_reason,
            "method": result.method,
            "scoring": self.scoring.name,
            "ess": getattr(self.scoring, "ess", None),
            "seed": result.seed,
            "n_rows": self.dataset.n_rows,
            "n_variables": self.dataset.n_variables,
            "data_hash": self.data_hash,
            "columns": {note.name: note.as_dict() for note in self.columns},
            "audit": [finding.as_dict() for finding in self.audit],
        }
        if self.missing is not None:
            answer["missing"] = self.missing.as_dict()
        if self.strength is not None:
            answer["bootstraps"] = _facts_of(self.strength, self.dag)
        if self.traffic is not None:
            answer["traffic"] = self.traffic.as_dict()
        if self.parent_penalty:
            answer["parent_penalty"] = self.parent_penalty
        if self.parent_penalty or self.knowledge.weights:
            answer["log_prior"] = self.log_prior
        return answer

    def _arcs(self) -> list[dict[str, Any]]:
        """Return what is known of each arc."""
        compelled, listed = set(self.cpdag.arcs), []
        for arc, gain in self.gains.items():
            facts = {"from": arc[0], "to": arc[1], "gain": gain, "directed": arc in compelled}
            if self.support is not None:
                facts["support"] = self.support[arc]
            if self.strength is not None:
                facts["strength"], facts["direction"] = self.strength.of(arc)
            listed.append(facts)
        return listed

    def save(
        self, folder: str | os.PathLike[str], *, command: Sequence[str] | None = None
    ) -> dict[str, str]:
        """Write model.bif, run.json, history.jsonl and report.html into a folder.

        What bootstraps say goes into the folder ``strength`` in it, see `write_strength`; its
        figure is left out where matplotlib is not installed.

        Parameters
        ----------
        folder : str or path
            Made if it is not there; the files of an older run in it are replaced.
        command : sequence of str, optional
            The arguments of ``coevo`` that lead here, to be written down.

        Returns
        -------
        dict of str to str
            The paths: ``'model'``, ``'run'``, ``'history'`` and ``'report'``; and
            ``'strength'``, the folder.
        """
        facts = {
            "version": __version__,
            **({} if command is None else {"command": list(command)}),
            **({} if self.source is None else {"source": self.source}),
            **self.as_dict(),
            "settings": self.search.settings,
            "per_variable": self.search.per_variable,
            "families_scored": self.search.cache.scored,
        }
        fitted: BayesianNetwork | None = None
        try:
            fitted = self.network
        except NetworkError as error:  # the structure is found all the same
            warnings.warn(f"model.bif is not written. {error}", CoevoWarning, stacklevel=2)
        history = [row.as_dict() for row in self.history]
        files = write_run(Path(folder), fitted, facts, history)
        files["report"] = str(Path(folder) / "report.html")
        write_page(files["report"], run_page(facts, history, fitted))
        if self.strength is not None:
            files["strength"] = str(Path(folder) / STRENGTH)
            _write_strength(self.strength, files["strength"], facts)
        return files

    def __repr__(self) -> str:
        return (
            f"<LearnResult: {len(self.dag.nodes)} variables, {len(self.dag.arcs)} arcs, "
            f"{self.scoring.name} {self.score:.4f}, by {self.search.method}>"
        )


def _facts_of(strength: BootstrapResult, dag: DAG) -> dict[str, Any]:
    """Return what bootstraps say, and which arcs they miss in a network."""
    whole = strength.as_dict()
    named = ("n_bootstraps", "n_asked", "threshold", "consensus")
    missed = [arc.as_dict() for arc in strength.beyond(dag)]
    return {name: whole[name] for name in named} | {
        "not_in_network": missed,
        "arcs": whole["arcs"],
    }


def _write_strength(strength: BootstrapResult, folder: str, facts: Mapping[str, Any]) -> None:
    figures = True
    try:
        require_matplotlib()
    except DependencyError as error:
        warnings.warn(f"The figure of the strengths is left out. {error}", CoevoWarning, 3)
        figures = False
    shared = {name: facts[name] for name in SHARED if name in facts}
    write_strength(strength, folder, figures=figures, facts=shared)
