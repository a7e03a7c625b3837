"""What both exact sums share: sums over sets of parents, in logs; see engine/exact_sums.h."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coevo.engine import FLOAT, Structure, array, kernel, read_array

__all__ = [
    "SortedFamilies",
    "add_member_weights",
    "draw_families",
    "sum_subsets",
    "sum_supersets",
]

Table = NDArray[np.float64]  # (2^k,), one log weight for each set of k things


class SortedFamilies(Structure):
    """The possible parent sets by child, each child's from the heaviest to the lightest."""

    begin: NDArray[np.int64] = read_array(np.int64)  # (n + 1,), of v: begin[v] to begin[v + 1]
    log_weight: NDArray[np.float64] = read_array(np.float64)  # (n_families,)
    # (n_families,), bit u says whether variable u is a parent
    parents: NDArray[np.int64] = read_array(np.int64)


@kernel(array(np.float64))
def sum_subsets(table: Table) -> None:
    """Replace the log weight of each set by that of the sum over all its subsets."""


@kernel(array(np.float64))
def sum_supersets(table: Table) -> None:
    """Replace the log weight of each set by that of the sum over all sets that contain it."""


@kernel(read_array(np.float64), read_array(np.float64), array(np.float64), returns=FLOAT)
def add_member_weights(one: Table, other: Table, totals: NDArray[np.float64]) -> float:
    """Add to ``totals[j]`` the weights of the sets that contain thing j; return that of all sets.

    The log weight of a set is the sum of its entries in the two tables.
    """
    raise NotImplementedError


@kernel(SortedFamilies, read_array(np.int64, 3), read_array(np.float64, 3), array(np.bool_, 3))
def draw_families(
    families: SortedFamilies,
    bounds: NDArray[np.int64],
    lots: NDArray[np.float64],
    adjacency: NDArray[np.bool_],
) -> None:
    """Draw the parents of each child of each DAG; set ``adjacency[draw, parent, child]``.

    The parents are a subset of ``bounds[draw, child, 0]`` and no subset of
    ``bounds[draw, child, 1]``, unless that is -1. ``lots[draw, child]`` has a random number between
    0 and 1, and the log of the sum of the weights of all these sets. There is at least one.
    """
