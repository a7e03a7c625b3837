"""Kernels for moves on a structure: legality, gains, the best move and reachability."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coevo.jit import FLOAT, INT, array_of, fused, inline, kernel, part, tuple_of

__all__ = [
    "ADD",
    "DELETE",
    "NEVER",
    "REVERSE",
    "UNKNOWN",
    "BestAdditions",
    "MoveTable",
    "add_path",
    "compute_reachability",
    "fill_move_gains",
    "find_best_move",
    "find_steepest_move",
]

DELETE, ADD, REVERSE = 0, 1, 2  # the order of equally good moves
N_KINDS = 3
NEVER = -np.inf  # the gain of an illegal move
UNKNOWN = -2  # the parent of the best addition, after a change of its column


class MoveTable(NamedTuple):
    """The tables that determine the legality and the gain of all moves; ``[parent, child]``."""

    arcs: NDArray[np.bool_]
    gains: NDArray[np.float64]  # of toggling each parent of each child
    reach: NDArray[np.bool_]  # [a, b]: there is a path from a to b
    may_add: NDArray[np.bool_]
    may_delete: NDArray[np.bool_]
    has_room: NDArray[np.bool_]  # (n,), the child may have one more parent


class BestAdditions(NamedTuple):
    """The best arc that can be added to each child, from move to move."""

    parent: NDArray[np.int64]  # (n,), -1 if no addition is legal
    gain: NDArray[np.float64]  # (n,)


FLAGS, READ_FLAGS = array_of(np.bool_, 2), array_of(np.bool_, 2, True)
GAINS = array_of(np.float64, 2)
ADDITIONS = tuple_of(array_of(np.int64), array_of(np.float64), kind=BestAdditions)
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


@fused
def _find_addition(board, child, more_than):
    """Return the first parent whose addition to a child gains the most, above `more_than`."""
    arcs, gains, reach, may_add, may_delete, has_room = board
    parent, gain = np.int64(-1), more_than
    for p in range(len(arcs)):
        if gains[p, child] > gain:
            found = _move_gain(ADD, arcs, gains, reach, may_add, may_delete, has_room, p, child)
            if found > gain:
                parent, gain = np.int64(p), found
    return parent, gain


@fused
def _find_first_addition(board, additions, least):
    """Return the first parent, and its first child, whose addition gains at least `least`.

    The child is -1 if there is none.
    """
    arcs, gains, reach, may_add, may_delete, has_room = board
    n = len(arcs)
    parent, child = n, -1
    for c in range(n):
        if additions.gain[c] >= least:
            for p in range(parent):
                if gains[p, c] >= least and least <= _move_gain(
                    ADD, arcs, gains, reach, may_add, may_delete, has_room, p, c
                ):
                    parent, child = p, c
                    break
    return parent, child


@fused
def _update_additions(board, additions):
    """Return the highest gain of an addition, after `additions` are updated.

    A new arc only makes additions illegal. So an old best addition is an upper bound of the gains
    of its child. It is looked up again if its column has changed, or if it is the best of all and
    is no longer legal.
    """
    n, reach = len(board.arcs), board.reach
    for c in range(n):
        if additions.parent[c] == UNKNOWN:
            additions.parent[c], additions.gain[c] = _find_addition(board, c, NEVER)
    while True:
        child = np.int64(0)
        for c in range(1, n):
            if additions.gain[c] > additions.gain[child]:
                child = c
        parent = additions.parent[child]
        if parent < 0 or not reach[child, parent]:
            return additions.gain[child]
        additions.parent[child], additions.gain[child] = _find_addition(board, child, NEVER)


@fused
def _find_best_change(board, listed, kind, least, take_first):
    """Return the place in `listed` and the gain of the best deletion or reversal of an arc.

    The gain is at least `least`; the place is -1 if there is none. With `take_first`, return the
    first such arc.
    """
    arcs, gains, reach, may_add, may_delete, has_room = board
    n = len(arcs)
    place, gain = np.int64(-1), least
    for i in range(len(listed)):
        p, c = listed[i] // n, listed[i] % n
        found = _move_gain(kind, arcs, gains, reach, may_add, may_delete, has_room, p, c)
        if found == NEVER or found < gain or (place >= 0 and found == gain):
            continue
        if kind == REVERSE and _has_detour(arcs, reach, p, c):
            continue
        place, gain = np.int64(i), found
        if take_first:
            break
    return place, gain


@kernel((MOVES, ADDITIONS, array_of(np.int64, 1, True), FLOAT))
def find_steepest_move(board, additions, listed, least_gain):
    """Return what `find_best_move` returns with nothing forbidden, in less time.

    `listed` are the arcs, parent * n + child, ascending. The caller sets ``additions.parent[c]``
    to `UNKNOWN` where the column of c has changed, and everywhere after an arc is deleted.
    """
    n = len(board.arcs)
    bound = _update_additions(board, additions)
    for take_first in range(2):  # a loop, because numba compiles a function again for a constant
        for kind in range(N_KINDS):
            if kind != ADD:
                place, gain = _find_best_change(board, listed, kind, bound, take_first > 0)
                if not take_first:
                    bound = gain
                elif place >= 0:
                    return kind, listed[place] // n, listed[place] % n, gain
            elif take_first:
                parent, child = _find_first_addition(board, additions, bound)
                if child >= 0:
                    return kind, parent, child, board.gains[parent, child]
        if bound == NEVER:
            break
        if bound - least_gain < bound:
            bound = np.nextafter(bound - least_gain, np.inf)
    return -1, -1, -1, NEVER


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
