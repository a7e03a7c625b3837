"""What a single parent adds, for all pairs of variables; see engine/pair.h."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coevo.engine import INT, array, kernel, read_array
from coevo.score.count_kernels import CountIndex

__all__ = ["measure_pairs"]


@kernel(
    CountIndex,
    read_array(np.uint32),
    read_array(np.float64),
    INT,
    array(np.int64),
    array(np.float64),
)
def measure_pairs(
    index: CountIndex,
    singles: NDArray[np.uint32],
    x_log_x: NDArray[np.float64],
    child: int,
    column: NDArray[np.int64],
    gains: NDArray[np.float64],
) -> None:
    """Overwrite ``gains[v]`` with the log likelihood that a variable v adds to a child alone.

    That is the number of rows times the mutual information. ``x_log_x[c]`` is c log c, and
    `singles` are the counts of the states of each variable. All variables have bit sets. The counts
    of the most common states, which have none, follow by subtraction. `column` is scratch, one cell
    for each state of the child. The child itself gets 0.
    """
