"""Kernels that decode orders and masks into families, under constraints; see engine/decode.h."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coevo.engine import INT, Structure, array, kernel, number, read_array

__all__ = [
    "DecodeRules",
    "DecodeScratch",
    "FamilyTable",
    "ParentLimits",
    "Solutions",
    "list_members",
    "make_decode_scratch",
    "put_required_first",
    "read_families",
    "read_orders",
]


class Solutions(Structure):
    """Pairs of individuals: solution s combines order ``order_of[s]`` with mask ``mask_of[s]``."""

    orders: NDArray[np.int64] = read_array(np.int64, 2)  # permutations
    order_of: NDArray[np.int64] = read_array(np.int64)
    masks: NDArray[np.bool_] = read_array(np.bool_, 2)
    mask_of: NDArray[np.int64] = read_array(np.int64)


class DecodeRules(Structure):
    """The rules for arcs, ``[parent, child]``."""

    allowed: NDArray[np.bool_] = read_array(np.bool_, 2)
    required: NDArray[np.bool_] = read_array(np.bool_, 2)
    any_required: int = number(int)  # whether any arc is required
    any_rule: int = number(int)  # whether there is any rule, or a limit that can be reached


class ParentLimits(Structure):
    """What limits the parents of a child: their number, and the cells of its table."""

    arities: NDArray[np.float64] = read_array(np.float64)
    max_cells: float = number(float)
    max_parents: int = number(int)


class FamilyTable(Structure):
    """A hash table of the families decoded so far, with room for more."""

    slots: NDArray[np.int32] = array(np.int32)  # a power of two, at most half full; -1 empty
    families: NDArray[np.uint64] = array(np.uint64, 2)  # of each the child, and a set of parents


class DecodeScratch(Structure):
    """The scratch of `read_families`; `make_decode_scratch` makes it."""

    required_sets: NDArray[np.uint64] = array(np.uint64, 2)
    sets: NDArray[np.uint64] = array(np.uint64, 2)
    required_counts: NDArray[np.int64] = array(np.int64)
    counts: NDArray[np.int64] = array(np.int64)
    required_cells: NDArray[np.float64] = array(np.float64)
    cells: NDArray[np.float64] = array(np.float64)
    order: NDArray[np.int64] = array(np.int64)
    hashes: NDArray[np.uint64] = array(np.uint64)


def make_decode_scratch(n: int) -> DecodeScratch:
    """Return the scratch of `read_families` for n variables."""
    n_words = (n + 63) // 64
    return DecodeScratch(
        required_sets=np.empty((n_words, n), dtype=np.uint64),
        sets=np.empty((n_words, n), dtype=np.uint64),
        required_counts=np.empty(n, dtype=np.int64),
        counts=np.empty(n, dtype=np.int64),
        required_cells=np.empty(n),
        cells=np.empty(n),
        order=np.empty(n, dtype=np.int64),
        hashes=np.empty(n, dtype=np.uint64),
    )


@kernel(read_array(np.int64, 2), read_array(np.bool_, 2), array(np.int64, 2), array(np.int64, 2))
def read_orders(
    orders: NDArray[np.int64],
    required: NDArray[np.bool_],
    counts: NDArray[np.int64],
    read: NDArray[np.int64],
) -> None:
    """Overwrite each row of `read` with the order in which required parents come first.

    `counts` is scratch, two rows of n. The required arcs have no cycle.
    """


def put_required_first(orders: NDArray[np.int64], required: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the orders, rearranged as little as needed for required parents to come first."""
    read, counts = np.empty_like(orders), np.empty((2, len(required)), dtype=np.int64)
    read_orders(orders, required, counts, read)
    return read


@kernel(
    Solutions,
    DecodeRules,
    ParentLimits,
    FamilyTable,
    DecodeScratch,
    INT,
    array(np.int32, 2),
    array(np.int64),
    returns=INT,
)
def read_families(
    solutions: Solutions,
    rules: DecodeRules,
    limits: ParentLimits,
    known: FamilyTable,
    scratch: DecodeScratch,
    n_known: int,
    which: NDArray[np.int32],
    start: NDArray[np.int64],
) -> int:
    """Add the new families of all solutions; return how many families there are then.

    ``which[s, v]`` is overwritten with the number of the family of variable v in `known`, which
    holds `n_known` families and has room for all families of all solutions. ``start[f]`` is
    overwritten with the place of new family f in the members of `list_members`.
    """
    raise NotImplementedError


@kernel(FamilyTable, INT, array(np.int32))
def list_members(known: FamilyTable, first: int, members: NDArray[np.int32]) -> None:
    """Overwrite `members` with the families from `first` on, each the child, then the parents."""
