"""The operators are closed and pure, and follow the paper."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from coevo.errors import ParameterError
from coevo.search.encoding import decode, n_bits
from coevo.search.operators import (
    cycle_crossover,
    draw_masks,
    draw_orders,
    flip_bits,
    number_cycles,
    pair_at_random,
    select_by_tournament,
    swap_two,
    two_point_crossover,
)

SIZES = st.tuples(st.integers(0, 2**32), st.integers(1, 12), st.integers(1, 9))
BOUNDED = settings(derandomize=True, deadline=None, max_examples=100)


def two_populations(sizes):
    seed, n_pop, n = sizes
    rng = np.random.default_rng(seed)
    return rng, draw_orders(rng, n_pop, n), draw_orders(rng, n_pop, n)


def are_permutations(orders):
    return np.array_equal(
        np.sort(orders, axis=1), np.tile(np.arange(orders.shape[1]), (len(orders), 1))
    )


@BOUNDED
@given(SIZES)
def test_initial_orders_are_permutations(sizes):
    seed, n_pop, n = sizes
    orders = draw_orders(np.random.default_rng(seed), n_pop, n)
    assert orders.shape == (n_pop, n)
    assert are_permutations(orders)


@BOUNDED
@given(SIZES)
def test_initial_masks_give_every_position_but_the_first_one_parent(sizes):
    seed, n_pop, n = sizes
    masks = draw_masks(np.random.default_rng(seed), n_pop, n)
    assert masks.shape == (n_pop, n_bits(n))
    for mask in masks:
        n_parents = decode(np.arange(n), mask).sum(axis=0)
        assert n_parents.tolist() == [0] + [1] * (n - 1)


def test_initial_parents_are_drawn_evenly(seed):
    """The last of 5 positions has each of 4 parents in a quarter of 8,000 masks."""
    masks = draw_masks(np.random.default_rng(seed), 8000, 5)
    shares = [np.mean([decode(np.arange(5), m)[i, 4] for m in masks[:2000]]) for i in range(4)]
    assert shares == pytest.approx([0.25] * 4, abs=5 * np.sqrt(0.25 * 0.75 / 2000))


@BOUNDED
@given(st.integers(0, 2**32), st.lists(st.integers(0, 5), min_size=1, max_size=15))
def test_each_individual_enters_two_tournaments_and_the_better_wins(seed, values):
    scores = np.array(values, dtype=float)
    winners = select_by_tournament(np.random.default_rng(seed), scores)
    assert len(winners) == len(scores)
    assert np.bincount(winners).max() <= 2
    best = np.flatnonzero(scores == scores.max())
    # The best individual loses only to an equal one, which then wins.
    assert np.isin(winners, best).sum() >= len(best)
    worst = np.flatnonzero(scores == scores.min())
    if len(worst) == 1 and len(scores) > 2:
        assert (winners == worst[0]).sum() <= 1  # only against itself, in an odd population


def test_the_entries_of_a_double_tournament(seed):
    """With ascending scores the winner is the larger index; everyone enters twice."""
    rng = np.random.default_rng(seed)
    for n_pop in (2, 6, 7, 100):
        scores = np.arange(n_pop, dtype=float)
        state = rng.bit_generator.state
        winners = select_by_tournament(rng, scores)
        rng.bit_generator.state = state
        entered = np.concatenate([rng.permutation(n_pop), rng.permutation(n_pop)])
        assert np.bincount(entered).tolist() == [2] * n_pop
        assert winners.tolist() == entered.reshape(-1, 2).max(axis=1).tolist()


@BOUNDED
@given(st.integers(0, 2**32), st.lists(st.integers(0, 9), min_size=1, max_size=15))
def test_each_selected_individual_is_in_one_pair(seed, selected):
    first, second, left = pair_at_random(np.random.default_rng(seed), np.array(selected))
    assert len(first) == len(second) == len(selected) // 2
    assert sorted([*first, *second, *left]) == sorted(selected)


@BOUNDED
@given(SIZES)
def test_cycle_crossover_takes_alternate_cycles(sizes):
    rng, first, second = two_populations(sizes)
    one, two = cycle_crossover(rng, first, second, 1.0)
    for i in range(len(first)):
        expected = first[i].tolist(), second[i].tolist()
        for number, cycle in enumerate(naive.cycles(first[i].tolist(), second[i].tolist())):
            for position in cycle if number % 2 else ():
                swapped = expected[1][position], expected[0][position]
                expected[0][position], expected[1][position] = swapped
        assert (one[i].tolist(), two[i].tolist()) == expected


@BOUNDED
@given(SIZES, st.floats(0, 1))
def test_cycle_crossover_is_closed_and_keeps_positions(sizes, p):
    rng, first, second = two_populations(sizes)
    one, two = cycle_crossover(rng, first, second, p)
    assert are_permutations(one)
    assert are_permutations(two)
    assert ((one == first) | (one == second)).all()
    assert (np.where(one == first, second, first) == two).all()


@BOUNDED
@given(SIZES, st.floats(0, 1))
def test_two_point_crossover_swaps_one_segment(sizes, p):
    seed, n_pairs, length = sizes
    rng = np.random.default_rng(seed)
    first, second = rng.random((2, n_pairs, length)) < 0.5
    one, two = two_point_crossover(rng, first, second, p)
    assert ((one == first) | (one == second)).all()
    assert np.array_equal(one ^ two, first ^ second)
    ones = two_point_crossover(rng, np.zeros_like(first), np.ones_like(first), 1.0)[0]
    for row in ones.astype(int):
        assert np.abs(np.diff(np.concatenate([[0], row, [0]]))).sum() <= 2  # one run at most


@pytest.mark.parametrize("p", [0.0, 0.3, 1.0])
def test_frequencies_of_mutations(p, seed):
    """Flips and swaps happen with their probability; crossing one cycle changes nothing."""
    rng = np.random.default_rng(seed)
    masks = np.zeros((200, 200), dtype=bool)
    orders = np.tile(np.arange(9), (4000, 1))
    bound = 5 * np.sqrt(p * (1 - p) / 4000) + 1e-12
    assert flip_bits(rng, masks, p).mean() == pytest.approx(p, abs=bound)
    swapped = (swap_two(rng, orders, p) != orders).sum(axis=1)
    assert set(swapped) <= {0, 2}
    assert (swapped == 2).mean() == pytest.approx(p, abs=bound)
    crossed = (cycle_crossover(rng, orders, np.roll(orders, 1, axis=1), p)[0] != orders).any()
    assert not crossed  # a rotation is one cycle, so the children equal their parents


@BOUNDED
@given(SIZES, st.floats(0, 1))
def test_mutations_are_closed_and_change_no_argument(sizes, p):
    rng, orders, _ = two_populations(sizes)
    masks = draw_masks(rng, *orders.shape)
    before = orders.copy(), masks.copy()
    assert are_permutations(swap_two(rng, orders, p))
    assert flip_bits(rng, masks, p).shape == masks.shape
    cycle_crossover(rng, orders, orders[::-1], p)
    two_point_crossover(rng, masks, masks[::-1], p)
    assert np.array_equal(orders, before[0])
    assert np.array_equal(masks, before[1])


@pytest.mark.parametrize("n", [16, 37, 63, 64, 65, 128, 129])
def test_cycles_of_many_variables(n, seed):
    """One long cycle, cycles of two, and random ones."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(n)
    swapped = order.copy()
    swapped[0 : n - n % 2 : 2], swapped[1::2] = order[1::2], order[0 : n - n % 2 : 2]
    first = np.tile(order, (5, 1))
    second = np.array([np.roll(order, 1), np.roll(order, -1), swapped, order, rng.permutation(n)])
    one, two = cycle_crossover(rng, first, second, 1.0)
    for i in range(5):
        number = np.empty(n, dtype=int)
        for k, cycle in enumerate(naive.cycles(first[i].tolist(), second[i].tolist())):
            number[cycle] = k
        assert np.array_equal(one[i], np.where(number % 2, second[i], first[i]))
        assert np.array_equal(two[i], np.where(number % 2, first[i], second[i]))


