"""Single moves on a structure: add, delete or reverse an arc, and what each would gain.

A `Climb` is a structure at work: beside its arcs it holds what toggling each possible
parent of each variable would change (a matrix of gains), and which variables can be
reached from which. A move changes the parents of one variable or two, so that only their
columns are scored anew, as one batch. Choosing a move is then a matter of looking: no
family is scored twice and no cycle searched for.

`hill_climb` and `tabu` are made of these moves, and `ccma` starts from them. Of equally
good moves a deletion comes before an addition and that before a reversal, then the first
by name of parent and child.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from coevo.score import FamilyBatch, toggle_families
from coevo.search.base import LEAST_GAIN, Problem
from coevo.search.climb_kernels import NEVER, Board, all_moves, best_move, connect, reachable

__all__ = ["MOVES_A_STEP", "Climb", "Move", "climb_up"]

MOVES_A_STEP = 16  # between two looks at the clock
Kind = Literal["delete", "add", "reverse"]
KINDS: tuple[Kind, ...] = ("delete", "add", "reverse")
Adjacency = NDArray[np.bool_]  # (n, n), [parent, child]


@dataclass(frozen=True, slots=True)
class Move:
    """A change of one arc, and what it gains."""

    kind: Kind
    parent: int
    child: int
    gain: float


class Climb:
    """A structure, changed in place by moves; the arrays given are copied."""

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
        self._nothing = np.zeros(adjacency.shape, dtype=np.bool_)
        self.evaluations = 0
        self.adjacency = adjacency.copy()
        self.reach = reachable(adjacency)
        if gains is None or local is None:
            self.local = problem.local_scores(adjacency)
            self.evaluations += len(self.local)
            self.gains = np.full(adjacency.shape, NEVER)
            self._score(range(len(adjacency)))
        else:
            self.gains, self.local = gains.copy(), local.copy()

    @classmethod
    def at_start(cls, problem: Problem) -> Climb:
        """Return the structure that every climb starts from."""
        return cls(problem, problem.start)

    def first_fields(self) -> dict[str, Any]:
        """Return what every state holds before the first move."""
        return {
            "generation": 0,
            "evaluations": self.evaluations,
            "improved": 0,
            "score": math.fsum(self.local),
            "adjacency": self.adjacency,
        }

    def fields(self) -> dict[str, Any]:
        """Return what a state keeps of a climb, to go on with."""
        return {"current": self.adjacency, "gains": self.gains, "local": self.local}

    def _board(self) -> Board:
        has_room = self.adjacency.sum(axis=0) < self._max_parents
        return Board(
            self.adjacency, self.gains, self.reach, self._may_add, self._may_delete, has_room
        )

    def moves(self) -> list[Move]:
        """Return every legal move."""
        gains = np.empty((len(KINDS), *self.gains.shape))
        all_moves(self._board(), gains)
        return [
            Move(KINDS[kind], parent, child, float(gains[kind, parent, child]))
            for kind, parent, child in np.argwhere(gains > NEVER).tolist()
        ]

    def best_move(self, forbidden: Adjacency | None = None) -> Move | None:
        """Return the move with the highest gain, if there is any; it may be a loss.

        `forbidden` are pairs, in either direction, that must stay as they are.
        """
        taboo = self._nothing if forbidden is None else forbidden
        kind, parent, child, gain = best_move(self._board(), taboo, LEAST_GAIN)
        return None if kind < 0 else Move(KINDS[kind], parent, child, gain)

    def make(self, move: Move) -> None:
        """Change the structure and score what has changed."""
        parent, child = move.parent, move.child
        self.adjacency[parent, child] = move.kind == "add"
        self.local[child] += self.gains[parent, child]
        changed = [child]
        if move.kind == "reverse":
            self.adjacency[child, parent] = True
            self.local[parent] += self.gains[child, parent]
            changed.append(parent)
        if move.kind == "add":
            connect(self.reach, parent, child)
        else:
            self.reach = reachable(self.adjacency)
        self._score(changed)

    def _score(self, children: Iterable[int]) -> None:
        """Fill the columns of some children: what toggling each parent would gain."""
        pairs = []
        toggled: list[tuple[NDArray[np.int64], int]] = []
        for child in children:
            is_parent = self.adjacency[:, child]
            parents = np.flatnonzero(is_parent)
            may_add = self._may_add[:, child] & (len(parents) < self._max_parents)
            others = np.flatnonzero((may_add | is_parent) & self._may_delete[:, child])
            toggled.append((others, child))
            pairs.append(toggle_families(child, parents, others))
        batch = FamilyBatch.joined(pairs)
        scores = self._problem.scorer.local_scores(batch) if len(batch) else np.empty(0)
        self.evaluations += len(batch)
        at = 0
        for others, child in toggled:
            self.gains[:, child] = NEVER
            part = scores[at : at + len(others)]
            self.gains[others, child] = part - self.local[child]
            at += len(others)


def climb_up(climb: Climb, n_moves: int = MOVES_A_STEP) -> bool:
    """Make the best moves while they gain; return whether none is left that does."""
    for _ in range(n_moves):
        move = climb.best_move()
        if move is None or move.gain <= LEAST_GAIN:
            return True
        climb.make(move)
    return False
