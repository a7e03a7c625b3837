"""Hill climbing: the best single change of an arc, again and again, and restarts.

Arcs are added, deleted or reversed, always the one change that gains most, until none
gains anything. A restart changes some arcs of the best structure at random and climbs
again; the best of all climbs is the result. Without restarts nothing is drawn at random,
so that every seed gives the same structure.

The first climb starts from the required arcs alone, or from the structure that is given.
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
from coevo.search.climbing import Climb, Move, climb_up

__all__ = ["HillClimb", "HillClimbState"]


@dataclass(frozen=True)
class HillClimbState(SearchState):
    """The best structure, and the one that is being climbed from."""

    current: NDArray[np.bool_]  # (n, n)
    gains: NDArray[np.float64]  # (n, n), what toggling each parent of `current` would gain
    local: NDArray[np.float64]  # (n,), local scores of `current`
    at_top: bool  # no move gains anything
    n_restarts: int  # begun so far


@dataclass(frozen=True)
class HillClimb(Method):
    """Settings of hill climbing.

    Parameters
    ----------
    restarts : int
        How often to start again from a changed structure.
    perturbations : int
        Random changes at each restart.
    """

    name: ClassVar[str] = "hill_climb"
    state_type: ClassVar[type[SearchState]] = HillClimbState
    default_budget: ClassVar[Budget] = Budget()

    restarts: int = 0
    perturbations: int = 10

    def __post_init__(self) -> None:
        self.check_counts(restarts=0, perturbations=1)

    def on(self, problem: Problem) -> HillClimbSearch:
        """Return the search on a problem."""
        return HillClimbSearch(self, problem)


class HillClimbSearch(Search[HillClimbState]):
    """Hill climbing on a problem; a step makes some moves."""

    def __init__(self, method: HillClimb, problem: Problem) -> None:
        self._method = method
        self._problem = problem

    def start(self, rng: Generator) -> tuple[HillClimbState, Info]:
        """Return the structure to start from."""
        climb = Climb.at_start(self._problem)
        first = climb.first_fields() | climb.fields()
        state = HillClimbState(**first, at_top=False, n_restarts=0)
        return state, {"current_score": state.score}

    def step(self, rng: Generator, state: HillClimbState) -> tuple[HillClimbState, Info]:
        """Climb some moves up; or, at the top, change the best structure and begin anew."""
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
        own = {**climb.fields(), "at_top": at_top, "n_restarts": n_restarts}
        after = state.after(climb.evaluations, better, **own)
        return after, {"current_score": score, "n_restarts": float(n_restarts)}

    def is_finished(self, state: HillClimbState) -> bool:
        """Return whether the last climb has reached its top."""
        return state.at_top and state.n_restarts >= self._method.restarts


def perturb(climb: Climb, rng: Generator, n_moves: int) -> None:
    """Make random legal moves."""
    for _ in range(n_moves):
        move = random_move(climb, rng)
        if move is None:
            return
        climb.make(move)


def random_move(climb: Climb, rng: Generator) -> Move | None:
    """Return any legal move, each as likely as another."""
    legal = climb.moves()
    return legal[int(rng.integers(len(legal)))] if legal else None
