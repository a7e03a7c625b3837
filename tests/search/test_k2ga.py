"""K2GA scores orders by K2, finds the best order of small tables, and keeps the best."""

import itertools

import numpy as np
import pytest

import coevo
import naive
from coevo.errors import ParameterError
from coevo.score import FamilyScorer
from coevo.search import K2, K2GA, Budget, Problem, run_search
from coevo.search import k2 as greedy_parents_module
from coevo.search.k2 import GreedyParents
from coevo.search.operators import select_by_rank
from coevo.search.order_operators import CROSSOVERS, MUTATIONS
from helpers.problems import collect_states, make_problem, random_constraints, random_table


def run_k2(problem, order, limit):
    names = [problem.names[v] for v in order]
    found = run_search(
        K2(order=names, max_parents=limit), problem.scorer, constraints=problem.constraints
    )
    return found.score


@pytest.mark.parametrize("case", range(6))
def test_every_order_has_the_score_of_k2(case, seed):
    rng = np.random.default_rng([seed, case])
    table = random_table([seed, case], 7, 150)
    known = random_constraints(rng, table.names) if case % 2 else None
    problem = make_problem(table, "k2" if case < 3 else "bdeu", known)
    limit = [1, 2, 4][case % 3]
    states = collect_states(K2GA(population=6, offspring=4, max_parents=limit), problem, seed, 5)
    for state in states:
        for order, score in zip(state.orders.tolist(), state.order_scores, strict=True):
            assert score == pytest.approx(run_k2(problem, order, limit), abs=1e-8)
        assert (np.diff(state.order_scores) <= 0).all()
        assert state.score >= state.order_scores[0] - 1e-8


def test_a_full_memory_changes_nothing(seed, monkeypatch):
    problem = make_problem(random_table(seed, 7, 150))
    right = collect_states(K2GA(population=6), problem, seed, 5)[-1]
    monkeypatch.setattr(greedy_parents_module, "MAX_BYTES", 1)
    again = collect_states(K2GA(population=6), problem, seed, 5)[-1]
    assert np.array_equal(right.orders, again.orders)
    assert right.evaluations == again.evaluations


def test_evaluations_are_the_families_that_k2_compares(seed):
    """First each variable without parents, then with each candidate, in each round."""
    problem = make_problem(random_table(seed, 4, 100))
    grown = GreedyParents(problem, 1).grow(np.triu(np.ones((4, 4), dtype=bool), 1)[None])
    assert grown.n_evaluations == 4 + 6
    states = collect_states(K2(order=problem.names, max_parents=1), problem, seed, 9)
    assert states[-1].evaluations == 4 + 6


@pytest.mark.parametrize("case", range(4))
def test_the_best_of_all_orders_is_found(case, seed):
    problem = make_problem(random_table([seed, case], 5, 80))
    best = max(run_k2(problem, order, 4) for order in itertools.permutations(range(5)))
    found = run_search(K2GA(), problem.scorer, random_state=seed)
    assert found.score == pytest.approx(best, abs=1e-8)


def test_the_optimum_of_four_variables_is_found(seed):
    """K2 is greedy, so that no order may lead to the optimum; on most tables one does."""
    n_optimal, n_tables = 0, 40
    for case in range(n_tables):
        table = random_table([seed, case], 4, 60)
        scorer = FamilyScorer(table, "bdeu")
        problem = Problem.from_scorer(scorer)
        best = max(run_k2(problem, order, 4) for order in itertools.permutations(range(4)))
        optimum = max(
            scorer.score(
                coevo.DAG(table.names, [(table.names[a], table.names[b]) for a, b in arcs])
            )
            for arcs in (members[0] for members in naive.equivalence_classes(4).values())
        )
        found = run_search(K2GA(), scorer, budget=Budget(max_generations=15), random_state=seed)
        assert found.score == pytest.approx(best, abs=1e-8)
        n_optimal += found.score > optimum - 1e-8
    assert n_optimal >= 0.9 * n_tables


@pytest.mark.parametrize("crossover", CROSSOVERS)
@pytest.mark.parametrize("mutation", MUTATIONS)
def test_all_pairs_of_operators_run(crossover, mutation, seed):
    method = K2GA(population=6, offspring=3, crossover=crossover, mutation=mutation, p_mutation=0.5)
    states = collect_states(method, make_problem(random_table(seed, 6, 80)), seed, 4)
    for state in states:
        assert np.array_equal(np.sort(state.orders, axis=1), np.tile(np.arange(6), (6, 1)))


def test_the_chance_of_selection_is_proportional_to_rank(seed):
    draws = np.random.default_rng(seed).random(60_000)
    shares = np.bincount(select_by_rank(draws, 5)) / len(draws)
    assert shares == pytest.approx(np.array([5, 4, 3, 2, 1]) / 15, abs=0.015)
    assert select_by_rank(np.array([np.nextafter(1, 0)]), 7).tolist() == [6]


def test_it_beats_as_many_random_orders(seed):
    """The paper of 2011 leaves open whether the genetic algorithm beats K2 with random orders."""
    table = coevo.sample(coevo.load_network("insurance"), 300, random_state=seed)
    scorer = FamilyScorer(table, "k2")
    budget = Budget(max_generations=30)
    found = run_search(K2GA(), scorer, budget=budget, random_state=seed)
    n_orders = 50 + 30 * 10
    method = K2GA(population=n_orders)
    random = run_search(method, scorer, budget=Budget(max_generations=0), random_state=seed)
    assert found.score > random.score + 5


def test_settings():
    assert K2GA().settings == {
        "population": 50,
        "offspring": 10,
        "crossover": "ox2",
        "mutation": "insertion",
        "p_mutation": 0.1,
        "max_parents": None,
    }
    assert K2GA.default_budget == Budget(max_generations=200)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"population": 1}, "'population' of K2GA must be an int >= 2; got 1."),
        ({"offspring": 0}, "'offspring' of K2GA must be an int >= 1; got 0."),
        ({"p_mutation": 2}, "'p_mutation' of K2GA must be a number from 0 to 1; got 2."),
        ({"max_parents": -1}, "'max_parents' of K2GA must be an int >= 0 or None; got -1."),
        (
            {"mutation": "swap"},
            "'mutation' of K2GA must be one of 'displacement', 'exchange', 'insertion', "
            "'inversion', 'scramble', 'simple_inversion'; got 'swap'.",
        ),
    ],
)
def test_bad_settings(settings, message):
    with pytest.raises(ParameterError) as caught:
        K2GA(**settings)
    assert str(caught.value) == message
