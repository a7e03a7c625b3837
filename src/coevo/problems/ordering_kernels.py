"""Kernels that weigh orderings, and let them climb by insertion moves; see engine/ordering.h."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coevo.engine import Structure, array, kernel, number, read_array

__all__ = ["OrderingTable", "climb_orderings", "weigh_orderings"]


class OrderingTable(Structure):
    """The weights of a problem."""

    weights: NDArray[np.float64] = read_array(np.float64, 2)  # [i, j]: of i before j
    net: NDArray[np.float64] = read_array(np.float64, 2)  # weights[i, j] - weights[j, i]
    least: float = number(float)  # a smaller gain is round-off


@kernel(OrderingTable, array(np.int64, 2), array(np.float64))
def climb_orderings(
    table: OrderingTable, orders: NDArray[np.int64], totals: NDArray[np.float64]
) -> None:
    """Overwrite each order with one that no insertion makes heavier, and `totals` with the weights.

    An insertion moves one item to another position.
    """


@kernel(OrderingTable, read_array(np.int64, 2), array(np.float64))
def weigh_orderings(
    table: OrderingTable, orders: NDArray[np.int64], totals: NDArray[np.float64]
) -> None:
    """Overwrite `totals` with the weight of each order: the sum over its pairs in sequence."""
