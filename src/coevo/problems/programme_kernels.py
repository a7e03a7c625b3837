"""The kernel of the literal form: decode orders and masks, and measure the solutions.

One kernel serves tours and orderings, because both decode a mask in the same way: its bits act row
by row on the order.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coevo.engine import INT, array, kernel, read_array
from coevo.search.decode_kernels import Solutions

__all__ = ["measure_programmes"]


@kernel(INT, read_array(np.float64, 2), Solutions, array(np.int64), array(np.float64))
def measure_programmes(
    is_tour: bool,
    matrix: NDArray[np.float64],
    solutions: Solutions,
    order: NDArray[np.int64],
    values: NDArray[np.float64],
) -> None:
    """Overwrite ``values[s]`` with the value of solution s, a length or a weight.

    Bit (i, j) of a mask reverses the positions i + 1 to j of a tour, and moves the item at
    position i of an ordering to position j. `matrix` holds the distances or the weights. `order`
    is scratch.
    """
