"""Tables of points: cuts on a few variables (`coevo.exact.local_cuts` finds them)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coevo.exact.local_kernels import find_best_networks, make_networks, make_scratch

__all__ = ["LARGEST_SIZE", "MOST_POINTS", "Table", "count_least_points"]

LARGEST_SIZE = 8  # variables of a table
MOST_POINTS = 9

Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Table:
    """Points of each variable for each set of parents; every network receives at least `right`."""

    right: int
    points: Numbers  # (s, 2 ** s)


def count_least_points(points: Numbers) -> int:
    """Return the fewest points of a network.

    >>> count_least_points(np.array([[1, 1, 0, 0], [1, 0, 1, 0]]))  # a cluster of two variables
    1
    """
    local = make_networks(points.astype(np.float64))
    find_best_networks(local, make_scratch(len(points)))
    return int(local.totals.min())
