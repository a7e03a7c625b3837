"""The genetic operators of the 2011 paper, each for a complete population.

Every function is pure: it draws from the given generator, changes none of its arguments and
returns new arrays. Each species has its own generator in each generation. All operators are
closed: an order stays a permutation, and every mask is valid.

References
----------
D. E. Goldberg, K. Deb (1991). A comparative analysis of selection schemes used in genetic
algorithms. Foundations of Genetic Algorithms 1, 69-93. (Tournament selection.)

I. M. Oliver, D. J. Smith, J. R. C. Holland (1987). A study of permutation crossover operators on
the traveling salesman problem. ICGA 2, 224-230. (Cycle crossover.)
"""

from __future__ import annotations

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from coevo.errors import ParameterError
from coevo.runtime.deadline import check_deadline
from coevo.search.encoding import n_bits
from coevo.search.graph_kernels import number_pairs

__all__ = [
    "cycle_crossover",
    "draw_masks",
    "draw_orders",
    "flip_bits",
    "number_cycles",
    "one_point_crossover",
    "pair_at_random",
    "select_by_rank",
    "select_by_tournament",
    "swap_two",
    "two_point_crossover",
]

Orders = NDArray[np.int64]  # (n_pop, n_vars), each row a permutation
Masks = NDArray[np.bool_]  # (n_pop, n_bits), each row an upper triangle
Scores = NDArray[np.float64]  # (n_pop,), higher is better
Indices = NDArray[np.int64]  # indices into a population


def draw_orders(rng: Generator, n_pop: int, n_variables: int) -> Orders:
    """Return random orders."""
    return rng.permuted(np.tile(np.arange(n_variables), (n_pop, 1)), axis=1)


def draw_masks(rng: Generator, n_pop: int, n_variables: int) -> Masks:
    """Return random masks in which each position but the first has exactly one parent.

    The parent is drawn uniformly from the earlier positions, so the first structures are
    sparse.
    """
    children = np.arange(1, n_variables)
    parents = rng.integers(0, children, size=(n_pop, n_variables - 1))
    masks = np.zeros((n_pop, n_bits(n_variables)), dtype=np.bool_)
    row_begins = parents * (2 * n_variables - parents - 1) // 2  # of the upper triangle
    for mask, places in zip(masks, row_begins + children - parents - 1, strict=True):
        check_deadline()  # with thousands of variables a mask has millions of bits
        mask[places] = True
    return masks


def select_by_tournament(rng: Generator, scores: Scores) -> Indices:
    """Return the winners of tournaments of two. Each individual enters two tournaments.

    There are as many winners as individuals. Ties go to the first individual.
    """
    n_pop = len(scores)
    entered = np.concatenate([rng.permutation(n_pop), rng.permutation(n_pop)])
    one, two = entered.reshape(n_pop, 2).T
    first, second = np.minimum(one, two), np.maximum(one, two)
    winners: Indices = np.where(scores[second] > scores[first], second, first)
    return winners


def select_by_rank(draws: NDArray[np.float64], n_pop: int) -> Indices:
    """Return the individuals that draws from [0, 1) select, with a chance proportional to rank.

    The population is sorted, best first: the first individual has rank n, the last one rank 1.

    >>> select_by_rank(np.array([0.0, 0.49, 0.51, 0.99]), 3)
    array([0, 0, 1, 2])
    """
    limits = np.cumsum(np.arange(n_pop, 0, -1)) / (n_pop * (n_pop + 1) / 2)
    return np.searchsorted(limits[:-1], draws, side="right")


def pair_at_random(rng: Generator, selected: Indices) -> tuple[Indices, Indices, Indices]:
    """Pair the selected at random; return both halves, and the one left over, if any."""
    shuffled = rng.permutation(selected)
    half = len(shuffled) // 2
    return shuffled[:half], shuffled[half : 2 * half], shuffled[2 * half :]


