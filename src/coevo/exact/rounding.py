"""Networks from the shares of a linear programme.

The shares give an order: the next variable is the one whose families inside the variables before it
have the largest share. The best families under the order are then looked up.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coevo.exact.families import Families

__all__ = ["find_best_families", "make_adjacency", "order_by_shares", "sum_units"]

LEAST_SHARE = 1e-7


def order_by_shares(families: Families, shares: NDArray[np.float64]) -> list[int]:
    """Return an order of the variables; ties go to the lower number."""
    n = families.n_variables
    used = np.flatnonzero(shares > LEAST_SHARE)
    children, parents, weights = families.children[used], families.parents[used], shares[used]
    is_placed = np.zeros(n + 1, dtype=np.bool_)
    is_placed[n] = True
    order: list[int] = []
    while len(order) < n:
        is_inside = is_placed[parents].all(axis=1)
        inside = np.bincount(children, weights=weights * is_inside, minlength=n)
        inside[is_placed[:n]] = -1.0
        chosen = int(inside.argmax())
        order.append(chosen)
        is_placed[chosen] = True
    return order


def find_best_families(families: Families, order: list[int]) -> NDArray[np.int64] | None:
    """Return the best family of each variable under an order; None if one has no family."""
    n = families.n_variables
    is_placed = np.zeros(n + 1, dtype=np.bool_)
    is_placed[n] = True
    chosen = np.empty(n, dtype=np.int64)
    for v in order:
        first, last = families.begin[v], families.begin[v + 1]
        is_inside = is_placed[families.parents[first:last]].all(axis=1)
        if not is_inside.any():
            return None
        chosen[v] = first + int(is_inside.argmax())  # the best come first
        is_placed[v] = True
    return chosen


def sum_units(families: Families, chosen: NDArray[np.int64]) -> int:
    """Return the score of a network in units."""
    return int(families.units[chosen].sum())


def make_adjacency(families: Families, chosen: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return the adjacency matrix of a network, ``[parent, child]``."""
    n = families.n_variables
    adjacency = np.zeros((n + 1, n), dtype=np.bool_)
    for child, family in enumerate(chosen):
        adjacency[families.parents[family], child] = True
    return adjacency[:n]
