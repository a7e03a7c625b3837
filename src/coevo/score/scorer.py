"""Local scores from a table in memory: the only way from a search to the data.

`FamilyScorer` counts and scores families in batches, on one or more threads. A search never
sees a row. All counting methods give the same counts (sufficient statistics), and the terms of
a score are added in the same order. Threads, batch sizes and earlier requests therefore change
the time and never a score.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from coevo.data import Dataset, as_dataset
from coevo.options import ScorerOptions
from coevo.runtime.deadline import check_deadline
from coevo.score.base import Scorer
from coevo.score.counting import (
    build_index,
    compute_dense_limit,
    compute_table_offsets,
    make_scratch,
    make_shared_tables,
    plan_batches,
    split_into_batches,
)
from coevo.score.families import FamilyBatch
from coevo.score.independence import CountedTriples, TripleBatch
from coevo.score.kernels import (
    BITS,
    SPARSE,
    BatchPlan,
    TableSums,
    count_shared_tables,
    evaluate_families,
    evaluate_sparse,
    make_sparse_scratch,
    measure_pairs,
)
from coevo.score.scores import Score
from coevo.signatures import accept_options

__all__ = ["FamilyScorer"]

SHARED_CELLS = 1 << 21  # cells of the tables that families share: 8 MiB
CELLS_PER_STEP = 1 << 28  # rows or cells, times families, between two checks of the deadline
SMALLEST_PART = 64  # the fewest families for which a thread pays off,
PART_CELLS = 1 << 19  # and their rows together: some 0.2 ms of work
KEPT_ROWS = 1 << 16  # working memory for so few rows is kept: 4 MiB for each thread
CELLS_PER_COUNT = 1 << 22  # cells that are counted before they are tested: 16 MiB
NO_SUMS = TableSums(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.uint32))
NO_SCORES = np.empty(0)


class FamilyScorer(Scorer):
    """Computes local scores of families in batches and caches them.

    Parameters
    ----------
    table : path, data frame, array or Dataset
        The observations. Any other table than a Dataset is read as `learn` reads it; a missing
        value is an error.
    score : str or Score
        The score (default: ``'bdeu'``).
    ess : float, optional
        Equivalent sample size of ``'bdeu'`` and ``'bds'``.
    n_jobs : int
        Number of threads. It changes the time and never a score.
    cache_bytes : int
        Memory limit of the cache. A batch that needs more gets more.
    weights : mapping of (parent, child) to float, optional
        The log prior of some arcs. It is added to the local score of each family that has
        the arc. A weight above 0 favours an arc, a weight below 0 penalises it.
    parent_penalty : float
        Penalty for each parent, in nats: a log prior that every arc has.
    sparse_penalty : float
        Cost of tables with few rows, as a multiple of the regret of the child: see
        `coevo.score.penalties`.
    max_table : int, optional
        Maximum number of cells of the table of a variable with parents (default: no limit). A
        family with a larger table scores minus infinity, so that no search chooses it.

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

    @accept_options(ScorerOptions)
    def __init__(
        self, table: Any, score: str | Score = "bdeu", **options: Unpack[ScorerOptions]
    ) -> None:
        dataset = as_dataset(table)
        super().__init__(dataset, score, **options)
        self._dataset = dataset
        self._index = build_index(dataset)
        self._start_over()

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle only the arguments: another process builds its own index, cache and threads."""
        kind = type(self)
        if kind is not FamilyScorer:
            raise TypeError(f"A {kind.__name__} cannot be sent to another process.")
        return partial(kind, **self._options), (self._dataset, self._score)

    def _start_over(self) -> None:
        dataset = self._dataset
        self._shared = make_shared_tables(dataset.state_counts, dataset.arities, SHARED_CELLS)
        self._scratch = [make_scratch(self._dataset) for _ in range(self.threads.n)]
        n_stored = self._index.codes.shape[1]
        is_small = n_stored <= KEPT_ROWS  # then making it takes as long as scoring a family
        self._sparse_scratch = [
            make_sparse_scratch(n_stored) if is_small else None for _ in self._scratch
        ]
        super()._start_over()

    @property
    def dataset(self) -> Dataset:
        """The observations."""
        return self._dataset

    def estimate_memory(self) -> int:
        """Return the largest number of bytes that the scorer holds, including the data."""
        kept = [scratch for scratch in self._sparse_scratch if scratch]
        scratch = [array for scratch in [*self._scratch, *kept] for array in scratch]
        shared = [self._shared.slots, self._shared.pool, self._shared.used]
        arrays = [*self._index, *shared, *scratch]
        return self._cache_bytes + sum(int(array.nbytes) for array in arrays)

    def _compute(self, families: FamilyBatch) -> NDArray[np.float64]:
        """Count and score families that are not in the cache."""
        scores = np.empty(len(families))
        limit = compute_dense_limit(self._dataset.n_rows)
        for part in plan_batches(self._index, families, self._shared, limit):
            self._evaluate(*part, NO_SUMS, scores)
        return scores

    def measure_pairs(self, children: Sequence[int]) -> Iterator[NDArray[np.float64]]:
        """Return for each child the log likelihood that each variable alone adds to it.

        A pair takes some tens of nanoseconds if all variables have bit sets, else a microsecond.
        """
        dataset = self._dataset
        if (self._index.facts[:, BITS] < 0).any():
            yield from super().measure_pairs(children)
            return
        counts = np.arange(dataset.n_rows + 1, dtype=np.float64)
        x_log_x = counts * np.log(np.maximum(counts, 1.0))
        singles = np.concatenate(dataset.state_counts).astype(np.uint32)
        column = np.empty(int(dataset.arities.max()), dtype=np.int64)
        for child in children:
            check_deadline()
            gains = np.empty(dataset.n_variables)
            measure_pairs(self._index, singles, x_log_x, child, column, gains)
            yield gains

    def _count_triples(self, triples: TripleBatch) -> Iterator[CountedTriples]:
        """Count the triples of a batch, part by part, in their order."""
        arities, limit = self._dataset.arities, compute_dense_limit(self._dataset.n_rows)
        offsets = compute_table_offsets(triples, arities, limit)
        for low, high in split_into_batches(offsets, CELLS_PER_COUNT):
            part = triples.slice(low, high)
            begin = offsets[low : high + 1] - offsets[low]
            sums = TableSums(begin, np.zeros(int(begin[-1]), dtype=np.uint32))
            for step in plan_batches(self._index, part, self._shared, limit):
                self._evaluate(*step, sums)
            rows = {
                number: (self._index, part.members[part.start[number] : part.start[number + 1]])
                for number in np.flatnonzero(np.diff(begin) == 0).tolist()
            }
            yield CountedTriples(self._index.facts, part, sums, rows)

    def _evaluate(
        self,
        batch: BatchPlan,
        size: int,
        first: int,
        last: int,
        sums: TableSums,
        scores: NDArray[np.float64] | None = None,
    ) -> None:
        """Score families, or add up their tables, in steps, each on all threads.

        With a `size`, count shared tables. An interrupt or the deadline stops between steps.
        """
        index, spec, shared = self._index, self._spec, self._shared
        has_sparse = False
        if not size and scores is not None:
            has_sparse = bool((batch.method[first:last] == SPARSE).any())
        target = NO_SCORES if scores is None else scores
        cost = max(self._dataset.codes.shape[1], compute_dense_limit(self._dataset.n_rows))
        step = max(SMALLEST_PART, CELLS_PER_STEP // cost)
        least = max(SMALLEST_PART, PART_CELLS // max(1, self._dataset.codes.shape[1]))
        for beginning in range(first, last, step):
            check_deadline()

            def evaluate_part(begin: int, end: int, number: int, offset: int = beginning) -> None:
                begin, end, scratch = offset + begin, offset + end, self._scratch[number]
                if size:
                    count_shared_tables(index, batch, size, begin, end, shared, scratch)
                    return
                work = (index, spec, batch, begin, end)
                evaluate_families(*work, shared, scratch, sums, target)
                if has_sparse:
                    kept = self._sparse_scratch[number]
                    own = kept or make_sparse_scratch(index.codes.shape[1])
                    evaluate_sparse(*work, own, target)

            self.threads.run_in_parts(evaluate_part, min(step, last - beginning), least)
