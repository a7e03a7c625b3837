"""Places where independent jobs run: this process, a process pool, isolated processes, Dask."""

from typing import TYPE_CHECKING

from coevo.lazy_names import import_lazily

if TYPE_CHECKING:
    from coevo.parallel.dask_islands import distribute_islands
    from coevo.parallel.dask_scorer import DistributedScorer
    from coevo.parallel.isolated import JobOutcome, StartClock, run_isolated
    from coevo.parallel.workers import (
        Cluster,
        Processes,
        Workers,
        check_cluster,
        check_workers,
        open_workers,
        run_in_processes,
    )
else:
    __getattr__, __dir__ = import_lazily(
        __name__,
        dask_islands="distribute_islands",
        dask_scorer="DistributedScorer",
        isolated="JobOutcome StartClock run_isolated",
        workers=(
            "Cluster Processes Workers check_cluster check_workers open_workers run_in_processes"
        ),
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
