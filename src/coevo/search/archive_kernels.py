"""The kernel that finds dominated families: a subset has an equal or a higher score."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coevo.engine import array, kernel, read_array

__all__ = ["flag_dominated"]


@kernel(
    read_array(np.int64),
    read_array(np.int64),
    read_array(np.int32),
    read_array(np.bool_),
    array(np.uint64),
    array(np.bool_),
)
def flag_dominated(
    begin: NDArray[np.int64],
    start: NDArray[np.int64],
    parents: NDArray[np.int32],
    is_new: NDArray[np.bool_],
    signature: NDArray[np.uint64],
    dominated: NDArray[np.bool_],
) -> None:
    """Set ``dominated[family]`` if a subset of the family comes earlier in its child's list.

    Lists are sorted from the best score to the worst. Old families do not dominate each other,
    so only pairs with a new family are compared. `signature` is overwritten: a bit for each
    parent, modulo 64.
    """
