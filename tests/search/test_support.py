"""The support of an arc is the share of the last population that joins its variables."""

from __future__ import annotations

import numpy as np
import pytest

from coevo.graph import Constraints
from coevo.score import FamilyScorer
from coevo.search import CCGA, CCMA, Budget, Problem, run_search
from coevo.search.result import arc_support
from helpers.problems import decode_naively, random_constraints, random_table


def compute_shares(structures, n):
    """Count naively: the share of structures that connect two variables."""
    found = [[0.0] * n for _ in range(n)]
    for i in range(n):
        for j in range(n):
            joining = [arcs for arcs in structures if (i, j) in arcs or (j, i) in arcs]
            found[i][j] = len(joining) / len(structures)
    return found


def run(method, seed, known=None, n_steps=6):
    table = random_table(seed, n_variables=6)
    scorer = FamilyScorer(table, "k2")
    budget = Budget(max_generations=n_steps)
    found = run_search(method, scorer, constraints=known, budget=budget, random_state=seed)
    return found, Problem.from_scorer(scorer, known)


@pytest.mark.parametrize("case", range(4))
def test_orders_with_the_best_mask_and_masks_with_the_best_order(case, seed):
    names = random_table(seed + case, n_variables=6).names
    known = random_constraints(np.random.default_rng([seed, case]), names) if case else None
    found, problem = run(CCGA(population=7), seed + case, known)
    state = found.state
    best_order = state.orders[np.argmax(state.order_scores)]
    best_mask = state.masks[np.argmax(state.mask_scores)]
    pairs = [(order, best_mask) for order in state.orders]
    pairs += [(best_order, mask) for mask in state.masks]
    structures = [decode_naively(order, mask, problem.rules) for order, mask in pairs]
    assert found.support.tolist() == compute_shares(structures, 6)


@pytest.mark.parametrize("case", range(4))
def test_orders_with_the_families_that_they_have_chosen(case, seed):
    names = random_table(seed + case, n_variables=6).names
    known = random_constraints(np.random.default_rng([seed, case]), names) if case else None
    found, problem = run(CCMA(orders=5, masks=3), seed + case, known, n_steps=8)
    state, scorer = found.state, problem.scorer
    assert len(state.orders) == 5
    structures = []
    for order, choice in zip(state.orders.tolist(), state.choice.tolist(), strict=True):
        families = [state.archive.parents_of(family) for family in choice]
        arcs = {(parent, child) for child, own in enumerate(families) for parent in own}
        assert all(order.index(parent) < order.index(child) for parent, child in arcs)
        adjacency = np.zeros((6, 6), dtype=bool)
        adjacency[tuple(np.array(sorted(arcs), dtype=int).reshape(-1, 2).T)] = True
        assert problem.rules.is_satisfied_by(adjacency)
        held = sum(state.archive.score[family] for family in choice)
        assert held == pytest.approx(scorer.score(problem.make_dag(adjacency)))
        structures.append(arcs)
    assert found.support.tolist() == compute_shares(structures, 6)


def test_a_required_arc_is_in_all_and_a_forbidden_pair_in_none(seed):
    names = random_table(seed, n_variables=6).names
    known = Constraints(
        required=[(names[4], names[1])],
        forbidden=[(names[0], names[2]), (names[2], names[0])],
    )
    for method in (CCGA(population=6), CCMA(orders=4, masks=2)):
        support = run(method, seed, known)[0].support
        assert support[4, 1] == support[1, 4] == 1
        assert support[0, 2] == support[2, 0] == 0


def test_without_a_population_there_is_no_support(seed):
    assert run("hill_climb", seed)[0].support is None
    assert run("k2", seed)[0].support is None
    assert run("ccma", seed, n_steps=0)[0].support is None  # hill climbing
    assert run("ccga", seed, n_steps=0)[0].support is not None
    assert arc_support([]) is None
