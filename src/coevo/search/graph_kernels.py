"""Kernels on graphs: moves, repair, decoding of orders and masks, cycles of permutations.

Kernels for moves on a structure: legality, gains, the best move, reachability; see climb.h.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coevo.engine import FLOAT, INT, Structure, array, kernel, number, read_array

__all__ = [
    "ADD",
    "DELETE",
    "NEVER",
    "N_KINDS",
    "REVERSE",
    "UNKNOWN",
    "BestAdditions",
    "DecodeRules",
    "DecodeScratch",
    "FamilyTable",
    "MoveTable",
    "ParentLimits",
    "RepairTable",
    "Solutions",
    "SparseGraph",
    "add_path",
    "choose_moves",
    "compute_reachability",
    "fill_move_gains",
    "fill_reachability",
    "find_best_move",
    "find_steepest_move",
    "insert_arcs",
    "list_members",
    "list_toggles",
    "make_decode_scratch",
    "make_repair_table",
    "number_pairs",
    "put_required_first",
    "rank_moves",
    "read_families",
    "read_orders",
]

DELETE, ADD, REVERSE, N_KINDS = 0, 1, 2, 3  # kinds of moves, in the order of equally good ones
NEVER = -np.inf  # the gain of an illegal move
UNKNOWN = -2  # the parent of the best addition, after a change


class MoveTable(Structure):
    """The tables that determine the legality and the gain of all moves; ``[parent, child]``."""

    arcs: NDArray[np.bool_] = read_array(np.bool_, 2)
    gains: NDArray[np.float64] = read_array(np.float64, 2)  # of toggling each parent of each child
    reach: NDArray[np.bool_] = array(np.bool_, 2)  # [a, b]: there is a path from a to b
    may_add: NDArray[np.bool_] = read_array(np.bool_, 2)
    may_delete: NDArray[np.bool_] = read_array(np.bool_, 2)
    has_room: NDArray[np.bool_] = read_array(np.bool_)  # the child may have one more parent


class BestAdditions(Structure):
    """The best arc that can be added to each child, from move to move."""

    parent: NDArray[np.int64] = array(np.int64)  # -1 if no addition is legal
    gain: NDArray[np.float64] = array(np.float64)


@kernel(MoveTable, read_array(np.bool_, 2), FLOAT, returns=INT)
def find_best_move(board: MoveTable, forbidden: NDArray[np.bool_], least_gain: float) -> int:
    """Return the number of the best legal move, -1 if none is.

    The number is ``(kind * n + parent) * n + child``. Moves whose gains differ by less than
    `least_gain` are equally good: the one with the smallest number is taken. A move may not
    change a pair that is `forbidden` in either direction.
    """
    raise NotImplementedError


@kernel(MoveTable, BestAdditions, FLOAT, returns=INT)
def find_steepest_move(board: MoveTable, additions: BestAdditions, least_gain: float) -> int:
    """Return what `find_best_move` returns with nothing forbidden, in less time.

    The caller sets ``additions.parent[c]`` to `UNKNOWN` where the column of c has changed, and
    everywhere after an arc is deleted.
    """
    raise NotImplementedError


@kernel(MoveTable, array(np.float64, 3))
def fill_move_gains(board: MoveTable, table: NDArray[np.float64]) -> None:
    """Overwrite ``table[kind, parent, child]`` with the gain of each move; `NEVER` if illegal."""


@kernel(MoveTable, INT, INT)
def add_path(board: MoveTable, parent: int, child: int) -> None:
    """Add a path from parent to child to ``board.reach``."""


@kernel(read_array(np.bool_, 2), array(np.bool_, 2))
def fill_reachability(arcs: NDArray[np.bool_], reach: NDArray[np.bool_]) -> None:
    """Overwrite ``reach[a, b]`` with whether b is reachable from a, over one arc or more."""


def compute_reachability(arcs: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which variables are reachable from which, over one arc or more."""
    reach = np.empty(arcs.shape, dtype=np.bool_)
    fill_reachability(arcs, reach)
    return reach


# Hill climbing among the candidates of each child: the families to score, and the moves.


class SparseGraph(Structure):
    """A structure among the candidates of each child: n rows of k."""

    candidates: NDArray[np.int32] = read_array(np.int32, 2)
    # the place of the child in the row of its candidate; -1 if none
    reverse_of: NDArray[np.int64] = read_array(np.int64, 2)
    is_parent: NDArray[np.bool_] = array(np.bool_, 2)
    changed: NDArray[np.bool_] = array(np.bool_)  # whether a move has changed the child's parents
    seen: NDArray[np.int64] = array(np.int64)  # scratch
    waiting: NDArray[np.int64] = array(np.int64)  # scratch


