"""From orders and masks to families: what an order and a mask mean, under constraints.

This is the one place where a pair becomes a structure. Without constraints it is the
paper's algorithm 2. With them, a pair is *read* so that they hold; neither the order nor
the mask is changed, and no cycle can arise, so that nothing has to be repaired:

- The order is read as the first order, by its own positions, in which the parents of every
  required arc come before their children (take again and again the first variable that
  waits for no one). It is the order itself when there are no required arcs.
- A required arc is there whatever its bit says; the bit of an arc that is forbidden, or
  that tiers exclude, is not looked at.
- The bits are read as they stand in the string, position by position. A bit that would
  give its child more parents than allowed is not looked at; required parents count first.

Every structure that fulfils the constraints is still reached, by its own topological
order, since that order is read as itself and all its arcs are read.

The solutions of one generation have most families in common, with each other and with those
of the generations before, so that equal ones are found here, where a set of parents is
still a bit set, and asked for once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coevo.jit import inlined, kernel, popcount

__all__ = ["Known", "read_families", "read_order"]


@inlined
def _read_order(order, required, waiting, read):
    """Overwrite `read` with the order in which required parents come first.

    `waiting` is scratch: for each variable the parents that are not placed yet.
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


@kernel
def read_order(order, required, waiting, read):
    """Overwrite `read` with the order in which required parents come first."""
    _read_order(order, required, waiting, read)


@inlined
def _read_parents(order, upper, lower, first, last, rules, parents, n_parents):
    """Overwrite ``parents[v]``, a bit set, for each variable v; `n_parents` is scratch.

    Indices are unsigned wherever there are many: numba tests signed ones for being
    negative.
    """
    allowed, required, any_required, any_rule, max_parents = rules
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
        if any_required:
            for parent in range(n):
                if required[parent, child]:
                    parents[child, parent >> 6] |= one << np.uint64(parent & 63)
                    n_parents[child] += 1
    for bit in range(first, last):
        parent, child = order[upper[bit]], order[lower[bit]]
        is_free = allowed[parent, child] and not required[parent, child]
        if is_free and n_parents[child] < max_parents:
            parents[child, parent >> six] |= one << (parent & low)
            n_parents[child] += 1


class Known(NamedTuple):
    """Families that were read before; there is room for more."""

    slots: NDArray[np.int32]  # a power of two, at most half full; -1 is empty
    child: NDArray[np.int32]  # (capacity,)
    parents: NDArray[np.uint64]  # (capacity, words), bit sets


@inlined
def _slot(slots, child_of, sets, child, parents):
    """Return the slot of a family, or the empty slot where it would go."""
    n_words = parents.shape[1]
    mark = np.uint64(child + 1)
    for word in range(n_words):
        mark = (mark ^ parents[child, word]) * np.uint64(0x9E3779B97F4A7C15)
        mark ^= mark >> np.uint64(29)
    mask = np.uint64(len(slots) - 1)
    slot = mark & mask
    while slots[slot] >= 0:
        family = np.uint64(slots[slot])
        same = child_of[family] == child
        for word in range(n_words):
            same = same and sets[family, word] == parents[child, word]
        if same:
            break
        slot = (slot + np.uint64(1)) & mask
    return slot


@inlined
def _members(child_of, sets, first, last, n):
    """Return families as a `FamilyBatch` wants them."""
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


@kernel
def read_families(orders, order_of, bits, mask_of, rules, known, n_known, which):
    """Add the new families of all solutions; return them as members and starts of a batch.

    Solution s joins order ``order_of[s]`` with mask ``mask_of[s]``; ``which[s, v]`` is
    overwritten with the number of the family of variable v among those known. `bits` holds
    the set bits of all masks: mask m has bits ``begin[m]`` to ``begin[m + 1]``, each from
    position ``upper[b]`` to position ``lower[b]``, in the order of the string. `rules` are
    the matrices of `ArcRules`, whether any arc is required, whether there is any rule at
    all, and the limit. `known` has room for all families of all solutions beside the
    `n_known` that it holds.
    """
    begin, upper, lower = bits
    slots, child_of, sets = known.slots, known.child, known.parents
    n = orders.shape[1]
    n_words = sets.shape[1]
    order = np.empty(n, dtype=np.uint64)
    waiting = np.empty(n, dtype=np.int64)
    n_parents = np.empty(n, dtype=np.int64)
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
        _read_parents(order, upper, lower, first, last, rules, parents, n_parents)
        for child in range(n):
            same = solution > 0  # as in the solution before, which is common
            for word in range(n_words):
                same = same and parents[child, word] == before[child, word]
                before[child, word] = parents[child, word]
            if same:
                which[solution, child] = which[solution - 1, child]
                continue
            slot = _slot(slots, child_of, sets, child, parents)
            if slots[slot] < 0:
                slots[slot] = n_families
                child_of[n_families] = child
                for word in range(n_words):
                    sets[n_families, word] = parents[child, word]
                n_families += 1
            which[solution, child] = slots[slot]
    return _members(child_of, sets, n_known, n_families, n)
