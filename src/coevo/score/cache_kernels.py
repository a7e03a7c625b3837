"""The lookup of a family among millions: an open-addressing hash table with exact keys.

The array `members` holds all families, one after another: the child first, then the parents
in ascending order. Entry e begins at ``start[e]``. A slot holds an entry or -1. The lookup
compares keys member by member, so that it never confuses two families.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coevo.jit import INT, array_of, inline, kernel, tuple_of

__all__ = ["CacheEntries", "find_or_add", "insert_all"]


class CacheEntries(NamedTuple):
    """The arrays of the table; `members` and `start` have room for more."""

    slots: NDArray[np.int64]  # a power of two, at most half full
    start: NDArray[np.int64]  # (capacity + 1,)
    members: NDArray[np.int32]


ENTRIES = tuple_of(array_of(np.int64), array_of(np.int64), array_of(np.int32), kind=CacheEntries)
MEMBERS, STARTS = array_of(np.int32, 1, True), array_of(np.int64, 1, True)


@inline
def _hash(members, begin, end):
    """Return the hash of a family, below 2**43; no step exceeds 63 bits."""
    value = np.int64(end - begin)
    for i in range(begin, end):
        value = ((value ^ (np.int64(members[i]) + 1)) * 1000003) & 0x7FFFFFFFFFF
        value ^= value >> 21
    return value


@inline
def _find_slot(slots, start, stored, members, begin, end):
    """Return the slot of a family, or the empty slot for it."""
    mask = len(slots) - 1
    slot = _hash(members, begin, end) & mask
    while slots[slot] >= 0:
        at = start[slots[slot]]
        if start[slots[slot] + 1] - at == end - begin:
            same = True
            for i in range(end - begin):
                if stored[at + i] != members[begin + i]:
                    same = False
                    break
            if same:
                break
        slot = (slot + 1) & mask
    return slot


@inline
def _is_family(members, begin, end, n_variables):
    """Return whether these members are a child and other variables in ascending order."""
    child = members[begin]
    before = np.int32(-1)
    fits = 0 <= child < n_variables
    for i in range(begin + 1, end):
        fits = fits and before < members[i] < n_variables and members[i] != child
        before = members[i]
    return fits


@kernel((ENTRIES, INT, MEMBERS, STARTS, INT, array_of(np.int64)))
def find_or_add(entries, n_entries, members, start, n_variables, found):
    """Overwrite ``found[f]`` with the entry of each family f; add the family if it is new.

    Return the new number of entries, or -1 at the first invalid family. The caller has made
    room for all families and has checked that `start` fits `members`.
    """
    slots, entry_start, stored = entries.slots, entries.start, entries.members
    for family in range(len(start) - 1):
        begin, end = start[family], start[family + 1]
        if not _is_family(members, begin, end, n_variables):
            return -1
        slot = _find_slot(slots, entry_start, stored, members, begin, end)
        if slots[slot] < 0:
            slots[slot] = n_entries
            at = entry_start[n_entries]
            for i in range(end - begin):
                stored[at + i] = members[begin + i]
            n_entries += 1
            entry_start[n_entries] = at + end - begin
        found[family] = slots[slot]
    return n_entries


@kernel((ENTRIES, INT))
def insert_all(entries, n_entries):
    """Insert all entries into empty slots, after the table has grown."""
    slots, start, stored = entries.slots, entries.start, entries.members
    for entry in range(n_entries):
        slot = _find_slot(slots, start, stored, stored, start[entry], start[entry + 1])
        slots[slot] = entry
