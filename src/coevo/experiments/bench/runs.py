"""One run of the comparison, in its own process.

Before the clock starts, the data are sampled, and converted for a peer. A method of coevo runs with
its default budget and for `max_time` at most. A peer has no time limit of its own; its process is
killed.
"""

from __future__ import annotations

from dataclasses import dataclass

from coevo.experiments.bench.data import open_rows
from coevo.experiments.bench.plan import BenchJob
from coevo.experiments.peers import PEERS
from coevo.graph import Arc
from coevo.parallel import StartClock
from coevo.search import SearchResult

__all__ = ["ENVIRONMENT", "LearnedStructure", "get_time_limit", "run_bench_job"]

# One thread for every run, and one hash seed, because the result of pgmpy depends on it.
ENVIRONMENT = {
    "PYTHONHASHSEED": "0",
    **{f"{kind}_NUM_THREADS": "1" for kind in ("OMP", "OPENBLAS", "MKL")},
}
# A search stops at the end of the generation in which its time limit passes.
EXTRA_FRACTION, EXTRA_SECONDS = 0.5, 5.0  # time allowed for that last generation


@dataclass(frozen=True)
class LearnedStructure:
    """The structure that a run learned; `curve` has (seconds, score) of each improvement."""

    arcs: tuple[Arc, ...]
    seconds: float
    stop_reason: str = "finished"
    curve: tuple[tuple[float, float], ...] = ()


def get_time_limit(job: BenchJob) -> float:
    """Return the seconds after which a run is killed."""
    if job.kind == "peer":
        return job.max_time
    return job.max_time * (1 + EXTRA_FRACTION) + EXTRA_SECONDS


def run_bench_job(job: BenchJob, start_clock: StartClock) -> LearnedStructure:
    """Run one method or peer on one data set."""
    dataset = open_rows(job.data)
    if job.kind == "peer":
        dag, seconds = PEERS[job.method].learn(dataset, job.score, start_clock)
        return LearnedStructure(dag.arcs, seconds)
    spec = job.make_spec()
    scorer = spec.make_scorer(dataset)
    start_clock()
    result = spec.run(scorer)
    return LearnedStructure(
        result.dag.arcs, result.seconds, result.stop_reason, _list_improvements(result)
    )


def _list_improvements(result: SearchResult) -> tuple[tuple[float, float], ...]:
    return tuple(
        (round(row.seconds, 4), round(row.score, 6))
        for row in result.history
        if row.improved == row.generation
    )
