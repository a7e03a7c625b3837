"""The search for violated cluster cuts; engine/cut.h explains it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coevo.engine import INT, Structure, array, kernel, read_array

__all__ = ["ClusterScratch", "UsedFamilies", "grow_clusters", "make_scratch"]


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


def make_scratch(n_variables: int, n_families: int) -> ClusterScratch:
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
