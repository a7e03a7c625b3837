"""Solvers find proved optima, keep their budget, and give the same answer for the same seed."""

import itertools

import networkx as nx
import numpy as np
import pytest

import naive
from coevo.errors import DataError, ParameterError
from coevo.problems import (
    ORDERINGS,
    TOURS,
    OrderingProblem,
    TourProblem,
    open_ordering,
    open_tour,
    solve_ordering,
    solve_tour,
)
from coevo.search import Budget
from helpers.problem_matrices import random_distances

SMALL = Budget(max_generations=30, patience=10)


@pytest.mark.parametrize("name", TOURS)
@pytest.mark.parametrize("run", range(2))
def test_the_optimum_of_bundled_tours_is_found(name, run, seed):
    result = solve_tour(name, random_state=1000 * seed + run)
    assert result.value == naive.tour_length(result.problem.distances, result.order)
    assert sorted(result.order) == list(range(result.problem.n_places))
    assert result.value == TOURS[name]
    assert result.is_optimal


@pytest.mark.parametrize("name", ORDERINGS)
@pytest.mark.parametrize("run", range(2))
def test_the_optimum_of_bundled_orderings_is_found(name, run, seed):
    result = solve_ordering(name, random_state=1000 * seed + run)
    assert result.value == naive.ordering_weight(result.problem.weights, result.order)
    assert result.value == ORDERINGS[name]


@pytest.mark.parametrize("n", [4, 7])
def test_the_literal_form_finds_the_optimum_of_small_problems(n, seed):
    rng = np.random.default_rng([seed, n])
    distances, weights = random_distances(rng, n), rng.integers(0, 100, (n, n))
    tour = solve_tour(distances, form="literal", random_state=seed)
    assert tour.value == naive.shortest_tour(distances.tolist())
    ordering = solve_ordering(weights, form="literal", random_state=seed)
    assert ordering.value == naive.heaviest_ordering(weights.tolist())


def test_the_masks_of_the_literal_form_help(seed):
    """After 250 generations a tour is far shorter than a random one, and not yet the best."""
    result = solve_tour("berlin52", form="literal", random_state=seed)
    assert 7542 <= result.value < 0.6 * result.history[0].value
    assert (result.generations, result.stop_reason) == (250, "generations")


def test_forward_arcs_are_acyclic_and_weigh_the_value(seed):
    problem = open_ordering("t59n11xx")
    result = solve_ordering(problem, budget=SMALL, random_state=seed)
    graph = nx.DiGraph(itertools.combinations(result.order, 2))
    assert nx.is_directed_acyclic_graph(graph)
    assert sum(problem.weights[arc] for arc in graph.edges) == result.value


@pytest.mark.parametrize("form", ["champion", "literal"])
@pytest.mark.parametrize("solve", [solve_tour, solve_ordering])
def test_the_same_seed_gives_the_same_answer(solve, form, seed):
    name = "eil51" if solve is solve_tour else "t59n11xx"
    budget = Budget(max_generations=3)
    runs = [solve(name, form=form, budget=budget, random_state=seed + s) for s in (0, 0, 1)]
    values = [[row.value for row in run.history] for run in runs]
    assert runs[0].order == runs[1].order
    assert values[0] == values[1]
    if form == "literal":
        assert values[0] != values[2]


@pytest.mark.parametrize("form", ["champion", "literal"])
def test_the_best_value_never_gets_worse(form, seed):
    tour = solve_tour("st70", form=form, budget=Budget(max_generations=10), random_state=seed)
    ordering = solve_ordering("t59n11xx", form=form, budget=SMALL, random_state=seed)
    assert (np.diff([row.value for row in tour.history]) <= 0).all()
    assert (np.diff([row.value for row in ordering.history]) >= 0).all()


def test_a_target_is_a_length(seed):
    result = solve_tour("berlin52", budget=Budget(target=8000, patience=50), random_state=seed)
    assert result.stop_reason == "target"
    assert result.value <= 8000


