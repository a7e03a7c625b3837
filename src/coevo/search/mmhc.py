"""MMHC: tests of independence find the neighbours of each variable, hill climbing the arcs.

The first half is MMPC. For each target, candidates enter its set of neighbours one by one: always
the one that is most dependent on the target given the subset of the neighbours that explains it
best (the largest p-value over all subsets, the smallest of all candidates). A candidate that some
subset makes independent is out. Then each neighbour is tested given all subsets of the others. Two
variables are neighbours if each is in the set of the other.

The second half is hill climbing that may add arcs between neighbours only. As in the paper, it has
a list of the last 100 structures, and makes the best change that leads to none of them, even if the
score falls. It ends after 15 changes without a new best structure.

All targets advance together, and a step runs at most `TESTS_PER_STEP` tests. Ties go to the larger
statistic, then to the first variable by name. Required arcs stay, whatever the tests say.

References
----------
I. Tsamardinos, L. E. Brown, C. F. Aliferis (2006). The max-min hill-climbing Bayesian network
structure learning algorithm. Machine Learning 65, 31-78.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain, combinations, islice
from typing import ClassVar, Protocol

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from coevo.checks import is_int, is_number
from coevo.errors import bad_parameter
from coevo.runtime.deadline import check_deadline
from coevo.score import TripleBatch
from coevo.score.independence import check_test
from coevo.search.base import (
    LEAST_GAIN,
    Array,
    Flag,
    Info,
    Method,
    Number,
    Problem,
    Schema,
    Search,
    SearchState,
    make_range,
)
from coevo.search.climbing import CLIMB_SCHEMA, KINDS, MOVES_PER_STEP, Climb
from coevo.search.loop import Budget
from coevo.search.tabu import append_move, choose_move, find_tabu_moves

__all__ = [
    "FIRST",
    "MMHC",
    "OVER",
    "MMHCState",
    "Test",
    "list_backward_tests",
    "list_forward_tests",
]


# The tests of MMPC, the first half of MMHC: which ones a step runs, in which order.
#
# A *round* is a list of tests that depends only on the sets at its beginning. A step takes a
# limited number of them. The forward rounds test all candidates of each target, given the subsets
# of its neighbours that have the newest one. The backward rounds test one neighbour of each
# target, given all subsets of the others.


FIRST, OVER = -1, -2  # in place of the newest neighbour: none yet, and no more

Given = tuple[int, ...]
Test = tuple[int, int, Given]  # candidate, target, given
Flags = NDArray[np.bool_]  # (n, n), [x, t]: x belongs to target t


class Round(Protocol):
    """What the tests of a round depend on: the fields of the state of `mmhc`."""

    @property
    def near(self) -> Flags:
        """The neighbours of each target."""

    @property
    def is_open(self) -> Flags:
        """The candidates of each target, or its neighbours before the first backward round."""

    @property
    def newest(self) -> NDArray[np.int64]:
        """The neighbour of each target that entered last, `FIRST` or `OVER`."""

    @property
    def place(self) -> int:
        """Which neighbour a backward round tests."""

    @property
    def next_test(self) -> int:
        """The number of tests of the round that have run."""


def list_forward_tests(state: Round, max_given: int | None, most: int) -> list[Test]:
    """Return the next tests of a forward round, at most so many."""

    def list_parts() -> Iterator[tuple[list[int], int, list[int], Given]]:
        for t in np.flatnonzero(state.newest != OVER).tolist():
            newest = int(state.newest[t])
            candidates = np.flatnonzero(state.is_open[:, t]).tolist()
            if newest == FIRST:
                yield candidates, t, [], ()
            elif max_given != 0:
                others = [v for v in np.flatnonzero(state.near[:, t]).tolist() if v != newest]
                yield candidates, t, others, (newest,)

    return _take(list_parts(), state.next_test, max_given, most)


def list_backward_tests(state: Round, max_given: int | None, most: int) -> list[Test]:
    """Return the next tests of a backward round, at most so many."""

    def list_parts() -> Iterator[tuple[list[int], int, list[int], Given]]:
        for t in range(len(state.near)):
            members = np.flatnonzero(state.is_open[:, t]).tolist()
            if state.place < len(members):
                x = members[state.place]
                others = [v for v in np.flatnonzero(state.near[:, t]).tolist() if v != x]
                yield [x], t, others, ()

    return _take(list_parts(), state.next_test, max_given, most)


def _take(
    parts: Iterator[tuple[list[int], int, list[int], Given]],
    first: int,
    max_given: int | None,
    most: int,
) -> list[Test]:
    """Return the tests from number `first` on, at most so many.

    A part is the tests of some candidates with a target, given each subset of `others` together
    with `always`.
    """
    found: list[Test] = []
    for candidates, t, others, always in parts:
        limit = len(others) if max_given is None else min(len(others), max_given - len(always))
        n_tests = len(candidates) * sum(math.comb(len(others), k) for k in range(limit + 1))
        if first >= n_tests:
            first -= n_tests
            continue
        sizes = range(limit + 1)
        subsets = chain.from_iterable(combinations(others, size) for size in sizes)
        given = [(*subset, *always) for subset in subsets]
        tests = ((x, t, one) for x in candidates for one in given)
        found += islice(tests, first, first + most - len(found))
        first = 0
        if len(found) == most:
            break
    return found


TESTS_PER_STEP = 1 << 16
TESTS_PER_BATCH = 1 << 14  # between two checks of the deadline
FORWARD, BACKWARD, CLIMB = 0, 1, 2  # phases


@dataclass(frozen=True, eq=False)
class MMHCState(SearchState):
    """The neighbours of each target so far, then the climb."""

    schema: ClassVar[Schema] = {
        **SearchState.schema,
        **CLIMB_SCHEMA,
        "phase": Number(0, CLIMB),
        "near": Array(np.bool_, ("n", "n")),
        "p_values": Array(np.float64, ("n", "n"), make_range(0, 1)),
        "statistics": Array(np.float64, ("n", "n"), make_range(0, math.inf)),
        "newest": Array(np.int64, ("n",), make_range(OVER, "n")),
        "is_open": Array(np.bool_, ("n", "n")),
        "place": Number(),
        "next_test": Number(),
        "moves": Array(np.int64, ("moves", 3), make_range(0, math.inf)),
        "n_stalled": Number(),
        "is_done": Flag(),
    }

    phase: int
    near: NDArray[np.bool_]  # (n, n), [x, t]: x is in the set of t
    p_values: NDArray[np.float64]  # (n, n), [x, t]: the largest so far
    statistics: NDArray[np.float64]  # (n, n), [x, t]: the smallest so far
    newest: NDArray[np.int64]  # (n,), the neighbour that entered last, FIRST or OVER
    is_open: NDArray[np.bool_]  # (n, n), [x, t]: candidates of the round; then all to test again
    place: int  # in the backward phase, which neighbour of each target is tested
    next_test: int  # the first test of the round that has not run
    current: NDArray[np.bool_]  # (n, n), as in hill climbing
    gains: NDArray[np.float64]  # (n, n)
    local: NDArray[np.float64]  # (n,)
    moves: NDArray[np.int64]  # (m, 3), the last moves: the tabu list, see `tabu_list`
    n_stalled: int  # moves since the best structure was found
    is_done: bool

    def find_flaw(self) -> str:
        """Return what is wrong with the fields together; an empty text if nothing is."""
        largest = [len(KINDS) - 1, len(self.current) - 1, len(self.current) - 1]
        if (self.moves > largest).any():
            return "'moves' must have kinds of moves, and variables"
        return super().find_flaw()


@dataclass(frozen=True)
class MMHC(Method):
    """Settings of MMHC.

    Parameters
    ----------
    test : str
        The test of independence: ``'g2'`` (likelihood ratio) or ``'x2'`` (Pearson).
    alpha : float
        Two variables count as independent if the p-value of a test is above this.
    max_given : int, optional
        The largest number of variables that a test may give (default: 3). None is no limit: the
        number of tests then doubles with each neighbour.
    tabu_list : int
        Number of structures to which no move may lead back. 0 is plain hill climbing.
    max_stalled : int
        End after this number of moves in a row without a new best structure.
    """

    name: ClassVar[str] = "mmhc"
    state_type: ClassVar[type[SearchState]] = MMHCState
    default_budget: ClassVar[Budget] = Budget()

    test: str = "g2"
    alpha: float = 0.05
    max_given: int | None = 3
    tabu_list: int = 100
    max_stalled: int = 15

    def __post_init__(self) -> None:
        self.check_counts(tabu_list=0, max_stalled=1)
        check_test(self.test, "MMHC")
        if not (is_number(self.alpha) and 0 < self.alpha < 1):
            raise bad_parameter("alpha", "MMHC", "a number between 0 and 1", self.alpha)
        if self.max_given is not None and not is_int(self.max_given, 0):
            raise bad_parameter("max_given", "MMHC", "an int >= 0 or None", self.max_given)

    def make_search(self, problem: Problem) -> MMHCSearch:
        """Return the search on a problem."""
        return MMHCSearch(self, problem)


class MMHCSearch(Search[MMHCState]):
    """MMHC on a problem."""

    def __init__(self, method: MMHC, problem: Problem) -> None:
        self._method, self._problem = method, problem

    def start(self, rng: Generator) -> tuple[MMHCState, Info]:
        """Return the start structure and no neighbours."""
        problem, n = self._problem, self._problem.n_variables
        local = problem.local_scores(problem.start)
        state = MMHCState(
            generation=0,
            evaluations=n,
            improved=0,
            score=math.fsum(local),
            adjacency=problem.start.copy(),
            phase=FORWARD,
            near=np.zeros((n, n), dtype=np.bool_),
            p_values=np.zeros((n, n)),
            statistics=np.full((n, n), np.inf),
            newest=np.full(n, FIRST, dtype=np.int64),
            is_open=problem.rules.allowed | problem.rules.allowed.T,
            place=0,
            next_test=0,
            current=problem.start.copy(),
            gains=np.zeros((n, n)),
            local=local,
            moves=np.empty((0, 3), dtype=np.int64),
            n_stalled=0,
            is_done=False,
        )
        return state, self._describe(state)

    def step(self, rng: Generator, state: MMHCState) -> tuple[MMHCState, Info]:
        """Run tests of a round and, after its last one, change the sets; or make some moves."""
        steps = {FORWARD: self._grow, BACKWARD: self._shrink, CLIMB: self._climb}
        after = steps[state.phase](state)
        return after, self._describe(after)

    def is_finished(self, state: MMHCState) -> bool:
        """Return whether the climb has stalled or has no legal move."""
        return state.is_done

    def _describe(self, state: MMHCState) -> Info:
        n_edges = float((state.near & state.near.T).sum() // 2)
        return {"phase": float(state.phase), "n_edges": n_edges}

    def _run_tests(self, tests: list[Test], state: MMHCState) -> MMHCState:
        """Return the state with the largest p-values and the smallest statistics."""
        p_values, statistics = state.p_values.copy(), state.statistics.copy()
        for first in range(0, len(tests), TESTS_PER_BATCH):
            check_deadline()
            triples = TripleBatch.from_triples(tests[first : first + TESTS_PER_BATCH])
            found = self._problem.scorer.test_triples(triples, self._method.test)
            x, t = triples.members[triples.start[:-1]], triples.members[triples.start[:-1] + 1]
            np.maximum.at(p_values, (x, t), found.p_values)
            np.minimum.at(statistics, (x, t), found.statistics)
        return state.advance(
            len(tests),
            p_values=p_values,
            statistics=statistics,
            next_test=state.next_test + len(tests),
        )

    def _grow(self, state: MMHCState) -> MMHCState:
        """Test all candidates given the subsets with the newest neighbour; add the best one."""
        alpha = self._method.alpha
        tests = list_forward_tests(state, self._method.max_given, TESTS_PER_STEP)
        tested = self._run_tests(tests, state)
        if len(tests) == TESTS_PER_STEP:
            return tested
        near, newest = state.near.copy(), state.newest.copy()
        is_open = state.is_open & (tested.p_values <= alpha)
        for t in np.flatnonzero(state.newest != OVER).tolist():
            left = np.flatnonzero(is_open[:, t]).tolist()
            newest[t] = OVER
            if left:
                p_of, statistic_of = tested.p_values[:, t], tested.statistics[:, t]
                newest[t] = min(left, key=lambda x: (p_of[x], -statistic_of[x], x))
                near[newest[t], t] = True
                is_open[newest[t], t] = False
        after = replace(tested, near=near, newest=newest, is_open=is_open, next_test=0)
        if (newest != OVER).any():
            return after
        return replace(after, phase=BACKWARD, is_open=near.copy())

    def _shrink(self, state: MMHCState) -> MMHCState:
        """Remove the neighbours that some subset of the others makes independent of the target.

        The sets shrink one member at a time, so that of two copies of a variable one stays.
        """
        tests = list_backward_tests(state, self._method.max_given, TESTS_PER_STEP)
        tested = self._run_tests(tests, state)
        if len(tests) == TESTS_PER_STEP:
            return tested
        near = state.near & (tested.p_values <= self._method.alpha)
        after = replace(tested, near=near, place=state.place + 1, next_test=0)
        if after.place < state.is_open.sum(axis=0).max(initial=0):
            return after
        climb = Climb(self._restrict(near), self._problem.start)
        evaluations = after.evaluations + climb.evaluations
        return replace(after, evaluations=evaluations, phase=CLIMB, **climb.as_fields())

    def _restrict(self, near: NDArray[np.bool_]) -> Problem:
        """Return the problem without arcs between variables that are not neighbours."""
        rules = self._problem.rules
        allowed = rules.allowed & ((near & near.T) | rules.required)
        return replace(self._problem, rules=replace(rules, allowed=allowed))

    def _climb(self, state: MMHCState) -> MMHCState:
        """Make some moves that lead to no structure of the tabu list."""
        climb = Climb(self._restrict(state.near), state.current, state.gains, state.local)
        length, moves, n_stalled = self._method.tabu_list, state.moves, state.n_stalled
        best, adjacency = state.score, state.adjacency
        is_done = False
        for _ in range(MOVES_PER_STEP):
            score = math.fsum(climb.local)
            move = choose_move(climb, find_tabu_moves(climb.adjacency, moves))
            is_top = move is None or (not length and move.gain <= LEAST_GAIN)
            is_done = is_top or n_stalled >= self._method.max_stalled
            if move is None or is_done:
                break
            climb.apply(move)
            moves = append_move(moves, move, length)
            n_stalled += 1
            if score + move.gain > best + LEAST_GAIN:
                best, adjacency, n_stalled = score + move.gain, climb.adjacency.copy(), 0
        better = None
        if adjacency is not state.adjacency:
            better = (adjacency, self._problem.score(adjacency))
        fields = {"moves": moves, "n_stalled": n_stalled, "is_done": is_done}
        return state.advance(climb.evaluations, better, **climb.as_fields(), **fields)
