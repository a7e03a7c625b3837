"""Operators on orders from the literature of permutations, each for a complete population.

`coevo.search.operators` has those of the 2011 paper. Here are the others that Larrañaga et al.
(1996) compare for orders of variables. No function draws: the random choices are arrays, one row
for each child. No function changes its arguments. All are closed: an order stays a permutation.

A *segment* is (begin, end): the positions from begin to before end. Let a be the first parent and
b the second.

References
----------
P. Larrañaga, C. M. H. Kuijpers, R. H. Murga, Y. Yurramendi (1996). Learning Bayesian network
structures by searching for the best ordering with genetic algorithms. IEEE Transactions on
Systems, Man and Cybernetics 26, 487-493.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from coevo.search.operators import Orders, number_cycles

__all__ = ["CROSSOVERS", "MUTATIONS", "CrossoverDraws", "MutationDraws"]

Segments = NDArray[np.int64]  # (n_pop, 2), begin and end
Chosen = NDArray[np.bool_]  # (n_pop, n), which positions are chosen
Ranks = NDArray[np.float64]  # (n_pop, n), a random rank of each variable or position


@dataclass(frozen=True)
class CrossoverDraws:
    """The random choices of a crossover; each operator reads some of them."""

    segments: Segments
    chosen: Chosen
    ranks: Ranks
    third: Orders  # the third parent of each child

    @classmethod
    def draw(cls, rng: Generator, third: Orders) -> CrossoverDraws:
        """Draw the choices for as many children as there are third parents."""
        n_pop, n = third.shape
        segments = _draw_segments(rng, n_pop, n)
        return cls(segments, rng.random((n_pop, n)) < 0.5, rng.random((n_pop, n)), third)


@dataclass(frozen=True, eq=False)
class MutationDraws:
    """The random choices of a mutation; each operator reads some of them."""

    segments: Segments
    single: Segments  # segments of one variable
    to: NDArray[np.float64]  # (n_pop,), in [0, 1): where a segment is put
    ranks: Ranks
    pairs: NDArray[np.int64]  # (n_pop, 2), two positions

    @classmethod
    def draw(cls, rng: Generator, n_pop: int, n: int) -> MutationDraws:
        """Draw the choices for `n_pop` orders of n variables."""
        segments = _draw_segments(rng, n_pop, n)
        begin = rng.integers(n, size=(n_pop, 1))
        to, ranks = rng.random(n_pop), rng.random((n_pop, n))
        other = (begin[:, 0] + rng.integers(1, max(n, 2), size=n_pop)) % n  # another one if any
        single, pairs = np.hstack([begin, begin + 1]), np.column_stack([begin[:, 0], other])
        return cls(segments, single, to, ranks, pairs)


def _draw_segments(rng: Generator, n_pop: int, n: int) -> Segments:
    """Return random segments of at least one position, between two different cuts."""
    one = rng.integers(n + 1, size=n_pop)
    two = (one + rng.integers(1, n + 1, size=n_pop)) % (n + 1)
    return np.sort(np.column_stack([one, two]), axis=1)


def _find_places(orders: Orders) -> Orders:
    """Return the position of each variable."""
    places = np.empty_like(orders)
    np.put_along_axis(places, orders, np.arange(orders.shape[1])[None], axis=1)
    return places


def _is_inside(segments: Segments, n: int) -> Chosen:
    """Return which positions are in the segment of each row."""
    position = np.arange(n)
    inside: Chosen = (position >= segments[:, :1]) & (position < segments[:, 1:])
    return inside


def _flag_variables(orders: Orders, chosen: Chosen) -> Chosen:
    """Return which variables are at the chosen positions."""
    flags = np.empty_like(chosen)
    np.put_along_axis(flags, orders, chosen, axis=1)
    return flags


def cross_cx(first: Orders, second: Orders, draws: CrossoverDraws) -> Orders:
    """Cycle crossover: alternate cycles of a and b, the first one of a."""
    return np.where(number_cycles(first, second) % 2 == 1, second, first)


def cross_pmx(first: Orders, second: Orders, draws: CrossoverDraws) -> Orders:
    """Apply partially mapped crossover: the segment of b, and elsewhere a.

    Where a variable of a would be there twice, the one that a has in its place in the segment
    stands for it, and so on.
    """
    inside = _is_inside(draws.segments, first.shape[1])
    taken, places = _flag_variables(second, inside), _find_places(second)
    child = np.where(inside, second, first)
    while True:
        is_double = ~inside & np.take_along_axis(taken, child, axis=1)
        if not is_double.any():
            return child
        mapped = np.take_along_axis(first, np.take_along_axis(places, child, axis=1), axis=1)
        child = np.where(is_double, mapped, child)


def cross_ox1(first: Orders, second: Orders, draws: CrossoverDraws) -> Orders:
    """Order crossover: the segment of a, and the rest as b has it.

    The rest is read and written from the end of the segment on, round the end of the order.
    """
    n = first.shape[1]
    taken = _flag_variables(first, _is_inside(draws.segments, n))
    turned = (np.arange(n) + draws.segments[:, 1:]) % n  # positions, from the end of the segment
    other = np.take_along_axis(second, turned, axis=1)
    is_taken = np.take_along_axis(taken, other, axis=1)
    rest = np.take_along_axis(other, np.argsort(is_taken, axis=1, kind="stable"), axis=1)
    n_rest = n - (draws.segments[:, 1] - draws.segments[:, 0])
    own = np.take_along_axis(first, turned, axis=1)
    child = np.empty_like(first)
    np.put_along_axis(child, turned, np.where(np.arange(n) < n_rest[:, None], rest, own), axis=1)
    return child


def cross_ox2(first: Orders, second: Orders, draws: CrossoverDraws) -> Orders:
    """Order-based crossover: in a, the variables at chosen positions of b get the order of b."""
    moved = np.take_along_axis(_flag_variables(second, draws.chosen), first, axis=1)
    child = first.copy()
    child[moved] = second[draws.chosen]  # row by row, equally many in both
    return child


def cross_pos(first: Orders, second: Orders, draws: CrossoverDraws) -> Orders:
    """Position-based crossover: the chosen positions of b stay, the rest is filled as a has it."""
    placed = np.take_along_axis(_flag_variables(second, draws.chosen), first, axis=1)
    child = second.copy()
    child[~draws.chosen] = first[~placed]
    return child


def cross_ap(first: Orders, second: Orders, draws: CrossoverDraws) -> Orders:
    """Alternating-position crossover: read a and b by turns, omit what is there already."""
    turns = np.minimum(2 * _find_places(first), 2 * _find_places(second) + 1)
    return np.argsort(turns, axis=1)


def cross_vr(first: Orders, second: Orders, draws: CrossoverDraws) -> Orders:
    """Voting recombination: what two of three parents agree on, the rest in random order."""
    third = draws.third
    agreed = (first == second) | (first == third) | (second == third)
    child = np.where((first == second) | (first == third), first, second)
    places, flags = np.nonzero(agreed), np.zeros_like(agreed)
    flags[places[0], child[agreed]] = True
    by_rank = np.argsort(np.where(flags, np.inf, draws.ranks), axis=1, kind="stable")
    n_free = (~agreed).sum(axis=1)
    child[~agreed] = by_rank[np.arange(first.shape[1]) < n_free[:, None]]
    return child


def _displace(
    orders: Orders, segments: Segments, to: NDArray[np.float64], turned: bool = False
) -> Orders:
    """Take each segment out and put it elsewhere, turned round if `turned`."""
    n = orders.shape[1]
    begin, length = segments[:, :1], segments[:, 1:] - segments[:, :1]
    target = (to[:, None] * (n - length + 1)).astype(np.int64)
    position = np.arange(n)
    rest = np.where(position < begin, position, position - length)
    offset = begin + length - 1 - position if turned else position - begin
    moved = np.where(rest < target, rest, rest + length)
    child = np.empty_like(orders)
    places = np.where(_is_inside(segments, n), target + offset, moved)
    np.put_along_axis(child, places, orders, axis=1)
    return child


def mutate_displacement(orders: Orders, draws: MutationDraws) -> Orders:
    """Take a segment out and put it elsewhere."""
    return _displace(orders, draws.segments, draws.to)


def mutate_insertion(orders: Orders, draws: MutationDraws) -> Orders:
    """Take one variable out and put it elsewhere."""
    return _displace(orders, draws.single, draws.to)


def mutate_exchange(orders: Orders, draws: MutationDraws) -> Orders:
    """Exchange two variables."""
    child = orders.copy()
    swapped = np.take_along_axis(orders, draws.pairs[:, ::-1], axis=1)
    np.put_along_axis(child, draws.pairs, swapped, axis=1)
    return child


def mutate_simple_inversion(orders: Orders, draws: MutationDraws) -> Orders:
    """Turn a segment round in its place."""
    n, segments = orders.shape[1], draws.segments
    position = np.arange(n)
    mirrored = segments.sum(axis=1)[:, None] - 1 - position
    source = np.where(_is_inside(segments, n), mirrored, position)
    return np.take_along_axis(orders, source, axis=1)


def mutate_inversion(orders: Orders, draws: MutationDraws) -> Orders:
    """Take a segment out, turn it round and put it elsewhere."""
    return _displace(orders, draws.segments, draws.to, turned=True)


def mutate_scramble(orders: Orders, draws: MutationDraws) -> Orders:
    """Shuffle a segment: sort its positions by their ranks."""
    n, (begin, end) = orders.shape[1], draws.segments.T[:, :, None]
    position = np.arange(n)
    outside = np.where(position < begin, position - n, position + 1)  # ranks are between 0 and 1
    keys = np.where((position >= begin) & (position < end), draws.ranks, outside)
    return np.take_along_axis(orders, np.argsort(keys, axis=1, kind="stable"), axis=1)


CROSSOVERS: dict[str, Callable[[Orders, Orders, CrossoverDraws], Orders]] = {
    "ap": cross_ap,
    "cx": cross_cx,
    "ox1": cross_ox1,
    "ox2": cross_ox2,
    "pmx": cross_pmx,
    "pos": cross_pos,
    "vr": cross_vr,
}
MUTATIONS: dict[str, Callable[[Orders, MutationDraws], Orders]] = {
    "displacement": mutate_displacement,
    "exchange": mutate_exchange,
    "insertion": mutate_insertion,
    "inversion": mutate_inversion,
    "scramble": mutate_scramble,
    "simple_inversion": mutate_simple_inversion,
}
