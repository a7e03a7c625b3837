"""Best responses near an order; see engine/order.h, which also has the local search of orders."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coevo.engine import array, kernel, read_array
from coevo.search.allowed_kernels import OrderScratch
from coevo.search.family_index_kernels import Families, FamilyIndex

__all__ = ["flag_nearby_responses"]


@kernel(
    read_array(np.int64),
    read_array(np.int64),
    Families,
    FamilyIndex,
    OrderScratch,
    array(np.bool_),
)
def flag_nearby_responses(
    order: NDArray[np.int64],
    choice: NDArray[np.int64],
    families: Families,
    index: FamilyIndex,
    scratch: OrderScratch,
    asked: NDArray[np.bool_],
) -> None:
    """Set ``asked[family]`` for each best response after any one move of an order.

    A move puts one variable into another place. It then has more or fewer predecessors. Every
    other variable has one more, one fewer or the same. The current best responses, `choice`, are
    left out.
    """
