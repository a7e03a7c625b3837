"""The base class of all scorers: it takes families and returns their local scores.

A `Scorer` looks up each family in its cache. It computes the missing families in batches. Each
subclass decides how, because each has its rows in another place. Several threads may share a
scorer; a lock lets one of them in at a time.
"""

from __future__ import annotations

import math
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from coevo.data import Table, format_drop_hint
from coevo.errors import DataError
from coevo.graph import DAG, Arc
from coevo.options import ScorerOptions, check_options, fill_defaults
from coevo.runtime.deadline import check_deadline
from coevo.runtime.threads import Threads
from coevo.score.cache import CacheStatistics, FamilyCache
from coevo.score.families import FamilyBatch
from coevo.score.independence import (
    TESTS,
    CountedTriples,
    IndependenceTests,
    Numbers,
    TripleBatch,
    check_test,
    measure_counts,
)
from coevo.score.penalties import ArcWeights, SparsePenalty, compute_likelihoods, is_dense
from coevo.score.scores import Score, make_score

__all__ = ["Scorer"]

MAX_ROWS = 2**32 - 1  # a count has 32 bits
NO_CELLS = np.empty(0)
LARGEST_BATCH = 1 << 15  # families, between two checks of the deadline


class Scorer(ABC):
    """Computes local scores of families in batches and caches them."""

    def __init__(self, table: Table, score: str | Score, **options: Unpack[ScorerOptions]) -> None:
        owner = type(self).__name__
        chosen = fill_defaults(ScorerOptions, options)
        check_options(ScorerOptions, owner, chosen)
        weights, parent_penalty = chosen["weights"], chosen["parent_penalty"]
        if table.n_rows > MAX_ROWS:
            raise DataError(f"The table has more than {MAX_ROWS:,} rows. Take a sample of them.")
        self._table = table
        self._score = make_score(score, chosen["ess"], owner)
        self._spec = self._score.make_spec(table.n_rows, int(table.arities.max()))
        self.parent_penalty = float(parent_penalty)
        self.sparse_penalty = float(chosen["sparse_penalty"])
        self.max_table = chosen["max_table"]
        self._weights = None
        given = {} if weights is None else weights
        checked = ArcWeights.from_mapping(given, table.names, parent_penalty)
        if checked.arcs or parent_penalty:
            self._weights = checked
        self._options: ScorerOptions = {**chosen, "ess": None, "weights": self.weights}
        self._cache_bytes = int(chosen["cache_bytes"])
        self.threads = Threads(int(chosen["n_jobs"]))
        self._lock = threading.Lock()

    def _start_over(self) -> None:
        """Allocate new memory for everything that a batch writes to.

        After an interrupt the old memory may hold entries without a score, and threads may
        still write to it.
        """
        self._cache = FamilyCache(self._table.n_variables, self._cache_bytes)
        self._is_sound = True

    @abstractmethod
    def _compute(self, families: FamilyBatch) -> NDArray[np.float64]:
        """Count and score families that are not in the cache."""

    @abstractmethod
    def _count_triples(self, triples: TripleBatch) -> Iterator[CountedTriples]:
        """Count the triples of a batch, part by part, in their order."""

    @abstractmethod
    def estimate_memory(self) -> int:
        """Return the largest number of bytes that the scorer holds, including the data."""

    @property
    def dataset(self) -> Table:
        """The observations."""
        return self._table

    @property
    def scoring(self) -> Score:
        """The score that this scorer computes."""
        return self._score

    @property
    def weights(self) -> dict[Arc, float]:
        """The log prior of some arcs, which every score includes."""
        return {} if self._weights is None else dict(self._weights.arcs)

    @property
    def favours_arcs(self) -> bool:
        """Whether the weight of some arc can raise the score, whatever the data are."""
        return self._weights is not None and self._weights.has_bonus

    @property
    def cache_statistics(self) -> CacheStatistics:
        """How many families were requested and how many had to be computed."""
        return self._cache.statistics

    def local_scores(self, batch: FamilyBatch) -> NDArray[np.float64]:
        """Return the local score of each family of a batch, in its order."""
        batch.check_starts()
        return self._score_in_parts(batch, self._score_with_cache)

    def score_once(self, batch: FamilyBatch) -> NDArray[np.float64]:
        """Return the local score of each family, without the cache.

        For many families that nobody asks for again: a cache of them costs as much as the scores.
        """
        batch.check_starts()
        if len(batch):
            batch.check_members(self._table.n_variables)
        return self._score_in_parts(batch, self._score_new)

    def measure_pairs(self, children: Sequence[int]) -> Iterator[NDArray[np.float64]]:
        """Return for each child the log likelihood that each variable alone adds to it.

        That is half of the statistic G2 of their independence. The child itself gets 0. A scorer
        with a faster way has its own method; all give the same numbers, but for round-off.
        """
        n = self._table.n_variables
        step = max(1, LARGEST_BATCH // n)
        for first in range(0, len(children), step):
            part = children[first : first + step]
            triples = [(child, v, ()) for child in part for v in range(n) if v != child]
            tests = self.test_triples(TripleBatch.from_triples(triples), "g2")
            measured = np.reshape(0.5 * tests.statistics, (len(part), n - 1))
            yield from (
                np.insert(row, child, 0.0) for child, row in zip(part, measured, strict=True)
            )

    def _score_in_parts(
        self, batch: FamilyBatch, score: Callable[[FamilyBatch], NDArray[np.float64]]
    ) -> NDArray[np.float64]:
        n = len(batch)
        if n == 0:
            return np.empty(0)
        with self._lock:
            if not self._is_sound:
                self._start_over()
            self._is_sound = False  # until the batch ends: an interrupt may come at any line
            parts = []
            for first in range(0, n, LARGEST_BATCH):
                check_deadline()
                is_all = n <= LARGEST_BATCH
                parts.append(score(batch if is_all else batch.slice(first, first + LARGEST_BATCH)))
            self._is_sound = True
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def _score_with_cache(self, families: FamilyBatch) -> NDArray[np.float64]:
        entries, new = self._cache.find_or_add(families)
        if len(new):
            self._cache.store_scores(self._score_new(new))
        return self._cache.get_scores(entries)

    def _score_new(self, families: FamilyBatch) -> NDArray[np.float64]:
        n_cells = NO_CELLS
        if self.sparse_penalty or self.max_table is not None:
            n_cells = families.count_cells(self._table.arities)
        computed = self._compute_within_limit(families, n_cells)
        if self._weights is not None:
            computed += self._weights.sum_families(families)
        if self.sparse_penalty and not is_dense(n_cells, self._table.n_rows):
            computed -= self.sparse_costs.sum_families(families)
        return computed

    @cached_property
    def sparse_costs(self) -> SparsePenalty:
        """The penalty of families with few rows for their tables."""
        table = self._table
        alone = FamilyBatch.from_pairs((v, ()) for v in range(table.n_variables))
        regrets = compute_likelihoods(table.state_counts) - self._compute(alone)
        # Above 0, but for round-off and for the scaled scores of incomplete tables.
        return SparsePenalty(
            self.sparse_penalty, table.n_rows, table.arities, np.maximum(regrets, 0.0)
        )

    def _compute_within_limit(
        self, families: FamilyBatch, n_cells: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Count and score families; a table larger than `max_table` scores minus infinity.

        No search chooses such a family, and none is counted.
        """
        if self.max_table is None or n_cells.max() <= self.max_table:
            return self._compute(families)
        fits = (n_cells <= self.max_table) | (np.diff(families.start) == 1)
        if fits.all():
            return self._compute(families)
        scores = np.full(len(families), -np.inf)
        scores[fits] = self._compute(families.take(np.flatnonzero(fits)))
        return scores

    def test_triples(self, triples: TripleBatch, test: str = "g2") -> IndependenceTests:
        """Test whether x and y are independent given Z, for each triple of a batch.

        `test` is ``'g2'`` or ``'x2'``. Results are not cached. Neither the score nor the weights
        of arcs change them.
        """
        kind = TESTS[check_test(test, "test_triples")]
        triples.check_starts()
        triples.check_members(self._table.n_variables)
        with self._lock:
            if not self._is_sound:
                self._start_over()
            self._is_sound = False
            statistics, degrees_of_freedom = self._measure_triples(triples, kind)
            self._is_sound = True
        return IndependenceTests.from_statistics(statistics, degrees_of_freedom)

    def _measure_triples(self, triples: TripleBatch, kind: int) -> tuple[Numbers, Numbers]:
        """Return the statistics and the degrees of freedom of a batch of tests."""
        counted = self._count_triples(triples)
        parts = [measure_counts(part, kind, self.threads) for part in counted]
        none = np.empty(0)
        return (
            np.concatenate([none, *(statistics for statistics, _ in parts)]),
            np.concatenate([none, *(freedoms for _, freedoms in parts)]),
        )

    def local_score(self, child: str, parents: Iterable[str] = ()) -> float:
        """Return the local score of one family, given by names."""
        position = self._table.find_position
        pair = (position(child), {position(parent) for parent in parents})
        return float(self.local_scores(FamilyBatch.from_pairs([pair]))[0])

    def score_per_variable(self, dag: DAG) -> dict[str, float]:
        """Return the local score of each variable in `dag`: by name, in canonical order."""
        self.check_variables(dag)
        names, position = self._table.names, self._table.find_position
        pairs = [(position(name), map(position, dag.parents(name))) for name in names]
        scores = self.local_scores(FamilyBatch.from_pairs(pairs))
        return dict(zip(names, scores.tolist(), strict=True))

    def score(self, dag: DAG) -> float:
        """Return the score of a DAG: the sum of its local scores."""
        return math.fsum(self.score_per_variable(dag).values())

    def check_variables(self, dag: DAG) -> None:
        """Raise `DataError` unless the structure and the data have the same variables."""
        columns, nodes = set(self._table.names), set(dag.nodes)
        if nodes - columns:
            raise DataError(
                f"The data have no column {_name_first(nodes - columns)} of the structure. "
                "Both must have the same variables."
            )
        if columns - nodes:
            raise DataError(
                f"The structure has no variable {_name_first(columns - nodes)} of the data. "
                f"Leave the column out ({format_drop_hint(min(columns - nodes))})."
            )


def _name_first(names: set[str]) -> str:
    """Return the first name and the number of other names."""
    more = f" (and {len(names) - 1} more)" if len(names) > 1 else ""
    return f"{min(names)!r}{more}"
