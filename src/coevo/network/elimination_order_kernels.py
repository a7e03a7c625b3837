"""The kernels that find orders of elimination; see engine/elimination_order.h.

`make_interaction_graph` makes the structure that all of them share.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from coevo.engine import INT, Structure, array, kernel, read_array

__all__ = [
    "FILL",
    "N_CELLS",
    "N_OPERATIONS",
    "WEIGHT",
    "WEIGHTED_FILL",
    "InteractionGraph",
    "eliminate_greedily",
    "eliminate_in_order",
    "list_cliques",
    "list_cuthill_mckee",
    "make_interaction_graph",
]

WEIGHTED_FILL, WEIGHT, FILL = range(3)  # rules
N_CELLS, N_OPERATIONS, N_TOTALS = range(3)  # places of `totals`
WORD_ROWS, INTEGER_ROWS, FLOAT_ROWS = 4, 14, 4  # of scratch


class InteractionGraph(Structure):
    """The factors, the best order so far, and scratch; `make_interaction_graph` makes it."""

    start: NDArray[np.int64] = read_array(np.int64)
    members: NDArray[np.int64] = read_array(np.int64)  # those of factor k begin at start[k]
    arities: NDArray[np.int64] = read_array(np.int64)
    is_last: NDArray[np.bool_] = read_array(np.bool_)
    totals: NDArray[np.float64] = array(np.float64)  # N_CELLS of the best order, N_OPERATIONS
    order: NDArray[np.int64] = array(np.int64)  # the best one
    rows: NDArray[np.uint64] = array(np.uint64, 2)  # its cliques as bit sets, and scratch
    integers: NDArray[np.int64] = array(np.int64, 2)
    floats: NDArray[np.float64] = array(np.float64, 2)


def make_interaction_graph(
    start: NDArray[np.int64],
    members: NDArray[np.int64],
    arities: NDArray[np.int64],
    is_last: NDArray[np.bool_],
) -> InteractionGraph:
    """Return the structure of some factors, without an order."""
    n = len(arities)
    return InteractionGraph(
        start,
        members,
        arities,
        is_last,
        np.array((math.nan, 0.0)),
        np.empty(n, dtype=np.int64),
        np.empty((2 * n + WORD_ROWS, (n + 63) // 64), dtype=np.uint64),
        np.empty((INTEGER_ROWS, n + 1), dtype=np.int64),
        np.empty((FLOAT_ROWS, n + 1)),
    )


@kernel(InteractionGraph, INT, read_array(np.float64), returns=INT)
def eliminate_greedily(graph: InteractionGraph, rule: int, factors: NDArray[np.float64]) -> int:
    """Take out the variable with the least fill until none is left; keep the order if it is better.

    Each pair of neighbours that must be connected counts as the rule says: the product of the
    logarithms of both arities (WEIGHTED_FILL), nothing (WEIGHT) or one (FILL). Ties go to the
    smallest clique, then to the smallest number. The factors, if there are some, multiply the
    fill of each variable. A run ends when it has as many cells as the best order. The operations
    of the run are in ``totals[N_OPERATIONS]``. Return the number of members of all cliques of the
    best order.
    """
    raise NotImplementedError


@kernel(InteractionGraph, read_array(np.int64), returns=INT)
def eliminate_in_order(graph: InteractionGraph, sequence: NDArray[np.int64]) -> int:
    """Take out all variables in a sequence, the last ones last; keep the order if it is better.

    The sequence is a permutation. Return the number of members of all cliques of the best order.
    """
    raise NotImplementedError


@kernel(InteractionGraph, array(np.int64), array(np.int64))
def list_cliques(
    graph: InteractionGraph, clique_start: NDArray[np.int64], clique_members: NDArray[np.int64]
) -> None:
    """Overwrite the cliques of the best order; those of step i begin at ``clique_start[i]``.

    The variable that is taken out last comes first.
    """
    raise NotImplementedError


@kernel(InteractionGraph, array(np.int64))
def list_cuthill_mckee(graph: InteractionGraph, sequence: NDArray[np.int64]) -> None:
    """Overwrite the order of Cuthill and McKee, from a far end of each component.

    After a variable come its neighbours, those with the fewest neighbours first.
    """
    raise NotImplementedError
