"""GES: greedy equivalence search (Chickering 2002), with a turning phase.

A step of GES leads from one equivalence class of DAGs to another, not from one DAG to another. The
*forward* phase adds the edge that raises the score most, until none does. The *backward* phase
removes edges in the same way. The *turning* phase (Hauser and Bühlmann 2012) reverses them. The
phases repeat until none of them finds a better class. At the end, no change of one arc, in any DAG
of the class, raises the score. With `turning` off, the forward and the backward phase are made
once, as in the paper of 2002. Nothing is random: every seed gives the same structure.

`coevo.search.ges_operators` has the operators. The result is one DAG of the last class; its `CPDAG`
is the class.

**Score.** GES assumes a score that is the same for all DAGs of a class, as BDeu, BIC, AIC and
qNML are. It also runs with another score: K2, BDs, fNML, or weights of arcs. An operator then has
the gain of one DAG of the old class, and leads to one DAG of the new class. It is applied only if
the score of this DAG rises. At the end, other DAGs of the class may have a better neighbour.

**Constraints.** A class is allowed if one of its DAGs satisfies the constraints. The test is exact,
and the result is such a DAG.

**Start.** The search starts with the class of the start structure, else of the required arcs.

The number of operators of a variable grows with the number of cliques among its neighbours.
That is small unless the score favours complete graphs. With the log-likelihood or AIC give a
limit on parents.

References
----------
D. M. Chickering (2002). Optimal structure identification with greedy search. Journal of Machine
Learning Research 3, 507-554.

A. Hauser, P. Bühlmann (2012). Characterization and greedy learning of interventional Markov
equivalence classes of directed acyclic graphs. Journal of Machine Learning Research 13, 2409-2464.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from coevo.errors import bad_parameter
from coevo.runtime.deadline import OutOfTime, check_deadline
from coevo.score import FamilyBatch
from coevo.search.base import (
    LEAST_GAIN,
    Array,
    Info,
    Method,
    Number,
    Problem,
    Schema,
    Search,
    SearchState,
    make_range,
)
from coevo.search.equivalence import (
    BitSet,
    EquivalenceClass,
    iter_bits,
    make_adjacency,
    make_parent_sets,
)
from coevo.search.ges_operators import TURN, Operator, OperatorQueue, apply_operator
from coevo.search.loop import Budget

__all__ = ["GES", "GESState"]

OPERATORS_PER_STEP = 16  # the budget is checked between steps
N_PHASES = 3


@dataclass(frozen=True, eq=False)
class GESState(SearchState):
    """The structure, which stands for its class, and the phase."""

    schema: ClassVar[Schema] = {
        **SearchState.schema,
        "phase": Number(0, 2),
        "n_idle": Number(),
        "n_applied": Array(np.int64, (3,), make_range(0, math.inf)),
    }

    phase: int  # INSERT, DELETE or TURN
    n_idle: int  # phases in a row that have ended without a change since
    n_applied: NDArray[np.int64]  # (3,), operators of each kind so far


@dataclass(frozen=True)
class GES(Method):
    """Settings of greedy equivalence search.

    Parameters
    ----------
    turning : bool
        Reverse edges after the backward phase, and repeat all phases until none improves the
        score. False makes one forward and one backward phase (Chickering 2002).

    Examples
    --------
    >>> GES(turning=False).settings
    {'turning': False}
    """

    name: ClassVar[str] = "ges"
    state_type: ClassVar[type[SearchState]] = GESState
    default_budget: ClassVar[Budget] = Budget()

    turning: bool = True

    def __post_init__(self) -> None:
        if not isinstance(self.turning, bool):
            raise bad_parameter("turning", "GES", "True or False", self.turning)

    def make_search(self, problem: Problem) -> GESSearch:
        """Return the search on a problem."""
        return GESSearch(self, problem)


@dataclass(frozen=True, eq=False)
class _Place:
    """A class, one of its DAGs, and the local scores of this DAG."""

    graph: EquivalenceClass
    dag: list[BitSet]
    local: NDArray[np.float64]


class GESSearch(Search[GESState]):
    """GES on a problem. A step applies up to `OPERATORS_PER_STEP` operators.

    The operators that wait are not part of a state. They follow from its structure, and their
    scores are requested again when a search resumes. These requests do not count as evaluations.
    """

    def __init__(self, method: GES, problem: Problem) -> None:
        self._method = method
        self._problem = problem
        rules = problem.rules
        self._barred = make_parent_sets(~rules.allowed | rules.required.T)
        self._known: tuple[NDArray[np.bool_], OperatorQueue] | None = None

    def start(self, rng: Generator) -> tuple[GESState, Info]:
        """Return the start structure."""
        problem = self._problem
        local = problem.local_scores(problem.start)
        queue = OperatorQueue(problem, EquivalenceClass(make_parent_sets(problem.start)))
        adjacency = problem.start.copy()
        self._known = (adjacency, queue)
        state = GESState(
            generation=0,
            evaluations=len(local) + queue.n_scored,
            improved=0,
            score=math.fsum(local),
            adjacency=adjacency,
            phase=0,
            n_idle=0,
            n_applied=np.zeros(N_PHASES, dtype=np.int64),
        )
        return state, _make_info(state)

    def step(self, rng: Generator, state: GESState) -> tuple[GESState, Info]:
        """Apply some operators, in this phase and in those that follow."""
        queue = self._take_queue(state.adjacency)
        place = _Place(
            queue.graph,
            make_parent_sets(state.adjacency),
            self._problem.local_scores(state.adjacency),
        )
        phase, n_idle, n_applied = state.phase, state.n_idle, state.n_applied.copy()
        n_scored = 0
        while n_applied.sum() - state.n_applied.sum() < OPERATORS_PER_STEP:
            try:
                check_deadline()
                after, n_tried = self._improve(queue, place, phase)
                n_scored += n_tried
                if after is not None:
                    place = after
                    n_scored += queue.update(after.graph)
            except OutOfTime as late:
                late.offered = make_adjacency(place.dag)
                raise
            if after is not None:
                n_idle = 0
                n_applied[phase] += 1
                continue
            phase, n_idle = (phase + 1) % N_PHASES, n_idle + 1
            if self._is_over(phase, n_idle):
                break
        adjacency, score = state.adjacency, math.fsum(place.local)
        better = None
        if score > state.score:
            adjacency = make_adjacency(place.dag)
            better = (adjacency, score)
        self._known = (adjacency, queue)
        fields = {"phase": phase, "n_idle": n_idle, "n_applied": n_applied}
        after_step = state.advance(n_scored, better, **fields)
        return after_step, _make_info(after_step)

    def is_finished(self, state: GESState) -> bool:
        """Return whether no phase finds a better class."""
        return self._is_over(state.phase, state.n_idle)

    def _is_over(self, phase: int, n_idle: int) -> bool:
        if not self._method.turning:
            return phase == TURN
        return n_idle >= N_PHASES

    def _take_queue(self, adjacency: NDArray[np.bool_]) -> OperatorQueue:
        """Return the operators on the class of a structure, from the last step if they fit."""
        known, self._known = self._known, None  # an interrupt may leave a queue half done
        if known is not None and np.array_equal(known[0], adjacency):
            return known[1]
        return OperatorQueue(self._problem, EquivalenceClass(make_parent_sets(adjacency)))

    def _improve(self, queue: OperatorQueue, place: _Place, kind: int) -> tuple[_Place | None, int]:
        """Return where the best valid operator of a kind leads, and the evaluations needed.

        The place is None if no operator improves the score.
        """
        seen: set[Operator] = set()
        found, n_scored = None, 0
        while found is None:
            best = queue.pop_best(kind, seen)
            if not best:
                break
            for operator in best:
                found, n_tried = self._try(place, operator)
                n_scored += n_tried
                if found is not None:
                    break
        queue.put_back(seen)
        return found, n_scored

    def _try(self, place: _Place, operator: Operator) -> tuple[_Place | None, int]:
        """Return where an operator leads, or None, and the number of evaluations."""
        graph = apply_operator(place.graph, operator)
        dag = None if graph is None else graph.find_member(self._barred)
        if graph is None or dag is None or not self._is_allowed(graph):
            return None, 0
        changed = [v for v, parents in enumerate(dag) if parents != place.dag[v]]
        families = [(v, iter_bits(dag[v])) for v in changed]
        local = place.local.copy()
        local[changed] = self._problem.scorer.local_scores(FamilyBatch.from_pairs(families))
        if math.fsum(local) <= math.fsum(place.local) + LEAST_GAIN:
            return None, len(changed)
        return _Place(graph, dag, local), len(changed)

    def _is_allowed(self, graph: EquivalenceClass) -> bool:
        """Return whether the compelled arcs of a class satisfy the constraints."""
        return not any(
            parents & barred for parents, barred in zip(graph.parents, self._barred, strict=True)
        )


def _make_info(state: GESState) -> Info:
    """Return the number of operators of each kind so far."""
    n_inserts, n_deletes, n_turns = (float(n) for n in state.n_applied)
    return {"n_inserts": n_inserts, "n_deletes": n_deletes, "n_turns": n_turns}