def test_a_callback_stops_the_run(seed):
    rows = []
    result = solve_ordering(
        "t59n11xx",
        random_state=seed,
        callbacks=[lambda row: rows.append(row) or row.generation == 2],
    )
    assert result.stop_reason == "callback"
    assert [row.generation for row in rows] == [0, 1, 2]
    assert result.history == tuple(rows)


def test_an_interrupt_returns_the_best_so_far(seed):
    def interrupt(row):
        if row.generation == 2:
            raise KeyboardInterrupt

    result = solve_tour("eil51", random_state=seed, callbacks=[interrupt])
    assert result.stop_reason == "interrupt"
    assert result.value == result.history[-1].value


def test_a_tour_is_in_canonical_form(seed):
    order = solve_tour("burma14", random_state=seed).order
    assert order[0] == 0
    assert order[1] < order[-1]


def test_huge_and_tiny_distances_end(seed):
    rng = np.random.default_rng(seed)
    points = rng.random((30, 2))
    exact = np.sqrt(((points[:, None] - points) ** 2).sum(axis=2))
    exact = np.maximum(exact, exact.T)
    lengths = [
        solve_tour(exact * scale, budget=SMALL, random_state=seed).value / scale
        for scale in (1e-9, 1.0, 1e15)
    ]
    assert lengths == pytest.approx([lengths[1]] * 3, rel=0.05)


def test_the_matrix_of_the_caller_is_not_changed():
    matrix = np.full((5, 5), 3.0)
    solve_tour(matrix, budget=SMALL, random_state=0)
    solve_ordering(matrix, budget=SMALL, random_state=0)
    assert (matrix == 3.0).all()


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (
            [[0, 1], [2, 0]],
            "The distance of 'matrix' from city 1 to city 2 is 1, and back it is 2. Give symmetric "
            "distances.",
        ),
        (
            [[0, 1, 2], [1, 0, 3]],
            "The matrix 'matrix' has the shape 2 x 3. Give one row and one column for each city.",
        ),
        (
            [[0, np.nan], [1, 0]],
            "The matrix 'matrix' has no finite number in row 1, column 2. Replace it.",
        ),
        ([["a", "b"], ["c", "d"]], "The matrix 'matrix' must hold numbers only."),
    ],
)
def test_bad_matrices(matrix, message):
    with pytest.raises(DataError) as caught:
        TourProblem.from_matrix(matrix)
    assert str(caught.value) == message


def test_bad_parameters():
    with pytest.raises(ParameterError) as caught:
        solve_tour("berlin52", form="champ")
    assert str(caught.value) == (
        "'form' of solve_tour must be one of 'champion', 'literal'; got 'champ'. Did you mean "
        "'champion'?"
    )
    with pytest.raises(ParameterError) as caught:
        solve_ordering("t59n11xx", random_state=-1)
    assert str(caught.value) == (
        "'random_state' of solve_ordering must be an int >= 0, a numpy Generator or None; got -1."
    )


def test_pictures(seed):
    result = solve_tour("burma14", random_state=seed)
    svg = result.plot().svg
    assert svg.count("<title>city ") == 14
    assert "burma14: a tour through 14 cities, length 3,323" in svg
    assert repr(result) == "<SolveResult: burma14, tour of length 3,323>"
    with pytest.raises(ParameterError) as caught:
        solve_ordering(np.eye(2), random_state=0).plot()
    assert str(caught.value) == "An ordering has no picture. Write it to a file instead."
    with pytest.raises(ParameterError) as caught:
        solve_tour(np.eye(2), random_state=0).plot()
    assert str(caught.value) == (
        "'matrix' has no coordinates, so its tour cannot be drawn. Write it to a file instead."
    )


def test_problems_measure_as_the_oracle(seed):
    rng = np.random.default_rng(seed)
    order = rng.permutation(29)
    bays = open_tour("bays29")
    assert bays.measure(order) == naive.tour_length(bays.distances, order)
    weights = rng.normal(size=(6, 6))
    assert OrderingProblem.from_matrix(weights).measure(order[order < 6]) == pytest.approx(
        naive.ordering_weight(weights, order[order < 6])
    )
