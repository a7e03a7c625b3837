"""The families of an archive as arrays, and an index of them by child and parent.

The families of each child are sorted by descending score. A *pair* is a child and a variable that
is a parent in at least one of its families. In a wide table most variables are in no good family of
most others: there are far fewer pairs than n * n. The index lists the pairs of each child and of
each parent, so that local search over orders looks at them and at nothing else.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coevo.jit import array_of, kernel, tuple_of

__all__ = ["FAMILIES", "INDEX", "Families", "FamilyIndex", "index_families"]


class Families(NamedTuple):
    """Families by child, each child's from the best score to the worst.

    Every order allows the last family of a child: the one without parents.
    """

    begin: NDArray[np.int64]  # (n + 1,), families of child v: begin[v] to begin[v + 1]
    score: NDArray[np.float64]  # (n_families,)
    start: NDArray[np.int64]  # (n_families + 1,), where the parents of each begin
    parents: NDArray[np.int32]


class FamilyIndex(NamedTuple):
    """All pairs of a child and a possible parent, by child and by parent."""

    of_child: NDArray[np.int64]  # (n + 1,), pairs of child v: of_child[v] to of_child[v + 1]
    parent: NDArray[np.int32]  # (n_pairs,), the parent of each pair
    begin: NDArray[np.int64]  # (n_pairs + 1,), where the families of each pair begin
    family: NDArray[np.int32]  # the families that contain the parent, from the best to the worst
    of_parent: NDArray[np.int64]  # (n + 1,), places in `child` and `pair` of each parent
    child: NDArray[np.int32]  # (n_pairs,), the child of each pair, by parent
    pair: NDArray[np.int32]  # (n_pairs,), the pair itself, by parent


NUMBERS, SHORT_NUMBERS = array_of(np.int64), array_of(np.int32)
FAMILIES = tuple_of(NUMBERS, array_of(np.float64), NUMBERS, SHORT_NUMBERS, kind=Families)
INDEX = tuple_of(
    NUMBERS,
    SHORT_NUMBERS,
    NUMBERS,
    SHORT_NUMBERS,
    NUMBERS,
    SHORT_NUMBERS,
    SHORT_NUMBERS,
    kind=FamilyIndex,
)


@kernel((FAMILIES, INDEX))
def _list_pairs(families, index):
    """Fill `of_child`, `parent`, `begin` and `family`; the pairs of a child are contiguous."""
    of_child, parent, begin, holder = index.of_child, index.parent, index.begin, index.family
    first, start, parents = families.begin, families.start, families.parents
    n, n_pairs = len(first) - 1, 0
    pair_of, owner = np.zeros(n, dtype=np.int64), np.full(n, -1, dtype=np.int64)
    for child in range(n):
        of_child[child] = n_pairs
        for i in range(start[first[child]], start[first[child + 1]]):
            u = parents[i]
            if owner[u] != child:
                owner[u], pair_of[u], parent[n_pairs] = child, n_pairs, u
                n_pairs += 1
            begin[pair_of[u] + 1] += 1
        for pair in range(of_child[child], n_pairs):
            begin[pair + 1] += begin[pair]
        for family in range(first[child], first[child + 1]):
            for i in range(start[family], start[family + 1]):
                pair = pair_of[parents[i]]
                holder[begin[pair]] = family
                begin[pair] += 1
        for pair in range(n_pairs - 1, of_child[child], -1):
            begin[pair] = begin[pair - 1]
        if n_pairs > of_child[child]:
            begin[of_child[child]] = start[first[child]] - start[first[0]]
    of_child[n] = n_pairs


@kernel((INDEX,))
def _list_pairs_by_parent(index):
    """Fill `of_parent`, `child` and `pair` from the pairs by child."""
    of_child, of_parent = index.of_child, index.of_parent
    n = len(of_child) - 1
    for i in range(len(index.parent)):
        of_parent[index.parent[i] + 1] += 1
    for v in range(n):
        of_parent[v + 1] += of_parent[v]
    filled = of_parent.copy()
    for child in range(n):
        for pair in range(of_child[child], of_child[child + 1]):
            u = index.parent[pair]
            index.child[filled[u]], index.pair[filled[u]] = child, pair
            filled[u] += 1


def index_families(families: Families) -> FamilyIndex:
    """Return the index of all pairs of a child and a possible parent."""
    n, most = len(families.begin) - 1, len(families.parents)

    def make(length: int) -> NDArray[np.int64]:
        return np.zeros(length, dtype=np.int64)

    def make_short(length: int) -> NDArray[np.int32]:
        return np.empty(length, dtype=np.int32)

    by_child = FamilyIndex(
        make(n + 1),
        make_short(most),
        make(most + 1),
        make_short(most),
        make(n + 1),
        make_short(0),
        make_short(0),
    )
    _list_pairs(families, by_child)
    n_pairs = int(by_child.of_child[n])
    index = by_child._replace(
        parent=by_child.parent[:n_pairs],
        begin=by_child.begin[: n_pairs + 1],
        child=make_short(n_pairs),
        pair=make_short(n_pairs),
    )
    _list_pairs_by_parent(index)
    return index
