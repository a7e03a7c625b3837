"""The compiled part of the literal form: decode orders and masks, and measure the solutions.

One kernel serves tours and orderings, because both decode a mask in the same way: its bits act row
by row on the order.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from coevo.jit import FLAG, array_of, kernel, part
from coevo.problems.ordering_kernels import move_item, weigh_order
from coevo.problems.tour_kernels import measure_tour

__all__ = ["measure_programmes"]

NUMBERS = array_of(np.int64, 1, is_read_only=True)


@part
def _reverse(order: Any, low: Any, high: Any) -> None:
    """Reverse the positions from `low` to `high`."""
    while low < high:
        order[low], order[high] = order[high], order[low]
        low += 1
        high -= 1


@kernel(
    (
        FLAG,
        array_of(np.float64, 2, is_read_only=True),
        array_of(np.int64, 2, is_read_only=True),
        NUMBERS,
        array_of(np.bool_, 2, is_read_only=True),
        NUMBERS,
        array_of(np.float64),
    )
)
def measure_programmes(
    is_tour: Any, matrix: Any, orders: Any, order_of: Any, masks: Any, mask_of: Any, values: Any
) -> None:
    """Overwrite ``values[s]`` with the value of order ``order_of[s]`` after mask ``mask_of[s]``.

    Bit (i, j) of a mask reverses the positions i + 1 to j of a tour, and moves the item at
    position i of an ordering to position j. The value is a length or a weight.
    """
    n = orders.shape[1]
    order = np.empty(n, np.int64)
    for s in range(len(order_of)):
        for i in range(n):
            order[i] = orders[order_of[s], i]
        bit = 0
        for i in range(n - 1):
            for j in range(i + 1, n):
                if masks[mask_of[s], bit]:
                    if is_tour:
                        _reverse(order, i + 1, j)
                    else:
                        move_item(order, i, j)
                bit += 1
        values[s] = measure_tour(matrix, order) if is_tour else weigh_order(matrix, order)
