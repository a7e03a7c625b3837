"""Where independent work runs: here, in processes, each job in one of its own, on a cluster."""

from coevo.parallel.apart import Begin, Ending, run_apart
from coevo.parallel.islands_apart import spread_islands
from coevo.parallel.jobs import run_jobs
from coevo.parallel.row_shards import ClusterShards, open_shards, read_shards
from coevo.parallel.spread_scorer import SpreadScorer
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
    "ClusterShards",
    "Ending",
    "Processes",
    "SpreadScorer",
    "Workers",
    "check_cluster",
    "check_workers",
    "open_shards",
    "open_workers",
    "read_shards",
    "run_apart",
    "run_jobs",
    "spread_islands",
]
