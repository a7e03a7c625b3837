"""Scoring for many variables: a cluster scores the families of a batch, grouped by child.

Every worker holds the complete table and its own scorer. A batch is split into one part per
thread of the cluster. Families of the same child stay together, because they share counts. One
round trip sends the families and returns the scores. A batch that takes no longer than a round
trip is scored in this process.
"""

from __future__ import annotations

import contextlib
from types import TracebackType
from typing import Any, Self, Unpack

import numpy as np
from numpy.typing import NDArray

from coevo.data import Dataset
from coevo.errors import bad_parameter
from coevo.parallel.workers import Cluster, check_workers
from coevo.score import FamilyBatch, FamilyScorer, Score
from coevo.score.base import ScorerOptions

__all__ = ["DistributedScorer"]

MIN_WORK_TO_SEND = 1 << 24  # rows times families; about ten milliseconds of one thread


class DistributedScorer(FamilyScorer):
    """Local scores of families, computed by a cluster. They equal those of `FamilyScorer` exactly.

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
    ess, cache_bytes, weights, parent_penalty, max_table
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
        if not len(families) or len(families) * self.dataset.n_rows < MIN_WORK_TO_SEND:
            return super()._compute(families)
        workers = self._workers
        by_child = np.argsort(families.members[families.start[:-1]], kind="stable")
        n_parts = min(len(families), max(1, workers.n_threads))
        parts = np.array_split(by_child, n_parts)
        jobs: list[tuple[Any, ...]] = [(self._remote_scorer, families.take(part)) for part in parts]
        futures = workers.submit_all(_score_families, jobs)
        scores = np.empty(len(families))
        for part, future in zip(parts, futures, strict=True):
            scores[part] = workers.get_result(future)
        self.round_trips += 1
        return scores


def _score_families(scorer: FamilyScorer, families: FamilyBatch) -> NDArray[np.float64]:
    """Score families, on a worker."""
    return scorer.local_scores(families)
