"""Sums over sets of parents, over orders and over DAGs, in logs; see engine/exact_*.h.

`coevo.posteriors.exact` explains the sums. A set of variables is a number: bit v says whether
variable v is in it.

Orders: ``sums[v]`` has, for each set of the other variables, the log of the sum of the weights of
all parent sets within it. The place of v is left out of the numbers of these sets.

DAGs: a *state* is a pair of sets: the variables of all layers so far, and those of all layers but
the last, which are fewer. The number of a state has one digit in base 3 for each variable: 0 if it
is in no layer so far, 1 if it is in an earlier layer, 2 if it is in the last layer.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coevo.engine import FLOAT, INT, Structure, array, kernel, read_array

__all__ = [
    "LayerDraws",
    "LayerSums",
    "LayerTables",
    "SortedFamilies",
    "add_member_weights",
    "draw_families",
    "draw_layers",
    "draw_orders",
    "make_scratch",
    "share_layerings",
    "sum_layerings",
    "sum_orders_after",
    "sum_orders_before",
    "sum_subsets",
    "sum_supersets",
    "weigh_places",
]


Table = NDArray[np.float64]  # (2^k,), one log weight for each set of k things, as of variables


class SortedFamilies(Structure):
    """The possible parent sets by child, each child's from the heaviest to the lightest."""

    begin: NDArray[np.int64] = read_array(np.int64)  # (n + 1,), of v: begin[v] to begin[v + 1]
    log_weight: NDArray[np.float64] = read_array(np.float64)  # (n_families,)
    # (n_families,), bit u says whether variable u is a parent
    parents: NDArray[np.int64] = read_array(np.int64)


@kernel(array(np.float64))
def sum_subsets(table: Table) -> None:
    """Replace the log weight of each set by that of the sum over all its subsets."""


@kernel(array(np.float64))
def sum_supersets(table: Table) -> None:
    """Replace the log weight of each set by that of the sum over all sets that contain it."""


@kernel(read_array(np.float64), read_array(np.float64), array(np.float64), returns=FLOAT)
def add_member_weights(one: Table, other: Table, totals: NDArray[np.float64]) -> float:
    """Add to ``totals[j]`` the weights of the sets that contain thing j; return that of all sets.

    The log weight of a set is the sum of its entries in the two tables.
    """
    raise NotImplementedError


@kernel(SortedFamilies, read_array(np.int64, 3), read_array(np.float64, 3), array(np.bool_, 3))
def draw_families(
    families: SortedFamilies,
    bounds: NDArray[np.int64],
    lots: NDArray[np.float64],
    adjacency: NDArray[np.bool_],
) -> None:
    """Draw the parents of each child of each DAG; set ``adjacency[draw, parent, child]``.

    The parents are a subset of ``bounds[draw, child, 0]`` and no subset of
    ``bounds[draw, child, 1]``, unless that is -1. ``lots[draw, child]`` has a random number between
    0 and 1, and the log of the sum of the weights of all these sets. There is at least one.
    """


Sums = NDArray[np.float64]  # (n, 2^(n-1))


@kernel(read_array(np.float64, 2), array(np.float64))
def sum_orders_before(sums: Sums, before: Table) -> None:
    """Overwrite ``before[S]`` with the log weight of all orders of the set S, which come first."""


@kernel(read_array(np.float64, 2), array(np.float64))
def sum_orders_after(sums: Sums, after: Table) -> None:
    """Overwrite ``after[S]`` with the log weight of all orders of the variables outside S.

    The variables of S come before them.
    """


@kernel(read_array(np.float64), read_array(np.float64), INT, array(np.float64))
def weigh_places(before: Table, after: Table, child: int, places: Table) -> None:
    """Overwrite ``places[S]`` with the log weight of all orders in which S comes before a child.

    S is exactly the set of the variables before it. The weight has no family of the child. The
    log weight of all orders is subtracted.
    """


@kernel(
    read_array(np.float64, 2), read_array(np.float64), read_array(np.float64, 2), array(np.int64, 2)
)
def draw_orders(
    sums: Sums, before: Table, lots: NDArray[np.float64], orders: NDArray[np.int64]
) -> None:
    """Overwrite each row of `orders` with a random order, drawn from the last place to the first.

    ``lots[draw, i]`` is a random number between 0 and 1 for place i.
    """


