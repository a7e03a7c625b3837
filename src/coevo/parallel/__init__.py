"""Where independent work runs: here, in processes, each job in one of its own, on a cluster."""

from coevo.parallel.dask_islands import distribute_islands
from coevo.parallel.dask_scorer import DistributedScorer
from coevo.parallel.isolated import Begin, Ending, run_isolated
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
    "Begin",
    "Cluster",
    "DistributedScorer",
    "Ending",
    "Processes",
    "Workers",
    "check_cluster",
    "check_workers",
    "distribute_islands",
    "open_workers",
    "run_in_processes",
    "run_isolated",
]
