"""Out-of-core learning: rows that do not fit into memory, in shards on disk or on a cluster.

`open_shards` reads a Parquet file, a folder of them or a Dask data frame in chunks. Each chunk
becomes a shard of codes and bit sets. `ShardedScorer` sends families to the shards and receives
counts (sufficient statistics). Rows never leave their shard. Scores and tables are equal, to
the last bit, to those of the same rows in memory.
"""

from coevo.outofcore.cluster_shards import ClusterShards, open_shards, read_shards
from coevo.outofcore.dask_partitions import is_dask_dataframe
from coevo.outofcore.family_counts import FamilyCounts
from coevo.outofcore.shard_files import ShardFiles, write_shards
from coevo.outofcore.sharded_scorer import ShardedScorer
from coevo.outofcore.shards import Shard, ShardedTable, Shards, Traffic

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