@pytest.mark.kernel
@pytest.mark.parametrize("n", [1, 2, 9, 70])
def test_numbers_of_cycles_match_naive(n, seed):
    rng = np.random.default_rng([seed, n])
    first, second = rng.permuted(np.tile(np.arange(n), (2, 6, 1)), axis=2)
    second[0] = first[0]
    for one, two, numbers in zip(first, second, number_cycles(first, second), strict=True):
        cycles = naive.cycles(one.tolist(), two.tolist())
        assert [np.flatnonzero(numbers == k).tolist() for k in range(len(cycles))] == [
            sorted(cycle) for cycle in cycles
        ]


@pytest.mark.kernel
@pytest.mark.parametrize(
    ("first", "second"),
    [
        ([[0, 1, 1]], [[0, 1, 2]]),
        ([[0, 1, 3]], [[0, 1, 2]]),
        ([[0, 1, -1]], [[0, 1, 2]]),
        ([[0, 1, 2]], [[1, 3, 0]]),
        ([[0, 1, 2]], [[1, -1, 0]]),
        ([[0, 1, 2]], [[1, 2, 2]]),
        ([[0, 1, 2]], [[1, 0]]),
        ([[0, 1, 2], [2, 1, 0]], [[0, 1, 2]]),
    ],
)
def test_cycles_of_other_numbers_are_refused(first, second):
    with pytest.raises(ParameterError, match=r"^Cycle crossover needs permutations"):
        number_cycles(np.array(first), np.array(second))


