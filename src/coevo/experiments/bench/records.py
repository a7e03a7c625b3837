"""The record of a run: the learned structure, its score and its held-out likelihood.

The scores that peers report are not used. All structures are scored here by coevo's scorer, on the
rows from which they were learned. The tables of a network are fitted to these rows too, and give
the likelihood of the rows that were held out.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from coevo.errors import NetworkError
from coevo.experiments.bench.data import (
    BenchDataSet,
    find_true_structure,
    open_held_out_rows,
    open_rows,
)
from coevo.experiments.bench.own_methods import find_method_hash, find_method_version
from coevo.experiments.bench.plan import BenchJob
from coevo.experiments.bench.runs import LearnedStructure
from coevo.experiments.peers import PEERS
from coevo.graph import DAG, Arc
from coevo.network import fit_network
from coevo.parallel import JobOutcome
from coevo.score import FamilyScorer, Score

__all__ = ["BenchRecord", "make_record", "score_true_network"]


@dataclass(frozen=True)
class BenchRecord:
    """One run. If it has no result, `score`, `arcs` and `seconds` are None."""

    network: str
    rows: int
    repetition: int
    method: str
    kind: str
    version: str | None
    data_seed: int
    search_seed: int | None
    score_name: str
    score_used: str
    status: str
    error: str
    stop_reason: str | None
    score: float | None
    held_out: float | None  # mean log-likelihood of a row that was held out
    arcs: tuple[Arc, ...] | None
    data_hash: str | None  # of a table
    code_hash: str | None  # of a method from outside coevo
    seconds: float | None
    curve: tuple[tuple[float, float], ...]

    @property
    def key(self) -> tuple[str, int, int, str]:
        """The key that identifies the run."""
        return self.network, self.rows, self.repetition, self.method


@lru_cache(maxsize=1)  # runs on the same data follow each other
def _make_scorer(data: BenchDataSet, score: Score) -> FamilyScorer:
    return FamilyScorer(open_rows(data), score)


def score_true_network(data: BenchDataSet, score: Score) -> float | None:
    """Return the score of the true structure, if it is known."""
    true = find_true_structure(data)
    return None if true is None else _make_scorer(data, score).score(true)


def _measure_held_out(data: BenchDataSet, dag: DAG) -> float | None:
    """Return the mean log-likelihood of a held-out row; None without one, or without tables."""
    held_out = open_held_out_rows(data)
    if held_out is None:
        return None
    try:
        network = fit_network(dag, open_rows(data))
    except NetworkError:  # a peer has no limit on tables
        return None
    return network.log_likelihood(held_out).total / held_out.n_rows


def make_record(outcome: JobOutcome[BenchJob, LearnedStructure]) -> BenchRecord:
    """Return the record of a run; score its structure."""
    job, learned = outcome.job, outcome.result
    peer = PEERS[job.method] if job.kind == "peer" else None
    table = job.data.table
    score = held_out = None
    if learned is not None:
        scorer = _make_scorer(job.data, job.score)
        dag = DAG(scorer.dataset.names, learned.arcs)
        score, held_out = scorer.score(dag), _measure_held_out(job.data, dag)
    return BenchRecord(
        network=job.data.setting.network,
        rows=job.data.setting.rows,
        repetition=job.data.repetition,
        method=job.method,
        kind=job.kind,
        version=find_method_version(job.text) if peer is None else peer.version,
        data_seed=job.data.seed,
        search_seed=job.seed,
        score_name=job.score.label,
        score_used=job.score.label if peer is None else peer.describe_score_used(job.score),
        status=outcome.status,
        error=outcome.error,
        stop_reason=None if learned is None else learned.stop_reason,
        score=score,
        held_out=held_out,
        data_hash=None if table is None else table.dataset.content_hash,
        code_hash=None if peer else find_method_hash(job.text),
        arcs=None if learned is None else learned.arcs,
        seconds=None if learned is None else round(learned.seconds, 4),
        curve=() if learned is None else learned.curve,
    )
