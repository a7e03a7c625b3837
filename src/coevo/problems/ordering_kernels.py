"""The compiled part of orderings: weigh them, and climb by insertion moves.

An ordering is a permutation of the items. Its weight is the sum of the weights of all pairs
(i, j) with i before j: the forward arcs of a complete acyclic graph. Kernels never draw: random
numbers come as arrays.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from coevo.jit import FLOAT, array_of, kernel, part

__all__ = ["climb_orders", "move_item", "weigh_order"]


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
        array_of(np.int64, 2),
        array_of(np.float64),
        array_of(np.float64, 4, is_read_only=True),
        FLOAT,
    )
)
def climb_orders(weights: Any, orders: Any, totals: Any, draws: Any, least: Any) -> None:
    """Overwrite each order with a heavier one: climb, then perturb and climb again and again.

    ``draws[o, k]`` are pairs of numbers: perturbation k of order o moves the item at each first
    place to the second place. A lighter order is undone. A smaller gain than `least` is round-off.
    """
    n = orders.shape[1]
    net = np.empty((n, n))
    for i in range(n):
        for j in range(n):
            net[i, j] = weights[i, j] - weights[j, i]
    old = np.empty(n, np.int64)
    for o in range(len(orders)):
        order = orders[o]
        _climb(net, order, least)
        total = weigh_order(weights, order)
        for k in range(draws.shape[1]):
            for i in range(n):
                old[i] = order[i]
            for pair in range(draws.shape[2]):
                move_item(order, int(draws[o, k, pair, 0] * n), int(draws[o, k, pair, 1] * n))
            _climb(net, order, least)
            new = weigh_order(weights, order)
            if new < total - least:
                for i in range(n):
                    order[i] = old[i]
            else:
                total = new
        totals[o] = total
