"""Kernels on orders and the archive: families, their index, responses, climbs, perturbations.

The families of an archive, and their index by child and parent; see engine/family_index.h.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coevo.engine import FLOAT, INT, Structure, array, kernel, read_array

__all__ = [
    "GLOBAL_DRAWS",
    "LARGEST_GROUP",
    "LOCAL_DRAWS",
    "Families",
    "FamilyIndex",
    "MergedFamilies",
    "NewFamilies",
    "OrderScratch",
    "climb_orders",
    "draw_order",
    "flag_nearby_responses",
    "index_families",
    "list_pairs",
    "list_relatives",
    "make_scratch",
    "merge_families",
    "merge_hashes",
]


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


# The memory in which the engine tracks which families an order allows; see engine/allowed.h.


WORD_BITS = 64


class OrderScratch(Structure):
    """Working memory. Between calls no bit is set in the marks, and no variable is queued."""

    place: NDArray[np.int32] = array(np.int32)  # (n,), where each variable is
    missing: NDArray[np.uint64] = array(np.uint64, 2)  # (n_words, n_planes), how many parents are
    allowed: NDArray[np.uint64] = array(np.uint64)  # (n_words,), bits of families: none is missing
    one_missing: NDArray[np.uint64] = array(np.uint64)  # (n_words,), bits of families
    own: NDArray[np.uint64] = array(np.uint64)  # planes of the families of one child
    arcs: NDArray[np.uint64] = array(np.uint64)  # bits of arcs: the chosen family has the parent
    marks: NDArray[np.uint64] = array(np.uint64)  # bits of places
    other_marks: NDArray[np.uint64] = array(np.uint64)  # bits of places
    pair_of: NDArray[np.int32] = array(np.int32)  # (n,), of a marked variable as the parent
    child_pair_of: NDArray[np.int32] = array(np.int32)  # (n,), of a marked variable as the child
    gain_of: NDArray[np.float64] = array(np.float64)  # (n,), the gain of a marked variable
    queue: NDArray[np.int64] = array(np.int64)  # (n,), a ring of variables to try
    is_queued: NDArray[np.bool_] = array(np.bool_)  # (n,)
    moved: NDArray[np.bool_] = array(np.bool_)  # (n,), which variables have moved
    spare: NDArray[np.int64] = array(np.int64, 2)  # (4, n)


def make_scratch(families: Families) -> OrderScratch:
    """Return the working memory for orders of the children of these families."""
    n, n_families = len(families.begin) - 1, len(families.score)
    n_words, n_place_words = n_families // WORD_BITS + 1, n // WORD_BITS + 1
    n_planes = max(1, int(np.diff(families.start).max(initial=0)).bit_length())
    # The families of a child may begin and end within a word.
    n_own_words = int(np.diff(families.begin).max(initial=0)) // WORD_BITS + 2
    return OrderScratch(
        np.empty(n, dtype=np.int32),  # place
        np.empty((n_words, n_planes), dtype=np.uint64),  # missing
        np.empty(n_words, dtype=np.uint64),  # allowed
        np.empty(n_words, dtype=np.uint64),  # one_missing
        np.empty(n_own_words * n_planes, dtype=np.uint64),  # own
        np.empty(len(families.parents) // WORD_BITS + 1, dtype=np.uint64),  # arcs
        np.zeros(n_place_words, dtype=np.uint64),  # marks
        np.zeros(n_place_words, dtype=np.uint64),  # other_marks
        np.empty(n, dtype=np.int32),  # pair_of
        np.empty(n, dtype=np.int32),  # child_pair_of
        np.empty(n, dtype=np.float64),  # gain_of
        np.empty(n, dtype=np.int64),  # queue
        np.zeros(n, dtype=np.bool_),  # is_queued
        np.empty(n, dtype=np.bool_),  # moved
        np.empty((4, n), dtype=np.int64),  # spare
    )


# Best responses near an order; see engine/order.h, which also has the local search of orders.


@kernel(
    read_array(np.int64),
    read_array(np.int64),
    Families,
    FamilyIndex,
    OrderScratch,
    array(np.bool_),
)
def flag_nearby_responses(
    order: NDArray[np.int64],
    choice: NDArray[np.int64],
    families: Families,
    index: FamilyIndex,
    scratch: OrderScratch,
    asked: NDArray[np.bool_],
) -> None:
    """Set ``asked[family]`` for each best response after any one move of an order.

    A move puts one variable into another place. It then has more or fewer predecessors. Every
    other variable has one more, one fewer or the same. The current best responses, `choice`, are
    left out.
    """


# Climbs of orders, perturbations and further climbs; see engine/perturbation.h.


# The same as in C.
GLOBAL_DRAWS = 4  # random numbers of a global perturbation, in addition to one for each variable
LARGEST_GROUP = 8  # variables of a local perturbation
LOCAL_DRAWS = 2 + 2 * LARGEST_GROUP  # a size, a first variable, and two for each variable


@kernel(
    read_array(np.int64),
    Families,
    FamilyIndex,
    OrderScratch,
    read_array(np.float64),
    array(np.int64),
)
def draw_order(
    choice: NDArray[np.int64],
    families: Families,
    index: FamilyIndex,
    scratch: OrderScratch,
    lots: NDArray[np.float64],
    order: NDArray[np.int64],
) -> None:
    """Overwrite `order` with a random topological order of the structure of `choice`.

    ``lots[v]`` is a random number. Of the variables whose parents are all placed, the one with
    the smallest number comes next.
    """


@kernel(
    array(np.int64, 2),
    read_array(np.int64, 2),
    read_array(np.float64, 3),
    read_array(np.float64, 3),
    Families,
    FamilyIndex,
    OrderScratch,
    FLOAT,
    array(np.int64, 2),
)
def climb_orders(
    orders: NDArray[np.int64],
    visits: NDArray[np.int64],
    perturbations: NDArray[np.float64],
    local_draws: NDArray[np.float64],
    families: Families,
    index: FamilyIndex,
    scratch: OrderScratch,
    least_gain: float,
    choice: NDArray[np.int64],
) -> None:
    """Improve each order in place by insertion moves, until no move gains.

    ``visits[o]`` is the sequence in which the variables of order o are tried first.
    ``perturbations[o]`` has a row of random numbers for each global perturbation: one for each
    variable, then `GLOBAL_DRAWS` more. ``local_draws[o]`` has a row of `LOCAL_DRAWS` for each local
    one. `choice` is overwritten with the best responses. A move must gain more than `least_gain`.
    If that is infinite, the orders stay unchanged and only their best responses are found.
    """


# The kernels that merge new families into an archive, without dominated ones.


class NewFamilies(Structure):
    """New families, in any sequence, and room for their ranks."""

    child: NDArray[np.int64] = read_array(np.int64)  # of each family
    score: NDArray[np.float64] = read_array(np.float64)
    start: NDArray[np.int64] = read_array(np.int64)  # (n_families + 1,), of the parents of each
    parents: NDArray[np.int32] = read_array(np.int32)  # ascending in each family
    ranked: NDArray[np.int64] = array(np.int64)  # scratch


class MergedFamilies(Structure):
    """The families of an archive while they are written: room for old and new ones."""

    begin: NDArray[np.int64] = array(np.int64)  # (n + 1,)
    score: NDArray[np.float64] = array(np.float64)
    start: NDArray[np.int64] = array(np.int64)  # (n_families + 1,)
    parents: NDArray[np.int32] = array(np.int32)
    signature: NDArray[np.uint64] = array(np.uint64)  # scratch
    is_new: NDArray[np.bool_] = array(np.bool_)  # scratch


@kernel(Families, NewFamilies, INT, MergedFamilies, returns=INT)
def merge_families(old: Families, added: NewFamilies, limit: int, merged: MergedFamilies) -> int:
    """Overwrite `merged` with old and new families, best first; return their number.

    Of equal scores the smaller family comes first, then the one with the smaller first parent, the
    old one, the earlier one. A family is dropped if a subset of it comes earlier; old families do
    not dominate each other. Of a child with more than `limit` families the worst ones are dropped,
    but for the last two: the family of the required parents and the empty one.
    """
    raise NotImplementedError


@kernel(read_array(np.uint64), read_array(np.uint64), array(np.uint64), returns=INT)
def merge_hashes(
    old: NDArray[np.uint64], added: NDArray[np.uint64], merged: NDArray[np.uint64]
) -> int:
    """Overwrite `merged` with the numbers of two ascending lists, each once; return how many.

    There must be room for both lists.
    """
    raise NotImplementedError
