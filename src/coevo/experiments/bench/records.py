"""What is kept of a run: what was found, and what it is worth by our scorer.

No score that a peer reports is believed. Structures are scored here, in one place, on the
rows they were learned from.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from coevo import __version__
from coevo.bundled import open_network
from coevo.experiments.bench.plan import DataSet, Job
from coevo.experiments.bench.runs import Found, draw
from coevo.experiments.peers import PEERS
from coevo.graph import DAG, Arc
from coevo.parallel import Ending
from coevo.score import FamilyScorer, Score

__all__ = ["RunRecord", "record_of", "true_score"]


@dataclass(frozen=True)
class RunRecord:
    """One run; where it found nothing, `score`, `arcs` and `seconds` are None."""

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
        """What tells it from the other runs."""
        return self.network, self.rows, self.repetition, self.method


@lru_cache(maxsize=1)  # runs on the same data come one after another
def _scorer(data: DataSet, score: Score) -> FamilyScorer:
    return FamilyScorer(draw(data), score)


def true_score(data: DataSet, score: Score) -> float:
    """Return the score of the network that the rows were drawn from."""
    return _scorer(data, score).score(open_network(data.setting.network).dag)


def record_of(ending: Ending[Job, Found]) -> RunRecord:
    """Return what is kept of a run, its structure scored."""
    job, found = ending.job, ending.result
    peer = PEERS[job.method] if job.kind == "peer" else None
    score = None
    if found is not None:
        scorer = _scorer(job.data, job.score)
        score = scorer.score(DAG(scorer.dataset.names, found.arcs))
    return RunRecord(
        network=job.data.setting.network,
        rows=job.data.setting.rows,
        repetition=job.data.repetition,
        method=job.method,
        kind=job.kind,
        version=__version__ if peer is None else peer.version,
        data_seed=job.data.seed,
        search_seed=job.seed,
        score_name=job.score.label,
        score_used=job.score.label if peer is None else peer.score_used(job.score),
        status=ending.status,
        error=ending.error,
        stop_reason=None if found is None else found.stop_reason,
        score=score,
        arcs=None if found is None else found.arcs,
        seconds=None if found is None else round(found.seconds, 4),
        curve=() if found is None else found.curve,
    )
