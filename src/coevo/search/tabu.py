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
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from coevo.runtime.deadline import check_deadline
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
)
from coevo.search.climbing import CLIMB_SCHEMA, KINDS, MOVES_PER_STEP, Climb, Kind, Move
from coevo.search.loop import Budget

__all__ = ["Moves", "Tabu", "TabuState", "append_move", "choose_move", "find_tabu_moves"]


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


# A tabu list of structures: no move may lead back to one of the last structures.
#
# `Tabu` forbids pairs of variables that were changed. Here the list holds structures,
# as in the max-min hill-climbing algorithm [1]_. It is kept as the last moves: undoing them one
# after another leads through the structures of the list. A move leads to one of them only if the
# two differ in one arc, so each structure forbids one move at most.
#
# .. [1] I. Tsamardinos, L. E. Brown, C. F. Aliferis (2006). The max-min hill-climbing Bayesian
#    network structure learning algorithm. Machine Learning 65, 31-78.


Moves = NDArray[np.int64]  # (m, 3): kind, parent and child of each move, the oldest first
Change = tuple[Kind, int, int]


def append_move(moves: Moves, move: Move, length: int) -> Moves:
    """Return the last `length` moves, of which `move` is the newest."""
    row = np.array([[KINDS.index(move.kind), move.parent, move.child]], dtype=np.int64)
    both = np.concatenate([moves, row])
    return both[max(0, len(both) - length) :]


def find_tabu_moves(adjacency: NDArray[np.bool_], moves: Moves) -> set[Change]:
    """Return the moves that lead from a structure back to one before its last moves.

    >>> a_b = np.array([[False, True], [False, False]])
    >>> sorted(find_tabu_moves(a_b, np.array([[1, 0, 1]])))  # it was added
    [('delete', 0, 1)]
    """
    changed: set[tuple[int, int]] = set()  # arcs in which the earlier structure differs
    tabu: set[Change] = set()
    for kind, parent, child in moves[::-1].tolist():
        changed ^= {(parent, child)}
        if KINDS[kind] == "reverse":
            changed ^= {(child, parent)}
        if len(changed) == 1:
            a, b = next(iter(changed))
            tabu.add(("delete" if adjacency[a, b] else "add", a, b))
        elif len(changed) == 2:
            a, b = min(changed)
            if (b, a) in changed:
                tabu.add(("reverse", a, b) if adjacency[a, b] else ("reverse", b, a))
    return tabu


def choose_move(climb: Climb, tabu: set[Change]) -> Move | None:
    """Return the best legal move that is not tabu, even if it lowers the score."""
    best = climb.find_best_move()
    if best is None or (best.kind, best.parent, best.child) not in tabu:
        return best
    return _find_first_best(
        m for m in climb.list_moves() if (m.kind, m.parent, m.child) not in tabu
    )


def _find_first_best(moves: Iterable[Move]) -> Move | None:
    """Return the first of the moves whose gains differ from the best by at most `LEAST_GAIN`."""
    listed = list(moves)
    best = max((move.gain for move in listed), default=0.0)
    return next((move for move in listed if move.gain >= best - LEAST_GAIN), None)
