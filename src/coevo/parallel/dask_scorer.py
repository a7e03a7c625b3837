"""Scoring for many variables: a cluster scores the families of a batch, grouped by child.

Every worker holds the complete table and its own scorer. A batch is split into one part per
thread of the cluster. Families of the same child stay together, because they share counts. One
round trip sends the families and returns the scores. Tests of independence are split and sent in
the same way, by their first variable. A batch that takes no longer than a round trip is computed in
this process.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self, Unpack

import numpy as np
from numpy.typing import NDArray

from coevo.data import Dataset
from coevo.errors import bad_parameter
from coevo.options import ScorerOptions
from coevo.parallel.workers import Cluster, check_workers
from coevo.score import FamilyBatch, FamilyScorer, Score, TripleBatch
from coevo.score.independence import TESTS, Numbers

__all__ = ["DistributedScorer"]

MIN_WORK_TO_SEND = 1 << 24  # rows times families; about ten milliseconds of one thread


class DistributedScorer(FamilyScorer):
    """Local scores and tests of independence, computed by a cluster, exactly as by `FamilyScorer`.

    Use it in a ``with`` statement or call `close`: this closes everything that the scorer opened.
    A client passed by the caller stays open.

    Parameters
    ----------
    dataset : Dataset
        The observations. They are sent to each worker once.
    score : str or Score
        The score; ``'bdeu'`` by default.
    cluster : str or distributed.Client
        The cluster; see `bootstrap_strength`.
    ess, cache_bytes, weights, parent_penalty, sparse_penalty, max_table
        As for `FamilyScorer`. The cache is in this process.

    Examples
    --------
    >>> import coevo
    >>> rows = coevo.sample(coevo.load_network("asia"), 500, random_state=1)
    >>> from coevo.parallel import DistributedScorer
    >>> with DistributedScorer(rows, "k2", cluster="local:2") as scorer:  # doctest: +SKIP
    ...     result = coevo.run_search("hill_climb", scorer, random_state=7)
    """

    def __init__(
        self,
        dataset: Dataset,
        score: str | Score = "bdeu",
        *,
        cluster: Cluster,
        **options: Unpack[ScorerOptions],
    ) -> None:
        if cluster is None:
            raise bad_parameter("cluster", "DistributedScorer", "an address or a Client", cluster)
        check_workers("DistributedScorer", 1, cluster)
        super().__init__(dataset, score, **options)
        from coevo.parallel.dask_jobs import open_dask_workers

        self.round_trips = 0
        self._opened = contextlib.ExitStack()
        self._workers = self._opened.enter_context(open_dask_workers(cluster))
        # Without weights, which are added in this process, and without a cache beyond a batch.
        self._remote_scorer = self._workers.share(FamilyScorer(dataset, self._score, cache_bytes=0))

    def close(self) -> None:
        """Close everything that the scorer opened."""
        self._remote_scorer = None
        self._opened.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _compute(self, families: FamilyBatch) -> NDArray[np.float64]:
        """Score families that are not in the cache; use the workers for a large batch."""
        if self._is_small(families):
            return super()._compute(families)
        scores = np.empty(len(families))
        for part, found in self._run_on_workers(_score_families, families, ()):
            scores[part] = found
        return scores

    def _measure_triples(self, triples: TripleBatch, kind: int) -> tuple[Numbers, Numbers]:
        """Return statistics and degrees of freedom; use the workers for a large batch."""
        if self._is_small(triples):
            return super()._measure_triples(triples, kind)
        statistics, freedoms = np.empty(len(triples)), np.empty(len(triples))
        for part, found in self._run_on_workers(_test_triples, triples, (kind,)):
            statistics[part], freedoms[part] = found
        return statistics, freedoms

    def _is_small(self, batch: FamilyBatch) -> bool:
        """Return whether a round trip takes longer than the batch."""
        return not len(batch) or len(batch) * self.dataset.n_rows < MIN_WORK_TO_SEND

    def _run_on_workers(
        self, function: Callable[..., Any], batch: FamilyBatch, arguments: tuple[Any, ...]
    ) -> list[tuple[NDArray[np.int64], Any]]:
        """Return which families or triples each part of a batch has, and its results."""
        workers = self._workers
        by_first = np.argsort(batch.members[batch.start[:-1]], kind="stable")
        n_parts = min(len(batch), max(1, workers.n_threads))
        parts = np.array_split(by_first, n_parts)
        jobs = [(self._remote_scorer, batch.take(part), *arguments) for part in parts]
        futures = workers.submit_all(function, jobs)
        results = [workers.get_result(future) for future in futures]
        self.round_trips += 1
        return list(zip(parts, results, strict=True))


def _score_families(scorer: FamilyScorer, families: FamilyBatch) -> NDArray[np.float64]:
    """Score families, on a worker."""
    return scorer.local_scores(families)


def _test_triples(scorer: FamilyScorer, triples: FamilyBatch, kind: int) -> tuple[Numbers, Numbers]:
    """Run tests of independence, on a worker."""
    test = next(name for name, number in TESTS.items() if number == kind)
    found = scorer.test_triples(TripleBatch(triples.members, triples.start), test)
    return found.statistics, found.degrees_of_freedom
