"""K2: greedy search for parents under a fixed order (Cooper and Herskovits 1992).

Each variable starts without parents. K2 adds the parent that raises its local score most,
among the variables before it in the order. It repeats this until no parent raises the score or
the limit is reached. Given the order, the variables are independent of each other, so all of
them take their next parent in the same step. A step is one batch of families, which differ from
the current ones by a single parent, so that the scorer can share counts. Ties go to the first
parent by name. A parent without a gain is not added. On a wide or long table, a step is for a part
of the variables, those with the fewest parents first. The result is the same.

The 2011 paper (`coevo.search.ccga`) uses K2 as its baseline, with random orders and at most ten
parents.

References
----------
G. F. Cooper, E. Herskovits (1992). A Bayesian method for the induction of probabilistic
networks from data. Machine Learning 9, 309-347.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from coevo.checks import is_int
from coevo.errors import ParameterError, bad_parameter, find_duplicate, suggest_match
from coevo.runtime.deadline import check_deadline
from coevo.score import FamilyBatch, toggle_families
from coevo.search.base import (
    FINITE,
    LEAST_GAIN,
    PERMUTATIONS,
    Array,
    Info,
    Method,
    Problem,
    Schema,
    Search,
    SearchState,
)
from coevo.search.graph_kernels import NEVER, put_required_first
from coevo.search.loop import Budget

__all__ = ["K2", "GreedyParents", "Grown", "K2State", "resolve_order"]

DEFAULT_MAX_PARENTS = 10  # the limit of the 2011 paper
FAMILIES_PER_STEP = 1 << 16  # a step ends before the variable that exceeds this number
WORK_PER_STEP = 1 << 30  # or this number of families times rows


@dataclass(frozen=True, eq=False)
class K2State(SearchState):
    """The order, and which variables may still take a parent."""

    schema: ClassVar[Schema] = {
        **SearchState.schema,
        "order": Array(np.int64, ("n",), PERMUTATIONS),
        "local": Array(np.float64, ("n",), FINITE),
        "growing": Array(np.bool_, ("n",)),
    }

    order: NDArray[np.int64]  # (n,)
    local: NDArray[np.float64]  # (n,), local scores
    growing: NDArray[np.bool_]  # (n,), the variable may gain from another parent

    def find_flaw(self) -> str:
        """Return what is wrong with the fields together; an empty text if nothing is."""
        place = np.argsort(self.order)
        if (self.adjacency & (place[:, None] >= place)).any():
            return "'order' must put the parents of 'adjacency' first"
        return super().find_flaw()


@dataclass(frozen=True)
class K2(Method):
    """Settings of K2.

    Parameters
    ----------
    order : sequence of str, optional
        All variables, possible parents first (default: a random order). Where required arcs
        contradict the order, a variable moves behind its required parents.
    max_parents : int, optional
        Maximum number of parents (default: the limit of the constraints, else 10).
    """

    name: ClassVar[str] = "k2"
    state_type: ClassVar[type[SearchState]] = K2State
    default_budget: ClassVar[Budget] = Budget()

    order: Sequence[str] | None = None
    max_parents: int | None = None

    def __post_init__(self) -> None:
        limit = self.max_parents
        if limit is not None and not is_int(limit, 0):
            raise bad_parameter("max_parents", "K2", "an int >= 0 or None", limit)
        if isinstance(self.order, str):
            raise bad_parameter("order", "K2", "a sequence of names or None", self.order)
        object.__setattr__(self, "order", None if self.order is None else tuple(self.order))

    def make_search(self, problem: Problem) -> K2Search:
        """Return the search on a problem."""
        return K2Search(self, problem)

    @property
    def settings(self) -> dict[str, Any]:
        """The settings as plain numbers, strings and lists."""
        order = None if self.order is None else list(self.order)
        return {"order": order, "max_parents": self.max_parents}


class K2Search(Search[K2State]):
    """K2 on a problem. One step gives each variable, or each of a part, at most one more parent."""

    def __init__(self, method: K2, problem: Problem) -> None:
        self._problem = problem
        self._order = None if method.order is None else resolve_order(method.order, problem.names)
        limit = method.max_parents
        if limit is None:
            limit = problem.constraints.max_parents or DEFAULT_MAX_PARENTS
        self._limit = min(limit, problem.rules.max_parents)

    def start(self, rng: Generator) -> tuple[K2State, Info]:
        """Return the start structure and an order in which its parents come first."""
        problem, start = self._problem, self._problem.start
        n = problem.n_variables
        given = rng.permutation(n) if self._order is None else self._order
        order = put_required_first(given[None], start)[0]
        local = problem.local_scores(start)
        state = K2State(
            generation=0,
            evaluations=n,
            improved=0,
            score=math.fsum(local),
            adjacency=start.copy(),
            order=order,
            local=local,
            growing=np.ones(n, dtype=np.bool_),
        )
        return state, {"n_growing": float(n)}

    def step(self, rng: Generator, state: K2State) -> tuple[K2State, Info]:
        """Add the best further parent of each variable that gains from one."""
        is_open, growing = self._choose_part(state)
        children, parents, batch = _list_candidates(state, is_open)
        scores = self._problem.scorer.local_scores(batch)
        adjacency, local = state.adjacency.copy(), state.local.copy()
        first = np.flatnonzero(np.diff(children, prepend=-1))
        for begin, end in zip(first, [*first[1:], len(children)], strict=True):
            # Not argmax: if parents differ only by round-off, the first by name is taken.
            ties = scores[begin:end] >= scores[begin:end].max() - LEAST_GAIN
            best = begin + int(ties.argmax())
            child = children[best]
            if scores[best] > local[child] + LEAST_GAIN:
                adjacency[parents[best], child] = True
                local[child] = scores[best]
                growing[child] = True
        better = (adjacency, math.fsum(local)) if growing.any() else None
        after = state.advance(len(children), better, local=local, growing=growing)
        return after, {"n_growing": float(growing.sum())}

    def is_finished(self, state: K2State) -> bool:
        """Return whether no variable may take another parent."""
        return not self._find_open_arcs(state).any()

    def _find_open_arcs(self, state: K2State) -> NDArray[np.bool_]:
        """Return which arcs, ``[parent, child]``, the next step may add."""
        place = np.empty_like(state.order)
        place[state.order] = np.arange(len(place))
        is_before = place[:, None] < place
        has_room = state.growing & (state.adjacency.sum(axis=0) < self._limit)
        open_pairs: NDArray[np.bool_] = (
            is_before & has_room & self._problem.rules.allowed & ~state.adjacency
        )
        return open_pairs

    def _choose_part(self, state: K2State) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return the arcs to try in this step, and which other variables may still grow."""
        is_open = self._find_open_arcs(state)
        n_arcs = is_open.sum(axis=0)
        n_rows = max(1, self._problem.scorer.dataset.n_rows)
        limit = min(FAMILIES_PER_STEP, WORK_PER_STEP // n_rows)
        if n_arcs.sum() <= limit:
            return is_open, np.zeros_like(state.growing)
        by_parents = np.argsort(state.adjacency.sum(axis=0), kind="stable")
        by_parents = by_parents[n_arcs[by_parents] > 0]
        n_chosen = int(np.searchsorted(np.cumsum(n_arcs[by_parents]), limit, side="right"))
        chosen = np.zeros_like(state.growing)
        chosen[by_parents[: max(1, n_chosen)]] = True
        return is_open & chosen, state.growing & ~chosen


def _list_candidates(
    state: K2State, is_open: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.int64], FamilyBatch]:
    """Return the arcs to try, sorted by child and then by parent, and their families."""
    children, parents = np.nonzero(is_open.T)
    parts = []
    for child in np.unique(children).tolist():
        held = np.flatnonzero(state.adjacency[:, child])
        parts.append(toggle_families(child, held, np.flatnonzero(is_open[:, child])))
    batch = FamilyBatch.from_parts(parts) if parts else FamilyBatch.from_pairs(())
    return children, parents, batch


def resolve_order(order: Sequence[str], names: Sequence[str]) -> NDArray[np.int64]:
    """Return an order as indices of variables; raise `ParameterError` if it is invalid."""
    number = {name: i for i, name in enumerate(names)}
    for name in order:
        if name not in number:
            raise ParameterError(
                f"The order names {name!r}, which is not a variable.{suggest_match(name, names)}"
            )
    twice = find_duplicate(order)
    if twice is not None:
        raise ParameterError(f"The order names {twice!r} twice.")
    missing = [name for name in names if name not in order]
    if missing:
        raise ParameterError(f"The order lacks {missing[0]!r}. It must name every variable.")
    return np.array([number[name] for name in order], dtype=np.int64)


# Greedy parents for many graphs at once: K2 as a step of another search.
#
# A genetic algorithm over orders runs K2 thousands of times, and each time it meets nearly the
# same parent sets. So the local scores of a parent set with each further parent are kept as one
# *row*, together with the number of the row that each further parent leads to. All variables of
# all graphs take their next parent in the same round, by reading rows. Only new rows are requested
# from the scorer, as one batch.
#
# The structure is exactly that of `K2` with the same candidates: each variable takes
# the parent that raises its local score most, ties go to the first by name, and a parent without a
# gain is not added.


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
