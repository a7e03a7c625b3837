"""The record of a run: the learned structure and its score by coevo's scorer.

The scores that peers report are not used. All structures are scored here, on the rows from which
they were learned.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from coevo import __version__
from coevo.bundled import open_network
from coevo.experiments.bench.plan import BenchDataSet, BenchJob
from coevo.experiments.bench.runs import LearnedStructure, sample_rows
from coevo.experiments.peers import PEERS
from coevo.graph import DAG, Arc
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
    arcs: tuple[Arc, ...] | None
    seconds: float | None
    curve: tuple[tuple[float, float], ...]

    @property
    def key(self) -> tuple[str, int, int, str]:
        """The key that identifies the run."""
        return self.network, self.rows, self.repetition, self.method


@lru_cache(maxsize=1)  # runs on the same data follow each other
def _make_scorer(data: BenchDataSet, score: Score) -> FamilyScorer:
    return FamilyScorer(sample_rows(data), score)


def score_true_network(data: BenchDataSet, score: Score) -> float:
    """Return the score of the network from which the rows were sampled."""
    return _make_scorer(data, score).score(open_network(data.setting.network).dag)


def make_record(outcome: JobOutcome[BenchJob, LearnedStructure]) -> BenchRecord:
    """Return the record of a run; score its structure."""
    job, learned = outcome.job, outcome.result
    peer = PEERS[job.method] if job.kind == "peer" else None
    score = None
    if learned is not None:
        scorer = _make_scorer(job.data, job.score)
        score = scorer.score(DAG(scorer.dataset.names, learned.arcs))
    return BenchRecord(
        network=job.data.setting.network,
        rows=job.data.setting.rows,
        repetition=job.data.repetition,
        method=job.method,
        kind=job.kind,
        version=__version__ if peer is None else peer.version,
        data_seed=job.data.seed,
        search_seed=job.seed,
        score_name=job.score.label,
        score_used=job.score.label if peer is None else peer.describe_score_used(job.score),
        status=outcome.status,
        error=outcome.error,
        stop_reason=None if learned is None else learned.stop_reason,
        score=score,
        arcs=None if learned is None else learned.arcs,
        seconds=None if learned is None else round(learned.seconds, 4),
        curve=() if learned is None else learned.curve,
    )
