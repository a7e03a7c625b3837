"""Places where independent jobs run, and tables that do not fit into memory.

Jobs run in this process, in a process pool, in isolated processes or on a Dask cluster.

`open_shards` reads a Parquet file, a folder of them or a Dask data frame in chunks. Each chunk
becomes a shard of codes and bit sets, on disk or on a cluster. `ShardedScorer` sends families to
the shards and receives counts (sufficient statistics). Rows never leave their shard. Scores and
tables are equal, to the last bit, to those of the same rows in memory.
"""

from typing import TYPE_CHECKING

from coevo.lazy_names import import_lazily

if TYPE_CHECKING:
    from coevo.parallel.chunks import is_dask_dataframe
    from coevo.parallel.distributed import DistributedScorer, ShardedScorer, distribute_islands
    from coevo.parallel.processes import JobOutcome, StartClock, run_isolated
    from coevo.parallel.shard_stores import (
        ClusterShards,
        ShardFiles,
        open_shards,
        read_shards,
        write_shards,
    )
    from coevo.parallel.shards import FamilyCounts, Shard, ShardedTable, Shards, Traffic
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
        chunks="is_dask_dataframe",
        distributed="distribute_islands DistributedScorer ShardedScorer",
        processes="JobOutcome StartClock run_isolated",
        shard_stores="ClusterShards open_shards read_shards ShardFiles write_shards",
        shards="FamilyCounts Shard ShardedTable Shards Traffic",
        workers=(
            "Cluster Processes Workers check_cluster check_workers open_workers run_in_processes"
        ),
    )

__all__ = [
    "Cluster",
    "ClusterShards",
    "DistributedScorer",
    "FamilyCounts",
    "JobOutcome",
    "Processes",
    "Shard",
    "ShardFiles",
    "ShardedScorer",
    "ShardedTable",
    "Shards",
    "StartClock",
    "Traffic",
    "Workers",
    "check_cluster",
    "check_workers",
    "distribute_islands",
    "is_dask_dataframe",
    "open_shards",
    "open_workers",
    "read_shards",
    "run_in_processes",
    "run_isolated",
    "write_shards",
]
