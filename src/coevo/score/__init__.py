"""Local scores of families, the counts that they need, and the cache that stores them.

The counts of a family are the sufficient statistics of its local score. `FamilyScorer` computes
both from a table in memory; `coevo.parallel` does it for tables that do not fit into memory.
"""

from typing import TYPE_CHECKING

from coevo.lazy_names import import_lazily

if TYPE_CHECKING:
    from coevo.score.arcs import (
        GAIN_WORDS,
        Addition,
        ArcEffect,
        GainWord,
        NearMiss,
        arc_gains,
        find_arc_effects,
        find_best_addition,
        find_near_misses,
        name_gain,
    )
    from coevo.score.base import Scorer
    from coevo.score.cache import CacheStatistics
    from coevo.score.families import FamilyBatch, toggle_families
    from coevo.score.independence import TESTS, IndependenceTests, TripleBatch
    from coevo.score.joint_counts import count_configurations
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
else:
    __getattr__, __dir__ = import_lazily(
        __name__,
        arcs=(
            "Addition ArcEffect GAIN_WORDS GainWord NearMiss arc_gains find_arc_effects "
            "find_best_addition find_near_misses name_gain"
        ),
        base="Scorer",
        cache="CacheStatistics",
        families="FamilyBatch toggle_families",
        independence="IndependenceTests TESTS TripleBatch",
        joint_counts="count_configurations",
        scorer="FamilyScorer",
        scores="AIC BDeu BDs BIC K2Score LogLikelihood SCORES Score make_score",
    )

__all__ = [
    "AIC",
    "BIC",
    "GAIN_WORDS",
    "SCORES",
    "TESTS",
    "Addition",
    "ArcEffect",
    "BDeu",
    "BDs",
    "CacheStatistics",
    "FamilyBatch",
    "FamilyScorer",
    "GainWord",
    "IndependenceTests",
    "K2Score",
    "LogLikelihood",
    "NearMiss",
    "Score",
    "Scorer",
    "TripleBatch",
    "arc_gains",
    "count_configurations",
    "find_arc_effects",
    "find_best_addition",
    "find_near_misses",
    "make_score",
    "name_gain",
    "toggle_families",
]
