"""PC: remove every edge that a test of independence explains, then direct what colliders force.

This is PC-stable (Colombo and Maathuis 2014). Every pair begins with an edge. At level 0, 1, 2 and
so on, each edge x - y is tested given each set of so many neighbours of x, then of y. The first
p-value above `alpha` removes the edge, and its set is the separator. Neighbours are those of the
beginning of the level and sets come in canonical order, so the answer does not depend on the order
of columns. The levels end when no variable has enough neighbours.

Then come the colliders. The first separator of a pair is a matter of chance, so PC asks all of them
(the majority rule of the same paper): each pair a, b with a common neighbour c is tested given
every set of neighbours of a, then of b. The triple is a collider a -> c <- b if fewer than half of
the sets that separate a and b have c. `coevo.search.pc_tests` does the rest.

PC does not maximise a score. The score of its structure is reported only. A pair without an edge is
one that some test could not tell from independent: with few rows PC finds too few edges rather than
too many.

The number of sets grows fast with the number of neighbours. An edge at a variable with 25 of them
has 134,596 sets of 6, nearly all of them useless: a configuration of so many variables occurs in a
row or two. So an edge with more than `max_sets` sets of one size above two is kept, and not
tested with larger sets. The limit of 10,000 is above what the published networks up to andes need.

A required arc is never tested, and a pair that is forbidden both ways begins without an edge. A
step does one level, or the colliders, or `TESTS_PER_STEP` tests of these. Until the last step the
structure is the start.

References
----------
P. Spirtes, C. Glymour (1991). An algorithm for fast recovery of sparse causal graphs. Social
Science Computer Review 9, 62-72.

D. Colombo, M. H. Maathuis (2014). Order-independent constraint-based causal structure learning.
Journal of Machine Learning Research 15, 3921-3962.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from coevo.checks import is_int, is_number
from coevo.errors import bad_parameter
from coevo.runtime.deadline import check_deadline
from coevo.score import TripleBatch
from coevo.score.independence import check_test
from coevo.search.base import (
    OFFSETS,
    SYMMETRIC,
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
from coevo.search.loop import Budget
from coevo.search.pc_tests import (
    ColliderTests,
    EdgeTests,
    LevelTests,
    Separators,
    Triple,
    TripleVotes,
    find_triples,
    make_chunks,
    orient,
)

__all__ = ["PC", "PCState"]

TESTS_PER_STEP = 1 << 16
TESTS_PER_BATCH = 1 << 14  # between two checks of the deadline
EDGES, COLLIDERS = 0, 1  # phases


@dataclass(frozen=True, eq=False)
class PCState(SearchState):
    """The edges that are left, what separated the others, and the next test."""

    schema: ClassVar[Schema] = {
        **SearchState.schema,
        "edges": Array(np.bool_, ("n", "n"), SYMMETRIC),
        "frozen": Array(np.bool_, ("n", "n"), SYMMETRIC),
        "p_values": Array(np.float64, ("n", "n"), make_range(0, 1)),
        "separated": Array(np.int64, ("separated", 2), make_range(0, "n")),
        "separators": Array(np.int64, ("separators",), make_range(0, "n")),
        "separator_start": Array(np.int64, ("starts",), OFFSETS),
        "triples": Array(np.int64, ("triples", 3), make_range(0, "n")),
        "votes": Array(np.int64, ("triples", 2), make_range(0, math.inf)),
        "vote_p_values": Array(np.float64, ("triples", 2), make_range(0, 1)),
        "phase": Number(EDGES, COLLIDERS),
        "level": Number(),
        "next_pair": Number(),
        "next_set": Number(),
        "directions": Array(np.bool_, ("n", "n")),
        "is_done": Flag(),
    }

    edges: NDArray[np.bool_]  # (n, n), symmetric
    frozen: NDArray[np.bool_]  # (n, n), the edges at the beginning of the level
    p_values: NDArray[np.float64]  # (n, n), the largest p of all tests of a pair
    separated: NDArray[np.int64]  # (m, 2), the pairs that a test has separated
    separators: NDArray[np.int64]  # the sets that separate them, one after another
    separator_start: NDArray[np.int64]  # (m + 1,), where each set begins
    triples: NDArray[np.int64]  # (k, 3), a - c - b without an edge a - b: perhaps colliders at c
    votes: NDArray[np.int64]  # (k, 2), how many sets without c, and with c, separate a and b
    vote_p_values: NDArray[np.float64]  # (k, 2), the largest p of all sets without c, and with c
    phase: int
    level: int
    next_pair: int  # of the pairs that this phase tests, the next one
    next_set: int  # and the first of its sets that is not tested
    directions: NDArray[np.bool_]  # (n, n), the answer: arcs, and edges in both directions
    is_done: bool

    def find_flaw(self) -> str:
        """Return what is wrong with the fields together; an empty text if nothing is."""
        if (self.edges & ~self.frozen).any():
            return "'frozen' must have all of 'edges'"
        if len(self.separator_start) != len(self.separated) + 1:
            return "'separator_start' must have an entry for each separated pair, and one more"
        if self.separator_start[-1] != len(self.separators):
            return "'separator_start' must end with the number of 'separators'"
        return super().find_flaw()


@dataclass(frozen=True)
class PC(Method):
    """Settings of PC.

    Parameters
    ----------
    test : str
        The test of independence: ``'g2'`` (likelihood ratio) or ``'x2'`` (Pearson).
    alpha : float
        An edge is removed if the p-value of a test is above this.
    max_given : int, optional
        The largest number of variables that a test may give (default: no limit).
    max_sets : int, optional
        Sets of more than two variables are tested up to the first size of which one end of an
        edge has more than this; None is no limit.
    """

    name: ClassVar[str] = "pc"
    state_type: ClassVar[type[SearchState]] = PCState
    default_budget: ClassVar[Budget] = Budget()
    maximises: ClassVar[bool] = False

    test: str = "g2"
    alpha: float = 0.05
    max_given: int | None = None
    max_sets: int | None = 10_000

    def __post_init__(self) -> None:
        check_test(self.test, "PC")
        if not (is_number(self.alpha) and 0 < self.alpha < 1):
            raise bad_parameter("alpha", "PC", "a number between 0 and 1", self.alpha)
        if self.max_given is not None and not is_int(self.max_given, 0):
            raise bad_parameter("max_given", "PC", "an int >= 0 or None", self.max_given)
        if self.max_sets is not None and not is_int(self.max_sets, 1):
            raise bad_parameter("max_sets", "PC", "an int >= 1 or None", self.max_sets)

    def make_search(self, problem: Problem) -> PCSearch:
        """Return the search on a problem."""
        return PCSearch(self, problem)


class PCSearch(Search[PCState]):
    """PC on a problem."""

    def __init__(self, method: PC, problem: Problem) -> None:
        self._method, self._problem = method, problem

    def start(self, rng: Generator) -> tuple[PCState, Info]:
        """Return the complete graph, without pairs that are forbidden both ways."""
        problem = self._problem
        n, allowed = problem.n_variables, problem.rules.allowed
        edges = allowed | allowed.T
        state = PCState(
            generation=0,
            evaluations=n,
            improved=0,
            score=problem.score(problem.start),
            adjacency=problem.start.copy(),
            edges=edges,
            frozen=edges.copy(),
            p_values=np.zeros((n, n)),
            separated=np.empty((0, 2), dtype=np.int64),
            separators=np.empty(0, dtype=np.int64),
            separator_start=np.zeros(1, dtype=np.int64),
            triples=np.empty((0, 3), dtype=np.int64),
            votes=np.empty((0, 2), dtype=np.int64),
            vote_p_values=np.empty((0, 2)),
            phase=EDGES,
            level=0,
            next_pair=0,
            next_set=0,
            directions=np.zeros((n, n), dtype=np.bool_),
            is_done=False,
        )
        return state, self._describe(state, 0)

    def step(self, rng: Generator, state: PCState) -> tuple[PCState, Info]:
        """Run the tests of a level or of the colliders; after the last one, direct the edges."""
        test = self._test_edges if state.phase == EDGES else self._test_colliders
        after, n_tests = test(state)
        return after, self._describe(after, n_tests)

    def _run_tests(self, triples: list[Triple]) -> NDArray[np.float64]:
        """Return the p-values of tests."""
        p_values = np.empty(len(triples))
        for first in range(0, len(triples), TESTS_PER_BATCH):
            check_deadline()
            batch = TripleBatch.from_triples(triples[first : first + TESTS_PER_BATCH])
            found = self._problem.scorer.test_triples(batch, self._method.test)
            p_values[first : first + TESTS_PER_BATCH] = found.p_values
        return p_values

    def _test_edges(self, state: PCState) -> tuple[PCState, int]:
        """Run the tests of a level, or of a part of it, and remove edges."""
        level = self._make_level(state)
        check_deadline()
        parts, next_pair, next_set = level.take_parts(
            state.next_pair, state.next_set, TESTS_PER_STEP
        )
        check_deadline()
        # An edge that an earlier part of this level has removed is not tested again.
        tested = EdgeTests(state.edges, state.p_values, self._method.alpha)
        n_tests = 0
        for triples in make_chunks(level, parts, tested.edges):
            tested.note(triples, self._run_tests(triples))
            n_tests += len(triples)
        is_over = next_pair == len(level.pairs)
        after = state.advance(
            n_tests,
            # A step does not look for a better structure, so patience must not end the search.
            (state.adjacency, state.score),
            edges=tested.edges,
            frozen=tested.edges.copy() if is_over else state.frozen,
            p_values=tested.p_values,
            level=state.level + is_over,
            next_pair=0 if is_over else next_pair,
            next_set=next_set,
            **_append_separators(state, tested.separators),
        )
        if is_over and not self._has_level(after):
            after = self._begin_colliders(after)
        return after, n_tests

    def _begin_colliders(self, state: PCState) -> PCState:
        """List the triples that may be colliders. The separator of a pair is its first vote."""
        separators = _read_separators(state)
        votes = TripleVotes.from_separators(
            find_triples(state.edges, separators), separators, state.p_values
        )
        after = replace(
            state,
            phase=COLLIDERS,
            triples=votes.triples,
            votes=votes.votes,
            vote_p_values=votes.p_values,
        )
        return after if len(votes.triples) else self._finish(after)

    def _test_colliders(self, state: PCState) -> tuple[PCState, int]:
        """Ask all sets of neighbours, or a part of them, and count which separate."""
        colliders = self._make_colliders(state)
        parts, next_pair, next_set = colliders.take_parts(
            state.next_pair, state.next_set, TESTS_PER_STEP
        )
        triples = colliders.list_tests(parts)
        votes = TripleVotes(state.triples, state.votes, state.vote_p_values)
        votes = votes.count(triples, self._run_tests(triples), self._method.alpha)
        after = state.advance(
            len(triples),
            (state.adjacency, state.score),
            votes=votes.votes,
            vote_p_values=votes.p_values,
            next_pair=next_pair,
            next_set=next_set,
        )
        if next_pair == len(colliders.pairs):
            after = self._finish(after)
        return after, len(triples)

    def _make_colliders(self, state: PCState) -> ColliderTests:
        """Return the tests of all triples that may be colliders."""
        limit = self._method.max_given
        most = state.level if limit is None else min(limit, state.level)
        separators = _read_separators(state)
        return ColliderTests(state.edges, state.triples, separators, most, self._method.max_sets)

    def _make_level(self, state: PCState) -> LevelTests:
        """Return the tests of the level."""
        required = self._problem.rules.required
        return LevelTests(state.frozen, required, state.level, self._method.max_sets)

    def is_finished(self, state: PCState) -> bool:
        """Return whether the edges are directed."""
        return state.is_done

    def is_compatible(self, state: PCState) -> bool:
        """Return whether the next test of the state exists."""
        if state.phase == COLLIDERS:
            return state.next_pair <= len(self._make_colliders(state).pairs)
        return state.next_pair <= len(self._make_level(state).pairs)

    def _has_level(self, state: PCState) -> bool:
        """Return whether some test of the next level exists."""
        limit = self._method.max_given
        if limit is not None and state.level > limit:
            return False
        return self._make_level(state).has_tests()

    def _finish(self, state: PCState) -> PCState:
        """Direct the edges and score the structure."""
        problem = self._problem
        votes = TripleVotes(state.triples, state.votes, state.vote_p_values)
        graph, dag = orient(state.edges, votes.list_colliders(), state.p_values, problem.rules)
        return replace(
            state,
            evaluations=state.evaluations + problem.n_variables,
            score=problem.score(dag),
            adjacency=dag,
            directions=graph,
            is_done=True,
        )

    def _describe(self, state: PCState, n_tests: int) -> Info:
        return {
            "level": float(state.level),
            "n_edges": float(state.edges.sum() // 2),
            "n_tests": float(n_tests),
        }


def _read_separators(state: PCState) -> Separators:
    """Return the separator of each pair."""
    starts = itertools.pairwise(state.separator_start.tolist())
    return {
        (x, y): tuple(state.separators[begin:end].tolist())
        for (x, y), (begin, end) in zip(state.separated.tolist(), starts, strict=True)
    }


def _append_separators(state: PCState, found: Separators) -> dict[str, NDArray[np.int64]]:
    """Return the fields of a state with more separators."""
    pairs = np.array(sorted(found), dtype=np.int64).reshape(-1, 2)
    sets = [found[pair] for pair in sorted(found)]
    members = np.array([z for given in sets for z in given], dtype=np.int64)
    ends = np.cumsum([len(given) for given in sets], dtype=np.int64)
    start = state.separator_start
    return {
        "separated": np.concatenate([state.separated, pairs]),
        "separators": np.concatenate([state.separators, members]),
        "separator_start": np.concatenate([start, start[-1] + ends]),
    }
