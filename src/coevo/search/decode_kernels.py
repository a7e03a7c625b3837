"""Kernels that decode orders and masks into families, under constraints.

This is the one place where an order and a mask become a structure. Without constraints it is
algorithm 2 of the 2011 paper (`coevo.search.ccga`). With constraints, the pair is *read* so that
they hold. The order and the mask stay unchanged. No cycle can arise, so nothing is repaired:

- The order is read as its first rearrangement in which the parents of every required arc come
  before their children: repeatedly take the first variable that has no required parent left.
  Without required arcs it is the order itself.
- A required arc is present whatever its bit is. The bit of an arc is ignored if the arc is
  forbidden or excluded by tiers.
- The bits are read in the order of the string, position by position. A bit is ignored if it
  would give its child too many parents, or a table with too many cells. Required parents count
  first.

Every structure that satisfies the constraints can still be reached: its topological order is
read unchanged, and so are all its arcs.

The solutions of a generation share most families with each other and with those of earlier
generations. Duplicates are found here, where a parent set is still a bit set, so that each
family is requested once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coevo.jit import (
    FLAG,
    FLOAT,
    INT,
    allocating_part,
    array_of,
    inline,
    kernel,
    part,
    popcount,
    tuple_of,
)

__all__ = ["FamilyTable", "read_families", "read_order"]

NUMBERS, READ_NUMBERS = array_of(np.int64), array_of(np.int64, 1, True)
FLAGS, READ_FLAGS = array_of(np.bool_, 2), array_of(np.bool_, 2, True)


@inline
def _read_order(order, required, waiting, read):
    """Overwrite `read` with the order in which required parents come first.

    `waiting` is scratch: for each variable the number of required parents not placed yet.
    """
    n = len(order)
    for child in range(n):
        waiting[child] = 0
        for parent in range(n):
            waiting[child] += required[parent, child]
    for place in range(n):
        at = 0
        while waiting[order[at]] != 0:
            at += 1
        taken = order[at]
        read[place] = taken
        waiting[taken] = -1
        for child in range(n):
            if required[taken, child]:
                waiting[child] -= 1


@kernel((READ_NUMBERS, READ_FLAGS, NUMBERS, NUMBERS))
def read_order(order, required, waiting, read):
    """Overwrite `read` with the order in which required parents come first."""
    _read_order(order, required, waiting, read)


@part
def _read_parents(order, upper, lower, first, last, rules, parents, n_parents, n_cells):
    """Overwrite ``parents[v]``, a bit set, for each variable v.

    `n_parents` and `n_cells` are scratch: the parents of each variable, and the cells of its table.

    Indices in the hot loops are unsigned, because numba tests whether signed ones are negative.
    """
    allowed, required, any_required, any_rule, (max_parents, arities, max_cells) = rules
    n, n_words = parents.shape
    one, six, low = np.uint64(1), np.uint64(6), np.uint64(63)
    for child in range(n):
        for word in range(n_words):
            parents[child, word] = np.uint64(0)
    if not any_rule:
        for bit in range(first, last):
            parent, child = order[upper[bit]], order[lower[bit]]
            parents[child, parent >> six] |= one << (parent & low)
        return
    for child in range(n):
        n_parents[child] = 0
        n_cells[child] = arities[child]
        if any_required:
            for parent in range(n):
                if required[parent, child]:
                    parents[child, parent >> 6] |= one << np.uint64(parent & 63)
                    n_parents[child] += 1
                    n_cells[child] *= arities[parent]
    for bit in range(first, last):
        parent, child = order[upper[bit]], order[lower[bit]]
        is_free = allowed[parent, child] and not required[parent, child]
        if is_free and n_parents[child] < max_parents:
            cells = n_cells[child] * arities[parent]
            if cells <= max_cells:
                parents[child, parent >> six] |= one << (parent & low)
                n_parents[child] += 1
                n_cells[child] = cells


class FamilyTable(NamedTuple):
    """A hash table of the families decoded so far, with room for more."""

    slots: NDArray[np.int32]  # family numbers; length a power of two, at most half full; -1 empty
    child: NDArray[np.int32]  # (capacity,)
    parents: NDArray[np.uint64]  # (capacity, words), bit sets


ORDERS, WHICH = array_of(np.int64, 2, True), array_of(np.int32, 2)
MASK_BITS = tuple_of(NUMBERS, array_of(np.uint32), array_of(np.uint32))
LIMITS = tuple_of(INT, array_of(np.float64), FLOAT)
RULES = tuple_of(FLAGS, FLAGS, FLAG, FLAG, LIMITS)
KNOWN = tuple_of(array_of(np.int32), array_of(np.int32), array_of(np.uint64, 2), kind=FamilyTable)


@inline
def _find_slot(slots, child_of, sets, child, parents):
    """Return the slot of a family, or the empty slot where it belongs."""
    n_words = parents.shape[1]
    hashed = np.uint64(child + 1)
    for word in range(n_words):
        hashed = (hashed ^ parents[child, word]) * np.uint64(0x9E3779B97F4A7C15)
        hashed ^= hashed >> np.uint64(29)
    mask = np.uint64(len(slots) - 1)
    slot = hashed & mask
    while slots[slot] >= 0:
        family = np.uint64(slots[slot])
        same = child_of[family] == child
        for word in range(n_words):
            same = same and sets[family, word] == parents[child, word]
        if same:
            break
        slot = (slot + np.uint64(1)) & mask
    return slot


@allocating_part
def _list_members(child_of, sets, first, last, n):
    """Return families as the arrays of a `FamilyBatch`."""
    n_members = last - first
    for family in range(first, last):
        for word in range(sets.shape[1]):
            n_members += popcount(sets[family, word])
    members = np.empty(n_members, dtype=np.int32)
    start = np.empty(last - first + 1, dtype=np.int64)
    at = 0
    for family in range(first, last):
        start[family - first] = at
        members[at] = child_of[family]
        at += 1
        for variable in range(n):
            word = sets[family, variable >> 6] >> np.uint64(variable & 63)
            if word & np.uint64(1):
                members[at] = variable
                at += 1
    start[last - first] = at
    return members, start


@kernel((ORDERS, READ_NUMBERS, MASK_BITS, READ_NUMBERS, RULES, KNOWN, INT, WHICH))
def read_families(orders, order_of, bits, mask_of, rules, known, n_known, which):
    """Add the new families of all solutions; return them as members and starts of a batch.

    Solution s combines order ``order_of[s]`` with mask ``mask_of[s]``. ``which[s, v]`` is
    overwritten with the number of the family of variable v in `known`. `bits` holds the set
    bits of all masks: mask m has bits ``begin[m]`` to ``begin[m + 1]``, each from position
    ``upper[b]`` to position ``lower[b]``, in the order of the string. `rules` are the matrices
    of `ArcRules`, whether any arc is required, whether there is any rule, and the limits: the
    maximum number of parents, the arities, and the maximum number of cells. `known` holds
    `n_known` families and has room for all families of all solutions.
    """
    begin, upper, lower = bits
    slots, child_of, sets = known.slots, known.child, known.parents
    n = orders.shape[1]
    n_words = sets.shape[1]
    order = np.empty(n, dtype=np.uint64)
    waiting = np.empty(n, dtype=np.int64)
    n_parents = np.empty(n, dtype=np.int64)
    n_cells = np.empty(n, dtype=np.float64)
    parents = np.empty((n, n_words), dtype=np.uint64)
    before = np.empty((n, n_words), dtype=np.uint64)
    n_families = n_known
    for solution in range(len(order_of)):
        if rules[2]:
            _read_order(orders[order_of[solution]], rules[1], waiting, order)
        else:
            for place in range(n):
                order[place] = np.uint64(orders[order_of[solution], place])
        first, last = begin[mask_of[solution]], begin[mask_of[solution] + 1]
        _read_parents(order, upper, lower, first, last, rules, parents, n_parents, n_cells)
        for child in range(n):
            same = solution > 0  # as in the previous solution, which is common
            for word in range(n_words):
                same = same and parents[child, word] == before[child, word]
                before[child, word] = parents[child, word]
            if same:
                which[solution, child] = which[solution - 1, child]
                continue
            slot = _find_slot(slots, child_of, sets, child, parents)
            if slots[slot] < 0:
                slots[slot] = n_families
                child_of[n_families] = child
                for word in range(n_words):
                    sets[n_families, word] = parents[child, word]
                n_families += 1
            which[solution, child] = slots[slot]
    return _list_members(child_of, sets, n_known, n_families, n)
