"""Local scores from rows in shards, on the disk of this machine or on the workers of a cluster.

The scorer sends a batch of families to all shards and receives the sums of their counts. The
kernels that score a table in memory score these sums. The scores are equal to the last bit.
"""

from __future__ import annotations

from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from coevo.errors import ParameterError, bad_parameter
from coevo.outofcore.family_count_kernels import score_tables
from coevo.outofcore.family_counts import (
    CELLS_PER_BATCH,
    DistinctRows,
    compute_table_offsets,
    split_into_batches,
)
from coevo.outofcore.shards import Shards
from coevo.score.base import SCORER_DEFAULTS, Scorer, ScorerOptions
from coevo.score.counting import compute_dense_limit, make_scratch
from coevo.score.families import FamilyBatch
from coevo.score.family_kernels import SPARSE, BatchPlan, CountIndex
from coevo.score.scores import Score
from coevo.score.sparse_kernels import evaluate_sparse
from coevo.signatures import accept_options

__all__ = ["ShardedScorer"]

SMALLEST_PART = 64  # the fewest families for which a thread pays off


class ShardedScorer(Scorer):
    """Computes local scores of families from rows in shards, in batches, and caches them.

    Parameters
    ----------
    shards : Shards
        The observations; see `open_shards`.
    score, ess, n_jobs, cache_bytes, weights, parent_penalty, max_table
        As for `FamilyScorer`. `n_jobs` is the number of threads on this machine.
    """

    @accept_options(ScorerOptions, SCORER_DEFAULTS)
    def __init__(
        self, shards: Shards, score: str | Score = "bdeu", **options: Unpack[ScorerOptions]
    ) -> None:
        if not isinstance(shards, Shards):
            raise bad_parameter("shards", "ShardedScorer", "Shards (see open_shards)", shards)
        super().__init__(shards, score, **options)
        self._shards = shards
        self._start_over()

    def _start_over(self) -> None:
        self._scratch = [make_scratch(self._shards) for _ in range(self.threads.n)]
        super()._start_over()

    @property
    def dataset(self) -> Shards:
        """The observations."""
        return self._shards

    def estimate_memory(self) -> int:
        """Return the largest number of bytes that the scorer takes in this process."""
        scratch = sum(int(array.nbytes) for arrays in self._scratch for array in arrays)
        shards = self._shards.estimate_memory()
        return self._cache_bytes + 2 * scratch + 8 * CELLS_PER_BATCH + shards

    def _compute(self, families: FamilyBatch) -> NDArray[np.float64]:
        """Count and score families that are not in the cache."""
        scores = np.empty(len(families))
        begin = compute_table_offsets(
            families, self._shards.arities, compute_dense_limit(self._shards.n_rows)
        )
        for first, last in split_into_batches(begin, CELLS_PER_BATCH):
            scores[first:last] = self._count_and_score(families.slice(first, last))
        return scores

    def _count_and_score(self, families: FamilyBatch) -> NDArray[np.float64]:
        """Request the counts of families, in one round trip; return their scores."""
        if self._shards.is_closed:
            raise ParameterError(
                "These shards are closed. Score families inside 'with open_shards(...)'."
            )
        counts = self._shards.count_families(families, self.threads)
        cells, facts, spec = counts.unpack(), self._shards.facts, self._spec
        begin = compute_table_offsets(
            families, self._shards.arities, compute_dense_limit(self._shards.n_rows)
        )
        members, start = families.members, families.start
        scores = np.empty(len(families))

        def score_part(first: int, last: int, number: int) -> None:
            scratch = self._scratch[number]
            score_tables(facts, spec, members, start, first, last, begin, cells, scratch, scores)

        self.threads.run_in_parts(score_part, len(families), SMALLEST_PART)
        for family, distinct in counts.distinct.items():
            family_members = members[start[family] : start[family + 1]]
            scores[family] = self._score_sparse(family_members, distinct)
        return scores

    def _score_sparse(self, members: NDArray[np.int32], distinct: DistinctRows) -> float:
        """Score a family from the configurations that occur, used as weighted rows."""
        k = len(members)
        variables = np.arange(k, dtype=np.int32)
        codes = distinct.codes.copy()
        codes.flags.writeable = False
        none = np.empty((0, 0), dtype=np.int32)
        sparse, unknown = np.full(1, SPARSE, dtype=np.int8), np.empty(0, dtype=np.int64)
        index = CountIndex(
            facts=self._shards.facts[members],
            codes=codes,
            weights=distinct.counts,
            compact=np.empty(0, dtype=codes.dtype),
            bits=np.empty((0, 0), dtype=np.uint64),
        )
        batch = BatchPlan(variables, np.array([0, k]), variables, sparse, unknown, none, none)
        scores = np.empty(1)
        evaluate_sparse(index, self._spec, batch, 0, 1, scores)
        return float(scores[0])
