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

If time or memory ends the search, the list is *partial*: it has all families up to a number of
further parents, and for each child a number that no other family exceeds. The rules that stop the
search also give that number.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from coevo.errors import ParameterError, format_count
from coevo.exact.families import Families, PartOfFamilies
from coevo.exact.levels import Level
from coevo.exact.superset_bounds import SupersetBounds, make_batch
from coevo.exact.units import round_up
from coevo.interrupts import defer_interrupts
from coevo.memory import format_bytes, get_machine_memory
from coevo.score import FamilyScorer
from coevo.search.base import Problem
from coevo.work_time import OutOfTime, limit_work_time

__all__ = ["NO_BOUND", "check_family_memory", "count_families", "find_families"]

NO_BOUND = (
    "The time limit ended the proof before its first bound. Give more time, or a smaller limit on "
    "parents."
)
BYTES_PER_FAMILY = 160  # of a level, while it is made
SHARE_OF_MEMORY = 0.5
DEFAULT_MEMORY = 1 << 32

Sets = NDArray[np.int64]
Values = NDArray[np.float64]
Show = Callable[[str], object]


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
    problem: Problem,
    slack: float = 0.0,
    show: Show = lambda message: None,
    deadline: float = math.inf,
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
    deadline : float
        The time at which the list ends, on the clock of `measure_work_time`.

    Returns
    -------
    Families
        A partial list if the time or Ctrl-C ends it, or the memory does not hold the next level.

    Raises
    ------
    ParameterError
        If a partial list is none (with a slack, or for scores without a bound for the families that
        are not listed); the message has the way out.
    """
    check_family_memory(problem)
    assert isinstance(problem.scorer, FamilyScorer)
    bounds = SupersetBounds(problem.scorer, problem.rules)
    children = [_Child(problem, bounds, v, slack) for v in range(problem.n_variables)]
    size = 0
    try:
        with defer_interrupts() as interrupts:
            while any(child.is_open for child in children):
                numbers = [child.count_next() for child in children]
                _check_level(problem, size, numbers)
                total = format_count(sum(numbers), "family", "families")
                show(f"Scoring {total} of {size} parents ...")
                with limit_work_time(deadline if size else math.inf):
                    for child in children:
                        child.advance()
                        _stop_if(interrupts.is_pending and size > 0)
                size += 1
    except (OutOfTime, ParameterError, KeyboardInterrupt) as end:
        if slack or any(child.get_rest(size - 1) == np.inf for child in children):
            raise ParameterError(NO_BOUND) if isinstance(end, OutOfTime) else end from None
        return _make_partial(children, size - 1, end)
    parts = [child.collect() for child in children]
    return Families.from_parts(parts, sum(child.n_scored for child in children))


def _stop_if(is_interrupted: bool) -> None:
    if is_interrupted:
        raise KeyboardInterrupt


def _make_partial(children: list[_Child], listed: int, end: BaseException) -> Families:
    """Return the families up to a number of free parents, and the bounds of all others."""
    parts = [child.collect(listed) for child in children]
    families = Families.from_parts(parts, sum(child.n_scored for child in children))
    best = families.scores[families.begin[:-1]]
    rests = np.array([child.get_rest(listed) for child in children])
    is_memory = isinstance(end, ParameterError)
    reasons = {OutOfTime: "time", KeyboardInterrupt: "interrupt"}
    part = PartOfFamilies(
        listed,
        round_up(np.maximum(best, rests)),
        rests,
        reasons.get(type(end), "memory"),
        str(end) if is_memory else "Give more time, or a smaller limit on parents.",
    )
    return replace(families, part=part)


def _find_allowed_bytes() -> float:
    return SHARE_OF_MEMORY * (get_machine_memory() or DEFAULT_MEMORY)


def check_family_memory(problem: Problem) -> None:
    """Raise `ParameterError` if a score without a bound has too many families."""
    assert isinstance(problem.scorer, FamilyScorer)
    limit = problem.rules.max_parents
    if SupersetBounds(problem.scorer, problem.rules).exists:
        return
    if count_families(problem, limit) * BYTES_PER_FAMILY > _find_allowed_bytes():
        raise _make_memory_error(problem, limit, count_families(problem, limit))


def _check_level(problem: Problem, size: int, numbers: list[int]) -> None:
    """Raise `ParameterError` if the next level needs too much memory.

    The children are extended one after the other, and most of what they make is dropped. The
    numbers are those of the sets that each child makes.
    """
    if max(numbers) * BYTES_PER_FAMILY > _find_allowed_bytes():
        raise _make_memory_error(problem, size, max(numbers))


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
        self.kept: list[tuple[Sets, Values]] = []  # of each level
        self.rests: list[float] = []  # after each level: no family of a later one exceeds it
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
        scores = self.problem.scorer.score_once(make_batch(self.child, parents))
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
        self.rests.append(float(bound[is_open].max(initial=-np.inf)))
        self.level = Level(sets[is_open], best[is_open], scores[is_open])

    def get_rest(self, level: int) -> float:
        """Return a number that no family of a later level exceeds."""
        return self.rests[level] if level < len(self.rests) else -math.inf

    def collect(self, listed: int | None = None) -> tuple[Sets, Values]:
        """Return the kept families, up to a level; rows end with the number of variables."""
        n = self.problem.n_variables
        kept = self.kept[: None if listed is None else listed + 1]
        width = max(sets.shape[1] for sets, _ in kept)
        wide = [np.pad(s, ((0, 0), (0, width - s.shape[1])), constant_values=n) for s, _ in kept]
        return np.concatenate(wide), np.concatenate([scores for _, scores in kept])

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