class LayerTables(Structure):
    """The sums over parent sets. The place of the child is left out of all sets.

    In `steps`, also the place of t is left out. The row of v and t is ``v * (n - 1) + t``; the
    numbers of t leave v out.
    """

    # (n, 2^(n-1)), [v, S]: log of the sum of all parent sets within S
    sums: NDArray[np.float64] = read_array(np.float64, 2)
    # (n * (n - 1), 2^(n-2), 2), [(v, t), S]: of the weight of all parent sets of v within S + t,
    # the share of the sets with t, and the share of the sets without t; no logs
    steps: NDArray[np.float64] = read_array(np.float64, 3)
    powers: NDArray[np.int64] = read_array(np.int64)  # (2^n,), sum of 3^v over the v of a set


class LayerSums(Structure):
    """What follows the layers so far."""

    states: NDArray[np.float64] = array(np.float64)  # (3^n,), log weight of what follows a state
    # (2^n,), log of the scale of the sums over the layers that follow a set
    scales: NDArray[np.float64] = array(np.float64)


class LayerScratch(Structure):
    """Working memory for one set U: its members, and the free variables outside it."""

    members: NDArray[np.int64] = array(np.int64)  # (n,), the variables of U
    free: NDArray[np.int64] = array(np.int64)  # (n,), the other variables
    # (n,), log sums of their parent sets within U
    log_free: NDArray[np.float64] = array(np.float64)
    subsets: NDArray[np.int64] = array(np.int64)  # (2^n,), the subsets of U
    layers: NDArray[np.int64] = array(np.int64)  # (2^n,), the sets of free variables
    # (2^n,), the sums of `log_free` over these sets
    logs: NDArray[np.float64] = array(np.float64)
    # (2^n,), scaled weights of all that follows a layer
    after: NDArray[np.float64] = array(np.float64)
    work: NDArray[np.float64] = array(np.float64)  # (4 * 2^n,)
    totals: NDArray[np.float64] = array(np.float64)  # (4 * 2^n,)
    # (2^n,), shares of the parent sets within a subset of U
    rests: NDArray[np.float64] = array(np.float64)
    shares: NDArray[np.float64] = array(np.float64)  # (2^n,), shares of the others
    pieces: NDArray[np.float64] = array(np.float64)  # (2^n,)


class LayerDraws(Structure):
    """Where draws are, and how they continue."""

    # (draws, 2): the variables of all layers, and those of all layers but the last
    reached: NDArray[np.int64] = array(np.int64, 2)
    # (draws,), a random number between 0 and 1 for the next layer
    lots: NDArray[np.float64] = read_array(np.float64)
    # (draws, n), log weight of all possible parent sets of each variable
    log_totals: NDArray[np.float64] = array(np.float64, 2)


def make_scratch(n: int) -> LayerScratch:
    """Return working memory for n variables."""
    size = 1 << n
    return LayerScratch(
        members=np.empty(n, dtype=np.int64),
        free=np.empty(n, dtype=np.int64),
        log_free=np.empty(n),
        subsets=np.empty(size, dtype=np.int64),
        layers=np.empty(size, dtype=np.int64),
        logs=np.empty(size),
        after=np.empty(size),
        work=np.empty(4 * size),
        totals=np.empty(4 * size),
        rests=np.empty(size),
        shares=np.empty(size),
        pieces=np.empty(size),
    )


@kernel(LayerTables, LayerSums, LayerScratch, INT, INT, returns=FLOAT)
def sum_layerings(
    tables: LayerTables, sums: LayerSums, scratch: LayerScratch, begin: int, end: int
) -> float:
    """Sum up what follows the sets from `end` - 1 down to `begin`; larger ones were done before.

    The entries of these sets in `sums` are overwritten. Return the log of the sum of the weights of
    all DAGs if `begin` is 0, else nan.
    """
    raise NotImplementedError


@kernel(LayerTables, LayerSums, LayerScratch, INT, INT, array(np.float64, 2))
def share_layerings(
    tables: LayerTables,
    sums: LayerSums,
    scratch: LayerScratch,
    begin: int,
    end: int,
    found: NDArray[np.float64],
) -> None:
    """Add to ``found[(v, t), S]`` the probability that v has parents within S + t, with t.

    Visit the sets from `begin` to `end` - 1; smaller ones were visited before.

    These events exclude each other: the variables of S + t are in the earlier layers of v, or in
    the last one before it and not after t. `sums` come from `sum_layerings`. Its states are
    overwritten: the new entries are the weights of all that leads to a state, times the scale of
    what follows it.
    """


@kernel(LayerTables, LayerSums, LayerScratch, read_array(np.int64), LayerDraws)
def draw_layers(
    tables: LayerTables,
    sums: LayerSums,
    scratch: LayerScratch,
    sequence: NDArray[np.int64],
    draws: LayerDraws,
) -> None:
    """Draw the next layer of each draw, and add it to its state, which is none in the beginning.

    `sequence` lists the draws, those in the same state together. ``log_totals[draw, v]`` is
    overwritten for each v in the new layer.
    """
