"""Counts of a family and its local score; the cache. The hot kernels."""

from coevo.score.base import Scorer
from coevo.score.cache import CacheStatistics
from coevo.score.families import FamilyBatch, toggle_families
from coevo.score.gains import Addition, arc_gains, best_addition
from coevo.score.joint_counts import joint_counts
from coevo.score.scorer import FamilyScorer
from coevo.score.scores import AIC, BIC, K2, SCORES, BDeu, BDs, LogLikelihood, Score, make_score
from coevo.score.shard_files import ShardFiles, write_shards
from coevo.score.sharded import ShardedScorer
from coevo.score.shards import Shard, ShardedTable, Shards, Traffic, count_shards
from coevo.score.tallies import Tallies, added

__all__ = [
    "AIC",
    "BIC",
    "K2",
    "SCORES",
    "Addition",
    "BDeu",
    "BDs",
    "CacheStatistics",
    "FamilyBatch",
    "FamilyScorer",
    "LogLikelihood",
    "Score",
    "Scorer",
    "Shard",
    "ShardFiles",
    "ShardedScorer",
    "ShardedTable",
    "Shards",
    "Tallies",
    "Traffic",
    "added",
    "arc_gains",
    "best_addition",
    "count_shards",
    "joint_counts",
    "make_score",
    "toggle_families",
    "write_shards",
]
