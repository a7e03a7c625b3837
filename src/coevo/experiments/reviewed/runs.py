"""One run of the comparison, on a worker.

Each run has its own scorer, so that its time does not depend on the runs before it. Times are CPU
times. They exclude the sampling of data.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import lru_cache

from coevo.data import Dataset
from coevo.experiments.paper.plan import SCORE, PaperDataSet
from coevo.experiments.paper.runs import open_network_once
from coevo.experiments.reviewed.plan import ReviewedJob
from coevo.experiments.reviewed.systems import SYSTEMS, Order
from coevo.graph import CPDAG, DAG
from coevo.network import sample
from coevo.randomness import random_stream
from coevo.score import FamilyScorer
from coevo.search import SearchResult

__all__ = ["ReviewedRecord", "draw_order", "run_reviewed_job", "score_true_network"]


@dataclass(frozen=True)
class ReviewedRecord:
    """The record of a run; `improvements` has (evaluations, score), including the start.

    `shd` is the structural Hamming distance between the CPDAGs of the structure and of the true
    network.
    """

    network: str
    rows: int
    system: str
    run: int
    seed: int
    score: float
    shd: int
    n_arcs: int
    generations: int
    evaluations: int
    improvements: tuple[tuple[int, float], ...]
    seconds: float

    @property
    def key(self) -> tuple[str, int, str, int]:
        """The key that identifies the run."""
        return self.network, self.rows, self.system, self.run


@lru_cache(maxsize=1)  # the runs on one data set follow each other
def _sample_rows(data: PaperDataSet) -> Dataset:
    return sample(open_network_once(data.network), data.rows, data.seed)


def score_true_network(data: PaperDataSet) -> float:
    """Return the score of the network from which the rows were sampled."""
    return FamilyScorer(_sample_rows(data), SCORE).score(open_network_once(data.network).dag)


def run_reviewed_job(job: ReviewedJob) -> ReviewedRecord:
    """Run one system on one data set."""
    result, seconds = _learn(job)
    if result.stop_reason == "interrupt":  # a second Ctrl-C; an unfinished run is not recorded
        raise KeyboardInterrupt
    return _make_record(job, result, seconds)


def draw_order(names: tuple[str, ...], seed: int) -> tuple[str, ...]:
    """Return the order that K2 draws for a seed."""
    return tuple(names[i] for i in random_stream(seed, 0).permutation(len(names)))


def _find_order(job: ReviewedJob, dataset: Dataset) -> Order:
    kind = SYSTEMS[job.system].order
    if kind == "true":
        return open_network_once(job.data.network).dag.topological_order
    return draw_order(tuple(dataset.names), job.seed) if kind == "random" else None


def _learn(job: ReviewedJob) -> tuple[SearchResult, float]:
    """Return the result of a run and its seconds."""
    dataset = _sample_rows(job.data)
    spec = job.make_spec(_find_order(job, dataset))
    scorer = spec.make_scorer(dataset)
    start = time.process_time()
    return spec.run(scorer), time.process_time() - start


def _make_record(job: ReviewedJob, result: SearchResult, seconds: float) -> ReviewedRecord:
    """Return the record of a run, with rounded scores of improvements if the system evolves."""
    history = result.history if SYSTEMS[job.system].evolves else ()
    improvements = tuple(
        (row.evaluations, round(row.score, 3)) for row in history if row.improved == row.generation
    )
    return ReviewedRecord(
        network=job.data.network,
        rows=job.data.rows,
        system=job.system,
        run=job.run,
        seed=job.seed,
        score=result.score,
        shd=_count_shd(result.dag, open_network_once(job.data.network).dag),
        n_arcs=len(result.dag.arcs),
        generations=result.generations,
        evaluations=result.evaluations,
        improvements=improvements,
        seconds=round(seconds, 4),
    )


def _count_shd(found: DAG, true: DAG) -> int:
    """Return the number of pairs of variables that the two CPDAGs connect differently."""
    differing = CPDAG(found).directions ^ CPDAG(true).directions
    return len({frozenset(arc) for arc in differing})
