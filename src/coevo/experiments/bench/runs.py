"""One run, as its own process does it.

Before the clock starts the data are drawn, kernels are loaded and a peer has its data. A
method of ours runs as it does for anyone, with the budget that it has by default, and for
`max_time` at most; a peer knows no limit and is killed instead.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from coevo.bundled import load_network, open_network
from coevo.data import Dataset
from coevo.experiments.bench.plan import DataSet, Job
from coevo.experiments.peers import PEERS
from coevo.graph import Arc
from coevo.network import sample
from coevo.parallel import Begin
from coevo.score import FamilyScorer, Score
from coevo.search import METHODS, Budget, SearchResult, run_search

__all__ = ["ENVIRONMENT", "Found", "draw", "load_kernels", "run_one", "seconds_allowed"]

# One thread for everyone, and one order of hashing, on which the answer of pgmpy depends.
ENVIRONMENT = {
    "PYTHONHASHSEED": "0",
    **{f"{kind}_NUM_THREADS": "1" for kind in ("OMP", "OPENBLAS", "MKL", "NUMBA")},
}
# A search ends after the generation in which its time was over.
FOR_THE_LAST_GENERATION = 0.5, 5.0  # part of its time, and seconds


@dataclass(frozen=True)
class Found:
    """What a run found; `curve` are (seconds, score) of each improvement."""

    arcs: tuple[Arc, ...]
    seconds: float
    stop_reason: str = "finished"
    curve: tuple[tuple[float, float], ...] = ()


def seconds_allowed(job: Job) -> float:
    """Return after how many seconds a run is killed."""
    if job.kind == "peer":
        return job.max_time
    part, seconds = FOR_THE_LAST_GENERATION
    return job.max_time * (1 + part) + seconds


def draw(data: DataSet) -> Dataset:
    """Return the rows of a data set."""
    return sample(open_network(data.setting.network), data.setting.rows, data.seed)


def load_kernels(method: str, score: Score) -> None:
    """Run a method on a little data, so that no time has the loading of kernels in it."""
    scorer = FamilyScorer(sample(load_network("asia"), 100, 0), score)
    run_search(method, scorer, budget=Budget(max_generations=6), random_state=0)


def run_one(job: Job, begin: Begin) -> Found:
    """Do one run."""
    dataset = draw(job.data)
    if job.kind == "peer":
        dag, seconds = PEERS[job.method].learn(dataset, job.score, begin)
        return Found(dag.arcs, seconds)
    load_kernels(job.method, job.score)
    scorer = FamilyScorer(dataset, job.score)
    budget = replace(METHODS[job.method].default_budget, max_time=job.max_time)
    begin()
    result = run_search(job.method, scorer, budget=budget, random_state=job.seed)
    return Found(result.dag.arcs, result.seconds, result.stop_reason, _curve(result))


def _curve(result: SearchResult) -> tuple[tuple[float, float], ...]:
    return tuple(
        (round(row.seconds, 4), round(row.score, 6))
        for row in result.history
        if row.improved == row.generation
    )
