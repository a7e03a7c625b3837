"""Places where independent jobs run: this process, a process pool, isolated processes, Dask."""

from coevo.parallel.dask_islands import distribute_islands
from coevo.parallel.dask_scorer import DistributedScorer
from coevo.parallel.isolated import JobOutcome, StartClock, run_isolated
from coevo.parallel.process_pool import run_in_processes
from coevo.parallel.workers import (
    Cluster,
    Processes,
    Workers,
    check_cluster,
    check_workers,
    open_workers,
)

__all__ = [
    "Cluster",
    "DistributedScorer",
    "JobOutcome",
    "Processes",
    "StartClock",
    "Workers",
    "check_cluster",
    "check_workers",
    "distribute_islands",
    "open_workers",
    "run_in_processes",
    "run_isolated",
]
