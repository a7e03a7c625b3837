"""The kernel that chooses moves of a hill climbing among the candidates of each child."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coevo.engine import INT, Structure, array, kernel, read_array

__all__ = ["SparseGraph", "choose_moves"]


class SparseGraph(Structure):
    """A structure among the candidates of each child: n rows of k."""

    candidates: NDArray[np.int32] = read_array(np.int32, 2)
    # the place of the child in the row of its candidate; -1 if none
    reverse_of: NDArray[np.int64] = read_array(np.int64, 2)
    is_parent: NDArray[np.bool_] = array(np.bool_, 2)
    changed: NDArray[np.bool_] = array(np.bool_)  # whether a move has changed the child's parents
    seen: NDArray[np.int64] = array(np.int64)  # scratch
    waiting: NDArray[np.int64] = array(np.int64)  # scratch


@kernel(SparseGraph, read_array(np.int64), INT, returns=INT)
def choose_moves(graph: SparseGraph, ranked: NDArray[np.int64], n_moves: int) -> int:
    """Make the first `n_moves` legal moves of a ranked list; return how many there were.

    A move is ``(kind * n + child) * k + place``: the candidate at this place of the row of the
    child is added, deleted, or becomes a child instead (the kinds of `coevo.search.climb_kernels`).
    A child changes at most once, because its gains are old after that. ``graph.changed`` is
    overwritten.
    """
    raise NotImplementedError
