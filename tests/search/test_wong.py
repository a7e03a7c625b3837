"""Wong's hybrid: what its tests keep, and what its network collects."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.stats import chi2

import naive
from coevo.bundled import load_network
from coevo.data import Dataset, Variable
from coevo.errors import ParameterError
from coevo.graph import Constraints
from coevo.network import sample
from coevo.score import FamilyScorer
from coevo.search import Budget, run_search
from coevo.search.base import Problem
from coevo.search.wong import Wong, WongNetwork
from contracts import SearchContract
from helpers.errors import refusal
from helpers.problems import collect_states


class TestWong(SearchContract):
    def make_method(self, names):
        return Wong(population=6)


class TestWongWithoutBelief(SearchContract):
    def make_method(self, names):
        return Wong(population=4, belief=2.0, cutoff=1.0, p_crossover=1.0, p_mutation=1.0)


class _Oracle(FamilyScorer):
    """A scorer whose tests know the true structure."""

    def __init__(self, rows, dag):
        super().__init__(rows, "bic")
        self._dag = dag

    def test_triples(self, triples, test="g2"):
        names, found = self.dataset.names, []
        for begin, end in itertools.pairwise(triples.start.tolist()):
            x, y, *given = (names[i] for i in triples.members[begin:end])
            found.append(float(self._dag.is_d_separated(x, y, given=given)))
        return _Answer(np.array(found))


class _Answer:
    def __init__(self, p_values):
        self.p_values = p_values


@pytest.mark.parametrize("name", ["asia", "survey", "sachs", "alarm"])
def test_with_perfect_tests_no_true_edge_is_lost(name):
    network = load_network(name)
    problem = Problem.from_scorer(_Oracle(sample(network, 50, 1), network.dag))
    states = collect_states(Wong(population=2), problem, 1, 2)
    candidates = states[-1].candidates
    names = problem.names
    for parent, child in network.dag.arcs:
        assert candidates[names.index(parent), names.index(child)]
    for x, y in itertools.combinations(names, 2):
        separated = any(
            network.dag.is_d_separated(x, y, given=given)
            for given in [(), *((z,) for z in names if z not in (x, y))]
        )
        assert candidates[names.index(x), names.index(y)] != separated


def test_the_largest_p_value_of_a_pair_decides(seed):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 2, (5, 120))
    codes[1] = codes[0] ^ (rng.random(120) < 0.2)
    rows = Dataset([Variable(f"v{i}", ("a", "b")) for i in range(5)], list(codes))
    states = collect_states(Wong(population=2), Problem.from_scorer(FamilyScorer(rows)), seed, 1)
    data = rows.codes.T.tolist()
    for x, y in itertools.combinations(range(5), 2):
        given = [(), *((z,) for z in range(5) if z not in (x, y))]
        found = [naive.independence_test("g2", data, x, y, zs) for zs in given]
        p_values = [chi2.sf(statistic, freedom) for statistic, freedom in found]
        assert states[-1].candidates[x, y] == (max(p_values) <= 0.3)


def test_the_optimum_of_four_variables_is_found_from_most_seeds():
    found = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        codes = rng.integers(0, 2, (4, 300))
        codes[2] = (codes[0] | codes[1]) ^ (rng.random(300) < 0.1)
        codes[3] = codes[2] ^ (rng.random(300) < 0.2)
        rows = Dataset([Variable(f"v{i}", ("a", "b")) for i in range(4)], list(codes))
        scorer = FamilyScorer(rows, "bic")
        data = rows.codes.T.tolist()
        best = max(naive.structure_score("bic", data, [2] * 4, arcs) for arcs in naive.all_dags(4))
        method = Wong(cutoff=1.0)
        result = run_search(method, scorer, budget=Budget(max_generations=60), random_state=seed)
        found += result.score == pytest.approx(best)
    assert found > 5


def test_every_state_is_a_dag_whose_scores_are_right(seed):
    rows = sample(load_network("survey"), 300, seed)
    problem = Problem.from_scorer(FamilyScorer(rows, "bic"))
    last = -np.inf
    for state in collect_states(Wong(), problem, seed, 12):
        problem.make_dag(state.adjacency)  # raises if there is a cycle
        np.testing.assert_allclose(state.local, problem.local_scores(state.adjacency))
        assert state.score >= last
        last = state.score
        for child, (sets, scores) in enumerate(zip(state.sets, state.set_scores, strict=True)):
            known = np.isfinite(scores)
            assert (np.diff(scores[known]) <= 0).all()
            assert len({member.tobytes() for member in sets[known]}) == known.sum()
            assert not sets[:, child].any()


def test_belief_by_hand():
    """An arc binds if turning it would lose most of what it gains."""
    rows = sample(load_network("asia"), 2000, 3)
    scorer = FamilyScorer(rows, "bic")
    problem = Problem.from_scorer(scorer)
    dag = load_network("asia").dag
    names = problem.names
    adjacency = np.zeros((8, 8), dtype=bool)
    for parent, child in dag.arcs:
        adjacency[names.index(parent), names.index(child)] = True
    network = WongNetwork(problem, adjacency, problem.local_scores(adjacency))
    for belief in (0.0, 0.2, 0.6, 1.5):
        found, _ = network._find_binding_arcs(belief)
        for parent, child in dag.arcs:
            others = [p for p in dag.parents(child) if p != parent]
            gain = scorer.local_score(child, dag.parents(child)) - scorer.local_score(child, others)
            turned = scorer.local_score(parent, [*dag.parents(parent), child])
            turned -= scorer.local_score(parent, dag.parents(parent))
            share = 1 - max(0.0, turned) / gain if gain > 0 else 0.0
            expected = belief == 0 or share >= belief
            assert found[names.index(parent), names.index(child)] == expected
    barred, _ = network.find_barred(0.0)
    for ancestor, other in itertools.permutations(names, 2):
        is_descendant = ancestor in dag.ancestors(other)
        assert barred[names.index(other), names.index(ancestor)] == is_descendant


def test_constraints(seed):
    rows = sample(load_network("asia"), 500, seed)
    rules = Constraints(required=[("xray", "smoke")], forbidden=[("lung", "smoke")], max_parents=2)
    method = Wong(population=5)
    budget = Budget(max_generations=15)
    found = run_search(
        method, FamilyScorer(rows), constraints=rules, budget=budget, random_state=seed
    )
    arcs = set(found.dag.arcs)
    assert ("xray", "smoke") in arcs
    assert ("lung", "smoke") not in arcs
    assert max(len(found.dag.parents(node)) for node in found.dag.nodes) <= 2


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"cutoff": 2}, "'cutoff' of Wong must be a number from 0 to 1; got 2."),
        ({"belief": -1}, "'belief' of Wong must be a number >= 0; got -1."),
        ({"population": 1}, "'population' of Wong must be an int >= 2; got 1."),
        ({"test": "chi2"}, "'test' of Wong must be one of 'g2', 'x2'; got 'chi2'."),
    ],
)
def test_wrong_settings(settings, sentence):
    assert refusal(ParameterError, Wong, **settings) == sentence
