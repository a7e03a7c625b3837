"""The memetic algorithm for orderings: crossing, survival, restarts, and states of 0.2.0."""

import itertools

import numpy as np
import pytest

import naive
from coevo.problems import OrderingProblem, champion
from coevo.problems.champion import ChampionOrderings
from coevo.problems.solver import SolveState
from helpers.problem_matrices import random_weights


def make_solver(seed, n=30):
    weights = random_weights(np.random.default_rng([seed, n]), n)
    return ChampionOrderings(OrderingProblem.from_matrix(weights)), weights


def walk(solver, seed, n_steps):
    state = solver.start(np.random.default_rng([seed, 0]))
    yield state
    for generation in range(1, n_steps + 1):
        state = solver.step(np.random.default_rng([seed, generation]), state)
        yield state


def test_a_child_takes_each_pair_of_its_items_from_one_of_two_orders(seed):
    """Each half of the items keeps the sequence of one parent."""
    solver, _ = make_solver(seed, 9)
    parents = np.array([np.random.default_rng(seed).permutation(9) for _ in range(2)])
    for child in solver._cross(np.random.default_rng(seed), parents):
        assert sorted(child) == list(range(9))
        explained = []
        for one, two in (parents, parents[::-1]):
            stays = child == one  # what moved is in the sequence of the other parent
            moved = child[~stays].tolist()
            explained.append([item for item in two.tolist() if item in moved] == moved)
        assert any(explained)
    same = np.tile(parents[0], (6, 1))
    assert (solver._cross(np.random.default_rng(seed), same) == same).all()


def test_the_best_orders_of_different_weights_survive(seed):
    """Every state is as good as the last one, place for place, unless there was a restart."""
    solver, weights = make_solver(seed)
    before, n_kept = None, 0
    for state in walk(solver, seed, 40):
        n_orders = len(state.parts[0])
        found = {naive.ordering_weight(weights, order) for order in state.parts[0]}
        values = sorted(found, reverse=True)
        assert values[0] == state.score == naive.ordering_weight(weights, state.order)
        if before is not None and state.evaluations == before[1] + n_orders:
            assert len(values) >= len(before[0])
            assert all(new >= old for new, old in zip(values, before[0], strict=False))
            n_kept += 1
        before = values, state.evaluations
    assert n_kept > 5


def test_a_restart_keeps_the_best_order_and_doubles_the_population(seed, monkeypatch):
    monkeypatch.setattr(champion, "MAX_ORDERS", 40)
    solver, _ = make_solver(seed)
    states = list(walk(solver, seed, 200))
    sizes = [len(state.parts[0]) for state in states]
    assert sorted(set(sizes)) == [10, 20, 40]
    assert sizes == sorted(sizes)
    for before, after in itertools.pairwise(states):
        old, new = len(before.parts[0]), len(after.parts[0])
        assert after.score >= before.score
        assert after.evaluations - before.evaluations in (
            (old, old + 39) if old == new else [old + new - 1]
        )
        assert (after.order == after.parts[0]).all(axis=1).any()


def test_a_population_that_agrees_restarts_and_one_that_does_not_goes_on(seed):
    """Children of equal parents are their parents, so none survives."""
    solver, _ = make_solver(seed)
    state = solver.start(np.random.default_rng(seed))
    agreeing = SolveState(3, 0, 0, state.score, state.order, (np.tile(state.order, (10, 1)),))
    after = solver.step(np.random.default_rng(seed), agreeing)
    assert (len(after.parts[0]), after.evaluations) == (20, 10 + 19)
    assert (after.parts[0][0] == state.order).all()
    assert len(np.unique(after.parts[0], axis=0)) > 10
    assert len(solver.step(np.random.default_rng(seed), state).parts[0]) == 10


@pytest.mark.parametrize("n_orders", [1, 9, 59, 61, 200])
def test_a_population_of_another_size_is_refused(n_orders, seed):
    solver, _ = make_solver(seed)
    order = np.arange(30)
    state = SolveState(0, 0, 0, 1.0, order, (np.tile(order, (n_orders, 1)),))
    assert solver.find_flaw(state) == "'part.0' must hold 10 or 20 or 40 or 60 orders"


def test_a_state_of_0_2_0_is_accepted(seed):
    """It has ten orders, of which some may be equal, in no sequence."""
    solver, weights = make_solver(seed)
    orders = solver.start(np.random.default_rng(seed)).parts[0][::-1].copy()
    orders[3] = orders[4]
    best = max(orders, key=lambda order: naive.ordering_weight(weights, order))
    old = SolveState(7, 70, 5, naive.ordering_weight(weights, best), best, (orders,))
    assert solver.find_flaw(old) == ""
    assert solver.step(np.random.default_rng(seed), old).score >= old.score
