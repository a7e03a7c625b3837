"""PC: remove every edge that a test of independence explains, then direct what colliders force.

This is PC-stable (Colombo and Maathuis 2014). Every pair begins with an edge. At level 0, 1, 2 and
so on, each edge x - y is tested given each set of so many neighbours of x, then of y. The first
p-value above `alpha` removes the edge, and its set is the separator. Neighbours are those of the
beginning of the level and sets come in canonical order, so the answer does not depend on the order
of columns. The levels end when no variable has enough neighbours. `coevo.search.pc_orientation`
does the rest.

PC does not maximise a score. The score of its structure is reported only. A pair without an edge is
one that some test could not tell from independent: with few rows PC finds too few edges rather than
too many.

A required arc is never tested, and a pair that is forbidden both ways begins without an edge. A
step does one level, or `TESTS_PER_STEP` tests of it. Until the last step the structure is the
start.

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
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from coevo.checks import is_int, is_number
from coevo.errors import bad_parameter
from coevo.score import TripleBatch
from coevo.score.independence import check_test
from coevo.search.base import Info, Method, Problem, Search, SearchState
from coevo.search.budget import Budget
from coevo.search.pc_orientation import orient
from coevo.search.state_schema import OFFSETS, SYMMETRIC, Array, Flag, Number, Schema, make_range
from coevo.work_time import check_deadline

__all__ = ["PC", "PCState"]

TESTS_PER_STEP = 1 << 16
TESTS_PER_BATCH = 1 << 14  # between two checks of the deadline

Given = tuple[int, ...]
Edge = tuple[int, int]  # the lower number first


@dataclass(frozen=True)
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
        "level": Number(),
        "next_edge": Number(),
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
    level: int
    next_edge: int  # of the frozen edges, the one to test next
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
    """

    name: ClassVar[str] = "pc"
    state_type: ClassVar[type[SearchState]] = PCState
    default_budget: ClassVar[Budget] = Budget()
    maximises: ClassVar[bool] = False

    test: str = "g2"
    alpha: float = 0.05
    max_given: int | None = None

    def __post_init__(self) -> None:
        check_test(self.test, "PC")
        if not (is_number(self.alpha) and 0 < self.alpha < 1):
            raise bad_parameter("alpha", "PC", "a number between 0 and 1", self.alpha)
        if self.max_given is not None and not is_int(self.max_given, 0):
            raise bad_parameter("max_given", "PC", "an int >= 0 or None", self.max_given)

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
            level=0,
            next_edge=0,
            next_set=0,
            directions=np.zeros((n, n), dtype=np.bool_),
            is_done=False,
        )
        return state, self._describe(state, 0)

    def step(self, rng: Generator, state: PCState) -> tuple[PCState, Info]:
        """Run the tests of a level or of a part of it; after the last one, direct the edges."""
        level = _Level(state, self._problem.rules.required)
        check_deadline()
        parts, next_edge, next_set = level.take_parts(TESTS_PER_STEP)
        check_deadline()
        tested = _TestedEdges(state, self._method.alpha)
        n_tests = 0
        for chunk in _make_chunks(level, parts, tested.removed):
            triples = [(x, y, given) for (x, y), sets in chunk for given in sets]
            for first in range(0, len(triples), TESTS_PER_BATCH):
                check_deadline()
                part = triples[first : first + TESTS_PER_BATCH]
                batch = TripleBatch.from_triples(part)
                found = self._problem.scorer.test_triples(batch, self._method.test)
                tested.note(part, found.p_values)
            n_tests += len(triples)
        fields = tested.as_fields() | {"next_edge": next_edge, "next_set": next_set}
        is_over = next_edge == level.n_edges
        if is_over:
            fields |= {"next_edge": 0, "level": state.level + 1, "frozen": fields["edges"].copy()}
        # A step does not look for a better structure, so patience must not end the search.
        after = state.advance(n_tests, (state.adjacency, state.score), **fields)
        if is_over and not self._has_level(after):
            after = self._finish(after)
        return after, self._describe(after, n_tests)

    def is_finished(self, state: PCState) -> bool:
        """Return whether the edges are directed."""
        return state.is_done

    def is_compatible(self, state: PCState) -> bool:
        """Return whether the next test of the state exists."""
        return state.next_edge <= _Level(state, self._problem.rules.required).n_edges

    def _has_level(self, state: PCState) -> bool:
        """Return whether some test of the next level exists."""
        limit = self._method.max_given
        if limit is not None and state.level > limit:
            return False
        testable = state.edges & ~(self._problem.rules.required | self._problem.rules.required.T)
        degrees = state.edges.sum(axis=0)
        return bool((degrees[testable.any(axis=0)] > state.level).any())

    def _finish(self, state: PCState) -> PCState:
        """Direct the edges and score the structure."""
        problem, starts = self._problem, itertools.pairwise(state.separator_start.tolist())
        separators = {
            (x, y): frozenset(state.separators[begin:end].tolist())
            for (x, y), (begin, end) in zip(state.separated.tolist(), starts, strict=True)
        }
        graph, dag = orient(state.edges, separators, state.p_values, problem.rules)
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


