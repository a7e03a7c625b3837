"""Sums over all orders of the variables; see engine/exact_orders.h.

A set of variables is a number: bit v says whether variable v is in it. ``sums[v]`` has, for each
set of the other variables, the log of the sum of the weights of all parent sets within it. The
place of v is left out of the numbers of these sets.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coevo.engine import INT, array, kernel, read_array

__all__ = ["draw_orders", "sum_orders_after", "sum_orders_before", "weigh_places"]

Sums = NDArray[np.float64]  # (n, 2^(n-1))
Table = NDArray[np.float64]  # (2^n,)


@kernel(read_array(np.float64, 2), array(np.float64))
def sum_orders_before(sums: Sums, before: Table) -> None:
    """Overwrite ``before[S]`` with the log weight of all orders of the set S, which come first."""


@kernel(read_array(np.float64, 2), array(np.float64))
def sum_orders_after(sums: Sums, after: Table) -> None:
    """Overwrite ``after[S]`` with the log weight of all orders of the variables outside S.

    The variables of S come before them.
    """


@kernel(read_array(np.float64), read_array(np.float64), INT, array(np.float64))
def weigh_places(before: Table, after: Table, child: int, places: Table) -> None:
    """Overwrite ``places[S]`` with the log weight of all orders in which S comes before a child.

    S is exactly the set of the variables before it. The weight has no family of the child. The
    log weight of all orders is subtracted.
    """


@kernel(
    read_array(np.float64, 2), read_array(np.float64), read_array(np.float64, 2), array(np.int64, 2)
)
def draw_orders(
    sums: Sums, before: Table, lots: NDArray[np.float64], orders: NDArray[np.int64]
) -> None:
    """Overwrite each row of `orders` with a random order, drawn from the last place to the first.

    ``lots[draw, i]`` is a random number between 0 and 1 for place i.
    """
