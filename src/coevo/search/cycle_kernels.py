"""The kernel that numbers the cycles of two permutations, for cycle crossover."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coevo.engine import INT, array, kernel, read_array

__all__ = ["number_pairs"]


@kernel(
    read_array(np.int64, 2),
    read_array(np.int64, 2),
    array(np.int64),
    array(np.int64, 2),
    returns=INT,
)
def number_pairs(
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    place: NDArray[np.int64],
    numbers: NDArray[np.int64],
) -> int:
    """Overwrite ``numbers[p, i]`` with the number of the cycle of position i of pair p.

    The position after i in a cycle is where the first permutation holds what the second one
    holds at i. Cycles are numbered by their first positions. Return whether the rows are
    permutations. `place` is scratch, of one row.
    """
    raise NotImplementedError
