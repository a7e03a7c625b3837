"""The compiled part of orderings: decode and weigh solutions, and climb by insertion moves.

An ordering is a permutation of the items. Its weight is the sum of the weights of all pairs
(i, j) with i before j: the forward arcs of a complete acyclic graph. Kernels never draw: random
numbers come as arrays.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from coevo.jit import FLOAT, array_of, kernel, part

__all__ = ["climb_orders", "weigh_programmes"]

READ_ONLY_MATRIX = array_of(np.float64, 2, is_read_only=True)
NUMBERS = array_of(np.int64, 1, is_read_only=True)


@kernel(
    (
        READ_ONLY_MATRIX,
        array_of(np.int64, 2, is_read_only=True),
        NUMBERS,
        array_of(np.bool_, 2, is_read_only=True),
        NUMBERS,
        array_of(np.float64),
    )
)
def weigh_programmes(
    weights: Any, orders: Any, order_of: Any, masks: Any, mask_of: Any, totals: Any
) -> None:
    """Overwrite ``totals[s]`` with the weight of order ``order_of[s]`` after mask ``mask_of[s]``.

    Bit (i, j) of a mask moves the item at position i to position j. The bits act row by row.
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
                    _move(order, i, j)
                bit += 1
        totals[s] = _weigh(weights, order)


@part
def _weigh(weights: Any, order: Any) -> Any:
    """Return the weight of an order."""
    total = 0.0
    for i in range(len(order)):
        for j in range(i + 1, len(order)):
            total += weights[order[i], order[j]]
    return total


@part
def _move(order: Any, source: Any, target: Any) -> None:
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
            _move(order, at, best)
            since = 0
        at = at + 1 if at + 1 < n else 0


@kernel(
    (
        READ_ONLY_MATRIX,
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
        total = _weigh(weights, order)
        for k in range(draws.shape[1]):
            for i in range(n):
                old[i] = order[i]
            for pair in range(draws.shape[2]):
                _move(order, int(draws[o, k, pair, 0] * n), int(draws[o, k, pair, 1] * n))
            _climb(net, order, least)
            new = _weigh(weights, order)
            if new < total - least:
                for i in range(n):
                    order[i] = old[i]
            else:
                total = new
        totals[o] = total
