"""The compiled part of orderings: weigh them, and climb by insertion moves.

An ordering is a permutation of the items. Its weight is the sum of the weights of all pairs
(i, j) with i before j: the forward arcs of a complete acyclic graph.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from coevo.jit import FLOAT, array_of, kernel, part

__all__ = ["climb_orders", "move_item", "weigh_order", "weigh_orders"]


@part
def weigh_order(weights: Any, order: Any) -> Any:
    """Return the weight of an order."""
    total = 0.0
    for i in range(len(order)):
        for j in range(i + 1, len(order)):
            total += weights[order[i], order[j]]
    return total


@part
def move_item(order: Any, source: Any, target: Any) -> None:
    """Move the item at position `source` to position `target`."""
    item = order[source]
    step = 1 if target > source else -1
    while source != target:
        order[source] = order[source + step]
        source += step
    order[target] = item


@part
def _climb(net: Any, order: Any, least: Any) -> None:
    """Move each item to its best position, until no move raises the weight.

    ``net[i, j]`` is the weight of i before j, less that of j before i. A place costs one addition.
    """
    n = len(order)
    since, at = 0, 0
    while since < n:
        item = order[at]
        best, best_gain = at, least
        gain = 0.0
        for place in range(at - 1, -1, -1):
            gain += net[item, order[place]]
            if gain > best_gain:
                best, best_gain = place, gain
        gain = 0.0
        for place in range(at + 1, n):
            gain -= net[item, order[place]]
            if gain > best_gain:
                best, best_gain = place, gain
        if best == at:
            since += 1
        else:
            move_item(order, at, best)
            since = 0
        at = at + 1 if at + 1 < n else 0


@kernel(
    (
        array_of(np.float64, 2, is_read_only=True),
        array_of(np.float64, 2, is_read_only=True),
        array_of(np.int64, 2),
        array_of(np.float64),
        FLOAT,
    )
)
def climb_orders(weights: Any, net: Any, orders: Any, totals: Any, least: Any) -> None:
    """Overwrite each order with one that no insertion makes heavier, and `totals` with the weights.

    ``net[i, j]`` is ``weights[i, j] - weights[j, i]``. A smaller gain than `least` is round-off.
    """
    for o in range(len(orders)):
        _climb(net, orders[o], least)
        totals[o] = weigh_order(weights, orders[o])


@kernel(
    (
        array_of(np.float64, 2, is_read_only=True),
        array_of(np.int64, 2, is_read_only=True),
        array_of(np.float64),
    )
)
def weigh_orders(weights: Any, orders: Any, totals: Any) -> None:
    """Overwrite `totals` with the weight of each order."""
    for o in range(len(orders)):
        totals[o] = weigh_order(weights, orders[o])
