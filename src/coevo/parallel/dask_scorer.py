"""Many variables: the families of a batch are scored on a cluster, spread by child.

Every worker holds the whole table and a scorer of its own. A batch goes out in one part for
each thread of the cluster, families of the same child together, because they share counts;
scores come back, in one round trip. A batch that takes no longer than that is scored here.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from coevo.data import Dataset
from coevo.errors import bad_parameter
from coevo.graph import Arc
from coevo.parallel.workers import Cluster, check_workers
from coevo.score import FamilyBatch, FamilyScorer, Score
from coevo.score.base import CACHE_BYTES

__all__ = ["DistributedScorer"]

WORTH_SENDING = 1 << 24  # rows times families; some ten milliseconds of one thread


class DistributedScorer(FamilyScorer):
    """Local scores of families, computed by a cluster; those of `FamilyScorer` to the last bit.

    Use it in a ``with`` statement, which ends what was opened for it, or call `close`; a client
    that was given stays open.

    Parameters
    ----------
    dataset : Dataset
        The observations, which are sent to each worker once.
    score : str or Score
        Which score; ``'bdeu'`` if left out.
    cluster : str or distributed.Client
        The cluster; see `strength`.
    ess, cache_bytes, weights, parent_penalty
        As for `FamilyScorer`. The cache is here.

    Examples
    --------
    >>> import coevo
    >>> rows = coevo.sample(coevo.load_network("asia"), 500, random_state=1)
    >>> with coevo.DistributedScorer(rows, "k2", cluster="local:2") as scorer:  # doctest: +SKIP
    ...     found = coevo.run_search("hill_climb", scorer, random_state=7)
    """

    def __init__(
        self,
        dataset: Dataset,
        score: str | Score = "bdeu",
        *,
        cluster: Cluster,
        ess: float | None = None,
        cache_bytes: int = CACHE_BYTES,
        weights: Mapping[Arc, float] | None = None,
        parent_penalty: float = 0.0,
    ) -> None:
        if cluster is None:
            raise bad_parameter("cluster", "DistributedScorer", "an address or a Client", cluster)
        check_workers("DistributedScorer", 1, cluster)
        super().__init__(
            dataset,
            score,
            ess=ess,
            cache_bytes=cache_bytes,
            weights=weights,
            parent_penalty=parent_penalty,
        )
        from coevo.parallel.dask_jobs import open_dask

        self.round_trips = 0
        self._opened = contextlib.ExitStack()
        self._workers = self._opened.enter_context(open_dask(cluster))
        # Without weights, which are added here, and with a cache as small as a batch.
        self._there = self._workers.given(FamilyScorer(dataset, self._score, cache_bytes=0))

    def close(self) -> None:
        """End what was opened for it."""
        self._there = None
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
        """Score families that are not in the cache, on the workers if that is worth while."""
        if not len(families) or len(families) * self.dataset.n_rows < WORTH_SENDING:
            return super()._compute(families)
        workers = self._workers
        by_child = np.argsort(families.members[families.start[:-1]], kind="stable")
        n_parts = min(len(families), max(1, workers.n_threads))
        parts = np.array_split(by_child, n_parts)
        jobs: list[tuple[Any, ...]] = [(self._there, families.chosen(part)) for part in parts]
        futures = workers.submit_all(_scores, jobs)
        scores = np.empty(len(families))
        for part, future in zip(parts, futures, strict=True):
            scores[part] = workers.result(future)
        self.round_trips += 1
        return scores


def _scores(scorer: FamilyScorer, families: FamilyBatch) -> NDArray[np.float64]:
    """Score families, on a worker."""
    return scorer.local_scores(families)
