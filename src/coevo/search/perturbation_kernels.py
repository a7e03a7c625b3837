"""Climbs of orders, perturbations and further climbs; see engine/perturbation.h."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coevo.engine import FLOAT, array, kernel, read_array
from coevo.search.allowed_kernels import OrderScratch
from coevo.search.family_index_kernels import Families, FamilyIndex

__all__ = ["GLOBAL_DRAWS", "LARGEST_GROUP", "LOCAL_DRAWS", "climb_orders", "draw_order"]

# The same as in C.
GLOBAL_DRAWS = 4  # random numbers of a global perturbation, in addition to one for each variable
LARGEST_GROUP = 8  # variables of a local perturbation
LOCAL_DRAWS = 2 + 2 * LARGEST_GROUP  # a size, a first variable, and two for each variable


@kernel(
    read_array(np.int64),
    Families,
    FamilyIndex,
    OrderScratch,
    read_array(np.float64),
    array(np.int64),
)
def draw_order(
    choice: NDArray[np.int64],
    families: Families,
    index: FamilyIndex,
    scratch: OrderScratch,
    lots: NDArray[np.float64],
    order: NDArray[np.int64],
) -> None:
    """Overwrite `order` with a random topological order of the structure of `choice`.

    ``lots[v]`` is a random number. Of the variables whose parents are all placed, the one with
    the smallest number comes next.
    """


@kernel(
    array(np.int64, 2),
    read_array(np.int64, 2),
    read_array(np.float64, 3),
    read_array(np.float64, 3),
    Families,
    FamilyIndex,
    OrderScratch,
    FLOAT,
    array(np.int64, 2),
)
def climb_orders(
    orders: NDArray[np.int64],
    visits: NDArray[np.int64],
    perturbations: NDArray[np.float64],
    local_draws: NDArray[np.float64],
    families: Families,
    index: FamilyIndex,
    scratch: OrderScratch,
    least_gain: float,
    choice: NDArray[np.int64],
) -> None:
    """Improve each order in place by insertion moves, until no move gains.

    ``visits[o]`` is the sequence in which the variables of order o are tried first.
    ``perturbations[o]`` has a row of random numbers for each global perturbation: one for each
    variable, then `GLOBAL_DRAWS` more. ``local_draws[o]`` has a row of `LOCAL_DRAWS` for each local
    one. `choice` is overwritten with the best responses. A move must gain more than `least_gain`.
    If that is infinite, the orders stay unchanged and only their best responses are found.
    """
