"""Counts of a family and its local score; the cache. The hot kernels."""

from coevo.score.cache import CacheStatistics
from coevo.score.families import FamilyBatch, toggle_families
from coevo.score.gains import Addition, arc_gains, best_addition
from coevo.score.scorer import FamilyScorer
from coevo.score.scores import AIC, BIC, K2, SCORES, BDeu, BDs, LogLikelihood, Score, make_score

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
    "arc_gains",
    "best_addition",
    "make_score",
    "toggle_families",
]
