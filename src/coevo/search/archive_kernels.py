"""Which families deserve a place: those that no subset of theirs equals or beats."""

from __future__ import annotations

from coevo.jit import inlined, kernel

__all__ = ["mark_dominated"]


@inlined
def _is_subset(start, parents, small, large):
    """Return whether all parents of one family, ascending, are parents of the other."""
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


@kernel
def mark_dominated(begin, start, parents, is_new, dominated):
    """Mark each family that has a subset before it in its child's list.

    Lists are sorted from the best score to the worst. Those that are not new do not
    dominate each other, so that only pairs with a new one are looked at.
    """
    for child in range(len(begin) - 1):
        for family in range(begin[child], begin[child + 1]):
            size = start[family + 1] - start[family]
            for better in range(begin[child], family):
                if (
                    not dominated[better]
                    and (is_new[family] or is_new[better])
                    and start[better + 1] - start[better] <= size
                    and _is_subset(start, parents, better, family)
                ):
                    dominated[family] = True
                    break
