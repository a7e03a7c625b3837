"""The compiled part of the sums over all orders of the variables.

A set of variables is a number: bit v says whether variable v is in it. ``sums[v]`` has, for each
set of the other variables, the log of the sum of the weights of all parent sets within it. The
place of v is left out of the numbers of these sets.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from coevo.averaging.exact_kernels import remove_bit
from coevo.jit import INT, array_of, kernel, part

__all__ = ["draw_orders", "sum_orders_after", "sum_orders_before", "weigh_places"]

TABLE, READ_TABLE = array_of(np.float64), array_of(np.float64, 1, True)
READ_SUMS = array_of(np.float64, 2, True)


@part
def _sum_logs(logs: Any, n: Any) -> Any:
    """Return the log of the sum of the first n weights."""
    high = -np.inf
    for i in range(n):
        high = max(high, logs[i])
    if high == -np.inf:
        return high
    total = 0.0
    for i in range(n):
        total += math.exp(logs[i] - high)
    return high + math.log(total)


@part
def _list_last(sums: Any, before: Any, members: Any, logs: Any) -> None:
    """Overwrite ``logs[v]`` with the log weight of the orders of a set that end with v."""
    for v in range(len(sums)):
        logs[v] = -np.inf
        if members >> v & 1:
            others = members ^ (1 << v)
            logs[v] = before[others] + sums[v, remove_bit(others, v)]


@kernel((READ_SUMS, TABLE))
def sum_orders_before(sums: Any, before: Any) -> None:
    """Overwrite ``before[S]`` with the log weight of all orders of the set S, which come first."""
    logs = np.empty(len(sums))
    before[0] = 0.0
    for members in range(1, len(before)):
        _list_last(sums, before, members, logs)
        before[members] = _sum_logs(logs, len(sums))


@kernel((READ_SUMS, TABLE))
def sum_orders_after(sums: Any, after: Any) -> None:
    """Overwrite ``after[S]`` with the log weight of all orders of the variables outside S.

    The variables of S come before them.
    """
    n = len(sums)
    logs = np.empty(n)
    after[len(after) - 1] = 0.0
    for members in range(len(after) - 2, -1, -1):
        for v in range(n):
            logs[v] = -np.inf
            if not members >> v & 1:
                logs[v] = after[members | (1 << v)] + sums[v, remove_bit(members, v)]
        after[members] = _sum_logs(logs, n)


@kernel((READ_TABLE, READ_TABLE, INT, TABLE))
def weigh_places(before: Any, after: Any, child: Any, places: Any) -> None:
    """Overwrite ``places[S]`` with the log weight of all orders in which S comes before a child.

    S is exactly the set of the variables before it. The weight has no family of the child. The
    log weight of all orders is subtracted.
    """
    log_total = after[0]
    for number in range(len(places)):
        low = number & ((1 << child) - 1)
        members = low | ((number - low) << 1)
        places[number] = before[members] + after[members | (1 << child)] - log_total


@kernel((READ_SUMS, READ_TABLE, array_of(np.float64, 2, True), array_of(np.int64, 2)))
def draw_orders(sums: Any, before: Any, lots: Any, orders: Any) -> None:
    """Overwrite each row of `orders` with a random order, drawn from the last place to the first.

    ``lots[draw, i]`` is a random number between 0 and 1 for place i.
    """
    n = len(sums)
    logs = np.empty(n)
    for draw in range(len(orders)):
        members = len(before) - 1
        for place in range(n - 1, -1, -1):
            _list_last(sums, before, members, logs)
            lot, last = lots[draw, place], -1
            for v in range(n):
                weight = math.exp(logs[v] - before[members])
                if weight > 0.0:
                    last = v
                    lot -= weight
                    if lot < 0.0:
                        break
            orders[draw, place] = last
            members ^= 1 << last
