"""The loops of a proof: cells of tables (cell.h), cluster cuts (cut.h), and local cuts (local.h).

A table of a local cut has one row for each of s variables, and one column for each set of parents
among them, a number of s bits. Entries whose parents contain the variable itself are never read.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coevo.engine import FLOAT, INT, Structure, array, kernel, read_array

__all__ = [
    "CellRows",
    "UsedFamilies",
    "find_best_networks",
    "grow_clusters",
    "lift_points",
    "make_cluster_scratch",
    "make_local_scratch",
    "make_networks",
    "sum_cells",
]


class CellRows(Structure):
    """The rows of a table."""

    codes: NDArray[np.int32] = read_array(np.int32, 2)  # (variables, rows)
    weights: NDArray[np.int64] = read_array(np.int64)  # (rows,), how often each row occurs
    arities: NDArray[np.int64] = read_array(np.int64)  # (variables,)


@kernel(
    CellRows,
    read_array(np.int32, 2),
    read_array(np.float64),
    array(np.int32),
    array(np.int32),
    array(np.float64),
)
def sum_cells(
    rows: CellRows,
    families: NDArray[np.int32],
    value: NDArray[np.float64],
    cells: NDArray[np.int32],
    counts: NDArray[np.int32],
    sums: NDArray[np.float64],
) -> None:
    """Overwrite ``sums[f]`` with the sum of ``value[n]`` over the cells of family f with n rows.

    A row of `families` is a child and its parents. ``value[0]`` is 0. `counts` has room for the
    largest table, with zeros before and after. `cells` has room for each row.
    """


class UsedFamilies(Structure):
    """The families with a share in a solution."""

    children: NDArray[np.int32] = read_array(np.int32)  # (families,)
    # (width, families), columns end with the number of variables n
    parents: NDArray[np.int32] = read_array(np.int32, 2)
    shares: NDArray[np.float64] = read_array(np.float64)  # (families,), above 0


class ClusterScratch(Structure):
    """Working memory for one cluster. The last flag and change are those of no variable."""

    inside: NDArray[np.bool_] = array(np.bool_)  # (n + 1,), the members
    hits: NDArray[np.int32] = array(np.int32)  # (families,), parents among the members
    own: NDArray[np.int64] = array(np.int64)  # (families,), the families of the members
    # (n + 1,), how a further member changes the value
    change: NDArray[np.float64] = array(np.float64)
    order: NDArray[np.int64] = array(np.int64)  # (n,), the members in the order of their addition


def make_cluster_scratch(n_variables: int, n_families: int) -> ClusterScratch:
    """Return working memory for some variables and families."""
    return ClusterScratch(
        inside=np.empty(n_variables + 1, dtype=np.bool_),
        hits=np.empty(n_families, dtype=np.int32),
        own=np.empty(n_families, dtype=np.int64),
        change=np.empty(n_variables + 1),
        order=np.empty(n_variables, dtype=np.int64),
    )


@kernel(
    UsedFamilies,
    INT,
    read_array(np.int64, 2),
    ClusterScratch,
    array(np.bool_, 2),
    array(np.float64),
)
def grow_clusters(
    families: UsedFamilies,
    k: int,
    starts: NDArray[np.int64],
    scratch: ClusterScratch,
    clusters: NDArray[np.bool_],
    values: NDArray[np.float64],
) -> None:
    """Overwrite row s of `clusters` with the best cluster found from start s, and its value.

    A start is two variables. The last column of `clusters`, for n, stays False. There are more than
    k variables.
    """


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


def make_local_scratch(size: int) -> LocalScratch:
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
