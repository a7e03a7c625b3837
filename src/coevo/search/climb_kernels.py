"""Single moves on a structure: which are legal, which gains most, and who reaches whom."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coevo.jit import inlined, kernel

__all__ = [
    "ADD",
    "DELETE",
    "NEVER",
    "REVERSE",
    "Board",
    "all_moves",
    "best_move",
    "connect",
    "reachable",
]

DELETE, ADD, REVERSE = 0, 1, 2  # of equally good moves, in this order
N_KINDS = 3
NEVER = -np.inf  # the gain of a move that is not legal


class Board(NamedTuple):
    """All that decides which moves are legal and what they gain; ``[parent, child]``."""

    arcs: NDArray[np.bool_]
    gains: NDArray[np.float64]  # of toggling each parent of each child
    reach: NDArray[np.bool_]  # [a, b]: there is a path from a to b
    may_add: NDArray[np.bool_]
    may_delete: NDArray[np.bool_]
    has_room: NDArray[np.bool_]  # (n,), for one more parent


@inlined
def _gain(kind, arcs, gains, reach, may_add, may_delete, has_room, parent, child):
    """Return what a move gains, `NEVER` where there is no such move.

    A reversal is not checked for other paths between the two.
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


@kernel
def _has_detour(arcs, reach, parent, child):
    """Return whether there is a path from parent to child beside their arc."""
    found = False
    for between in range(len(arcs)):
        if arcs[parent, between] and reach[between, child]:
            found = True
            break
    return found


@kernel
def _highest(board, forbidden, more_than, take_first):
    """Return kind, parent, child and gain of the best move that gains more than that.

    Or of the first such move, by kind, then by parent and child. The kind is -1 if there is
    none.
    """
    arcs, gains, reach, may_add, may_delete, has_room = board
    n = len(arcs)
    kind, parent, child, gain = -1, -1, -1, more_than
    for k in range(N_KINDS):
        for p in range(n):
            for c in range(n):
                # Most moves fail here, so that most of the matrix is only read through.
                if gains[p, c] <= gain if k == ADD else not arcs[p, c]:
                    continue
                found = _gain(k, arcs, gains, reach, may_add, may_delete, has_room, p, c)
                if found <= gain or forbidden[p, c] or forbidden[c, p]:
                    continue
                if k == REVERSE and _has_detour(arcs, reach, p, c):
                    continue
                kind, parent, child, gain = k, p, c, found
                if take_first:
                    return kind, parent, child, gain
    return kind, parent, child, gain


@kernel
def best_move(board, forbidden, least_gain):
    """Return kind, parent, child and gain of the best legal move; the kind is -1 if none is.

    Moves that differ by less than `least_gain` are equally good: the first by kind, then by
    parent and child is taken. Pairs that are `forbidden`, in either direction, stay as they
    are.
    """
    best = _highest(board, forbidden, NEVER, False)
    if best[0] >= 0:
        best = _highest(board, forbidden, best[3] - least_gain, True)
    return best


@kernel
def all_moves(board, table):
    """Fill ``table[kind, parent, child]`` with what each move gains; `NEVER` if illegal."""
    arcs, gains, reach, may_add, may_delete, has_room = board
    n = len(arcs)
    for k in range(N_KINDS):
        for p in range(n):
            for c in range(n):
                gain = _gain(k, arcs, gains, reach, may_add, may_delete, has_room, p, c)
                if k == REVERSE and gain > NEVER and _has_detour(arcs, reach, p, c):
                    gain = NEVER
                table[k, p, c] = gain


@kernel
def connect(reach, parent, child):
    """Note in `reach` that there is a path from parent to child."""
    n = len(reach)
    for a in range(n):
        if (a == parent or reach[a, parent]) and not reach[a, child]:
            reach[a, child] = True
            for b in range(n):
                reach[a, b] |= reach[child, b]


@kernel
def reachable(arcs):
    """Return which variables can be reached from which, in one step or more."""
    n = len(arcs)
    reach = np.zeros((n, n), dtype=np.bool_)
    for parent in range(n):
        for child in range(n):
            if arcs[parent, child]:
                connect(reach, parent, child)
    return reach
