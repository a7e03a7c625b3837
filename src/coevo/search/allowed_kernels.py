"""Kernels that track which families an order allows, while variables move.

An order allows a family if all its parents come before the child. For every family the number of
its *missing* parents is kept: those that come after the child. A bit for each family says whether
none is missing. Local search asks many questions for each move that it makes, and these are short:

- The best response of a child is the first of its families whose bit is set.
- If v moved to the front, the families with v would be allowed in which only v is missing.

A move of one variable changes only families of the pairs that it passes. In a table with many rows
a child has a thousand scored families, and the check of their parents, one after another, would
take most of the time.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coevo.jit import array_of, inline, part, popcount, tuple_of
from coevo.search.family_index_kernels import Families

__all__ = [
    "SCRATCH",
    "OrderScratch",
    "find_allowed",
    "find_lowest",
    "make_scratch",
    "mark",
    "put_in_order",
    "put_variable",
    "restore_order",
]

NUMBERS = array_of(np.int64)
BITS, FLAGS = array_of(np.uint64), array_of(np.bool_)


class OrderScratch(NamedTuple):
    """Working memory. Between calls `marks` is 0, `pair_of` is -1 and the queue is empty."""

    place: NDArray[np.int64]  # (n,), where each variable is
    missing: NDArray[np.int16]  # (n_families,), how many parents do not come before the child
    allowed: NDArray[np.uint64]  # bits of families: none is missing
    moved: NDArray[np.bool_]  # (n,), which variables `put_variable` has moved
    marks: NDArray[np.uint64]  # bits of places
    pair_of: NDArray[np.int64]  # (n,), the pair of a marked variable
    gain_of: NDArray[np.float64]  # (n,), the gain of a marked variable
    queue: NDArray[np.int64]  # (n,), a ring of variables to try
    is_queued: NDArray[np.bool_]  # (n,)
    ends: NDArray[np.int64]  # (2,), the head of the queue and its length


SCRATCH = tuple_of(
    NUMBERS,
    array_of(np.int16),
    BITS,
    FLAGS,
    BITS,
    NUMBERS,
    array_of(np.float64),
    NUMBERS,
    FLAGS,
    NUMBERS,
    kind=OrderScratch,
)


def make_scratch(families: Families) -> OrderScratch:
    """Return the working memory for orders of the children of these families."""
    n, n_families = len(families.begin) - 1, len(families.score)
    return OrderScratch(
        np.empty(n, dtype=np.int64),
        np.empty(n_families, dtype=np.int16),
        np.zeros(n_families // 64 + 1, dtype=np.uint64),
        np.zeros(n, dtype=np.bool_),
        np.zeros(n // 64 + 1, dtype=np.uint64),
        np.full(n, -1, dtype=np.int64),
        np.empty(n, dtype=np.float64),
        np.empty(n, dtype=np.int64),
        np.zeros(n, dtype=np.bool_),
        np.zeros(2, dtype=np.int64),
    )


@inline
def mark(bits, number):
    """Set a bit."""
    bits[number >> 6] |= np.uint64(1) << np.uint64(number & 63)


@inline
def find_lowest(bits):
    """Return the number of the lowest bit that is set."""
    return popcount((bits & (~bits + np.uint64(1))) - np.uint64(1))


@part
def find_allowed(allowed, family):
    """Return the first allowed family, from `family` on. There must be one."""
    word = family >> 6
    bits = allowed[word] & (~np.uint64(0) << np.uint64(family & 63))
    while bits == np.uint64(0):
        word += 1
        bits = allowed[word]
    return np.int64(word * 64 + find_lowest(bits))


@part
def _change_missing(begin, holder, missing, allowed, pair, change):
    """Add `change`, 1 or -1, to the missing parents of the families of a pair."""
    for i in range(begin[pair], begin[pair + 1]):
        family = np.int64(holder[i])
        missing[family] += change
        bit = np.uint64(1) << np.uint64(family & 63)
        if missing[family] == 0:
            allowed[family >> 6] |= bit
        else:
            allowed[family >> 6] &= ~bit


@part
def put_in_order(order, index, scratch):
    """Begin with an order: overwrite `place`, `missing` and `allowed`."""
    place, missing, allowed = scratch.place, scratch.missing, scratch.allowed
    of_child, parent_of, begin, holder = index.of_child, index.parent, index.begin, index.family
    for i in range(len(order)):
        place[order[i]] = i
    for family in range(len(missing)):
        missing[family] = 0
    for child in range(len(order)):
        for pair in range(of_child[child], of_child[child + 1]):
            if place[parent_of[pair]] > place[child]:
                for i in range(begin[pair], begin[pair + 1]):
                    missing[holder[i]] += 1
    for word in range(len(allowed)):
        bits, first = np.uint64(0), word * 64
        for family in range(first, min(first + 64, len(missing))):
            bits |= np.uint64(missing[family] == 0) << np.uint64(family - first)
        allowed[word] = bits


@part
def put_variable(order, index, scratch, v, target):
    """Move v to a place; all between its old and its new place move by one."""
    place, missing, allowed = scratch.place, scratch.missing, scratch.allowed
    begin, holder, parent_of = index.begin, index.family, index.parent
    child_of, pair_of = index.child, index.pair
    home = place[v]
    step = 1 if target > home else -1
    at = home
    while at != target:
        order[at] = order[at + step]
        place[order[at]] = at
        at += step
    order[target] = v
    place[v] = target
    scratch.moved[v] = True
    low, high = (home, target - 1) if home < target else (target + 1, home)
    for i in range(index.of_parent[v], index.of_parent[v + 1]):
        if low <= place[child_of[i]] <= high:
            _change_missing(begin, holder, missing, allowed, np.int64(pair_of[i]), step)
    for pair in range(index.of_child[v], index.of_child[v + 1]):
        if low <= place[parent_of[pair]] <= high:
            _change_missing(begin, holder, missing, allowed, pair, -step)


@part
def restore_order(order, old_order, index, scratch, old_place):
    """Return to an old order, from which only the `moved` variables have moved since.

    All others still are in the same sequence. `old_place` is scratch.
    """
    place, moved = scratch.place, scratch.moved
    missing, allowed, begin, holder = scratch.missing, scratch.allowed, index.begin, index.family
    of_child, of_parent = index.of_child, index.of_parent
    parent_of, child_of, pair_of = index.parent, index.child, index.pair
    n = len(order)
    for i in range(n):
        old_place[old_order[i]] = i
        order[i] = old_order[i]
    for v in range(n):
        if not moved[v]:
            continue
        at, old = place[v], old_place[v]
        for pair in range(of_child[v], of_child[v + 1]):
            u = parent_of[pair]
            change = np.int64(place[u] < at) - np.int64(old_place[u] < old)
            if change != 0:
                _change_missing(begin, holder, missing, allowed, pair, change)
        for i in range(of_parent[v], of_parent[v + 1]):
            w = child_of[i]
            change = np.int64(at < place[w]) - np.int64(old < old_place[w])
            if change != 0 and not moved[w]:
                _change_missing(begin, holder, missing, allowed, np.int64(pair_of[i]), change)
    for v in range(n):
        place[v] = old_place[v]
