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
    from coevo.parallel.cluster_shards import ClusterShards, open_shards, read_shards
    from coevo.parallel.dask_islands import distribute_islands
    from coevo.parallel.dask_partitions import is_dask_dataframe
    from coevo.parallel.dask_scorer import DistributedScorer
    from coevo.parallel.family_counts import FamilyCounts
    from coevo.parallel.isolated import JobOutcome, StartClock, run_isolated
    from coevo.parallel.shard_files import ShardFiles, write_shards
    from coevo.parallel.sharded_scorer import ShardedScorer
    from coevo.parallel.shards import Shard, ShardedTable, Shards, Traffic
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
        cluster_shards="ClusterShards open_shards read_shards",
        dask_islands="distribute_islands",
        dask_partitions="is_dask_dataframe",
        dask_scorer="DistributedScorer",
        family_counts="FamilyCounts",
        isolated="JobOutcome StartClock run_isolated",
        shard_files="ShardFiles write_shards",
        sharded_scorer="ShardedScorer",
        shards="Shard ShardedTable Shards Traffic",
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
