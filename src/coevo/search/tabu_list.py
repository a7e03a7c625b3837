"""A tabu list of structures: no move may lead back to one of the last structures.

`coevo.search.tabu` forbids pairs of variables that were changed. Here the list holds structures, as
in the max-min hill-climbing algorithm [1]_. It is kept as the last moves: undoing them one after
another leads through the structures of the list. A move leads to one of them only if the two differ
in one arc, so each structure forbids one move at most.

.. [1] I. Tsamardinos, L. E. Brown, C. F. Aliferis (2006). The max-min hill-climbing Bayesian
   network structure learning algorithm. Machine Learning 65, 31-78.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from coevo.search.base import LEAST_GAIN
from coevo.search.climbing import KINDS, Climb, Kind, Move

__all__ = ["Moves", "append_move", "choose_move", "find_tabu_moves"]

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
