"""The archive: the families that are worth knowing, which both species feed and draw from.

For each child it holds the scored families from the best to the worst, without those that
one of their own subsets equals or beats: no order ever needs them, because where they are
allowed the subset is too. What is left is small, tens to hundreds of families a child, and
makes the best response to any order a matter of looking (`coevo.search.order_kernels`).

It also remembers which sets of parents were *extended*, that is, scored with every further
variable, so that no work is done twice. They are kept as 64-bit marks; should two sets ever
share one, a set is skipped, and always the same one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from coevo.randomness import stream
from coevo.score import FamilyBatch
from coevo.search.archive_kernels import mark_dominated
from coevo.search.base import Problem
from coevo.search.order_kernels import Families

__all__ = ["FAMILIES_A_CHILD", "Archive", "Row", "flat_sets", "mark_numbers", "marks_of"]

Row = tuple[int, tuple[int, ...]]  # a child and a set of parents, ascending
Marks = NDArray[np.uint64]
FAMILIES_A_CHILD = 1 << 12  # more are dropped, the worst first
NO_WAY = -np.inf  # the score of a child whose required parents come after it


@dataclass(frozen=True)
class Archive:
    """Families in the form of `Families`, and the marks of what was extended, ascending."""

    begin: NDArray[np.int64]
    score: NDArray[np.float64]
    start: NDArray[np.int64]
    parents: NDArray[np.int32]
    extended: Marks

    @classmethod
    def empty(cls, problem: Problem) -> Archive:
        """Return an archive with the least family of each child: its required parents.

        A child that has some also gets a way out that no search takes, so that an order
        which puts it too early is worthless and not an error.
        """
        local = problem.local_scores(problem.rules.required)
        rows: list[Row] = []
        scores: list[float] = []
        for child in range(problem.n_variables):
            needed = np.flatnonzero(problem.rules.required[:, child])
            rows.append((child, tuple(needed.tolist())))
            scores.append(float(local[child]))
            if len(needed):
                rows.append((child, ()))
                scores.append(NO_WAY)
        begin = np.searchsorted([row[0] for row in rows], np.arange(problem.n_variables + 1))
        start, parents = flat_sets([row[1] for row in rows])
        none = np.empty(0, dtype=np.uint64)
        return cls(begin, np.array(scores), start, parents, none)

    @property
    def families(self) -> Families:
        """The families as kernels take them."""
        return Families(self.begin, self.score, self.start, self.parents)

    @property
    def n_families(self) -> int:
        """How many families it holds."""
        return len(self.score)

    def children(self) -> NDArray[np.int64]:
        """Return the child of each family."""
        return np.repeat(np.arange(len(self.begin) - 1), np.diff(self.begin))

    def marks(self) -> Marks:
        """Return the mark of each family."""
        return marks_of(self.children(), self.start, self.parents, len(self.begin) - 1)

    def parents_of(self, family: int) -> tuple[int, ...]:
        """Return the parents of a family, ascending."""
        return tuple(self.parents[self.start[family] : self.start[family + 1]].tolist())

    def rescored(self, problem: Problem) -> Archive:
        """Return the same families with their scores on other rows, nothing extended yet."""
        known = np.flatnonzero(np.isfinite(self.score))
        sets = [self.parents_of(family) for family in known.tolist()]
        children = self.children()[known]
        batch = FamilyBatch.from_pairs(zip(children.tolist(), sets, strict=True))
        scores = problem.scorer.local_scores(batch)
        none = np.empty(0, dtype=np.uint64)
        return Archive.empty(problem).with_families(children, scores, *flat_sets(sets), none)

    def with_families(
        self,
        children: NDArray[np.int64],
        scores: NDArray[np.float64],
        start: NDArray[np.int64],
        parents: NDArray[np.int32],
        extended: Marks,
    ) -> Archive:
        """Return the archive with further families, and marks of what was extended."""
        n_old = self.n_families
        n = len(self.begin) - 1
        child = np.concatenate([self.children(), children])
        score = np.concatenate([self.score, scores])
        all_start = np.concatenate([self.start, start[1:] + self.start[-1]])
        all_parents = np.concatenate([self.parents, parents])
        size = np.diff(all_start)
        # Best first; of equal ones the smaller, then the first by name.
        first = np.append(all_parents, 0)[all_start[:-1]]
        ranked = np.lexsort((first, size, -score, child))
        moved = _select(ranked, child, score, all_start, all_parents, n)
        dominated = np.zeros(len(ranked), dtype=np.bool_)
        mark_dominated(moved.begin, moved.start, moved.parents, ranked >= n_old, dominated)
        kept = ranked[~dominated]
        kept = kept[_within_limit(child[kept], n)]
        left = _select(kept, child, score, all_start, all_parents, n)
        marks = np.union1d(self.extended, extended)
        return Archive(left.begin, left.score, left.start, left.parents, marks)


def _within_limit(child: NDArray[np.int64], n: int) -> NDArray[np.bool_]:
    """Return which families, sorted by child, are among the first of their child.

    The last two always are: the least family and the way out, which orders may need.
    """
    begin = np.searchsorted(child, np.arange(n + 1))
    place = np.arange(len(child))
    within: NDArray[np.bool_] = place - begin[child] < FAMILIES_A_CHILD - 2
    return within | (begin[child + 1] - place <= 2)


def _select(
    chosen: NDArray[np.int64],
    child: NDArray[np.int64],
    score: NDArray[np.float64],
    start: NDArray[np.int64],
    parents: NDArray[np.int32],
    n: int,
) -> Families:
    """Return families in a given order, their children ascending."""
    size = np.diff(start)[chosen]
    new_start = np.concatenate([[0], np.cumsum(size)])
    at = np.repeat(start[chosen] - new_start[:-1], size) + np.arange(int(new_start[-1]))
    begin = np.searchsorted(child[chosen], np.arange(n + 1))
    return Families(begin, score[chosen], new_start, parents[at])


def flat_sets(sets: Sequence[tuple[int, ...]]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return sets one after another, and where each begins."""
    start = np.concatenate([[0], np.cumsum([len(s) for s in sets])]).astype(np.int64)
    return start, np.array([v for s in sets for v in s], dtype=np.int32)


@cache
def mark_numbers(n_variables: int) -> tuple[Marks, Marks]:
    """Return the number of each variable as a child and as a parent.

    The mark of a row is the number of its child and those of its parents, by exclusive or.
    They are the same on every machine.
    """
    numbers = stream(0, n_variables).integers(2**64, size=(2, n_variables), dtype=np.uint64)
    return numbers[0], numbers[1]


def marks_of(
    child: NDArray[np.int64], start: NDArray[np.int64], parents: NDArray[np.int32], n_variables: int
) -> Marks:
    """Return the marks of rows whose parents stand one after another."""
    as_child, as_parent = mark_numbers(n_variables)
    running = np.zeros(len(parents) + 1, dtype=np.uint64)
    np.bitwise_xor.accumulate(as_parent[parents], out=running[1:])
    marks: Marks = as_child[child] ^ running[start[1:]] ^ running[start[:-1]]
    return marks
