"""Moves of a local search over structures: add, delete or reverse one arc.

A `Climb` is a structure with two tables: the gain of toggling each possible parent of each
variable, and which variables are reachable from which. A move changes the parents of one or two
variables. Only their columns are scored again, as one batch. The best move is then looked up in
the tables: no family is scored twice and no search for cycles is needed.

`hill_climb` and `tabu` use these moves, and `ccma` starts with them. Among equally good moves a
deletion comes first, then an addition, then a reversal; then the first parent and child by
name.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from coevo.runtime.deadline import OutOfTime, check_deadline
from coevo.score import FamilyBatch, toggle_families
from coevo.search.base import ACYCLIC, FINITE, LEAST_GAIN, SCORES, Array, Problem, Schema
from coevo.search.graph_kernels import (
    NEVER,
    REVERSE,
    UNKNOWN,
    BestAdditions,
    MoveTable,
    add_path,
    compute_reachability,
    fill_move_gains,
    fill_reachability,
    find_best_move,
    find_steepest_move,
)
from coevo.search.sparse_climb import add_best_parents

__all__ = ["CLIMB_SCHEMA", "MOVES_PER_STEP", "Climb", "Move", "climb_up"]

MOVES_PER_STEP = 16  # the budget is checked between steps
FAMILIES_PER_BATCH = 1 << 15  # scored before the deadline is checked, at the start of a climb
Kind = Literal["delete", "add", "reverse"]
KINDS: tuple[Kind, ...] = ("delete", "add", "reverse")
Adjacency = NDArray[np.bool_]  # (n, n), [parent, child]
CLIMB_SCHEMA: Schema = {  # of the fields of `Climb.as_fields`
    "current": Array(np.bool_, ("n", "n"), ACYCLIC),
    "gains": Array(np.float64, ("n", "n"), SCORES),
    "local": Array(np.float64, ("n",), FINITE),
}


@dataclass(frozen=True, slots=True)
class Move:
    """A change of one arc, and its gain."""

    kind: Kind
    parent: int
    child: int
    gain: float


class Climb:
    """A structure that moves change in place. The given arrays are copied."""

    def __init__(
        self,
        problem: Problem,
        adjacency: Adjacency,
        gains: NDArray[np.float64] | None = None,
        local: NDArray[np.float64] | None = None,
    ) -> None:
        self._problem = problem
        rules = problem.rules
        self._may_add = rules.allowed & ~rules.required
        self._may_delete = ~rules.required
        self._max_parents = rules.max_parents
        n = len(adjacency)
        self._additions = BestAdditions(np.full(n, UNKNOWN, dtype=np.int64), np.full(n, NEVER))
        self.evaluations = 0
        self.adjacency = adjacency.copy()
        self.gains = np.full(adjacency.shape, NEVER) if gains is None else gains.copy()
        # The engine has the addresses of these arrays, so they are only changed in place.
        self._moves = MoveTable(
            arcs=self.adjacency,
            gains=self.gains,
            reach=compute_reachability(self.adjacency),
            may_add=self._may_add,
            may_delete=self._may_delete,
            has_room=adjacency.sum(axis=0) < rules.max_parents,
        )
        if gains is None or local is None:
            self.local = problem.local_scores(adjacency)
            self.evaluations += len(self.local)
            self._fill_gains()
        else:
            self.local = local.copy()

    def _fill_gains(self) -> None:
        """Compute all gains, some children at a time. Out of time, offer the best parents so far.

        Batches of any size give the same scores.
        """
        n = len(self.adjacency)
        step, first = max(1, FAMILIES_PER_BATCH // max(1, n)), 0
        try:
            for first in range(0, n, step):
                self._update_gains(range(first, min(n, first + step)))
        except OutOfTime as late:
            known = ((child, self.gains[:, child]) for child in range(first))
            late.offered = add_best_parents(self._problem, known)
            raise

    @classmethod
    def from_problem(cls, problem: Problem) -> Climb:
        """Return a climb at the start structure of a problem."""
        return cls(problem, problem.start)

    def make_initial_fields(self) -> dict[str, Any]:
        """Return the fields of `SearchState` before the first move."""
        return {
            "generation": 0,
            "evaluations": self.evaluations,
            "improved": 0,
            "score": math.fsum(self.local),
            "adjacency": self.adjacency,
        }

    def as_fields(self) -> dict[str, Any]:
        """Return the fields that a state needs to resume the climb."""
        return {"current": self.adjacency, "gains": self.gains, "local": self.local}

    def list_moves(self) -> list[Move]:
        """Return every legal move."""
        gains = np.empty((len(KINDS), *self.gains.shape))
        fill_move_gains(self._moves, gains)
        return [
            Move(KINDS[kind], parent, child, float(gains[kind, parent, child]))
            for kind, parent, child in np.argwhere(gains > NEVER).tolist()
        ]

    def find_best_move(self, forbidden: Adjacency | None = None) -> Move | None:
        """Return the move with the highest gain, which may be negative; None if none is legal.

        A move may not change a pair that is `forbidden` in either direction.
        """
        if forbidden is None:
            number = find_steepest_move(self._moves, self._additions, LEAST_GAIN)
        else:
            number = find_best_move(self._moves, forbidden, LEAST_GAIN)
        if number < 0:
            return None
        n = len(self.adjacency)
        kind, parent, child = number // (n * n), number // n % n, number % n
        gain = self.gains[parent, child]
        if kind == REVERSE:
            gain += self.gains[child, parent]
        return Move(KINDS[kind], parent, child, float(gain))

    def apply(self, move: Move) -> None:
        """Make a move and update the gains of the changed variables."""
        parent, child = move.parent, move.child
        self.adjacency[parent, child] = move.kind == "add"
        self.local[child] += self.gains[parent, child]
        changed = [child]
        if move.kind == "reverse":
            self.adjacency[child, parent] = True
            self.local[parent] += self.gains[child, parent]
            changed.append(parent)
        if move.kind == "add":
            add_path(self._moves, parent, child)
        else:
            fill_reachability(self.adjacency, self._moves.reach)
            self._additions.parent[:] = UNKNOWN
        n_parents = self.adjacency[:, changed].sum(axis=0)
        self._moves.has_room[changed] = n_parents < self._max_parents
        self._update_gains(changed)

    def _update_gains(self, children: Iterable[int]) -> None:
        """Recompute the gain of toggling each parent of these children."""
        children = list(children)
        self._additions.parent[children] = UNKNOWN
        pairs = []
        toggled: list[tuple[NDArray[np.int64], int]] = []
        for child in children:
            is_parent = self.adjacency[:, child]
            parents = np.flatnonzero(is_parent)
            may_add = self._may_add[:, child] & (len(parents) < self._max_parents)
            others = np.flatnonzero((may_add | is_parent) & self._may_delete[:, child])
            toggled.append((others, child))
            pairs.append(toggle_families(child, parents, others))
        batch = FamilyBatch.from_parts(pairs)
        scores = self._problem.scorer.local_scores(batch) if len(batch) else np.empty(0)
        self.evaluations += len(batch)
        at = 0
        for others, child in toggled:
            self.gains[:, child] = NEVER
            part = scores[at : at + len(others)]
            self.gains[others, child] = part - self.local[child]
            at += len(others)


def climb_up(climb: Climb, n_moves: int = MOVES_PER_STEP) -> bool:
    """Make up to `n_moves` best moves; return whether a local optimum is reached.

    Out of time, offer the structure after the last move.
    """
    try:
        for _ in range(n_moves):
            check_deadline()
            move = climb.find_best_move()
            if move is None or move.gain <= LEAST_GAIN:
                return True
            climb.apply(move)
    except OutOfTime as late:
        late.offered = climb.adjacency
        raise
    return False