@pytest.mark.parametrize("p", [0.0, 0.3, 1.0])
def test_frequency_of_crossover(p, seed):
    """An exchanged cycle, or an exchanged segment, shows that a pair was crossed."""
    rng = np.random.default_rng(seed)
    bound = 5 * np.sqrt(p * (1 - p) / 4000) + 1e-12
    orders = np.tile(np.arange(4), (4000, 1))
    one, _ = cycle_crossover(rng, orders, orders[:, [1, 0, 3, 2]], p)
    assert (one != orders).any(axis=1).mean() == pytest.approx(p, abs=bound)
    zeros = np.zeros((4000, 1000), dtype=bool)  # long, so that few segments are empty
    one, _ = two_point_crossover(rng, zeros, ~zeros, p)
    assert one.any(axis=1).mean() == pytest.approx(p, abs=bound + 0.002)


def test_two_point_crossover_draws_every_segment(seed):
    """Each child has one segment of the other parent, between two uniformly drawn cuts."""
    rng = np.random.default_rng(seed)
    zeros = np.zeros((2000, 4), dtype=bool)
    one, two = two_point_crossover(rng, zeros, ~zeros, 1.0)
    assert np.array_equal(two, ~one)
    segments = {(begin, end) for begin in range(5) for end in range(begin, 5)}
    expected = {tuple(begin <= i < end for i in range(4)) for begin, end in segments}
    assert {tuple(row) for row in one.tolist()} == expected
    zeros = np.zeros((20_000, 10), dtype=bool)
    shares = two_point_crossover(rng, zeros, ~zeros, 1.0)[0].mean(axis=0)
    bit = np.arange(10)  # exchanged if one cut is before it and the other after it
    expected = 2 * (bit + 1) * (10 - bit) / 11**2
    assert shares == pytest.approx(expected, abs=6 * 0.5 / np.sqrt(20_000))
    same = rng.random((50, 9)) < 0.5
    for child in two_point_crossover(rng, same, same, 1.0):
        assert np.array_equal(child, same)


