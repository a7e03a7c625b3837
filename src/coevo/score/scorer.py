"""Families in, local scores out: the one door between a search and the data.

`FamilyScorer` looks each family up in its cache, counts and scores the rest in batches,
on one thread or several, and never lets a search see a row. Every way of counting gives
the same integers, and they are summed in the same order, so that threads, batch sizes and
what was asked before change nothing but the time. A scorer may be shared by threads; they
take turns.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from coevo.checks import is_int, is_number
from coevo.data import Dataset, leave_out
from coevo.errors import DataError, bad_parameter
from coevo.graph import DAG, Arc
from coevo.score.arc_weights import ArcWeights
from coevo.score.cache import CacheStatistics, FamilyCache
from coevo.score.counting import (
    build_index,
    dense_limit,
    forget,
    new_known,
    new_scratch,
    state_counts,
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
    plan,
)
from coevo.score.scores import Score, make_score
from coevo.score.sparse_kernels import evaluate_sparse
from coevo.threads import Threads

__all__ = ["FamilyScorer"]

MAX_ROWS = 2**32 - 1  # a count takes 32 bits
KNOWN_CELLS = 1 << 21  # of tables shared by families: 8 MiB
CACHE_BYTES = 1 << 28
LARGEST_BATCH = 1 << 16
CELLS_A_STEP = 1 << 32  # rows, or cells of a table, times families between two interrupts
SMALLEST_PART = 64  # families that are worth a thread


class FamilyScorer:
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
        for name, value, least in (("n_jobs", n_jobs, 1), ("cache_bytes", cache_bytes, 0)):
            if not is_int(value, least):
                raise bad_parameter(name, "FamilyScorer", f"an int >= {least}", value)
        if dataset.n_rows > MAX_ROWS:
            raise DataError(f"The table has more than {MAX_ROWS:,} rows. Take a sample of them.")
        self._dataset = dataset
        self._score = make_score(score, ess, "FamilyScorer")
        self._spec = self._score.spec(dataset.n_rows, int(dataset.arities.max()))
        if not (is_number(parent_penalty) and parent_penalty >= 0):
            expected = "a number >= 0"
            raise bad_parameter("parent_penalty", "FamilyScorer", expected, parent_penalty)
        self.parent_penalty = float(parent_penalty)
        self._weights = None
        if weights or parent_penalty:
            self._weights = ArcWeights.of(weights or {}, dataset.names, parent_penalty)
        self._singles = state_counts(dataset)
        self._index = build_index(dataset, self._singles)
        self._cache_bytes = int(cache_bytes)
        self.threads = Threads(int(n_jobs))
        self._lock = threading.Lock()
        self._start_over()

    def _start_over(self) -> None:
        """Take new memory for all that a batch writes to.

        After an interrupt the old may hold promises that were never kept, and threads may
        still be writing to it.
        """
        self._known = new_known(self._singles, KNOWN_CELLS)
        self._scratch = [new_scratch(self._dataset) for _ in range(self.threads.n)]
        self._cache = FamilyCache(self._dataset.n_variables, self._cache_bytes)
        self._is_sound = True

    @property
    def dataset(self) -> Dataset:
        """The observations."""
        return self._dataset

    @property
    def scoring(self) -> Score:
        """The score that is computed."""
        return self._score

    @property
    def weights(self) -> dict[Arc, float]:
        """The log prior of some arcs, which counts in every score."""
        return {} if self._weights is None else dict(self._weights.arcs)

    @property
    def favours_arcs(self) -> bool:
        """Whether an arc can gain by its weight alone, whatever the data say."""
        return self._weights is not None and self._weights.any_bonus

    def statistics(self) -> CacheStatistics:
        """Return how many families were asked for and how many had to be computed."""
        return self._cache.statistics()

    def memory(self) -> int:
        """Return how many bytes it holds at most, the data among them."""
        arrays = [*self._index, *self._known[:3], *(a for own in self._scratch for a in own)]
        return self._cache_bytes + sum(int(array.nbytes) for array in arrays)

    def local_scores(self, batch: FamilyBatch) -> NDArray[np.float64]:
        """Return the local score of each family of a batch, in its order."""
        batch.check_starts()
        scores = np.empty(len(batch))
        with self._lock:
            if not self._is_sound:
                self._start_over()
            self._is_sound = False  # until all is done: an interrupt may come at any line
            for first in range(0, len(batch), LARGEST_BATCH):
                last = min(first + LARGEST_BATCH, len(batch))
                start = batch.start[first : last + 1]
                part = FamilyBatch(batch.members[start[0] : start[-1]], start - start[0])
                entries, new = self._cache.find(part)
                computed = self._compute(new)
                if self._weights is not None:
                    computed += self._weights.of_families(new)
                self._cache.keep(computed)
                scores[first:last] = self._cache.scores(entries)
            self._is_sound = True
        return scores

    def local_score(self, child: str, parents: Iterable[str] = ()) -> float:
        """Return the local score of one family, by name."""
        position = self._dataset.position
        pair = (position(child), {position(parent) for parent in parents})
        return float(self.local_scores(FamilyBatch.from_pairs([pair]))[0])

    def per_variable(self, dag: DAG) -> dict[str, float]:
        """Return the local score of each variable of `dag`, by name, in canonical order."""
        self.check_variables(dag)
        names, position = self._dataset.names, self._dataset.position
        pairs = [(position(name), map(position, dag.parents(name))) for name in names]
        scores = self.local_scores(FamilyBatch.from_pairs(pairs))
        return dict(zip(names, scores.tolist(), strict=True))

    def score(self, dag: DAG) -> float:
        """Return the score of a DAG: the sum of its local scores."""
        return math.fsum(self.per_variable(dag).values())

    def check_variables(self, dag: DAG) -> None:
        """Raise `DataError` unless structure and data have the same variables."""
        columns, nodes = set(self._dataset.names), set(dag.nodes)
        if nodes - columns:
            raise DataError(
                f"The data have no column {_first(nodes - columns)} of the structure. "
                "Both must have the same variables."
            )
        if columns - nodes:
            raise DataError(
                f"The structure has no variable {_first(columns - nodes)} of the data. "
                f"Leave the column out ({leave_out(min(columns - nodes))})."
            )

    def _compute(self, families: FamilyBatch) -> NDArray[np.float64]:
        """Count and score families that are not in the cache."""
        n = len(families)
        scores = np.empty(n)
        batch = Batch(
            members=families.members,
            start=families.start,
            variables=np.empty_like(families.members),
            method=np.empty(n, dtype=np.int8),
            known=np.empty(n, dtype=np.int64),
            new_pairs=np.empty((n, 2), dtype=np.int32),
            new_triples=np.empty((n, 3), dtype=np.int32),
        )
        first = 0
        while first < n:
            limit = dense_limit(self._dataset)
            last, n_pairs, n_triples = plan(self._index, batch, self._known, first, limit)
            self._evaluate(_tables(batch.new_pairs[:n_pairs]), 0, n_pairs, scores)
            self._evaluate(_tables(batch.new_triples[:n_triples]), 0, n_triples, scores)
            self._evaluate(batch, first, last, scores)
            if last < n:
                forget(self._known)
            first = last
        return scores

    def _evaluate(self, batch: Batch, first: int, last: int, scores: NDArray[np.float64]) -> None:
        """Evaluate families in steps, each on all threads; interrupts come between them."""
        index, spec, known = self._index, self._spec, self._known
        methods = np.unique(batch.method[first:last])

        cost = max(self._dataset.codes.shape[1], dense_limit(self._dataset))
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


def _first(names: set[str]) -> str:
    """Return the first name, and how many more there are."""
    more = f" (and {len(names) - 1} more)" if len(names) > 1 else ""
    return f"{min(names)!r}{more}"


def _tables(new: NDArray[np.int32]) -> Batch:
    """Return the tables that `plan` asked for as a batch that `evaluate` takes."""
    n, k = new.shape
    variables = np.ascontiguousarray(new).reshape(-1)
    start = np.arange(0, n * k + 1, k)
    keep, none = np.full(n, KEEP, dtype=np.int8), np.empty(0, dtype=np.int64)
    return Batch(variables, start, variables, keep, none, new, new)
