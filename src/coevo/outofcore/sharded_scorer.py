"""Local scores from rows in shards, on the disk of this machine or on the workers of a cluster.

The scorer sends a batch of families to all shards and receives the sums of their counts. The
kernels that score a table in memory score these sums. The scores are equal to the last bit.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from coevo.errors import ParameterError, bad_parameter
from coevo.options import ScorerOptions
from coevo.outofcore.family_count_kernels import score_tables
from coevo.outofcore.family_counts import CELLS_PER_BATCH, DistinctRows, FamilyCounts
from coevo.outofcore.shards import Shards
from coevo.score.base import Scorer
from coevo.score.count_kernels import CountIndex
from coevo.score.counting import (
    compute_dense_limit,
    compute_table_offsets,
    make_count_index,
    make_scratch,
    split_into_batches,
)
from coevo.score.families import FamilyBatch
from coevo.score.family_kernels import SPARSE, BatchPlan, TableSums
from coevo.score.independence import CountedTriples, TripleBatch
from coevo.score.scores import Score
from coevo.score.sparse_kernels import evaluate_sparse, make_sparse_scratch
from coevo.signatures import accept_options
from coevo.work_time import check_deadline

__all__ = ["ShardedScorer"]

SMALLEST_PART = 64  # the fewest families for which a thread pays off


class ShardedScorer(Scorer):
    """Computes local scores of families from rows in shards, in batches, and caches them.

    Parameters
    ----------
    shards : Shards
        The observations; see `open_shards`.
    score, ess, n_jobs, cache_bytes, weights, parent_penalty, sparse_penalty, max_table
        As for `FamilyScorer`. `n_jobs` is the number of threads on this machine.
    """

    @accept_options(ScorerOptions)
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
        begin = self._find_offsets(families)
        for first, last in split_into_batches(begin, CELLS_PER_BATCH):
            check_deadline()
            scores[first:last] = self._count_and_score(families.slice(first, last))
        return scores

    def _find_offsets(self, families: FamilyBatch) -> NDArray[np.int64]:
        """Return where the table of each family begins."""
        limit = compute_dense_limit(self._shards.n_rows)
        return compute_table_offsets(families, self._shards.arities, limit)

    def _count(self, families: FamilyBatch) -> FamilyCounts:
        """Request the counts of families, in one round trip."""
        if self._shards.is_closed:
            raise ParameterError(
                "These shards are closed. Score families inside 'with open_shards(...)'."
            )
        return self._shards.count_families(families, self.threads)

    def _count_triples(self, triples: TripleBatch) -> Iterator[CountedTriples]:
        """Request the counts of triples, one round trip for each part of the batch."""
        for first, last in split_into_batches(self._find_offsets(triples), CELLS_PER_BATCH):
            check_deadline()
            part = triples.slice(first, last)
            counts = self._count(part)
            rows = {}
            for number, distinct in counts.distinct.items():
                members = part.members[part.start[number] : part.start[number + 1]]
                rows[number] = self._index_distinct(members, distinct)
            sums = TableSums(self._find_offsets(part), counts.unpack())
            yield CountedTriples(self._shards.facts, part, sums, rows)

    def _count_and_score(self, families: FamilyBatch) -> NDArray[np.float64]:
        """Request the counts of families, in one round trip; return their scores."""
        counts = self._count(families)
        members, start = families.members, families.start
        sums = TableSums(self._find_offsets(families), counts.unpack())
        scores = np.empty(len(families))

        def score_part(first: int, last: int, number: int) -> None:
            where = (self._shards.facts, members, start, sums)
            score_tables(*where, self._spec, first, last, self._scratch[number], scores)

        self.threads.run_in_parts(score_part, len(families), SMALLEST_PART)
        for family, distinct in counts.distinct.items():
            family_members = members[start[family] : start[family + 1]]
            scores[family] = self._score_sparse(family_members, distinct)
        return scores

    def _index_distinct(
        self, members: NDArray[np.int32], distinct: DistinctRows
    ) -> tuple[CountIndex, NDArray[np.int32]]:
        """Return the configurations that occur as weighted rows, and the variables there."""
        index = make_count_index(self._shards.facts[members], distinct.codes, distinct.counts)
        return index, np.arange(len(members), dtype=np.int32)

    def _score_sparse(self, members: NDArray[np.int32], distinct: DistinctRows) -> float:
        """Score a family from the configurations that occur."""
        index, variables = self._index_distinct(members, distinct)
        none = np.empty((0, 0), dtype=np.int32)
        sparse, unknown = np.full(1, SPARSE, dtype=np.int8), np.empty(0, dtype=np.int64)
        start = np.array([0, len(members)])
        batch = BatchPlan(variables, start, variables, sparse, unknown, none, none)
        scores = np.empty(1)
        scratch = make_sparse_scratch(index.codes.shape[1])
        evaluate_sparse(index, self._spec, batch, 0, 1, scratch, scores)
        return float(scores[0])
