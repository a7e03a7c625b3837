"""The genetic operators of the 2011 paper, each on a whole population at once.

Every function is pure: it draws from the generator that it is given, reads no clock,
changes none of its arguments, and returns new arrays. A generator serves one species in
one generation. All operators are closed: orders stay permutations, and any mask is legal.

References
----------
Goldberg and Deb 1991 (tournaments); Oliver, Smith and Holland 1987 (cycle crossover).
"""

from __future__ import annotations

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from coevo.search.encoding import n_bits

__all__ = [
    "cycle_crossover",
    "double_tournament",
    "flip_bits",
    "initial_masks",
    "initial_orders",
    "random_pairs",
    "swap_two",
    "two_point_crossover",
]

Orders = NDArray[np.int64]  # (n_pop, n_vars), each row a permutation
Masks = NDArray[np.bool_]  # (n_pop, n_bits), each row an upper triangle
Scores = NDArray[np.float64]  # (n_pop,), higher is better
Chosen = NDArray[np.int64]  # indices into a population


def initial_orders(rng: Generator, n_pop: int, n_variables: int) -> Orders:
    """Return random orders."""
    return rng.permuted(np.tile(np.arange(n_variables), (n_pop, 1)), axis=1)


def initial_masks(rng: Generator, n_pop: int, n_variables: int) -> Masks:
    """Return masks that give each position but the first exactly one parent.

    The parent is drawn evenly from the earlier positions, so that the first structures
    are valid and sparse.
    """
    children = np.arange(1, n_variables)
    parents = rng.integers(0, children, size=(n_pop, n_variables - 1))
    triangles = np.zeros((n_pop, n_variables, n_variables), dtype=np.bool_)
    triangles[np.arange(n_pop)[:, None], parents, children] = True
    rows, columns = np.triu_indices(n_variables, k=1)
    return triangles[:, rows, columns].reshape(n_pop, n_bits(n_variables))


def double_tournament(rng: Generator, scores: Scores) -> Chosen:
    """Return the winners of tournaments of two, in which each individual takes part twice.

    There are as many winners as individuals. Of two with the same score the first wins.
    """
    n_pop = len(scores)
    entered = np.concatenate([rng.permutation(n_pop), rng.permutation(n_pop)])
    pairs = np.sort(entered.reshape(n_pop, 2), axis=1)
    second_wins = scores[pairs[:, 1]] > scores[pairs[:, 0]]
    return np.where(second_wins, pairs[:, 1], pairs[:, 0])


def random_pairs(rng: Generator, selected: Chosen) -> tuple[Chosen, Chosen, Chosen]:
    """Pair the selected at random; return both halves, and the one left over if any."""
    shuffled = rng.permutation(selected)
    half = len(shuffled) // 2
    return shuffled[:half], shuffled[half : 2 * half], shuffled[2 * half :]


def two_point_crossover(
    rng: Generator, first: Masks, second: Masks, p_crossover: float
) -> tuple[Masks, Masks]:
    """Return two children a pair: the middle of three segments changes places.

    A pair that is not crossed, with probability ``1 - p_crossover``, is copied.
    """
    n_pairs, length = first.shape
    crossed = _chosen(rng, n_pairs, p_crossover)
    cuts = np.sort(rng.integers(0, length + 1, size=(n_pairs, 2)), axis=1)
    bit = np.arange(length, dtype=np.int32)
    middle = (bit >= cuts[:, :1].astype(np.int32)) & (bit < cuts[:, 1:].astype(np.int32))
    exchanged = (first ^ second) & middle & crossed[:, None]
    return first ^ exchanged, second ^ exchanged


def cycle_crossover(
    rng: Generator, first: Orders, second: Orders, p_crossover: float
) -> tuple[Orders, Orders]:
    """Return two children a pair, made of alternate cycles of the two parents.

    Every element of a child stands where one of its parents has it. A pair that is not
    crossed, with probability ``1 - p_crossover``, is copied.
    """
    crossed = _chosen(rng, len(first), p_crossover)
    other = (_cycle_numbers(first, second) % 2 == 1) & crossed[:, None]
    return np.where(other, second, first), np.where(other, first, second)


def _cycle_numbers(first: Orders, second: Orders) -> NDArray[np.int64]:
    """Return for each position the number of its cycle, counted from the first position.

    The next position of a cycle is where `first` has what `second` has here. The least
    position of each cycle is found by looking 1, 2, 4, ... steps ahead.
    """
    n_pairs, n = first.shape
    row = (np.arange(n_pairs) * n)[:, None]  # positions are numbered through all pairs
    places = np.empty(first.size, dtype=np.int64)
    places[first + row] = np.arange(n) + row
    step = places[second + row].ravel()
    positions = np.arange(first.size)
    least = positions
    for _ in range(n.bit_length()):
        least = np.minimum(least, least[step])
        step = step[step]
    number_by_least = np.cumsum((least == positions).reshape(n_pairs, n), axis=1) - 1
    return number_by_least.ravel()[least].reshape(n_pairs, n)


def _chosen(rng: Generator, n: int, probability: float) -> NDArray[np.bool_]:
    """Return which of n things happen, each with the same probability."""
    draws: NDArray[np.float64] = rng.random(n)
    return draws < probability


def flip_bits(rng: Generator, masks: Masks, p_flip: float) -> Masks:
    """Return masks in which each bit is flipped with probability `p_flip`.

    What is drawn is how many bits stay as they are before the next one is flipped, through
    all masks one after another: some hundred numbers instead of one for each bit.
    """
    flipped = masks.copy()
    if masks.size and p_flip > 0:
        flipped.reshape(-1)[_successes(rng, masks.size, p_flip)] ^= True
    return flipped


def _successes(rng: Generator, n: int, probability: float) -> NDArray[np.int64]:
    """Return which of n trials succeed, each with the same probability, ascending."""
    expected = n * probability
    enough = int(expected + 4 * np.sqrt(expected)) + 8
    found = np.full(1, -1)
    while found[-1] < n:
        gaps = np.minimum(rng.geometric(probability, size=enough), n + 1)  # no overflow
        found = np.concatenate([found, found[-1] + np.cumsum(gaps)])
    return found[1:][found[1:] < n]


def swap_two(rng: Generator, orders: Orders, p_swap: float) -> Orders:
    """Return orders in which, with probability `p_swap`, two positions change places."""
    n_pop, n_variables = orders.shape
    swapped = orders.copy()
    if n_variables < 2:
        return swapped
    chosen = np.flatnonzero(_chosen(rng, n_pop, p_swap))
    drawn = rng.integers([0, 1], n_variables, size=(n_pop, 2))[chosen]
    one, two = drawn[:, 0], drawn.sum(axis=1) % n_variables  # never the same
    swapped[chosen, one], swapped[chosen, two] = orders[chosen, two], orders[chosen, one]
    return swapped
