"""Families in, local scores out: what every scorer does, wherever its rows are.

A `Scorer` looks each family up in its cache and computes the rest in batches; how that is
done is the matter of its kinds. A scorer may be shared by threads; they take turns.
"""

from __future__ import annotations

import math
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from coevo.checks import is_int, is_number
from coevo.data import Table, leave_out
from coevo.errors import DataError, bad_parameter
from coevo.graph import DAG, Arc
from coevo.score.arc_weights import ArcWeights
from coevo.score.cache import CacheStatistics, FamilyCache
from coevo.score.families import FamilyBatch
from coevo.score.scores import Score, make_score
from coevo.threads import Threads

__all__ = ["CACHE_BYTES", "Scorer"]

MAX_ROWS = 2**32 - 1  # a count takes 32 bits
CACHE_BYTES = 1 << 28
LARGEST_BATCH = 1 << 16


class Scorer(ABC):
    """Local scores of families, computed in batches and remembered."""

    def __init__(
        self,
        table: Table,
        score: str | Score,
        ess: float | None,
        n_jobs: int,
        cache_bytes: int,
        weights: Mapping[Arc, float] | None,
        parent_penalty: float,
    ) -> None:
        owner = type(self).__name__
        for name, value, least in (("n_jobs", n_jobs, 1), ("cache_bytes", cache_bytes, 0)):
            if not is_int(value, least):
                raise bad_parameter(name, owner, f"an int >= {least}", value)
        if table.n_rows > MAX_ROWS:
            raise DataError(f"The table has more than {MAX_ROWS:,} rows. Take a sample of them.")
        self._table = table
        self._score = make_score(score, ess, owner)
        self._spec = self._score.spec(table.n_rows, int(table.arities.max()))
        if not (is_number(parent_penalty) and parent_penalty >= 0):
            raise bad_parameter("parent_penalty", owner, "a number >= 0", parent_penalty)
        self.parent_penalty = float(parent_penalty)
        self._weights = None
        if weights or parent_penalty:
            self._weights = ArcWeights.of(weights or {}, table.names, parent_penalty)
        self._cache_bytes = int(cache_bytes)
        self.threads = Threads(int(n_jobs))
        self._lock = threading.Lock()

    def _start_over(self) -> None:
        """Take new memory for all that a batch writes to.

        After an interrupt the old may hold promises that were never kept, and threads may
        still be writing to it.
        """
        self._cache = FamilyCache(self._table.n_variables, self._cache_bytes)
        self._is_sound = True

    @abstractmethod
    def _compute(self, families: FamilyBatch) -> NDArray[np.float64]:
        """Count and score families that are not in the cache."""

    @abstractmethod
    def memory(self) -> int:
        """Return how many bytes it holds at most, the data among them."""

    @property
    def dataset(self) -> Table:
        """The observations."""
        return self._table

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
                entries, new = self._cache.find(batch.part(first, last))
                computed = self._compute(new)
                if self._weights is not None:
                    computed += self._weights.of_families(new)
                self._cache.keep(computed)
                scores[first:last] = self._cache.scores(entries)
            self._is_sound = True
        return scores

    def local_score(self, child: str, parents: Iterable[str] = ()) -> float:
        """Return the local score of one family, by name."""
        position = self._table.position
        pair = (position(child), {position(parent) for parent in parents})
        return float(self.local_scores(FamilyBatch.from_pairs([pair]))[0])

    def per_variable(self, dag: DAG) -> dict[str, float]:
        """Return the local score of each variable of `dag`, by name, in canonical order."""
        self.check_variables(dag)
        names, position = self._table.names, self._table.position
        pairs = [(position(name), map(position, dag.parents(name))) for name in names]
        scores = self.local_scores(FamilyBatch.from_pairs(pairs))
        return dict(zip(names, scores.tolist(), strict=True))

    def score(self, dag: DAG) -> float:
        """Return the score of a DAG: the sum of its local scores."""
        return math.fsum(self.per_variable(dag).values())

    def check_variables(self, dag: DAG) -> None:
        """Raise `DataError` unless structure and data have the same variables."""
        columns, nodes = set(self._table.names), set(dag.nodes)
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


def _first(names: set[str]) -> str:
    """Return the first name, and how many more there are."""
    more = f" (and {len(names) - 1} more)" if len(names) > 1 else ""
    return f"{min(names)!r}{more}"