class _Level:
    """The edges of a level, and the sets that each is tested with."""

    def __init__(self, state: PCState, required: NDArray[np.bool_]) -> None:
        self._state, self.size = state, state.level
        testable = np.triu(state.frozen & ~(required | required.T))
        self._edges = np.argwhere(testable)
        self._near: dict[int, list[int]] = {}  # of the variables in use

    @property
    def n_edges(self) -> int:
        """The number of edges to test."""
        return len(self._edges)

    def _find_near(self, variable: int) -> list[int]:
        """Return the neighbours of a variable at the beginning of the level."""
        if variable not in self._near:
            self._near[variable] = np.flatnonzero(self._state.frozen[variable]).tolist()
        return self._near[variable]

    def count_sets(self, edge: Edge) -> int:
        """Return the number of sets of an edge. A set of neighbours of both counts once."""
        if not self.size:
            return 1
        x, y = edge
        n_x, n_y = len(self._find_near(x)) - 1, len(self._find_near(y)) - 1
        n_both = int((self._state.frozen[x] & self._state.frozen[y]).sum())
        return sum(math.comb(n, self.size) for n in (n_x, n_y)) - math.comb(n_both, self.size)

    def iterate_sets(self, edge: Edge) -> Iterator[Given]:
        """Yield the sets of an edge: neighbours of the first variable, then of the second."""
        if not self.size:
            yield ()
            return
        x, y = edge
        near_x = [z for z in self._find_near(x) if z != y]
        yield from itertools.combinations(near_x, self.size)
        known = set(near_x)
        for given in itertools.combinations([z for z in self._find_near(y) if z != x], self.size):
            if not known.issuperset(given):
                yield given

    def take_parts(self, most: int) -> tuple[list[tuple[Edge, int, int]], int, int]:
        """Return edges with their sets from one number to another, and where the next step begins.

        All parts together have at most `most` sets.
        """
        at, begin = self._state.next_edge, self._state.next_set
        parts: list[tuple[Edge, int, int]] = []
        while at < self.n_edges and most > 0:
            x, y = self._edges[at].tolist()
            n_sets = self.count_sets((x, y))
            end = min(n_sets, begin + most)
            if end < n_sets and parts:
                break
            parts.append(((x, y), begin, end))
            most -= end - begin
            at, begin = (at + 1, 0) if end == n_sets else (at, end)
            if begin:
                break
        return parts, at, begin


def _make_chunks(
    level: _Level, parts: list[tuple[Edge, int, int]], removed: set[Edge]
) -> Iterator[list[tuple[Edge, list[Given]]]]:
    """Yield the next sets of all edges that are left: one of each, then two, four, ...

    Large batches are fast, and sets behind the first that separates are wasted. The caller adds to
    `removed` between two chunks.
    """
    waiting = [
        (edge, itertools.islice(level.iterate_sets(edge), begin, end)) for edge, begin, end in parts
    ]
    size = 1
    while waiting:
        chunk = []
        for edge, sets in waiting:
            if edge not in removed:
                check_deadline()
                chunk.append((edge, list(itertools.islice(sets, size))))
        chunk = [(edge, sets) for edge, sets in chunk if sets]
        if chunk:
            yield chunk
        kept = {edge for edge, sets in chunk if len(sets) == size}
        waiting = [(edge, sets) for edge, sets in waiting if edge in kept]
        size *= 2


class _TestedEdges:
    """The edges and the separators of a state, while tests change them."""

    def __init__(self, state: PCState, alpha: float) -> None:
        self._state, self._alpha = state, alpha
        self.edges, self.p_values = state.edges.copy(), state.p_values.copy()
        # An edge that an earlier part of this level has removed is not tested again.
        gone = np.argwhere(np.triu(state.frozen & ~state.edges)).tolist()
        self.removed: set[Edge] = {(x, y) for x, y in gone}
        self._separators: list[tuple[Edge, Given]] = []

    def note(self, triples: list[tuple[int, int, Given]], p_values: NDArray[np.float64]) -> None:
        """Remove the edges of which a test is above alpha; its first set is the separator."""
        for (x, y, given), p in zip(triples, p_values.tolist(), strict=True):
            if (x, y) in self.removed:
                continue
            self.p_values[x, y] = self.p_values[y, x] = max(self.p_values[x, y], p)
            if p > self._alpha:
                self.removed.add((x, y))
                self.edges[x, y] = self.edges[y, x] = False
                self._separators.append(((x, y), given))

    def as_fields(self) -> dict[str, Any]:
        """Return the fields of the next state."""
        state = self._state
        separators = sorted(self._separators)
        pairs = np.array([edge for edge, _ in separators], dtype=np.int64).reshape(-1, 2)
        members = np.array([z for _, given in separators for z in given], dtype=np.int64)
        ends = np.cumsum([len(given) for _, given in separators], dtype=np.int64)
        start = state.separator_start
        return {
            "edges": self.edges,
            "p_values": self.p_values,
            "separated": np.concatenate([state.separated, pairs]),
            "separators": np.concatenate([state.separators, members]),
            "separator_start": np.concatenate([start, start[-1] + ends]),
        }