def one_point_crossover(first: Masks, second: Masks, cuts: Indices) -> tuple[Masks, Masks]:
    """Return two children of each pair: exchange the bits from the cut of the pair on.

    >>> zeros, ones = np.zeros((1, 4), dtype=bool), np.ones((1, 4), dtype=bool)
    >>> one_point_crossover(zeros, ones, np.array([3]))[0]
    array([[False, False, False,  True]])
    """
    one, two = first.copy(), second.copy()
    for pair, cut in enumerate(cuts.tolist()):
        one[pair, cut:], two[pair, cut:] = second[pair, cut:], first[pair, cut:]
    return one, two


def two_point_crossover(
    rng: Generator, first: Masks, second: Masks, p_crossover: float
) -> tuple[Masks, Masks]:
    """Return two children of each pair: exchange the bits between two random cuts.

    A pair is crossed with probability `p_crossover`, else copied.
    """
    n_pairs, length = first.shape
    crossed = _draw_events(rng, n_pairs, p_crossover)
    cuts = np.sort(rng.integers(0, length + 1, size=(n_pairs, 2)), axis=1).tolist()
    one, two = first.copy(), second.copy()
    for pair in np.flatnonzero(crossed).tolist():
        begin, end = cuts[pair]
        one[pair, begin:end], two[pair, begin:end] = second[pair, begin:end], first[pair, begin:end]
    return one, two


def cycle_crossover(
    rng: Generator, first: Orders, second: Orders, p_crossover: float
) -> tuple[Orders, Orders]:
    """Return two children of each pair, which take alternate cycles from the two parents.

    Every element of a child has the position that it has in one of the parents. A pair is
    crossed with probability `p_crossover`, else copied.
    """
    crossed = _draw_events(rng, len(first), p_crossover)
    other = (number_cycles(first, second) % 2 == 1) & crossed[:, None]
    return np.where(other, second, first), np.where(other, first, second)


def number_cycles(first: Orders, second: Orders) -> NDArray[np.int64]:
    """Return the cycle number of each position, counted from the first position.

    The next position of a cycle is where `first` holds the element that `second` holds here.
    """
    one, two = (np.ascontiguousarray(orders, dtype=np.int64) for orders in (first, second))
    numbers, place = np.empty_like(one), np.empty(one.shape[1], dtype=np.int64)
    if one.shape != two.shape or not number_pairs(one, two, place, numbers):
        raise ParameterError("Cycle crossover needs permutations of the numbers from 0.")
    return numbers


def _draw_events(rng: Generator, n: int, probability: float) -> NDArray[np.bool_]:
    """Return which of n independent events happen, each with this probability."""
    draws: NDArray[np.float64] = rng.random(n)
    return draws < probability


def flip_bits(rng: Generator, masks: Masks, p_flip: float) -> Masks:
    """Return masks in which each bit is flipped with probability `p_flip`.

    The distances between flipped bits are drawn, over all masks one after another. This takes
    some hundred random numbers instead of one for each bit.
    """
    flipped = masks.copy()
    if masks.size and p_flip > 0:
        flipped.reshape(-1)[_draw_successes(rng, masks.size, p_flip)] ^= True
    return flipped


def _draw_successes(rng: Generator, n: int, probability: float) -> NDArray[np.int64]:
    """Return which of n trials succeed, each with this probability, ascending."""
    expected = n * probability
    enough = int(expected + 4 * np.sqrt(expected)) + 8
    trials = np.full(1, -1)
    while trials[-1] < n:
        distances = np.minimum(rng.geometric(probability, size=enough), n + 1)  # no overflow
        trials = np.concatenate([trials, trials[-1] + np.cumsum(distances)])
    return trials[1:][trials[1:] < n]


def swap_two(rng: Generator, orders: Orders, p_swap: float) -> Orders:
    """Return orders in which two positions are swapped with probability `p_swap`."""
    n_pop, n_variables = orders.shape
    swapped = orders.copy()
    if n_variables < 2:
        return swapped
    chosen = np.flatnonzero(_draw_events(rng, n_pop, p_swap))
    drawn = rng.integers([0, 1], n_variables, size=(n_pop, 2))[chosen]
    one, two = drawn[:, 0], drawn.sum(axis=1) % n_variables  # always different
    swapped[chosen, one], swapped[chosen, two] = orders[chosen, two], orders[chosen, one]
    return swapped
