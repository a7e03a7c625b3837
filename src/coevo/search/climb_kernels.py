"""Kernels for moves on a structure: legality, gains, the best move, reachability; see climb.h."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coevo.engine import FLOAT, INT, Structure, array, kernel, read_array

__all__ = [
    "ADD",
    "DELETE",
    "NEVER",
    "N_KINDS",
    "REVERSE",
    "UNKNOWN",
    "BestAdditions",
    "MoveTable",
    "add_path",
    "compute_reachability",
    "fill_move_gains",
    "fill_reachability",
    "find_best_move",
    "find_steepest_move",
]

DELETE, ADD, REVERSE, N_KINDS = 0, 1, 2, 3  # kinds of moves, in the order of equally good ones
NEVER = -np.inf  # the gain of an illegal move
UNKNOWN = -2  # the parent of the best addition, after a change


class MoveTable(Structure):
    """The tables that determine the legality and the gain of all moves; ``[parent, child]``."""

    arcs: NDArray[np.bool_] = read_array(np.bool_, 2)
    gains: NDArray[np.float64] = read_array(np.float64, 2)  # of toggling each parent of each child
    reach: NDArray[np.bool_] = array(np.bool_, 2)  # [a, b]: there is a path from a to b
    may_add: NDArray[np.bool_] = read_array(np.bool_, 2)
    may_delete: NDArray[np.bool_] = read_array(np.bool_, 2)
    has_room: NDArray[np.bool_] = read_array(np.bool_)  # the child may have one more parent


class BestAdditions(Structure):
    """The best arc that can be added to each child, from move to move."""

    parent: NDArray[np.int64] = array(np.int64)  # -1 if no addition is legal
    gain: NDArray[np.float64] = array(np.float64)


@kernel(MoveTable, read_array(np.bool_, 2), FLOAT, returns=INT)
def find_best_move(board: MoveTable, forbidden: NDArray[np.bool_], least_gain: float) -> int:
    """Return the number of the best legal move, -1 if none is.

    The number is ``(kind * n + parent) * n + child``. Moves whose gains differ by less than
    `least_gain` are equally good: the one with the smallest number is taken. A move may not
    change a pair that is `forbidden` in either direction.
    """
    raise NotImplementedError


@kernel(MoveTable, BestAdditions, FLOAT, returns=INT)
def find_steepest_move(board: MoveTable, additions: BestAdditions, least_gain: float) -> int:
    """Return what `find_best_move` returns with nothing forbidden, in less time.

    The caller sets ``additions.parent[c]`` to `UNKNOWN` where the column of c has changed, and
    everywhere after an arc is deleted.
    """
    raise NotImplementedError


@kernel(MoveTable, array(np.float64, 3))
def fill_move_gains(board: MoveTable, table: NDArray[np.float64]) -> None:
    """Overwrite ``table[kind, parent, child]`` with the gain of each move; `NEVER` if illegal."""


@kernel(MoveTable, INT, INT)
def add_path(board: MoveTable, parent: int, child: int) -> None:
    """Add a path from parent to child to ``board.reach``."""


@kernel(read_array(np.bool_, 2), array(np.bool_, 2))
def fill_reachability(arcs: NDArray[np.bool_], reach: NDArray[np.bool_]) -> None:
    """Overwrite ``reach[a, b]`` with whether b is reachable from a, over one arc or more."""


def compute_reachability(arcs: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which variables are reachable from which, over one arc or more."""
    reach = np.empty(arcs.shape, dtype=np.bool_)
    fill_reachability(arcs, reach)
    return reach
