"""One run of the experiment, on a worker.

A worker keeps the data and one scorer per algorithm for its last data set, so runs on the same
data share the cache of local scores. Times are CPU times. They exclude the sampling of data.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cache, lru_cache

from coevo.bundled import open_network
from coevo.experiments.paper.plan import SCORE, PaperDataSet, PaperJob
from coevo.network import BayesianNetwork, sample
from coevo.score import FamilyScorer
from coevo.search import SearchResult

__all__ = [
    "PaperRecord",
    "open_network_once",
    "run_paper_job",
    "score_original_dag",
]


@dataclass(frozen=True)
class PaperRecord:
    """The record of a run; `improvements` has (generation, score), including the start."""

    network: str
    rows: int
    algorithm: str
    run: int
    seed: int
    score: float
    n_arcs: int
    generations: int
    evaluations: int
    improvements: tuple[tuple[int, float], ...]
    seconds: float

    @property
    def key(self) -> tuple[str, int, str, int]:
        """The key that identifies the run."""
        return self.network, self.rows, self.algorithm, self.run


@cache
def open_network_once(name: str) -> BayesianNetwork:
    """Open a bundled network or a BIF file; the second call returns the same one."""
    return open_network(name)


@lru_cache(maxsize=2)  # one data set, both algorithms
def _make_scorer(data: PaperDataSet, algorithm: str) -> FamilyScorer:
    return FamilyScorer(sample(open_network_once(data.network), data.rows, data.seed), SCORE)


def score_original_dag(data: PaperDataSet) -> float:
    """Return the score of the DAG from which the rows were sampled."""
    return _make_scorer(data, "k2").score(open_network_once(data.network).dag)


def run_paper_job(job: PaperJob) -> PaperRecord:
    """Run one algorithm on one data set."""
    scorer = _make_scorer(job.data, job.algorithm)
    spec = job.make_spec()
    start = time.process_time()
    result = spec.run(scorer)
    if result.stop_reason == "interrupt":  # a second Ctrl-C; an unfinished run is not recorded
        raise KeyboardInterrupt
    return _make_record(job, result, time.process_time() - start)


def _make_record(job: PaperJob, result: SearchResult, seconds: float) -> PaperRecord:
    """Return the record of a run, with rounded scores of improvements. K2 has no generations."""
    history = result.history if job.algorithm == "ccga" else ()
    improvements = tuple(
        (row.generation, round(row.score, 6)) for row in history if row.improved == row.generation
    )
    return PaperRecord(
        network=job.data.network,
        rows=job.data.rows,
        algorithm=job.algorithm,
        run=job.run,
        seed=job.seed,
        score=result.score,
        n_arcs=len(result.dag.arcs),
        generations=result.generations,
        evaluations=result.evaluations,
        improvements=improvements,
        seconds=round(seconds, 4),
    )
