"""The families of an archive, and their index by child and parent; see engine/family_index.h."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coevo.engine import INT, Structure, array, kernel, read_array

__all__ = ["Families", "FamilyIndex", "index_families", "list_pairs", "list_relatives"]


class Families(Structure):
    """Families by child, each child's from the best score to the worst.

    Every order allows the last family of a child: the one without parents.
    """

    begin: NDArray[np.int64] = read_array(
        np.int64
    )  # (n + 1,), of child v: begin[v] to begin[v + 1]
    score: NDArray[np.float64] = read_array(np.float64)  # (n_families,)
    start: NDArray[np.int64] = read_array(np.int64)  # (n_families + 1,), of the parents of each
    parents: NDArray[np.int32] = read_array(np.int32)


class FamilyIndex(Structure):
    """All pairs of a child and a possible parent, by child and by parent.

    There are ``of_child[n]`` pairs. An *arc* is the place of a pair in a list by parent. What has
    an item for each pair, arc or word has room for as many as there are parents in all families.
    """

    of_child: NDArray[np.int64] = array(np.int64)  # (n + 1,), of_child[v] to of_child[v + 1]
    parent: NDArray[np.int32] = array(np.int32)  # the parent of each pair
    best: NDArray[np.int32] = array(np.int32)  # the best family of each pair; they ascend by it
    begin: NDArray[np.int64] = array(np.int64)  # where the words of each pair begin and end
    word: NDArray[np.int32] = array(np.int32)  # its number; words of a pair ascend
    bits: NDArray[np.uint64] = array(np.uint64)  # families from 64 * word on, with the parent
    of_parent: NDArray[np.int64] = array(np.int64)  # (n + 1,), of_parent[v] to of_parent[v + 1]
    child: NDArray[np.int32] = array(np.int32)  # the child of each arc
    pair: NDArray[np.int32] = array(np.int32)  # the pair of each arc
    arc: NDArray[np.int32] = array(np.int32)  # the arc of each item of `parents` of the families


@kernel(Families, FamilyIndex, array(np.int64))
def list_pairs(families: Families, index: FamilyIndex, spare: NDArray[np.int64]) -> None:
    """Fill the index of these families.

    `spare` is scratch: room for n numbers, and for as many again as there are parents in all
    families or variables, whichever is more.
    """


@kernel(Families, read_array(np.int64), INT, array(np.int64), returns=INT)
def list_relatives(
    families: Families, choice: NDArray[np.int64], variable: int, relatives: NDArray[np.int64]
) -> int:
    """Overwrite `relatives` with a variable, its parents and its children, ascending.

    These are in the structure of the families `choice`. Return how many they are.
    """
    raise NotImplementedError


def index_families(families: Families) -> FamilyIndex:
    """Return the index of all pairs of a child and a possible parent."""
    n, most = len(families.begin) - 1, len(families.parents)
    index = FamilyIndex(
        np.empty(n + 1, dtype=np.int64),  # of_child
        np.empty(most, dtype=np.int32),  # parent
        np.empty(most, dtype=np.int32),  # best
        np.empty(most + 1, dtype=np.int64),  # begin
        np.empty(most, dtype=np.int32),  # word
        np.empty(most, dtype=np.uint64),  # bits
        np.empty(n + 1, dtype=np.int64),  # of_parent
        np.empty(most, dtype=np.int32),  # child
        np.empty(most, dtype=np.int32),  # pair
        np.empty(most, dtype=np.int32),  # arc
    )
    list_pairs(families, index, np.empty(n + max(n, most), dtype=np.int64))
    return index
