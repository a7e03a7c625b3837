"""Counts of a family and its local score; the cache. The hot kernels."""

from coevo.score.base import Scorer
from coevo.score.cache import CacheStatistics
from coevo.score.families import FamilyBatch, toggle_families
from coevo.score.gains import Addition, arc_gains, best_addition
from coevo.score.joint_counts import joint_counts
from coevo.score.scorer import FamilyScorer
from coevo.score.scores import (
    AIC,
    BIC,
    SCORES,
    BDeu,
    BDs,
    K2Score,
    LogLikelihood,
    Score,
    make_score,
)

__all__ = [
    "AIC",
    "BIC",
    "SCORES",
    "Addition",
    "BDeu",
    "BDs",
    "CacheStatistics",
    "FamilyBatch",
    "FamilyScorer",
    "K2Score",
    "LogLikelihood",
    "Score",
    "Scorer",
    "arc_gains",
    "best_addition",
    "joint_counts",
    "make_score",
    "toggle_families",
]
