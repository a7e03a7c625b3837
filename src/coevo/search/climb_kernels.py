"""Kernels for moves on a structure: legality, gains, the best move and reachability."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coevo.jit import FLOAT, INT, array_of, inline, kernel, part, tuple_of

__all__ = [
    "ADD",
    "DELETE",
    "NEVER",
    "REVERSE",
    "MoveTable",
    "add_path",
    "compute_reachability",
    "fill_move_gains",
    "find_best_move",
]

DELETE, ADD, REVERSE = 0, 1, 2  # the order of equally good moves
N_KINDS = 3
NEVER = -np.inf  # the gain of an illegal move


class MoveTable(NamedTuple):
    """The tables that determine the legality and the gain of all moves; ``[parent, child]``."""

    arcs: NDArray[np.bool_]
    gains: NDArray[np.float64]  # of toggling each parent of each child
    reach: NDArray[np.bool_]  # [a, b]: there is a path from a to b
    may_add: NDArray[np.bool_]
    may_delete: NDArray[np.bool_]
    has_room: NDArray[np.bool_]  # (n,), the child may have one more parent


FLAGS, READ_FLAGS = array_of(np.bool_, 2), array_of(np.bool_, 2, True)
GAINS = array_of(np.float64, 2)
MOVES = tuple_of(FLAGS, GAINS, FLAGS, FLAGS, FLAGS, array_of(np.bool_), kind=MoveTable)


@inline
def _move_gain(kind, arcs, gains, reach, may_add, may_delete, has_room, parent, child):
    """Return the gain of a move, `NEVER` if it is illegal.

    A reversal is not checked for other paths between the two variables.
    """
    gain = NEVER
    is_arc = arcs[parent, child]
    if kind == ADD:
        makes_cycle = reach[child, parent]
        if not (is_arc or makes_cycle) and may_add[parent, child] and has_room[child]:
            gain = gains[parent, child]
    elif is_arc and may_delete[parent, child]:
        if kind == DELETE:
            gain = gains[parent, child]
        elif may_add[child, parent] and has_room[parent]:
            gain = gains[parent, child] + gains[child, parent]
    return gain


@part
def _has_detour(arcs, reach, parent, child):
    """Return whether there is a path from parent to child other than their arc."""
    found = False
    for between in range(len(arcs)):
        if arcs[parent, between] and reach[between, child]:
            found = True
            break
    return found


@part
def _find_move(board, forbidden, more_than, take_first):
    """Return kind, parent, child and gain of the best move with a gain above `more_than`.

    With `take_first`, return the first such move by kind, then by parent and child. The kind
    is -1 if there is none.
    """
    arcs, gains, reach, may_add, may_delete, has_room = board
    n = len(arcs)
    kind, parent, child, gain = -1, -1, -1, more_than
    for k in range(N_KINDS):
        for p in range(n):
            for c in range(n):
                # Most moves fail here, so most of the matrix is only scanned.
                if gains[p, c] <= gain if k == ADD else not arcs[p, c]:
                    continue
                found = _move_gain(k, arcs, gains, reach, may_add, may_delete, has_room, p, c)
                if found <= gain or forbidden[p, c] or forbidden[c, p]:
                    continue
                if k == REVERSE and _has_detour(arcs, reach, p, c):
                    continue
                kind, parent, child, gain = k, p, c, found
                if take_first:
                    return kind, parent, child, gain
    return kind, parent, child, gain


@kernel((MOVES, READ_FLAGS, FLOAT))
def find_best_move(board, forbidden, least_gain):
    """Return kind, parent, child and gain of the best legal move; the kind is -1 if none is.

    Moves whose gains differ by less than `least_gain` are equally good: the first by kind,
    then by parent and child, is taken. A move may not change a pair that is `forbidden` in
    either direction.
    """
    best = (-1, -1, -1, NEVER)
    for take_first in range(2):  # a loop, because numba compiles the part again for a constant
        if not take_first or best[0] >= 0:
            found = _find_move(board, forbidden, best[3] - take_first * least_gain, take_first > 0)
            if found[0] >= 0:  # none has a larger gain if the gain is so large that rounding hides
                best = found  # `least_gain`
    return best


@kernel((MOVES, array_of(np.float64, 3)))
def fill_move_gains(board, table):
    """Fill ``table[kind, parent, child]`` with the gain of each move; `NEVER` if illegal."""
    arcs, gains, reach, may_add, may_delete, has_room = board
    n = len(arcs)
    for k in range(N_KINDS):
        for p in range(n):
            for c in range(n):
                gain = _move_gain(k, arcs, gains, reach, may_add, may_delete, has_room, p, c)
                if k == REVERSE and gain > NEVER and _has_detour(arcs, reach, p, c):
                    gain = NEVER
                table[k, p, c] = gain


@inline
def _add_path(reach, parent, child):
    """Add a path from parent to child to `reach`."""
    n = len(reach)
    for a in range(n):
        if (a == parent or reach[a, parent]) and not reach[a, child]:
            reach[a, child] = True
            for b in range(n):
                reach[a, b] |= reach[child, b]


@kernel((FLAGS, INT, INT))
def add_path(reach, parent, child):
    """Add a path from parent to child to `reach`."""
    _add_path(reach, parent, child)


@kernel((READ_FLAGS,))
def compute_reachability(arcs):
    """Return which variables are reachable from which, over one arc or more."""
    n = len(arcs)
    reach = np.zeros((n, n), dtype=np.bool_)
    for parent in range(n):
        for child in range(n):
            if arcs[parent, child]:
                _add_path(reach, parent, child)
    return reach
