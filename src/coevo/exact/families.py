"""All families that can be in an optimal network, by proved rules only.

A family (child, parents) is *dominated* if a subset of the parents scores at least as much: the
subset can replace it in any network, and no cycle appears. So some optimal network has no
dominated family, and only the others are kept. They are found breadth first, by the number of
parents. A set is not extended if a proved rule says that all its supersets are dominated:

1. No superset scores more than a subset that is scored already.
2. For BIC and AIC: a further parent never pays.

`coevo.exact.superset_bounds` proves both.

With a slack of some nats a family is dropped only if a subset scores more than that above it, so
that the list has all families of all networks within the slack of the best one (Liao, Sharma,
Cussens and van Beek 2019).

Required parents are in every family. Forbidden ones are in none. A family beyond `max_table` scores
minus infinity, as all its supersets do.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coevo.errors import ParameterError, format_count
from coevo.exact.levels import Level
from coevo.exact.superset_bounds import SupersetBounds, make_batch
from coevo.exact.units import Units, check_range, round_up
from coevo.memory import format_bytes, get_machine_memory
from coevo.score import FamilyScorer
from coevo.search.base import Problem

__all__ = ["Families", "count_families", "find_families"]

BYTES_PER_FAMILY = 160  # of a level, while it is made
SHARE_OF_MEMORY = 0.5
DEFAULT_MEMORY = 1 << 32

Sets = NDArray[np.int64]
Values = NDArray[np.float64]
Show = Callable[[str], object]


@dataclass(frozen=True, slots=True)
class Families:
    """The families of all children: those of a child together, the best first.

    ``begin[v]`` to ``begin[v + 1]`` are the families of child v. A row of `parents` ends with the
    number of variables where a family has fewer parents than the largest one.
    """

    n_variables: int
    begin: NDArray[np.int64]  # (n + 1,)
    children: NDArray[np.int64]  # (m,)
    parents: NDArray[np.int64]  # (m, k)
    scores: Values  # (m,)
    units: Units  # (m,), the scores rounded up
    n_scored: int = 0  # families that were scored to find these

    @classmethod
    def from_parts(cls, parts: list[tuple[Sets, Values]], n_scored: int) -> Families:
        """Build the list from the parents (padded) and the scores of each child's families."""
        n = len(parts)
        width = max(sets.shape[1] for sets, _ in parts)
        padded, ordered = [], []
        for sets, scores in parts:
            wide = np.full((len(sets), width), n, dtype=np.int64)
            wide[:, : sets.shape[1]] = sets
            order = np.lexsort((*wide.T[::-1], -scores))
            padded.append(wide[order])
            ordered.append(scores[order])
        lengths = np.array([len(scores) for scores in ordered])
        scores = np.concatenate(ordered)
        check_range(scores, n)
        return cls(
            n_variables=n,
            begin=np.concatenate([[0], np.cumsum(lengths)]),
            children=np.repeat(np.arange(n), lengths),
            parents=np.concatenate(padded),
            scores=scores,
            units=round_up(scores),
            n_scored=n_scored,
        )

    def take(self, chosen: NDArray[np.bool_]) -> Families:
        """Return the chosen families."""
        lengths = np.add.reduceat(chosen.astype(np.int64), self.begin[:-1])
        return Families(
            self.n_variables,
            np.concatenate([[0], np.cumsum(lengths)]),
            self.children[chosen],
            self.parents[chosen],
            self.scores[chosen],
            self.units[chosen],
            self.n_scored,
        )

    def find(self, child: int, parents: NDArray[np.int64]) -> int | None:
        """Return the number of a family, or None if it is not in the list."""
        row = np.full(self.parents.shape[1], self.n_variables)
        if len(parents) > len(row):
            return None
        row[: len(parents)] = np.sort(parents)
        first, last = self.begin[child], self.begin[child + 1]
        places = np.flatnonzero((self.parents[first:last] == row).all(axis=1))
        return int(first + places[0]) if len(places) else None

    def __len__(self) -> int:
        return len(self.scores)


def count_families(problem: Problem, max_parents: int) -> int:
    """Return the number of families of the largest level, up to this number of parents."""
    rules = problem.rules
    n_free = (rules.allowed & ~rules.required).sum(axis=0)
    n_required = rules.required.sum(axis=0)
    largest = 0
    for size in range(max_parents + 1):
        of_level = [
            math.comb(int(free), size - int(held))
            for free, held in zip(n_free, n_required, strict=True)
            if size >= held
        ]
        largest = max(largest, sum(of_level))
    return largest


def find_families(
    problem: Problem, slack: float = 0.0, show: Show = lambda message: None
) -> Families:
    """Return all families that are not dominated.

    Parameters
    ----------
    problem : Problem
        The scorer (of a table in memory) and the constraints.
    slack : float
        A family is dominated only if a subset scores more than this above it.
    show : callable
        Called with a message before each level.

    Raises
    ------
    ParameterError
        If the families need too much memory; the message has the limit that fits.
    """
    assert isinstance(problem.scorer, FamilyScorer)
    bounds = SupersetBounds(problem.scorer, problem.rules)
    if not bounds.exists:
        _check_in_advance(problem)
    children = [_Child(problem, bounds, v, slack) for v in range(problem.n_variables)]
    size = 0
    while any(child.is_open for child in children):
        n_new = sum(child.count_next() for child in children)
        _check_level(problem, size, n_new)
        show(f"Scoring {format_count(n_new, 'family', 'families')} of {size} parents ...")
        for child in children:
            child.advance()
        size += 1
    parts = [child.collect() for child in children]
    return Families.from_parts(parts, sum(child.n_scored for child in children))


