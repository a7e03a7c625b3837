"""MMHC: tests of independence find the neighbours of each variable, hill climbing the arcs.

The first half is MMPC. For each target, candidates enter its set of neighbours one by one: always
the one that is most dependent on the target given the subset of the neighbours that explains it
best (the largest p-value over all subsets, the smallest of all candidates). A candidate that some
subset makes independent is out. Then each neighbour is tested given all subsets of the others. Two
variables are neighbours if each is in the set of the other. The second half is hill climbing that
may add arcs between neighbours only.

All targets advance together, so that a step is one batch of tests. Ties go to the larger statistic,
then to the first variable by name. Required arcs stay, whatever the tests say.

References
----------
I. Tsamardinos, L. E. Brown, C. F. Aliferis (2006). The max-min hill-climbing Bayesian network
structure learning algorithm. Machine Learning 65, 31-78.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain, combinations, islice
from typing import ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from coevo.checks import is_int, is_number
from coevo.errors import bad_parameter
from coevo.score import TripleBatch
from coevo.score.independence import check_test
from coevo.search.base import LEAST_GAIN, Info, Method, Problem, Search, SearchState
from coevo.search.budget import Budget
from coevo.search.climbing import CLIMB_SCHEMA, Climb, climb_up
from coevo.search.state_schema import Array, Flag, Number, Schema, make_range
from coevo.work_time import check_deadline

__all__ = ["MMHC", "MMHCState"]

TESTS_PER_BATCH = 1 << 14  # between two checks of the deadline
FORWARD, BACKWARD, CLIMB = 0, 1, 2  # phases
FIRST, OVER = -1, -2  # in place of the newest neighbour: none yet, and no more

Test = tuple[int, int, tuple[int, ...]]  # candidate, target, given


@dataclass(frozen=True)
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
        "at_top": Flag(),
    }

    phase: int
    near: NDArray[np.bool_]  # (n, n), [x, t]: x is in the set of t
    p_values: NDArray[np.float64]  # (n, n), [x, t]: the largest so far
    statistics: NDArray[np.float64]  # (n, n), [x, t]: the smallest so far
    newest: NDArray[np.int64]  # (n,), the neighbour that entered last, FIRST or OVER
    current: NDArray[np.bool_]  # (n, n), as in hill climbing
    gains: NDArray[np.float64]  # (n, n)
    local: NDArray[np.float64]  # (n,)
    at_top: bool


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
    """

    name: ClassVar[str] = "mmhc"
    state_type: ClassVar[type[SearchState]] = MMHCState
    default_budget: ClassVar[Budget] = Budget()

    test: str = "g2"
    alpha: float = 0.05
    max_given: int | None = 3

    def __post_init__(self) -> None:
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
            current=problem.start.copy(),
            gains=np.zeros((n, n)),
            local=local,
            at_top=False,
        )
        return state, self._describe(state)

    def step(self, rng: Generator, state: MMHCState) -> tuple[MMHCState, Info]:
        """Let each target gain a neighbour, or remove the wrong ones, or make some moves."""
        steps = {FORWARD: self._grow, BACKWARD: self._shrink, CLIMB: self._climb}
        after = steps[state.phase](state)
        return after, self._describe(after)

    def is_finished(self, state: MMHCState) -> bool:
        """Return whether the climb has reached a local optimum."""
        return state.at_top

    def _describe(self, state: MMHCState) -> Info:
        n_edges = float((state.near & state.near.T).sum() // 2)
        return {"phase": float(state.phase), "n_edges": n_edges}

    def _list_subsets(self, members: list[int], n_more: int = 0) -> Iterator[tuple[int, ...]]:
        """Return all subsets that are small enough, together with `n_more` further variables."""
        limit, most = self._method.max_given, len(members)
        if limit is not None:
            most = min(most, limit - n_more)
        return chain.from_iterable(combinations(members, size) for size in range(most + 1))

    def _run_tests(self, tests: Iterable[Test], state: MMHCState) -> tuple[MMHCState, int]:
        """Return the state with the largest p-values and smallest statistics, and the tests run."""
        p_values, statistics = state.p_values.copy(), state.statistics.copy()
        waiting, n_tests = iter(tests), 0
        while batch := list(islice(waiting, TESTS_PER_BATCH)):
            check_deadline()
            triples = TripleBatch.from_triples(batch)
            found = self._problem.scorer.test_triples(triples, self._method.test)
            x, t = triples.members[triples.start[:-1]], triples.members[triples.start[:-1] + 1]
            np.maximum.at(p_values, (x, t), found.p_values)
            np.minimum.at(statistics, (x, t), found.statistics)
            n_tests += len(batch)
        return replace(state, p_values=p_values, statistics=statistics), n_tests

    def _grow(self, state: MMHCState) -> MMHCState:
        """Test all candidates given the subsets with the newest neighbour; add the best one."""
        allowed, alpha = self._problem.rules.allowed, self._method.alpha
        possible = (allowed | allowed.T) & ~state.near
        tested, n_tests = self._run_tests(self._list_forward_tests(state, possible), state)
        near, newest = state.near.copy(), state.newest.copy()
        for t in np.flatnonzero(state.newest != OVER).tolist():
            left = np.flatnonzero(possible[:, t] & (tested.p_values[:, t] <= alpha)).tolist()
            newest[t] = OVER
            if left:
                p_of, statistic_of = tested.p_values[:, t], tested.statistics[:, t]
                newest[t] = min(left, key=lambda x: (p_of[x], -statistic_of[x], x))
                near[newest[t], t] = True
        phase = BACKWARD if (newest == OVER).all() else FORWARD
        return tested.advance(n_tests, near=near, newest=newest, phase=phase)

    def _list_forward_tests(self, state: MMHCState, possible: NDArray[np.bool_]) -> Iterator[Test]:
        """Yield the tests of the candidates of each target that are new in this round."""
        is_open = possible & (state.p_values <= self._method.alpha)
        for t in np.flatnonzero(state.newest != OVER).tolist():
            newest = int(state.newest[t])
            if newest == FIRST:
                subsets: list[tuple[int, ...]] = [()]
            elif self._method.max_given == 0:
                subsets = []
            else:
                others = [v for v in np.flatnonzero(state.near[:, t]).tolist() if v != newest]
                subsets = [(*subset, newest) for subset in self._list_subsets(others, 1)]
            for x in np.flatnonzero(is_open[:, t]).tolist():
                yield from ((x, t, given) for given in subsets)

    def _shrink(self, state: MMHCState) -> MMHCState:
        """Remove the neighbours that some subset of the others makes independent of the target.

        The sets shrink one member at a time, so that of two copies of a variable one stays.
        """
        near, n_tests, tested = state.near.copy(), 0, state
        members = [np.flatnonzero(column).tolist() for column in near.T]
        for place in range(max(map(len, members), default=0)):
            tests: list[Test] = []
            for t, listed in enumerate(members):
                if place < len(listed):
                    x = listed[place]
                    others = [v for v in np.flatnonzero(near[:, t]).tolist() if v != x]
                    tests += ((x, t, given) for given in self._list_subsets(others))
            tested, n = self._run_tests(tests, tested)
            n_tests += n
            near &= tested.p_values <= self._method.alpha
        climb = Climb(self._restrict(near), self._problem.start)
        n_tests += climb.evaluations
        return tested.advance(n_tests, near=near, phase=CLIMB, **climb.as_fields())

    def _restrict(self, near: NDArray[np.bool_]) -> Problem:
        """Return the problem without arcs between variables that are not neighbours."""
        rules = self._problem.rules
        allowed = rules.allowed & ((near & near.T) | rules.required)
        return replace(self._problem, rules=replace(rules, allowed=allowed))

    def _climb(self, state: MMHCState) -> MMHCState:
        """Make some moves of hill climbing."""
        climb = Climb(self._restrict(state.near), state.current, state.gains, state.local)
        at_top = climb_up(climb)
        better = None
        if math.fsum(climb.local) > state.score + LEAST_GAIN:
            better = (climb.adjacency, self._problem.score(climb.adjacency))
        return state.advance(climb.evaluations, better, **climb.as_fields(), at_top=at_top)
