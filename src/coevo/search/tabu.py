"""Tabu search (Glover 1989): hill climbing that can leave a local optimum.

Each move makes the best change of one arc, even if it lowers the score. A pair of variables
that was changed stays tabu for some moves (the tenure), so that the search does not return. A
tabu move is allowed if it leads to a new best structure. The search ends after a number of
moves without a new best structure. Nothing is random: every seed gives the same structure.

References
----------
F. Glover (1989). Tabu search, part I. ORSA Journal on Computing 1, 190-206.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from coevo.search.base import LEAST_GAIN, Info, Method, Problem, Search, SearchState
from coevo.search.budget import Budget
from coevo.search.climbing import CLIMB_SCHEMA, MOVES_PER_STEP, Climb, Move
from coevo.search.state_schema import Array, Flag, Number, Schema
from coevo.work_time import check_deadline

__all__ = ["Tabu", "TabuState"]


@dataclass(frozen=True, eq=False)
class TabuState(SearchState):
    """The best structure, the current one, and the tabu list."""

    schema: ClassVar[Schema] = {
        **SearchState.schema,
        **CLIMB_SCHEMA,
        "free_at": Array(np.int64, ("n", "n")),
        "n_moves": Number(),
        "n_stalled": Number(),
        "is_stuck": Flag(),
    }

    current: NDArray[np.bool_]  # (n, n)
    gains: NDArray[np.float64]  # (n, n)
    local: NDArray[np.float64]  # (n,)
    free_at: NDArray[np.int64]  # (n, n), the move number from which a pair may change again
    n_moves: int
    n_stalled: int  # moves since the best structure was found
    is_stuck: bool  # no move is legal


@dataclass(frozen=True)
class Tabu(Method):
    """Settings of tabu search.

    Parameters
    ----------
    tenure : int
        Number of moves for which a changed pair stays tabu.
    max_stalled : int
        End after this number of moves in a row without a new best structure.
    """

    name: ClassVar[str] = "tabu"
    state_type: ClassVar[type[SearchState]] = TabuState
    default_budget: ClassVar[Budget] = Budget()

    tenure: int = 10
    max_stalled: int = 100

    def __post_init__(self) -> None:
        self.check_counts(tenure=0, max_stalled=1)

    def make_search(self, problem: Problem) -> TabuSearch:
        """Return the search on a problem."""
        return TabuSearch(self, problem)


class TabuSearch(Search[TabuState]):
    """Tabu search on a problem. A step makes up to `MOVES_PER_STEP` moves."""

    def __init__(self, method: Tabu, problem: Problem) -> None:
        self._method = method
        self._problem = problem

    def start(self, rng: Generator) -> tuple[TabuState, Info]:
        """Return the start structure."""
        climb = Climb.from_problem(self._problem)
        state = TabuState(
            **climb.make_initial_fields(),
            **climb.as_fields(),
            free_at=np.zeros(climb.adjacency.shape, dtype=np.int64),
            n_moves=0,
            n_stalled=0,
            is_stuck=False,
        )
        return state, {"current_score": state.score}

    def step(self, rng: Generator, state: TabuState) -> tuple[TabuState, Info]:
        """Make up to `MOVES_PER_STEP` moves."""
        climb = Climb(self._problem, state.current, state.gains, state.local)
        free_at, n_moves, n_stalled = state.free_at.copy(), state.n_moves, state.n_stalled
        best, adjacency = state.score, state.adjacency
        is_stuck = False
        for _ in range(MOVES_PER_STEP):
            check_deadline()
            score = math.fsum(climb.local)
            move = self._choose(climb, free_at > n_moves, best - score)
            is_stuck = move is None
            if move is None or n_stalled >= self._method.max_stalled:
                break
            climb.apply(move)
            n_moves += 1
            free_at[move.parent, move.child] = n_moves + self._method.tenure
            n_stalled += 1
            if score + move.gain > best + LEAST_GAIN:
                best, adjacency, n_stalled = score + move.gain, climb.adjacency.copy(), 0
        better = None
        if adjacency is not state.adjacency:
            better = (adjacency, self._problem.score(adjacency))
        after = state.advance(
            climb.evaluations,
            better,
            **climb.as_fields(),
            free_at=free_at,
            n_moves=n_moves,
            n_stalled=n_stalled,
            is_stuck=is_stuck,
        )
        return after, {"current_score": math.fsum(climb.local)}

    def _choose(self, climb: Climb, is_tabu: NDArray[np.bool_], to_best: float) -> Move | None:
        """Return the best move; a tabu move only if it leads to a new best structure."""
        best = climb.find_best_move()
        if best is None or best.gain > to_best + LEAST_GAIN:
            return best
        return climb.find_best_move(is_tabu)

    def is_finished(self, state: TabuState) -> bool:
        """Return whether the search has stalled or has no legal move."""
        return state.is_stuck or state.n_stalled >= self._method.max_stalled
