"""A time limit holds on wide tables, and what is known by then is used."""

from __future__ import annotations

import numpy as np
import pytest

from coevo.graph import Constraints
from coevo.runtime.deadline import measure_work_time
from coevo.score import FamilyScorer
from coevo.search import (
    K2,
    Budget,
    climbing,
    ges_operators,
    k2,
    make_method,
    masks,
    run_search,
    sparse_climb,
)
from coevo.search.base import Problem
from coevo.search.run import _Loop
from helpers.problems import MovedClock, SlowScorer, drop_times, random_table

CLIMBING = ["hill_climb", "tabu", "ccma", "islands", "ges"]


@pytest.fixture
def clock(monkeypatch):
    """Score one variable at a time, as on a wide table."""
    monkeypatch.setattr(climbing, "FAMILIES_PER_BATCH", 1)
    monkeypatch.setattr(ges_operators, "FAMILIES_PER_BATCH", 1)
    monkeypatch.setattr(masks, "PAIRS_PER_BATCH", 1)
    return MovedClock(monkeypatch)


@pytest.mark.parametrize("method", CLIMBING)
def test_gains_that_are_known_give_a_structure(method, clock, seed):
    """Time runs out before generation 0: each variable scored so far takes its best parent."""
    table = random_table(seed, 8)
    known = Constraints(forbidden=[(table.names[0], table.names[1])], max_parents=2)
    scorer = SlowScorer(table, "bic", clock=clock)
    scores = []
    for limit in (3, 6, 9, 12):
        budget = Budget(max_time=limit)
        found = run_search(method, scorer, budget=budget, constraints=known, random_state=seed)
        assert (found.stop_reason, found.generations, found.state) == ("time", 0, None)
        assert found.history == ()
        assert found.score == FamilyScorer(table, "bic").score(found.dag)
        assert known.to_rules(table.names).is_satisfied_by(found.dag.adjacency())
        assert found.seconds <= limit + 2
        scores.append(found.score)
        scorer = SlowScorer(table, "bic", clock=clock)
    assert scores == sorted(scores)
    assert scores[-1] > scores[0]


@pytest.mark.parametrize("method", ["hill_climb", "ccma", "ges"])
def test_moves_of_an_unfinished_step_are_used(method, monkeypatch, seed):
    table, clock = random_table(seed, 8), MovedClock(monkeypatch)
    right = run_search(method, FamilyScorer(table, "bic"), random_state=seed)
    first = right.history[0].score
    seen = set()
    for limit in range(1, 12):
        scorer = SlowScorer(table, "bic", clock=clock)
        found = run_search(method, scorer, budget=Budget(max_time=limit), random_state=seed)
        if found.generations == 0 and found.history:
            seen.add(found.score)
            assert found.history[0].score == first
    assert len(seen) > 1
    assert max(seen) > first


def test_best_parents_close_no_cycle(seed):
    rng = np.random.default_rng(seed)
    for _ in range(50):
        table = random_table([seed, 1], 7)
        problem = Problem.from_scorer(FamilyScorer(table), Constraints(max_parents=1))
        gains = rng.normal(size=(7, 7))
        known = np.flatnonzero(rng.random(7) < 0.7).tolist()
        gains[:, np.setdiff1d(np.arange(7), known)] = -np.inf
        found = sparse_climb.add_best_parents(problem, ((v, gains[:, v]) for v in known))
        problem.make_dag(found)  # raises if there is a cycle
        assert problem.rules.is_satisfied_by(found)
        assert (gains[found] > 0).all()
        free = np.flatnonzero(~found.any(axis=0))
        best = np.where(problem.rules.allowed, gains, -np.inf).max(axis=0)
        reach = np.linalg.matrix_power(np.eye(7, dtype=int) + found, 7) > 0
        for child in free.tolist():  # it has no gain, or its best parent is its descendant
            parent = int(np.where(problem.rules.allowed, gains, -np.inf)[:, child].argmax())
            assert best[child] <= 1e-9 or reach[child, parent]


@pytest.mark.parametrize("limit", [1, 7, 20])
def test_the_parts_of_k2_give_its_structure(limit, monkeypatch, seed):
    table = random_table(seed, 8)
    right = run_search(K2(), FamilyScorer(table, "k2"), random_state=seed)
    monkeypatch.setattr(k2, "FAMILIES_PER_STEP", limit)
    found = run_search(K2(), FamilyScorer(table, "k2"), random_state=seed)
    assert (found.dag, found.score) == (right.dag, right.score)
    assert found.evaluations == right.evaluations
    assert found.generations > right.generations
    half = run_search(
        K2(), FamilyScorer(table, "k2"), random_state=seed, budget=Budget(max_generations=3)
    )
    after = run_search(K2(), FamilyScorer(table, "k2"), random_state=seed, state=half.state)
    assert after.dag == right.dag
    whole = drop_times(found.history)
    assert drop_times(half.history) == whole[:4]


def test_a_long_table_has_smaller_steps(monkeypatch, seed):
    table = random_table(seed, 6, 200)
    monkeypatch.setattr(k2, "WORK_PER_STEP", 200 * 4)
    found = run_search(make_method("k2", "test"), FamilyScorer(table, "k2"), random_state=seed)
    assert found.generations > 3


@pytest.mark.parametrize(("limit", "extra"), [(10.0, 0.15), (100.0, 1.5)])
def test_a_step_is_dropped_soon_after_the_limit(limit, extra):
    """The rest of the grace, 5 % or half a second, is for the result."""
    loop = object.__new__(_Loop)
    loop.budget, loop.started_at = Budget(max_time=limit), measure_work_time()
    assert loop._find_deadline() == pytest.approx(loop.started_at + limit + extra)
    loop.budget = Budget()
    assert loop._find_deadline() == np.inf