@pytest.mark.parametrize("p", [0.002, 0.1, 0.5, 0.97])
def test_flips_are_independent_of_each_other(p, seed):
    """Test each bit, each row, and neighbours, including neighbours across two rows."""
    rng = np.random.default_rng(seed)
    n_rows, length = 6000, 30
    masks = rng.random((n_rows, length)) < 0.5
    flips = flip_bits(rng, masks, p) ^ masks
    sd = np.sqrt(p * (1 - p))
    assert flips.mean(axis=0) == pytest.approx(np.full(length, p), abs=6 * sd / np.sqrt(n_rows))
    in_a_row = flips.sum(axis=1)
    assert in_a_row.mean() == pytest.approx(length * p, abs=6 * sd * np.sqrt(length / n_rows))
    assert in_a_row.var() == pytest.approx(length * p * (1 - p), rel=0.3)
    string = flips.ravel().astype(float) - p
    for lag in (1, 2, length - 1, length):
        together = np.mean(string[lag:] * string[:-lag])
        assert abs(together) < 6 * sd**2 / np.sqrt(flips.size)
    of_ones, of_zeros = flips[masks].mean(), flips[~masks].mean()
    assert of_ones == pytest.approx(of_zeros, abs=12 * sd / np.sqrt(flips.size))


def test_flips_with_extreme_probabilities(seed):
    rng = np.random.default_rng(seed)
    masks = rng.random((40, 300)) < 0.5
    for p in (0, 0.0, 5e-324, 1e-300, 1e-30):
        flipped = flip_bits(rng, masks, p)
        assert np.array_equal(flipped, masks)
        assert not np.shares_memory(flipped, masks)
    for p in (1, 1.0, np.nextafter(1, 0)):
        assert np.array_equal(flip_bits(rng, masks, p), ~masks)
    for shape in ((5, 0), (0, 5), (0, 0)):
        assert flip_bits(rng, np.zeros(shape, dtype=bool), 0.5).shape == shape
    turned = np.asfortranarray(masks)
    flips = flip_bits(np.random.default_rng(seed), turned, 0.3)
    assert np.array_equal(flips, flip_bits(np.random.default_rng(seed), masks, 0.3))


@pytest.mark.parametrize("length", [0, 1])
def test_masks_of_zero_and_one_bits(length, seed):
    rng = np.random.default_rng(seed)
    first, second = np.zeros((6, length), dtype=bool), np.ones((6, length), dtype=bool)
    one, two = two_point_crossover(rng, first, second, 1.0)
    assert one.shape == two.shape == (6, length)
    assert np.array_equal(one, ~two)


def test_two_variables_are_swapped(seed):
    orders = np.array([[0, 1], [1, 0], [0, 1]])
    assert swap_two(np.random.default_rng(seed), orders, 1.0).tolist() == [[1, 0], [0, 1], [1, 0]]


class FixedDistances:
    """A generator whose geometric draws are given: an array for each call."""

    def __init__(self, *distances):
        self.left = [np.array(one) for one in distances]

    def geometric(self, probability, size):
        return self.left.pop(0)


@pytest.mark.parametrize(
    ("distances", "flipped"),
    [
        ([[1, 2, 3], [4, 2, 5]], [0, 2, 5, 9]),  # the second draws continue where the first end
        ([[1, 2, 3], [1, 1], [1, 9]], [0, 2, 5, 6, 7, 8]),
        ([[1, 9], [1, 1, 1]], [0, 9]),  # the last success is the last bit
        ([[3, 8]], [2]),  # the first success behind the last bit ends the draws
        ([[3, 2**62, 2**62]], [2]),
    ],
)
def test_flips_are_drawn_until_all_bits_are_passed(distances, flipped):
    rng = FixedDistances(*distances)
    found = flip_bits(rng, np.zeros((2, 5), dtype=bool), 0.1)
    assert np.flatnonzero(found).tolist() == flipped
    assert rng.left == []