@kernel(
    SparseGraph,
    read_array(np.bool_, 2),
    read_array(np.int64),
    INT,
    array(np.int32),
    array(np.int64),
    array(np.int64),
    returns=INT,
)
def list_toggles(
    graph: SparseGraph,
    may_change: NDArray[np.bool_],
    children: NDArray[np.int64],
    max_parents: int,
    members: NDArray[np.int32],
    start: NDArray[np.int64],
    toggled: NDArray[np.int64],
) -> int:
    """List the families of some children after each candidate is added or removed as a parent.

    Return how many there are. ``may_change[child, place]`` says which candidates these are; a child
    with `max_parents` parents gets no further one. Family f has the members ``start[f]`` to
    ``start[f + 1]``: the child, and its parents, ascending. ``toggled[f]`` is its candidate,
    ``child * k + place``. There must be room for all candidates of the children, each with all
    parents and the child.
    """
    raise NotImplementedError


@kernel(
    SparseGraph,
    read_array(np.float64, 2),
    INT,
    FLOAT,
    FLOAT,
    array(np.int64),
    array(np.float64),
    returns=INT,
)
def rank_moves(
    graph: SparseGraph,
    gains: NDArray[np.float64],
    max_parents: int,
    least_gain: float,
    tie: float,
    moves: NDArray[np.int64],
    rounded: NDArray[np.float64],
) -> int:
    """List all moves that gain more than `least_gain`, the best first; return how many there are.

    ``gains[child, place]`` is what toggling the candidate adds to the score of the child. Gains are
    multiples of `tie`. Of equal ones a deletion comes first, then an addition, then a reversal;
    then the first parent, and the first child. `moves` and `rounded` have room for all moves.
    """
    raise NotImplementedError


@kernel(SparseGraph, read_array(np.int64), INT, returns=INT)
def choose_moves(graph: SparseGraph, ranked: NDArray[np.int64], n_moves: int) -> int:
    """Make the first `n_moves` legal moves of a ranked list; return how many there were.

    A move is ``(kind * n + child) * k + place``: the candidate at this place of the row of the
    child is added, deleted, or becomes a child instead (the kinds `ADD`, `DELETE`, `REVERSE`).
    A child changes at most once, because its gains are old after that. ``graph.changed`` is
    overwritten.
    """
    raise NotImplementedError


# Kernels that decode orders and masks into families, under constraints; see engine/decode.h.


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


# Kernel that makes DAGs of graphs: insert arcs one after another, skip what closes a cycle.


class RepairTable(Structure):
    """What all graphs begin with, ``[parent, child]``, and scratch; see `make_repair_table`."""

    required: NDArray[np.bool_] = read_array(np.bool_, 2)
    reach_of_required: NDArray[np.bool_] = read_array(np.bool_, 2)  # over required arcs
    reach: NDArray[np.bool_] = array(np.bool_, 2)
    counts: NDArray[np.int64] = array(np.int64, 2)
    cells: NDArray[np.float64] = array(np.float64, 2)


def make_repair_table(required: NDArray[np.bool_]) -> RepairTable:
    """Return the table for graphs with these required arcs."""
    n = len(required)
    return RepairTable(
        required,
        compute_reachability(required),
        np.empty((n, n), dtype=np.bool_),
        np.empty((2, n), dtype=np.int64),
        np.empty((2, n)),
    )


@kernel(
    read_array(np.int64),
    read_array(np.int64),
    read_array(np.int64),
    RepairTable,
    ParentLimits,
    array(np.bool_, 3),
)
def insert_arcs(
    begin: NDArray[np.int64],
    parents: NDArray[np.int64],
    children: NDArray[np.int64],
    table: RepairTable,
    limits: ParentLimits,
    graphs: NDArray[np.bool_],
) -> None:
    """Overwrite ``graphs[g]`` with the required arcs and those of g that can be inserted.

    The arcs of g are ``begin[g]`` to ``begin[g + 1]`` of `parents` and `children`. They are
    inserted in this order. An arc is skipped if it closes a cycle, or if its child would have
    too many parents or a table with too many cells.
    """


# The kernel that numbers the cycles of two permutations, for cycle crossover.


@kernel(
    read_array(np.int64, 2),
    read_array(np.int64, 2),
    array(np.int64),
    array(np.int64, 2),
    returns=INT,
)
def number_pairs(
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    place: NDArray[np.int64],
    numbers: NDArray[np.int64],
) -> int:
    """Overwrite ``numbers[p, i]`` with the number of the cycle of position i of pair p.

    The position after i in a cycle is where the first permutation holds what the second one
    holds at i. Cycles are numbered by their first positions. Return whether the rows are
    permutations. `place` is scratch, of one row.
    """
    raise NotImplementedError
