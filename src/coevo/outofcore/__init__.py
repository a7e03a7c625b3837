"""Out-of-core learning: rows that do not fit into memory, in shards on disk or on a cluster.

`open_shards` reads a Parquet file, a folder of them or a Dask data frame in chunks. Each chunk
becomes a shard of codes and bit sets. `ShardedScorer` sends families to the shards and receives
counts (sufficient statistics). Rows never leave their shard. Scores and tables are equal, to
the last bit, to those of the same rows in memory.
"""

from typing import TYPE_CHECKING

from coevo.lazy_names import import_lazily

if TYPE_CHECKING:
    from coevo.outofcore.cluster_shards import ClusterShards, open_shards, read_shards
    from coevo.outofcore.dask_partitions import is_dask_dataframe
    from coevo.outofcore.family_counts import FamilyCounts
    from coevo.outofcore.shard_files import ShardFiles, write_shards
    from coevo.outofcore.sharded_scorer import ShardedScorer
    from coevo.outofcore.shards import Shard, ShardedTable, Shards, Traffic
else:
    __getattr__, __dir__ = import_lazily(
        __name__,
        cluster_shards="ClusterShards open_shards read_shards",
        dask_partitions="is_dask_dataframe",
        family_counts="FamilyCounts",
        shard_files="ShardFiles write_shards",
        sharded_scorer="ShardedScorer",
        shards="Shard ShardedTable Shards Traffic",
    )

__all__ = [
    "ClusterShards",
    "FamilyCounts",
    "Shard",
    "ShardFiles",
    "ShardedScorer",
    "ShardedTable",
    "Shards",
    "Traffic",
    "is_dask_dataframe",
    "open_shards",
    "read_shards",
    "write_shards",
]
