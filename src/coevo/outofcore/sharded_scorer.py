"""Local scores from rows in shards, on this machine's disk or on the workers of a cluster.

A batch of families goes out, integers come back and are add_counts up, and the same kernels
that score a table in memory score the sums: the scores are equal to the last bit.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from coevo.errors import ParameterError, bad_parameter
from coevo.graph import Arc
from coevo.outofcore.family_count_kernels import score_tables
from coevo.outofcore.family_counts import (
    CELLS_PER_BATCH,
    DistinctRows,
    split_into_batches,
    table_offsets,
)
from coevo.outofcore.shards import Shards
from coevo.score.base import CACHE_BYTES, Scorer
from coevo.score.counting import dense_limit, new_scratch
from coevo.score.families import FamilyBatch
from coevo.score.family_kernels import SPARSE, Batch, Index
from coevo.score.scores import Score
from coevo.score.sparse_kernels import evaluate_sparse

__all__ = ["ShardedScorer"]

SMALLEST_PART = 64  # families that are worth a thread


class ShardedScorer(Scorer):
    """Local scores of families over rows in shards, computed in batches and remembered.

    Parameters
    ----------
    shards : Shards
        The observations; see `open_shards`.
    score, ess, n_jobs, cache_bytes, weights, parent_penalty
        As for `FamilyScorer`. Threads are those of this machine.
    """

    def __init__(
        self,
        shards: Shards,
        score: str | Score = "bdeu",
        *,
        ess: float | None = None,
        n_jobs: int = 1,
        cache_bytes: int = CACHE_BYTES,
        weights: Mapping[Arc, float] | None = None,
        parent_penalty: float = 0.0,
    ) -> None:
        if not isinstance(shards, Shards):
            raise bad_parameter("shards", "ShardedScorer", "Shards (see open_shards)", shards)
        super().__init__(shards, score, ess, n_jobs, cache_bytes, weights, parent_penalty)
        self._shards = shards
        self._start_over()

    def _start_over(self) -> None:
        self._scratch = [new_scratch(self._shards) for _ in range(self.threads.n)]
        super()._start_over()

    @property
    def dataset(self) -> Shards:
        """The observations."""
        return self._shards

    def memory(self) -> int:
        """Return how many bytes of this process it takes at most."""
        scratch = sum(int(array.nbytes) for own in self._scratch for array in own)
        return self._cache_bytes + 2 * scratch + 8 * CELLS_PER_BATCH + self._shards.memory()

    def _compute(self, families: FamilyBatch) -> NDArray[np.float64]:
        """Count and score families that are not in the cache."""
        scores = np.empty(len(families))
        begin = table_offsets(families, self._shards.arities, dense_limit(self._shards.n_rows))
        for first, last in split_into_batches(begin, CELLS_PER_BATCH):
            scores[first:last] = self._scored(families.part(first, last))
        return scores

    def _scored(self, families: FamilyBatch) -> NDArray[np.float64]:
        """Ask for the counts of families, in one round trip; score them."""
        if self._shards.is_closed:
            raise ParameterError(
                "The rows of these shards are gone. Score inside 'with open_shards(...)'."
            )
        found = self._shards.count_families(families, self.threads)
        cells, facts, spec = found.cells(), self._shards.facts, self._spec
        begin = table_offsets(families, self._shards.arities, dense_limit(self._shards.n_rows))
        members, start = families.members, families.start
        scores = np.empty(len(families))

        def part(first: int, last: int, number: int) -> None:
            own = self._scratch[number]
            score_tables(facts, spec, members, start, first, last, begin, cells, own, scores)

        self.threads.in_parts(part, len(families), SMALLEST_PART)
        for family, distinct in found.distinct.items():
            own = members[start[family] : start[family + 1]]
            scores[family] = self._sparse_score(own, distinct)
        return scores

    def _sparse_score(self, members: NDArray[np.int32], distinct: DistinctRows) -> float:
        """Score a family by the configurations that occur, as so many weighted rows."""
        k = len(members)
        variables = np.arange(k, dtype=np.int32)
        codes = distinct.codes.copy()
        codes.flags.writeable = False
        none = np.empty((0, 0), dtype=np.int32)
        sparse, unknown = np.full(1, SPARSE, dtype=np.int8), np.empty(0, dtype=np.int64)
        index = Index(
            facts=self._shards.facts[members],
            codes=codes,
            weights=distinct.counts,
            compact=np.empty(0, dtype=codes.dtype),
            bits=np.empty((0, 0), dtype=np.uint64),
        )
        batch = Batch(variables, np.array([0, k]), variables, sparse, unknown, none, none)
        scores = np.empty(1)
        evaluate_sparse(index, self._spec, batch, 0, 1, scores)
        return float(scores[0])
