"""The memory in which the engine tracks which families an order allows; see engine/allowed.h."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coevo.engine import Structure, array
from coevo.search.family_index_kernels import Families

__all__ = ["OrderScratch", "make_scratch"]

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
