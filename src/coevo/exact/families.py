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

**Units.** Scores are whole numbers, so that no sum has round-off. A unit is 2 ** -32 nats. The
local score of a family is rounded up to whole units once. All sums, differences and comparisons of
a proof are then exact, in 64-bit integers. The score of a network in units is at most one unit for
each variable above its score.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from coevo.errors import DataError, ParameterError, format_count
from coevo.exact.superset_bounds import SupersetBounds, make_batch
from coevo.runtime.deadline import OutOfTime, defer_interrupts, limit_work_time
from coevo.runtime.memory import format_bytes, get_machine_memory
from coevo.score import FamilyScorer
from coevo.search.base import Problem

__all__ = [
    "NO_BOUND",
    "UNITS_PER_NAT",
    "Families",
    "Level",
    "PartOfFamilies",
    "Units",
    "check_family_memory",
    "check_range",
    "count_families",
    "encode_sets",
    "find_families",
    "round_up",
    "to_nats",
]


UNITS_PER_NAT = 2.0**32
LARGEST = 2.0**28  # nats, of a network; sums of some such numbers fit into 64 bits

Units = NDArray[np.int64]


def round_up(scores: NDArray[np.float64]) -> Units:
    """Return scores in units, rounded up.

    >>> round_up(np.array([-1.5, 2.0**-40])).tolist()
    [-6442450944, 1]
    """
    return np.ceil(np.asarray(scores) * UNITS_PER_NAT).astype(np.int64)


def to_nats(units: int) -> float:
    """Return units in nats, rounded up to the next float.

    >>> to_nats(3 * 2**31), to_nats(0)
    (1.5, 0.0)
    """
    nats = units / UNITS_PER_NAT
    return nats if nats * UNITS_PER_NAT >= units else math.nextafter(nats, math.inf)


def check_range(scores: NDArray[np.float64], n_variables: int) -> None:
    """Raise `DataError` if sums of these local scores might not fit into 64 bits."""
    if len(scores) and float(np.abs(scores).max()) * n_variables > LARGEST:
        raise DataError(
            f"A local score is beyond {LARGEST / n_variables:,.0f} nats, which a proof cannot add "
            "up exactly. Take a sample of the rows."
        )


Sets = NDArray[np.int64]
Values = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class PartOfFamilies:
    """What a partial list has, and why it is partial."""

    n_free: int  # the list has all families of so many parents beside the required ones
    bounds: Units  # (n,), no family of a child exceeds it, whether it is listed or not
    rests: Values  # (n,), the same for those that are not listed; minus infinity if all are
    reason: str  # "time", "memory" or "interrupt"
    note: str  # one sentence, with the way out


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
    part: PartOfFamilies | None = None  # of a partial list

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
            self.part,
        )

    def add(self, more: list[tuple[Sets, Values]]) -> Families:
        """Return the list with more families of each child: their parents and scores."""
        parts = []
        for child, (sets, scores) in enumerate(more):
            own = slice(self.begin[child], self.begin[child + 1])
            width = max(sets.shape[1], self.parents.shape[1])
            rows = [
                np.pad(some, ((0, 0), (0, width - some.shape[1])), constant_values=self.n_variables)
                for some in (self.parents[own], sets)
            ]
            parts.append((np.concatenate(rows), np.concatenate([self.scores[own], scores])))
        return replace(Families.from_parts(parts, self.n_scored), part=self.part)

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


@dataclass(frozen=True, slots=True)
class Level:
    """Sets of one size that may be extended, in ascending order, as places in a list of variables.

    `best` is the best score of each set and of its subsets.
    """

    sets: Sets
    best: Values
    scores: Values
    size: int = 0

    @classmethod
    def make_first(cls) -> Level:
        """Return what comes before the level of the empty set."""
        none = np.empty(0)
        return cls(np.empty((0, 0), dtype=np.int64), none, none, -1)

    def _find_group_ends(self) -> NDArray[np.int64]:
        """Return for each set where the sets that differ only in the last place end."""
        m = len(self.sets)
        if self.sets.shape[1] == 0:
            return np.full(m, m)
        differs = (self.sets[1:, :-1] != self.sets[:-1, :-1]).any(axis=1)
        ends = np.append(np.flatnonzero(differs) + 1, m)
        return np.asarray(ends[np.searchsorted(ends, np.arange(m), side="right")])

    def count_joins(self, n_free: int) -> int:
        """Return the number of candidates of the next level."""
        if self.size < 0:
            return 1
        if self.sets.shape[1] == 0:
            return n_free
        return int((self._find_group_ends() - np.arange(len(self.sets)) - 1).sum())

    def join(self, n_free: int) -> tuple[Sets, Sets]:
        """Return the sets of the next level, and the number of each subset with one place less.

        A subset that is not in this level has the number -1.
        """
        if self.size < 0:
            return np.empty((1, 0), dtype=np.int64), np.empty((1, 0), dtype=np.int64)
        if self.sets.shape[1] == 0:
            return np.arange(n_free)[:, None], np.zeros((n_free, 1), dtype=np.int64)
        lengths = self._find_group_ends() - np.arange(len(self.sets)) - 1
        first = np.repeat(np.arange(len(self.sets)), lengths)
        begin = np.repeat(np.cumsum(lengths) - lengths, lengths)
        second = first + 1 + np.arange(len(first)) - begin
        sets = np.concatenate([self.sets[first], self.sets[second, -1:]], axis=1)
        keys = encode_sets(self.sets, n_free)
        places = [
            self._find(np.delete(sets, at, axis=1), keys, n_free) for at in range(sets.shape[1])
        ]
        return sets, np.stack(places, axis=1)

    def _find(self, sets: Sets, keys: NDArray[np.int64], n_free: int) -> NDArray[np.int64]:
        wanted = encode_sets(sets, n_free)
        at = np.minimum(np.searchsorted(keys, wanted), max(len(keys) - 1, 0))
        return np.where(keys[at] == wanted, at, -1)


def encode_sets(sets: Sets, base: int) -> NDArray[np.int64]:
    """Return one number for each set, in the order of the sets; of Python if it is large.

    >>> encode_sets(np.array([[0, 2], [1, 2]]), 3).tolist()
    [2, 5]
    """
    is_small = base ** sets.shape[1] < 2**62
    keys = np.zeros(len(sets), dtype=np.int64 if is_small else object)
    for column in sets.T:
        keys = keys * base + column
    return keys


NO_BOUND = (
    "The time limit ended the proof before its first bound. Give more time, or a smaller limit on "
    "parents."
)
BYTES_PER_FAMILY = 160  # of a level, while it is made
SHARE_OF_MEMORY = 0.5
DEFAULT_MEMORY = 1 << 32

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
                        if interrupts.is_pending and size > 0:  # the empty sets are short
                            raise KeyboardInterrupt
                size += 1
    except (OutOfTime, ParameterError, KeyboardInterrupt) as end:
        if slack or any(child.get_rest(size - 1) == np.inf for child in children):
            raise ParameterError(NO_BOUND) if isinstance(end, OutOfTime) else end from None
        return _make_partial(children, size - 1, end)
    parts = [child.collect() for child in children]
    return Families.from_parts(parts, sum(child.n_scored for child in children))


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
