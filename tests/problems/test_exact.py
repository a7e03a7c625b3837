"""The champion form finds the optimum of every small instance, by dynamic programming."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from coevo.problems import solve_ordering, solve_tour
from coevo.search import Budget
from helpers.problem_matrices import random_distances

SMALL = Budget(max_generations=30, patience=10)
# Many ties and zeros, then a wide range, and parts of numbers.
WEIGHTS = st.one_of(
    st.integers(0, 3), st.integers(-50, 1000), st.integers(0, 10**6).map(lambda x: x / 8)
)


@st.composite
def matrices(draw, least, most):
    n = draw(st.integers(least, most))
    rows = st.lists(WEIGHTS, min_size=n, max_size=n)
    return np.array(draw(st.lists(rows, min_size=n, max_size=n)), dtype=float)


@settings(derandomize=True, deadline=None, max_examples=80)
@given(matrices(2, 9))
def test_the_shortest_of_all_tours_is_found(matrix):
    distances = np.triu(np.abs(matrix), k=1)
    distances += distances.T
    result = solve_tour(distances, budget=SMALL, random_state=0)
    assert result.value == naive.shortest_tour(distances.tolist())


@settings(derandomize=True, deadline=None, max_examples=80)
@given(matrices(1, 10))
def test_the_heaviest_of_all_orderings_is_found(matrix):
    np.fill_diagonal(matrix, 0)
    result = solve_ordering(matrix, budget=SMALL, random_state=0)
    assert result.value == naive.heaviest_ordering(matrix.tolist())


@pytest.mark.parametrize("n", [2, 3, 4, 5, 6, 8, 10, 11])
def test_tours_of_every_size(n, seed):
    distances = random_distances(np.random.default_rng([seed, n]), n)
    result = solve_tour(distances, budget=SMALL, random_state=seed)
    assert result.value == naive.shortest_tour(distances.tolist())


def test_one_city_and_one_item():
    assert solve_tour([[0]], random_state=0).order == (0,)
    assert solve_tour([[0]], random_state=0).value == 0
    assert solve_ordering([[7]], random_state=0).value == 0


@pytest.mark.parametrize("n", [2, 3, 5, 6])
def test_the_oracles_enumerate(n, seed):
    rng = np.random.default_rng([seed, n])
    weights, distances = rng.integers(-9, 9, (n, n)).tolist(), random_distances(rng, n).tolist()
    orders = list(itertools.permutations(range(n)))
    assert naive.heaviest_ordering(weights) == max(
        naive.ordering_weight(weights, order) for order in orders
    )
    assert naive.shortest_tour(distances) == min(
        naive.tour_length(distances, order) for order in orders
    )
