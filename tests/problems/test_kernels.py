"""The kernels of tours and orderings, compared with slow twins and enumeration."""

import itertools

import numpy as np
import pytest

import naive
from coevo.problems.champion import (
    OrderingTable,
    climb_orderings,
    climb_tours,
    make_tour_table,
    weigh_orderings,
)
from coevo.problems.literal import measure_programmes, move_item, reverse_positions, run_programme
from coevo.search.graph_kernels import Solutions
from coevo.search.operators import draw_orders
from helpers.problem_matrices import random_distances

pytestmark = pytest.mark.kernel

LEAST = 1e-9


def climb(distances, rows, tours, draws):
    """Overwrite tours; return their lengths, and the gains of each neighbour."""
    table, lengths = make_tour_table(distances, rows, LEAST), np.empty(len(tours))
    climb_tours(table, tours, lengths, draws)
    return lengths, table.credit


def random_rows(rng, distances, size):
    """Return rows of neighbours, the nearest first, some of them far away."""
    n = len(distances)
    rows = np.array([rng.permutation(np.delete(np.arange(n), city))[:size] for city in range(n)])
    places = np.argsort(np.take_along_axis(distances, rows, axis=1), axis=1, kind="stable")
    return np.ascontiguousarray(np.take_along_axis(rows, places, axis=1))


@pytest.mark.parametrize("n", [1, 2, 3, 5, 9])
@pytest.mark.parametrize("problem", ["tsp", "lop"])
def test_programmes_match_naive(problem, n, seed):
    rng = np.random.default_rng([seed, n])
    matrix = random_distances(rng, n) if problem == "tsp" else rng.normal(size=(n, n)).round(3)
    orders = draw_orders(rng, 4, n)
    masks = rng.random((4, n * (n - 1) // 2)) < 0.4
    order_of, mask_of = rng.integers(4, size=20), rng.integers(4, size=20)
    values = np.empty(20)
    solutions, order = Solutions(orders, order_of, masks, mask_of), np.empty(n, dtype=np.int64)
    measure_programmes(problem == "tsp", matrix, solutions, order, values)
    measure = naive.tour_length if problem == "tsp" else naive.ordering_weight
    move = reverse_positions if problem == "tsp" else move_item
    for value, o, m in zip(values, order_of, mask_of, strict=True):
        made = naive.run_programme(orders[o].tolist(), masks[m], problem)
        assert value == pytest.approx(measure(matrix.tolist(), made))
        assert run_programme(orders[o], masks[m], move).tolist() == made


@pytest.mark.parametrize("n", [5, 6, 7, 8, 12, 40])
@pytest.mark.parametrize("n_perturbations", [0, 30])
def test_a_climb_shortens_tours(n, n_perturbations, seed):
    rng = np.random.default_rng([seed, n])
    distances = random_distances(rng, n)
    rows = random_rows(rng, distances, min(8, n - 1))
    tours = draw_orders(rng, 6, n)
    before = [naive.tour_length(distances, tour) for tour in tours]
    lengths, credit = climb(distances, rows, tours, rng.random((6, n_perturbations, 3)))
    for tour, length, old in zip(tours.tolist(), lengths, before, strict=True):
        assert sorted(tour) == list(range(n))
        assert length == naive.tour_length(distances, tour) <= old
    assert (credit >= 0).all()
    if n_perturbations == 0:  # every gain is credited to the edge that made it
        assert credit.sum() == pytest.approx(sum(before) - lengths.sum())


@pytest.mark.parametrize("n", [5, 6, 7, 8, 12, 20])
def test_no_move_shortens_a_tour_after_its_climb(n, seed):
    rng = np.random.default_rng([seed, n])
    distances = random_distances(rng, n)
    rows = random_rows(rng, distances, n - 1)
    tours = draw_orders(rng, 6, n)
    lengths, _ = climb(distances, rows, tours, np.empty((6, 0, 3)))
    for tour, length in zip(tours.tolist(), lengths, strict=True):
        for i, j in itertools.combinations(range(n), 2):
            two_opt = tour[: i + 1] + tour[i + 1 : j + 1][::-1] + tour[j + 1 :]
            assert naive.tour_length(distances, two_opt) >= length
        for moved, removed, joined in list_or_opt_moves(distances, tour):
            if removed > joined:  # else the search for neighbours ends before this move
                assert naive.tour_length(distances, moved) >= length


def list_or_opt_moves(distances, tour):
    """Yield tours with a segment moved, the gain of its removal and its shorter new edge."""
    n = len(tour)
    for i, size in itertools.product(range(n), range(1, min(3, n - 3) + 1)):
        turned = tour[i:] + tour[:i]
        part, rest = turned[:size], turned[size:]
        removed = (
            distances[rest[-1], part[0]]
            + distances[part[-1], rest[0]]
            - distances[rest[-1], rest[0]]
        )
        for at, piece in itertools.product(range(1, len(rest)), (part, part[::-1])):
            joined = min(distances[rest[at - 1], piece[0]], distances[piece[-1], rest[at]])
            yield rest[:at] + piece + rest[at:], removed, joined


def test_a_climb_stays_inside_the_rows(seed):
    """Each move joins a city to a city of its row, so a tour without good rows keeps its edges."""
    rng = np.random.default_rng(seed)
    distances = random_distances(rng, 12)
    worst = np.argsort(distances, axis=1)[:, -1:].copy()  # only the farthest city of each
    tours = draw_orders(rng, 3, 12)
    before = tours.copy()
    climb(distances, worst, tours, np.empty((3, 0, 3)))
    for old, new in zip(before.tolist(), tours.tolist(), strict=True):
        edges = {frozenset(pair) for pair in itertools.pairwise([*new, new[0]])}
        old_edges = {frozenset(pair) for pair in itertools.pairwise([*old, old[0]])}
        joined = {frozenset((city, int(worst[city, 0]))) for city in range(12)}
        assert edges == old_edges or edges & joined


@pytest.mark.parametrize("n", [1, 2, 3, 7, 15])
def test_a_climb_returns_orders_that_no_insertion_improves(n, seed):
    rng = np.random.default_rng([seed, n])
    weights = rng.integers(-20, 100, (n, n)).astype(float)
    orders = draw_orders(rng, 5, n)
    before = [naive.ordering_weight(weights, order) for order in orders]
    totals = np.empty(5)
    table = OrderingTable(weights, np.ascontiguousarray(weights - weights.T), LEAST)
    weigh_orderings(table, orders, totals)
    assert totals.tolist() == before
    climb_orderings(table, orders, totals)
    for order, total, old in zip(orders.tolist(), totals, before, strict=True):
        assert sorted(order) == list(range(n))
        assert total == naive.ordering_weight(weights, order) >= old
        for i, j in itertools.product(range(n), repeat=2):
            other = list(order)
            other.insert(j, other.pop(i))
            assert naive.ordering_weight(weights, other) <= total
