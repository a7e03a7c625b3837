"""Scorers and islands whose work is done elsewhere: on the workers of a cluster, or in shards.

**Many variables.** A cluster scores the families of a batch, grouped by child
(`DistributedScorer`). Every worker holds the complete table and its own scorer. A batch is split
into one part per thread of the cluster. Families of the same child stay together, because they
share counts. One round trip sends the families and returns the scores. Tests of independence are
split and sent in the same way, by their first variable. A batch that takes no longer than a round
trip is computed in this process.

**Many rows.** The rows are in shards, on the disk of this machine or on the workers of a cluster
(`ShardedScorer`). The scorer sends a batch of families to all shards and receives the sums of their
counts. The kernels that score a table in memory score these sums. The scores are equal to the last
bit.

**Islands.** One epoch of one island is one job (`DaskIslands`). The table is sent once. Each worker
makes its own scorer from it and keeps that scorer from epoch to epoch. A job takes the state of an
island and returns its next state.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any, Self, Unpack

import numpy as np
from numpy.typing import NDArray

from coevo.data import Dataset
from coevo.engine import INT, array, kernel, read_array
from coevo.errors import ParameterError, bad_parameter
from coevo.options import ScorerOptions
from coevo.parallel.shards import CELLS_PER_BATCH, DistinctRows, FamilyCounts, Shards
from coevo.parallel.workers import Cluster, Workers, check_workers, open_workers
from coevo.runtime.deadline import check_deadline
from coevo.score import FamilyBatch, FamilyScorer, Score, TripleBatch
from coevo.score.base import Scorer
from coevo.score.counting import (
    compute_dense_limit,
    compute_table_offsets,
    make_count_index,
    make_scratch,
    split_into_batches,
)
from coevo.score.independence import TESTS, CountedTriples, Numbers
from coevo.score.kernels import (
    SPARSE,
    BatchPlan,
    CountIndex,
    ScoreSpec,
    Scratch,
    TableSums,
    evaluate_sparse,
    make_sparse_scratch,
)
from coevo.search import CCMAState, Islands
from coevo.search.islands import Epoch, Island
from coevo.signatures import accept_options

__all__ = ["DaskIslands", "DistributedScorer", "ShardedScorer", "distribute_islands"]


@kernel(
    read_array(np.int64, 2),
    read_array(np.int32),
    read_array(np.int64),
    TableSums,
    ScoreSpec,
    INT,
    INT,
    Scratch,
    array(np.float64),
)
def score_tables(
    facts: NDArray[np.int64],
    members: NDArray[np.int32],
    start: NDArray[np.int64],
    sums: TableSums,
    spec: ScoreSpec,
    first: int,
    last: int,
    scratch: Scratch,
    scores: NDArray[np.float64],
) -> None:
    """Overwrite ``scores[f]`` of the families from `first` to before `last` that have a table.

    The scores are equal, to the last bit, to those of the same rows in one place.
    """


@contextlib.contextmanager
def distribute_islands(method: Islands, *, cluster: Cluster = None) -> Iterator[Islands]:
    """Yield a method whose islands evolve on a cluster. The result is the same.

    Parameters
    ----------
    method : Islands
        The settings.
    cluster : str or distributed.Client, optional
        The cluster; see `bootstrap_strength`. Without one, the islands evolve in this process.

    Examples
    --------
    >>> import coevo
    >>> rows = coevo.sample(coevo.load_network("asia"), 500, random_state=1)
    >>> scorer = coevo.FamilyScorer(rows, "k2")
    >>> limit = coevo.Budget(max_generations=2)
    >>> islands = coevo.Islands(islands=2)
    >>> with coevo.parallel.distribute_islands(islands) as method:  # cluster="local:2"
    ...     result = coevo.run_search(method, scorer, budget=limit, random_state=7)
    >>> result.settings["islands"]
    2
    """
    if not isinstance(method, Islands):
        raise bad_parameter("method", "distribute_islands", "Islands", method)
    check_workers("distribute_islands", 1, cluster)
    if cluster is None:
        yield method
        return
    with open_workers(cluster=cluster) as workers:
        yield replace(method, runner=DaskIslands(workers))


@dataclass(frozen=True)
class DaskIslands:
    """A runner that evolves islands on workers."""

    workers: Workers

    def __call__(self, epoch: Epoch, islands: Sequence[Island]) -> list[CCMAState]:
        """Return the state of each island at the end of an epoch."""
        scorer = epoch.problem.scorer
        if type(scorer) is not FamilyScorer:
            raise ParameterError(
                "Islands on a cluster need a FamilyScorer, because each worker holds the complete "
                f"table; got a {type(scorer).__name__}. Leave out the cluster of the islands."
            )
        jobs = list(enumerate(islands))
        states = dict(self.workers.run(_evolve_island, jobs, shared=(epoch,)))
        return [states[number] for number in range(len(islands))]


def _evolve_island(epoch: Epoch, job: tuple[int, Island]) -> tuple[int, CCMAState]:
    """Evolve an island for one epoch, on a worker."""
    number, island = job
    return number, epoch(island)


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
    **options
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


SMALLEST_PART = 64  # the fewest families for which a thread pays off


class ShardedScorer(Scorer):
    """Computes local scores of families from rows in shards, in batches, and caches them.

    Parameters
    ----------
    shards : Shards
        The observations; see `open_shards`.
    score, **options
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
