"""One run of the experiment, as a worker does it.

A worker keeps the data and a scorer for each algorithm of the data set it last worked on,
so that runs on the same data share what was counted. Times are of the CPU and leave out
the reading of data and the loading of kernels.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cache, lru_cache

from coevo.bundled import open_network
from coevo.experiments.paper.plan import DataSet, Job
from coevo.network import BayesianNetwork, sample
from coevo.score import FamilyScorer
from coevo.search import CCGA, K2, Budget, SearchResult, run_search

__all__ = ["RunRecord", "load_kernels", "original_score", "run_one"]

SCORE = "k2"  # the paper's "BDe with every hyperparameter 1"


@dataclass(frozen=True)
class RunRecord:
    """What is kept of a run; `improvements` are (generation, score), the start included."""

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
        """What tells it from the other runs of the experiment."""
        return self.network, self.rows, self.algorithm, self.run


@cache
def _network(name: str) -> BayesianNetwork:
    return open_network(name)


@lru_cache(maxsize=2)  # one data set, both algorithms
def _scorer(data: DataSet, algorithm: str) -> FamilyScorer:
    return FamilyScorer(sample(_network(data.network), data.rows, data.seed), SCORE)


@cache
def load_kernels() -> None:
    """Run both algorithms once, so that no run's time has the loading of kernels in it."""
    scorer = FamilyScorer(sample(_network("asia"), 100, 0), SCORE)
    for method in (CCGA(population=4), K2()):
        run_search(method, scorer, budget=Budget(max_generations=2), random_state=0)


def original_score(data: DataSet) -> float:
    """Return the score of the DAG that the rows were drawn from."""
    return _scorer(data, "k2").score(_network(data.network).dag)


def run_one(job: Job) -> RunRecord:
    """Do one run."""
    load_kernels()
    scorer = _scorer(job.data, job.algorithm)
    method = CCGA(population=job.population) if job.algorithm == "ccga" else K2()
    budget = Budget(max_generations=job.generations) if job.algorithm == "ccga" else Budget()
    began = time.process_time()
    result = run_search(method, scorer, budget=budget, random_state=job.seed)
    if result.stop_reason == "interrupt":  # by a second Ctrl-C; half a run is none
        raise KeyboardInterrupt
    return _record(job, result, time.process_time() - began)


def _record(job: Job, result: SearchResult, seconds: float) -> RunRecord:
    """Return what is kept of a run; a curve needs no more than cents. K2 has no generations."""
    history = result.history if job.algorithm == "ccga" else ()
    improvements = tuple(
        (row.generation, round(row.score, 6)) for row in history if row.improved == row.generation
    )
    return RunRecord(
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