def _find_allowed_bytes() -> float:
    return SHARE_OF_MEMORY * (get_machine_memory() or DEFAULT_MEMORY)


def _check_in_advance(problem: Problem) -> None:
    """Raise `ParameterError` if a score without a bound has too many families."""
    limit = problem.rules.max_parents
    if count_families(problem, limit) * BYTES_PER_FAMILY > _find_allowed_bytes():
        raise _make_memory_error(problem, limit, count_families(problem, limit))


def _check_level(problem: Problem, size: int, n_new: int) -> None:
    """Raise `ParameterError` if the next level needs too much memory."""
    if n_new * BYTES_PER_FAMILY > _find_allowed_bytes():
        raise _make_memory_error(problem, size, n_new)


def _make_memory_error(problem: Problem, size: int, n_families: int) -> ParameterError:
    fitting = size
    while fitting > 1:
        fitting -= 1
        if count_families(problem, fitting) * BYTES_PER_FAMILY <= _find_allowed_bytes():
            break
    needed = format_bytes(n_families * BYTES_PER_FAMILY)
    return ParameterError(
        f"A proof with up to {format_count(size, 'parent')} has {n_families:,} families of one "
        f"size, which need {needed}; {format_bytes(int(_find_allowed_bytes()))} may be used. Give "
        f"a limit: max_parents={fitting} (--max-parents {fitting}) fits."
    )


class _Child:
    """The search for the families of one child, one level at a time."""

    def __init__(self, problem: Problem, bounds: SupersetBounds, child: int, slack: float) -> None:
        rules = problem.rules
        self.problem, self.bounds, self.child, self.slack = problem, bounds, child, slack
        self.required = np.flatnonzero(rules.required[:, child])
        self.free = np.flatnonzero(rules.allowed[:, child] & ~rules.required[:, child])
        self.limit = rules.max_parents - len(self.required)
        self.level = Level.make_first()
        self.kept: list[tuple[Sets, Values]] = []
        self.n_scored = 0

    @property
    def is_open(self) -> bool:
        """Whether there may be another level."""
        return self.level.size < 0 or len(self.level.best) > 0

    def count_next(self) -> int:
        """Return the number of candidates of the next level."""
        return self.level.count_joins(len(self.free)) if self.is_open else 0

    def advance(self) -> None:
        """Score the next level, keep what is not dominated, and choose what is extended."""
        if not self.is_open:
            return
        sets, subsets = self.level.join(len(self.free))
        inherited = self.level.best[subsets].max(axis=1, initial=-np.inf)
        is_needed = (subsets >= 0).all(axis=1)
        is_needed &= ~self._find_redundant(sets, subsets)
        sets, inherited = sets[is_needed], inherited[is_needed]
        parents = self._name(sets)
        scores = self.problem.scorer.local_scores(make_batch(self.child, parents))
        self.n_scored += len(scores)
        is_kept = scores > inherited if self.slack == 0 else scores >= inherited - self.slack
        is_kept &= scores > -np.inf
        self.kept.append((parents[is_kept], scores[is_kept]))
        best = np.maximum(scores, inherited)
        is_open = (scores > -np.inf) & (sets.shape[1] < min(self.limit, len(self.free)))
        bound = np.full(len(sets), -np.inf)
        bound[is_open] = self.bounds.bound_supersets(
            self.child, parents[is_open], scores[is_open], best[is_open] - self.slack
        )
        is_open &= bound > best - self.slack
        self.level = Level(sets[is_open], best[is_open], scores[is_open])

    def collect(self) -> tuple[Sets, Values]:
        """Return the kept families; rows of parents end with the number of variables."""
        n = self.problem.n_variables
        width = max(sets.shape[1] for sets, _ in self.kept)
        wide = [
            np.pad(s, ((0, 0), (0, width - s.shape[1])), constant_values=n) for s, _ in self.kept
        ]
        return np.concatenate(wide), np.concatenate([scores for _, scores in self.kept])

    def _name(self, sets: Sets) -> Sets:
        """Return the parents of local sets, with the required ones, ascending."""
        required = np.broadcast_to(self.required, (len(sets), len(self.required)))
        return np.sort(np.concatenate([self.free[sets], required], axis=1), axis=1)

    def _find_redundant(self, sets: Sets, subsets: Sets) -> NDArray[np.bool_]:
        """Return the candidates that rule 2 drops with all their supersets."""
        redundant = np.zeros(len(sets), dtype=np.bool_)
        inner = self._name(self.level.sets)
        for place in range(sets.shape[1]):
            subset, added = subsets[:, place], self.free[sets[:, place]]
            redundant |= self.bounds.find_redundant(
                self.child, inner[subset], self.level.scores[subset], added, self.slack
            )
        return redundant
