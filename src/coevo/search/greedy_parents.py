"""Greedy parents for many graphs at once: K2 as a step of another search.

A genetic algorithm over orders runs K2 thousands of times, and each time it meets nearly the same
parent sets. So the local scores of a parent set with each further parent are kept as one *row*,
together with the number of the row that each further parent leads to. All variables of all graphs
take their next parent in the same round, by reading rows. Only new rows are requested from the
scorer, as one batch.

The structure is exactly that of `coevo.search.k2` with the same candidates: each variable takes
the parent that raises its local score most, ties go to the first by name, and a parent without a
gain is not added.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coevo.score import FamilyBatch, toggle_families
from coevo.search.base import LEAST_GAIN, Problem
from coevo.search.climb_kernels import NEVER
from coevo.work_time import check_deadline

__all__ = ["GreedyParents", "Grown"]

Graphs = NDArray[np.bool_]  # (n_graphs, n, n), [parent, child]
MAX_BYTES = 1 << 27  # of all rows
FAMILIES_PER_BATCH = 1 << 15  # between two checks of the deadline
UNKNOWN = -1


class Grown(NamedTuple):
    """Structures, their local scores, and the number of families that were compared."""

    graphs: Graphs
    local: NDArray[np.float64]  # (n_graphs, n)
    n_evaluations: int


class GreedyParents:
    """Finds parents greedily among candidates, under the constraints of a problem."""

    def __init__(self, problem: Problem, max_parents: int) -> None:
        self._problem = problem
        self._n = problem.n_variables
        self._max_parents = min(max_parents, problem.rules.max_parents)
        self._arities = problem.scorer.dataset.arities.astype(np.float64)
        self._clear()

    def _clear(self) -> None:
        """Forget all rows. This changes the time only."""
        n = self._n
        self._numbers: dict[tuple[int, ...], int] = {}  # of (child, parents ascending)
        self._families: list[tuple[int, ...]] = []
        self._scores = np.empty((0, n))  # of the family with each further parent
        self._next = np.empty((0, n), dtype=np.int64)  # the row of that family
        self._own = np.empty(0)  # the score of the family itself

    def grow(self, candidates: Graphs) -> Grown:
        """Return the structures that each variable makes of its candidates, ``[parent, child]``.

        The candidates must not have a cycle. Required parents are always there.
        """
        if 16 * self._n * len(self._families) > MAX_BYTES:
            self._clear()
        n_graphs, n = len(candidates), self._n
        required = self._problem.rules.required
        first = [(child, *np.flatnonzero(required[:, child]).tolist()) for child in range(n)]
        rows = np.tile(self._find_rows(first), n_graphs)  # of each child of each graph
        is_open = candidates & self._problem.rules.allowed & ~required
        is_open = is_open.transpose(0, 2, 1).reshape(n_graphs * n, n)  # [child, parent]
        n_parents = np.tile(required.sum(axis=0), n_graphs)
        growing = np.flatnonzero(n_parents < self._max_parents)
        n_evaluations = n_graphs * n
        while len(growing):
            check_deadline()
            n_evaluations += int(is_open[growing].sum())
            parents = self._choose(rows[growing], is_open[growing])
            growing, parents = growing[parents >= 0], parents[parents >= 0]
            rows[growing] = self._follow(rows[growing], parents)
            is_open[growing, parents] = False
            n_parents[growing] += 1
            growing = growing[n_parents[growing] < self._max_parents]
        graphs = self._make_graphs(rows.reshape(n_graphs, n))
        return Grown(graphs, self._own[rows].reshape(n_graphs, n), n_evaluations)

    def _choose(self, rows: NDArray[np.int64], is_open: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return the best further parent of each row; -1 where none gains."""
        scores = np.where(is_open, self._scores[rows], NEVER)
        best = scores.max(axis=1, initial=NEVER)
        # Not argmax: if parents differ only by round-off, the first by name is taken.
        parents = (scores >= best[:, None] - LEAST_GAIN).argmax(axis=1)
        gains = scores[np.arange(len(rows)), parents] > self._own[rows] + LEAST_GAIN
        return np.where(gains, parents, -1)

    def _follow(self, rows: NDArray[np.int64], parents: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the rows of the families with one more parent."""
        missing = np.flatnonzero(self._next[rows, parents] == UNKNOWN)
        pairs = {(int(rows[i]), int(parents[i])) for i in missing}
        if pairs:
            ordered = sorted(pairs)
            wider = []
            for row, parent in ordered:
                child, *others = self._families[row]
                wider.append((child, *sorted([*others, parent])))
            numbers = self._find_rows(wider)
            where = np.array(ordered)
            self._next[where[:, 0], where[:, 1]] = numbers
        return self._next[rows, parents]

    def _find_rows(self, families: list[tuple[int, ...]]) -> NDArray[np.int64]:
        """Return the row of each family; make those that are new."""
        new = [f for f in dict.fromkeys(families) if f not in self._numbers]
        if new:
            self._add_rows(new)
        return np.array([self._numbers[family] for family in families], dtype=np.int64)

    def _add_rows(self, new: list[tuple[int, ...]]) -> None:
        """Score the families, and each with one more parent, in batches."""
        step = max(1, FAMILIES_PER_BATCH // self._n)
        for first in range(0, len(new), step):
            self._add_part(new[first : first + step])

    def _add_part(self, new: list[tuple[int, ...]]) -> None:
        """Score some families, and each with one more parent, as one batch."""
        check_deadline()
        parts, added = [], []
        for family in new:
            child, parents = family[0], np.array(family[1:], dtype=np.int64)
            others = self._find_others(child, parents)
            added.append(others)
            parts.append((np.array(family, dtype=np.int32), np.array([len(family)])))
            parts.append(toggle_families(child, parents, others))
        scores = self._problem.scorer.local_scores(FamilyBatch.from_parts(parts))
        table, own, at = np.full((len(new), self._n), NEVER), np.empty(len(new)), 0
        for i, others in enumerate(added):
            own[i] = scores[at]
            table[i, others] = scores[at + 1 : at + 1 + len(others)]
            at += 1 + len(others)
        # All scores are there: an interrupt before this line leaves the rows as they were.
        first, last = len(self._families), len(self._families) + len(new)
        if last > len(self._own):
            self._enlarge(2 * last)
        self._scores[first:last], self._own[first:last] = table, own
        self._numbers |= {family: first + i for i, family in enumerate(new)}
        self._families.extend(new)

    def _enlarge(self, capacity: int) -> None:
        """Make room for this number of rows."""
        n_more = capacity - len(self._own)
        self._scores = np.concatenate([self._scores, np.empty((n_more, self._n))])
        unknown = np.full((n_more, self._n), UNKNOWN, dtype=np.int64)
        self._next = np.concatenate([self._next, unknown])
        self._own = np.concatenate([self._own, np.empty(n_more)])

    def _find_others(self, child: int, parents: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the variables that may be further parents; none if there are enough."""
        rules = self._problem.rules
        may_add = rules.allowed[:, child] & (len(parents) < self._max_parents)
        may_add[parents] = False
        if rules.arities is not None:
            n_cells = self._arities[child] * self._arities[parents].prod()
            may_add &= n_cells * self._arities <= rules.max_table
        return np.flatnonzero(may_add)

    def _make_graphs(self, rows: NDArray[np.int64]) -> Graphs:
        """Return the graphs of one row for each child."""
        graphs = np.zeros((len(rows), self._n, self._n), dtype=np.bool_)
        for graph, numbers in zip(graphs, rows.tolist(), strict=True):
            for number in numbers:
                child, *parents = self._families[number]
                graph[parents, child] = True
        return graphs
