"""Hill climbing: greedy search over single arc changes, with random restarts.

Each move adds, deletes or reverses one arc. The move with the largest gain is made, until no
move raises the score. A restart perturbs the best structure by random moves and climbs again.
The result is the best structure of all climbs. Without restarts nothing is random: every seed
gives the same structure.

The first climb starts from the given start structure, else from the required arcs.

References
----------
D. Heckerman, D. Geiger, D. M. Chickering (1995). Learning Bayesian networks: the combination of
knowledge and statistical data. Machine Learning 20, 197-243.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from coevo.search.base import (
    LEAST_GAIN,
    Flag,
    Info,
    Method,
    Number,
    Problem,
    Schema,
    Search,
    SearchState,
)
from coevo.search.climbing import CLIMB_SCHEMA, Climb, Move, climb_up
from coevo.search.loop import Budget

__all__ = ["HillClimb", "HillClimbState"]


@dataclass(frozen=True, eq=False)
class HillClimbState(SearchState):
    """The best structure and the current one."""

    schema: ClassVar[Schema] = {
        **SearchState.schema,
        **CLIMB_SCHEMA,
        "at_top": Flag(),
        "n_restarts": Number(),
    }

    current: NDArray[np.bool_]  # (n, n)
    gains: NDArray[np.float64]  # (n, n), gain of toggling each parent of `current`
    local: NDArray[np.float64]  # (n,), local scores of `current`
    at_top: bool  # `current` is a local optimum
    n_restarts: int  # number of restarts so far


@dataclass(frozen=True)
class HillClimb(Method):
    """Settings of hill climbing.

    Parameters
    ----------
    restarts : int
        Number of restarts from a perturbed structure.
    perturbations : int
        Number of random moves at each restart.
    """

    name: ClassVar[str] = "hill_climb"
    state_type: ClassVar[type[SearchState]] = HillClimbState
    default_budget: ClassVar[Budget] = Budget()

    restarts: int = 0
    perturbations: int = 10

    def __post_init__(self) -> None:
        self.check_counts(restarts=0, perturbations=1)

    def make_search(self, problem: Problem) -> HillClimbSearch:
        """Return the search on a problem."""
        return HillClimbSearch(self, problem)


class HillClimbSearch(Search[HillClimbState]):
    """Hill climbing on a problem. A step makes up to `MOVES_PER_STEP` moves."""

    def __init__(self, method: HillClimb, problem: Problem) -> None:
        self._method = method
        self._problem = problem

    def start(self, rng: Generator) -> tuple[HillClimbState, Info]:
        """Return the start structure."""
        climb = Climb.from_problem(self._problem)
        first = climb.make_initial_fields() | climb.as_fields()
        state = HillClimbState(**first, at_top=False, n_restarts=0)
        return state, {"current_score": state.score}

    def step(self, rng: Generator, state: HillClimbState) -> tuple[HillClimbState, Info]:
        """Make some moves; at a local optimum, first restart from a perturbed best structure."""
        n_restarts = state.n_restarts
        if state.at_top:
            climb = Climb(self._problem, state.adjacency)
            perturb(climb, rng, self._method.perturbations)
            n_restarts += 1
        else:
            climb = Climb(self._problem, state.current, state.gains, state.local)
        at_top = climb_up(climb)
        score = math.fsum(climb.local)
        better = None
        if score > state.score + LEAST_GAIN:
            better = (climb.adjacency, self._problem.score(climb.adjacency))
        fields = {**climb.as_fields(), "at_top": at_top, "n_restarts": n_restarts}
        after = state.advance(climb.evaluations, better, **fields)
        return after, {"current_score": score, "n_restarts": float(n_restarts)}

    def is_finished(self, state: HillClimbState) -> bool:
        """Return whether the last climb has reached a local optimum."""
        return state.at_top and state.n_restarts >= self._method.restarts


def perturb(climb: Climb, rng: Generator, n_moves: int) -> None:
    """Make random legal moves."""
    for _ in range(n_moves):
        move = draw_move(climb, rng)
        if move is None:
            return
        climb.apply(move)


def draw_move(climb: Climb, rng: Generator) -> Move | None:
    """Return a random legal move, uniformly drawn; None if no move is legal."""
    legal = climb.list_moves()
    return legal[int(rng.integers(len(legal)))] if legal else None
