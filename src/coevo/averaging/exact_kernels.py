"""The compiled part that both exact sums share: sums over sets of parents, in logs.

A table has one log weight for each set of k things: bit j of the number of a set says whether
thing j is in it. Log weights differ by thousands, and -inf is the weight zero. So sums stay in
logs here. All terms are positive, so no digits cancel.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coevo.jit import array_of, inline, kernel, part

__all__ = [
    "SortedFamilies",
    "add_member_weights",
    "draw_families",
    "remove_bit",
    "sum_subsets",
    "sum_supersets",
]

NEGLIGIBLE_LOG = -40.0  # exp of it is lost when it is added to 1
TABLE, READ_TABLE = array_of(np.float64), array_of(np.float64, 1, True)
READ_SETS, READ_MATRIX = array_of(np.int64, 2, True), array_of(np.float64, 2, True)


class SortedFamilies(NamedTuple):
    """The possible parent sets by child, each child's from the heaviest to the lightest."""

    begin: NDArray[np.int64]  # (n + 1,), families of child v: begin[v] to begin[v + 1]
    log_weight: NDArray[np.float64]  # (n_families,)
    parents: NDArray[np.int64]  # (n_families,), bit u says whether variable u is a parent


@inline
def remove_bit(mask: Any, bit: Any) -> Any:
    """Return a set as a number without the place of variable `bit`, which is not in the set."""
    low = mask & ((1 << bit) - 1)
    return low | ((mask >> (bit + 1)) << bit)


@part
def add_logs(one: Any, other: Any) -> Any:
    """Return the log of the sum of two weights that are given as logs."""
    high, low = (one, other) if one >= other else (other, one)
    if high == -np.inf or low - high < NEGLIGIBLE_LOG:
        return high
    return high + math.log1p(math.exp(low - high))


@kernel((TABLE,))
def sum_subsets(table: Any) -> None:
    """Replace the log weight of each set by that of the sum over all its subsets."""
    bit = 1
    while bit < len(table):
        for start in range(0, len(table), 2 * bit):
            for i in range(start, start + bit):
                table[i + bit] = add_logs(table[i + bit], table[i])
        bit *= 2


@kernel((TABLE,))
def sum_supersets(table: Any) -> None:
    """Replace the log weight of each set by that of the sum over all sets that contain it."""
    bit = 1
    while bit < len(table):
        for start in range(0, len(table), 2 * bit):
            for i in range(start, start + bit):
                table[i] = add_logs(table[i], table[i + bit])
        bit *= 2


@kernel((READ_TABLE, READ_TABLE, TABLE))
def add_member_weights(one: Any, other: Any, totals: Any) -> Any:
    """Add to ``totals[j]`` the weights of the sets that contain thing j; return that of all sets.

    The log weight of a set is the sum of its entries in the two tables.
    """
    total = 0.0
    for number in range(len(one)):
        weight = math.exp(one[number] + other[number])
        total += weight
        if weight > 0.0:
            for j in range(len(totals)):
                if number >> j & 1:
                    totals[j] += weight
    return total


@kernel(
    (
        array_of(np.int64),
        TABLE,
        array_of(np.int64),
        array_of(np.int64, 3, True),
        array_of(np.float64, 3, True),
        array_of(np.bool_, 3),
    )
)
def draw_families(
    begin: Any, log_weight: Any, parents: Any, bounds: Any, lots: Any, adjacency: Any
) -> None:
    """Draw the parents of each child of each DAG; set ``adjacency[draw, parent, child]``.

    The first three arguments are the arrays of `SortedFamilies`. The parents are a subset of
    ``bounds[draw, child, 0]`` and no subset of ``bounds[draw, child, 1]``, unless that is -1.
    ``lots[draw, child]`` has a random number between 0 and 1, and the log of the sum of the
    weights of all these sets. There is at least one.
    """
    n = len(begin) - 1
    for draw in range(len(bounds)):
        for child in range(n):
            inside, outside = bounds[draw, child, 0], bounds[draw, child, 1]
            lot, log_total = lots[draw, child, 0], lots[draw, child, 1]
            chosen = np.int64(0)
            for family in range(begin[child], begin[child + 1]):
                members = parents[family]
                if members & ~inside == 0 and (outside < 0 or members & ~outside != 0):
                    weight = math.exp(log_weight[family] - log_total)
                    if weight == 0.0:  # the others are lighter: round-off left the lot positive
                        break
                    chosen = members
                    lot -= weight
                    if lot < 0.0:
                        break
            for parent in range(n):
                adjacency[draw, parent, child] = chosen >> parent & 1 == 1
