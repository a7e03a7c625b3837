"""Hill climbing among the candidates of each child: the families to score, and the moves."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coevo.engine import FLOAT, INT, Structure, array, kernel, read_array

__all__ = ["SparseGraph", "choose_moves", "list_toggles", "rank_moves"]


class SparseGraph(Structure):
    """A structure among the candidates of each child: n rows of k."""

    candidates: NDArray[np.int32] = read_array(np.int32, 2)
    # the place of the child in the row of its candidate; -1 if none
    reverse_of: NDArray[np.int64] = read_array(np.int64, 2)
    is_parent: NDArray[np.bool_] = array(np.bool_, 2)
    changed: NDArray[np.bool_] = array(np.bool_)  # whether a move has changed the child's parents
    seen: NDArray[np.int64] = array(np.int64)  # scratch
    waiting: NDArray[np.int64] = array(np.int64)  # scratch


@kernel(
    SparseGraph,
    read_array(np.bool_, 2),
    read_array(np.int64),
    INT,
    array(np.int32),
    array(np.int64),
    array(np.int64),
    returns=INT,
)
def list_toggles(
    graph: SparseGraph,
    may_change: NDArray[np.bool_],
    children: NDArray[np.int64],
    max_parents: int,
    members: NDArray[np.int32],
    start: NDArray[np.int64],
    toggled: NDArray[np.int64],
) -> int:
    """List the families of some children after each candidate is added or removed as a parent.

    Return how many there are. ``may_change[child, place]`` says which candidates these are; a child
    with `max_parents` parents gets no further one. Family f has the members ``start[f]`` to
    ``start[f + 1]``: the child, and its parents, ascending. ``toggled[f]`` is its candidate,
    ``child * k + place``. There must be room for all candidates of the children, each with all
    parents and the child.
    """
    raise NotImplementedError


@kernel(
    SparseGraph,
    read_array(np.float64, 2),
    INT,
    FLOAT,
    FLOAT,
    array(np.int64),
    array(np.float64),
    returns=INT,
)
def rank_moves(
    graph: SparseGraph,
    gains: NDArray[np.float64],
    max_parents: int,
    least_gain: float,
    tie: float,
    moves: NDArray[np.int64],
    rounded: NDArray[np.float64],
) -> int:
    """List all moves that gain more than `least_gain`, the best first; return how many there are.

    ``gains[child, place]`` is what toggling the candidate adds to the score of the child. Gains are
    multiples of `tie`. Of equal ones a deletion comes first, then an addition, then a reversal;
    then the first parent, and the first child. `moves` and `rounded` have room for all moves.
    """
    raise NotImplementedError


@kernel(SparseGraph, read_array(np.int64), INT, returns=INT)
def choose_moves(graph: SparseGraph, ranked: NDArray[np.int64], n_moves: int) -> int:
    """Make the first `n_moves` legal moves of a ranked list; return how many there were.

    A move is ``(kind * n + child) * k + place``: the candidate at this place of the row of the
    child is added, deleted, or becomes a child instead (the kinds of `coevo.search.climb_kernels`).
    A child changes at most once, because its gains are old after that. ``graph.changed`` is
    overwritten.
    """
    raise NotImplementedError
