"""Cuts on a few variables: networks with the fewest points, and the lifting; see engine/local.h.

A table has one row for each of s variables, and one column for each set of parents among them, a
number of s bits. Entries whose parents contain the variable itself are never read.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coevo.engine import FLOAT, Structure, array, kernel, read_array

__all__ = [
    "LocalNetworks",
    "LocalScratch",
    "find_best_networks",
    "lift_points",
    "make_networks",
    "make_scratch",
]


class LocalNetworks(Structure):
    """Points, and networks with the fewest points: one for each variable, which is the last one."""

    points: NDArray[np.float64] = read_array(np.float64, 2)  # (s, 2^s)
    # (s, s), [v, u]: the parents of u in a network whose last variable is v
    networks: NDArray[np.int64] = array(np.int64, 2)
    totals: NDArray[np.float64] = array(np.float64)  # (s,), the points of each network


class LocalScratch(Structure):
    """The tables of the dynamic programme over sets S of variables."""

    # (s, 2^s), [v, S]: the fewest points of v with parents inside S ...
    least: NDArray[np.float64] = array(np.float64, 2)
    chosen: NDArray[np.int64] = array(np.int64, 2)  # ... which are those of these parents
    # (2^s,), [S]: the fewest points of a network of the variables of S ...
    fewest: NDArray[np.float64] = array(np.float64)
    last: NDArray[np.int64] = array(np.int64)  # ... and the last variable of this network


def make_networks(points: NDArray[np.float64]) -> LocalNetworks:
    """Return points with room for networks."""
    size = len(points)
    return LocalNetworks(points, np.empty((size, size), dtype=np.int64), np.empty(size))


def make_scratch(size: int) -> LocalScratch:
    """Return working memory for a number of variables."""
    return LocalScratch(
        least=np.empty((size, 1 << size)),
        chosen=np.empty((size, 1 << size), dtype=np.int64),
        fewest=np.empty(1 << size),
        last=np.empty(1 << size, dtype=np.int64),
    )


@kernel(LocalNetworks, LocalScratch)
def find_best_networks(local: LocalNetworks, scratch: LocalScratch) -> None:
    """Overwrite the networks and their points."""


@kernel(array(np.float64, 2), FLOAT, read_array(np.int64, 2), LocalScratch)
def lift_points(
    points: NDArray[np.float64], right: float, places: NDArray[np.int64], scratch: LocalScratch
) -> None:
    """Lower the points at some places, in this order, as far as each network keeps `right` points.

    A place is a variable and its parents.
    """
