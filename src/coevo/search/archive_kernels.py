"""The kernel that finds dominated families: a subset has an equal or a higher score."""

from __future__ import annotations

import numpy as np

from coevo.jit import array_of, inline, kernel

__all__ = ["flag_dominated"]

STARTS, PARENTS = array_of(np.int64, 1, True), array_of(np.int32, 1, True)
SIGNATURES = array_of(np.uint64)


@inline
def _is_subset(start, parents, small, large):
    """Return whether all parents of `small` are parents of `large`; both are ascending."""
    at, end = start[large], start[large + 1]
    inside = True
    for i in range(start[small], start[small + 1]):
        while at < end and parents[at] < parents[i]:
            at += 1
        if at == end or parents[at] != parents[i]:
            inside = False
            break
        at += 1
    return inside


@kernel((STARTS, STARTS, PARENTS, array_of(np.bool_, 1, True), SIGNATURES, array_of(np.bool_)))
def flag_dominated(begin, start, parents, is_new, signature, dominated):
    """Set ``dominated[family]`` if a subset of the family comes earlier in its child's list.

    Lists are sorted from the best score to the worst. Old families do not dominate each other,
    so only pairs with a new family are compared. `signature` is overwritten: a bit for each
    parent, modulo 64. A family whose bits are not all there is no subset, which saves nearly all
    comparisons of lists.
    """
    for family in range(len(start) - 1):
        bits = np.uint64(0)
        for i in range(start[family], start[family + 1]):
            bits |= np.uint64(1) << np.uint64(parents[i] & 63)
        signature[family] = bits
    for child in range(len(begin) - 1):
        for family in range(begin[child], begin[child + 1]):
            outside = ~signature[family]
            for better in range(begin[child], family):
                if (
                    signature[better] & outside == np.uint64(0)
                    and not dominated[better]
                    and (is_new[family] or is_new[better])
                    and _is_subset(start, parents, better, family)
                ):
                    dominated[family] = True
                    break
