"""Local scores from a table in memory: the one door between a search and the data.

`FamilyScorer` counts and scores families in batches, on one thread or several, and never
lets a search see a row. Every way of counting gives the same integers, and they are summed
in the same order, so that threads, batch sizes and what was asked before change nothing but
the time.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coevo.data import Dataset
from coevo.errors import bad_parameter
from coevo.graph import Arc
from coevo.score.base import CACHE_BYTES, Scorer
from coevo.score.counting import (
    build_index,
    dense_limit,
    new_known,
    new_scratch,
    plan_batches,
)
from coevo.score.families import FamilyBatch
from coevo.score.family_kernels import (
    ALL_ROWS,
    BY_LEVELS,
    KEEP,
    SPARSE,
    Batch,
    evaluate_all_rows,
    evaluate_by_levels,
)
from coevo.score.scores import Score
from coevo.score.sparse_kernels import evaluate_sparse

__all__ = ["FamilyScorer"]

KNOWN_CELLS = 1 << 21  # of tables shared by families: 8 MiB
CELLS_A_STEP = 1 << 32  # rows, or cells of a table, times families between two interrupts
SMALLEST_PART = 64  # families that are worth a thread


class FamilyScorer(Scorer):
    """Local scores of families, computed in batches and remembered.

    Parameters
    ----------
    dataset : Dataset
        The observations.
    score : str or Score
        Which score; ``'bdeu'`` if left out.
    ess : float, optional
        Equivalent sample size of ``'bdeu'`` and ``'bds'``.
    n_jobs : int
        Number of threads. It changes nothing but the time.
    cache_bytes : int
        Limit of the memory for scores that are kept, or what one batch needs if that is
        more.
    weights : mapping of (parent, child) to float, optional
        The log prior of some arcs, which is added to the local score of each family that
        has them. Above 0 favours an arc, below 0 makes it pay.
    parent_penalty : float
        What each parent costs, in nats: a log prior that every arc has.

    Examples
    --------
    >>> from coevo.data import read_data
    >>> from coevo.graph import DAG
    >>> table = np.array([[0, 0], [0, 0], [1, 1], [1, 1]])
    >>> scorer = FamilyScorer(read_data(table, names=["a", "b"]), "k2")
    >>> round(scorer.local_score("b", ["a"]), 4)
    -2.1972
    >>> scorer.score(DAG(["a", "b"], [("a", "b")])) > scorer.score(DAG(["a", "b"]))
    True
    """

    def __init__(
        self,
        dataset: Dataset,
        score: str | Score = "bdeu",
        *,
        ess: float | None = None,
        n_jobs: int = 1,
        cache_bytes: int = CACHE_BYTES,
        weights: Mapping[Arc, float] | None = None,
        parent_penalty: float = 0.0,
    ) -> None:
        if not isinstance(dataset, Dataset):
            raise bad_parameter("dataset", "FamilyScorer", "a Dataset (see read_data)", dataset)
        super().__init__(dataset, score, ess, n_jobs, cache_bytes, weights, parent_penalty)
        self._dataset = dataset
        self._index = build_index(dataset)
        self._start_over()

    def __reduce__(self) -> tuple[Any, ...]:
        """Say what it is made of: another process makes its own index, cache and threads."""
        kind = type(self)
        if kind is not FamilyScorer:
            raise TypeError(f"A {kind.__name__} stays in its process.")
        made = partial(
            kind,
            n_jobs=self.threads.n,
            cache_bytes=self._cache_bytes,
            weights=self.weights,
            parent_penalty=self.parent_penalty,
        )
        return made, (self._dataset, self._score)

    def _start_over(self) -> None:
        self._known = new_known(self._dataset.state_counts, KNOWN_CELLS)
        self._scratch = [new_scratch(self._dataset) for _ in range(self.threads.n)]
        super()._start_over()

    @property
    def dataset(self) -> Dataset:
        """The observations."""
        return self._dataset

    def memory(self) -> int:
        """Return how many bytes it holds at most, the data among them."""
        arrays = [*self._index, *self._known[:3], *(a for own in self._scratch for a in own)]
        return self._cache_bytes + sum(int(array.nbytes) for array in arrays)

    def _compute(self, families: FamilyBatch) -> NDArray[np.float64]:
        """Count and score families that are not in the cache."""
        scores = np.empty(len(families))
        limit = dense_limit(self._dataset.n_rows)
        for batch, first, last in plan_batches(self._index, families, self._known, limit):
            self._evaluate(batch, first, last, scores)
        return scores

    def _evaluate(self, batch: Batch, first: int, last: int, scores: NDArray[np.float64]) -> None:
        """Evaluate families in steps, each on all threads; interrupts come between them."""
        index, spec, known = self._index, self._spec, self._known
        methods = np.unique(batch.method[first:last])

        cost = max(self._dataset.codes.shape[1], dense_limit(self._dataset.n_rows))
        step = max(SMALLEST_PART, CELLS_A_STEP // cost)
        for beginning in range(first, last, step):

            def part(begin: int, end: int, number: int, offset: int = beginning) -> None:
                begin, end, scratch = offset + begin, offset + end, self._scratch[number]
                if BY_LEVELS in methods or KEEP in methods:
                    evaluate_by_levels(index, spec, batch, begin, end, known, scratch, scores)
                if ALL_ROWS in methods:
                    evaluate_all_rows(index, spec, batch, begin, end, scratch, scores)
                if SPARSE in methods:
                    evaluate_sparse(index, spec, batch, begin, end, scores)

            self.threads.in_parts(part, min(step, last - beginning), SMALLEST_PART)
