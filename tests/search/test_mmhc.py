"""MMHC finds the neighbours of its naive twin, and climbs between them only."""

from functools import cache, partial

import numpy as np
import pytest
import scipy.stats

import coevo
import naive
from coevo.errors import ParameterError
from coevo.graph import Constraints
from coevo.score import FamilyScorer
from coevo.search import MMHC, mmhc, run_search
from coevo.search.climbing import Move
from coevo.search.tabu import append_move, find_tabu_moves
from helpers.problems import random_table


@pytest.mark.parametrize("case", range(8))
def test_the_neighbours_equal_those_of_the_naive_twin(case, seed, monkeypatch):
    table = random_table([seed, case], n_variables=6, n_rows=200)
    test, most = [("g2", 3), ("x2", None), ("g2", 1), ("g2", 0)][case % 4]
    rows = table.codes.T.tolist()

    def run_test(x, t, given):
        statistic, freedom = naive.independence_test(test, rows, x, t, given)
        return statistic, scipy.stats.chi2.sf(statistic, freedom) if freedom else 1.0

    if case > 3:
        monkeypatch.setattr(mmhc, "TESTS_PER_STEP", 5)
    method = MMHC(test=test, alpha=0.1, max_given=most)
    found = run_search(method, FamilyScorer(table, "bic"))
    right = naive.mmpc(run_test, 6, 0.1, 9 if most is None else most)
    assert {t: set(np.flatnonzero(found.state.near[:, t]).tolist()) for t in range(6)} == right
    edges = {(x, t) for t in right for x in right[t] if t in right[x]}
    names = table.names
    assert {(names.index(a), names.index(b)) for a, b in found.dag.arcs} <= edges


def test_the_structure_is_a_local_optimum_inside_the_skeleton(seed):
    table = random_table(seed, n_variables=6, n_rows=300)
    scorer = FamilyScorer(table, "bic")
    found = run_search(MMHC(), scorer)
    arcs = {(table.names.index(a), table.names.index(b)) for a, b in found.dag.arcs}
    near = found.state.near & found.state.near.T
    rows, arities = table.codes.T.tolist(), table.arities.tolist()
    for _, _, _, after in naive.single_moves(6, arcs, lambda graph: True):
        if all(near[arc] for arc in after):
            assert naive.structure_score("bic", rows, arities, after) <= found.score + 1e-9


@pytest.mark.parametrize("case", range(8))
def test_the_climb_equals_its_naive_twin(case, seed):
    """The twin keeps the structures themselves. K2 has few ties."""
    table = random_table([seed, case], n_variables=5, n_rows=200)
    rows, arities = table.codes.T.tolist(), table.arities.tolist()
    length, max_stalled = [(100, 15), (3, 6), (1, 4), (100, 40)][case % 4]
    method = MMHC(alpha=0.9, max_given=0, tabu_list=length, max_stalled=max_stalled)
    found = run_search(method, FamilyScorer(table, "k2"))
    near = found.state.near & found.state.near.T
    score = cache(partial(naive.structure_score, "k2", rows, arities))
    right = naive.climb_with_tabu_list(
        score, 5, (), lambda arcs: all(near[arc] for arc in arcs), length, max_stalled
    )
    names = table.names
    assert {(names.index(a), names.index(b)) for a, b in found.dag.arcs} == right
    assert found.score == pytest.approx(score(right), abs=1e-8)


@pytest.mark.parametrize("case", range(5))
def test_tabu_moves_are_those_that_lead_back(case, seed):
    """Against the structures themselves, along random moves."""
    rng = np.random.default_rng([seed, case])
    visited, moves = [frozenset()], np.empty((0, 3), dtype=np.int64)
    for _ in range(40):
        legal = list(naive.single_moves(4, visited[-1], lambda _: True))
        length = int(rng.integers(1, 8))
        adjacency = np.zeros((4, 4), dtype=np.bool_)
        for arc in visited[-1]:
            adjacency[arc] = True
        earlier = visited[:-1][-length:]
        right = {(kind, a, b) for kind, a, b, after in legal if frozenset(after) in earlier}
        found = find_tabu_moves(adjacency, moves[max(0, len(moves) - length) :])
        assert found & {move[:3] for move in legal} == right
        assert all(kind != "add" or not adjacency[b, a] for kind, a, b in right)
        kind, a, b, after = legal[rng.integers(len(legal))]
        moves = append_move(moves, Move(kind, a, b, 0.0), 100)
        visited.append(frozenset(after))


def test_the_tabu_list_leaves_a_local_optimum():
    """Of a table of six variables: plain climbing ends below, and both end in a local optimum."""
    better = 0
    for case in range(20):
        scorer = FamilyScorer(random_table([7, case], n_variables=6, n_rows=120), "k2")
        plain = run_search(MMHC(alpha=0.9, tabu_list=0), scorer)
        listed = run_search(MMHC(alpha=0.9), scorer)
        assert listed.score >= plain.score - 1e-9
        better += listed.score > plain.score + 1e-6
    assert better >= 2


@pytest.mark.parametrize("limit", [1 << 16, 7])
def test_a_step_runs_a_limited_number_of_tests(limit, seed, monkeypatch):
    monkeypatch.setattr(mmhc, "TESTS_PER_STEP", limit)
    sizes = []

    class Noting(FamilyScorer):
        def test_triples(self, triples, test="g2"):
            sizes.append(len(triples))
            return super().test_triples(triples, test)

    table = random_table(seed, n_variables=6, n_rows=300)
    found = run_search(MMHC(alpha=0.2), Noting(table, "bic"))
    assert max(sizes) <= limit
    assert found.generations >= len(sizes)
    assert found.dag == run_search(MMHC(alpha=0.2), FamilyScorer(table, "bic")).dag


def test_alarm_has_few_wrong_edges():
    alarm = coevo.load_network("alarm")
    found = run_search(MMHC(), FamilyScorer(coevo.sample(alarm, 5000, random_state=1), "bic"))
    truth = {frozenset(arc) for arc in alarm.dag.arcs}
    edges = {frozenset(arc) for arc in found.dag.arcs}
    assert len(edges - truth) <= 2
    assert len(truth - edges) <= 8


def test_required_and_forbidden_arcs(seed):
    table = random_table(seed, n_variables=5, n_rows=300)
    a, b, c, *_ = table.names
    known = Constraints(required=[(a, b)], forbidden=[(b, c), (c, b)])
    found = run_search(MMHC(), FamilyScorer(table, "bic"), constraints=known)
    assert (a, b) in found.dag.arcs
    assert not {(b, c), (c, b)} & set(found.dag.arcs)
    assert not found.state.near[1, 2]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"test": "chi2"}, "'test' of MMHC must be one of 'g2', 'x2'; got 'chi2'."),
        ({"alpha": 0}, "'alpha' of MMHC must be a number between 0 and 1; got 0."),
        ({"max_given": -1}, "'max_given' of MMHC must be an int >= 0 or None; got -1."),
        ({"tabu_list": -1}, "'tabu_list' of MMHC must be an int >= 0; got -1."),
        ({"max_stalled": 0}, "'max_stalled' of MMHC must be an int >= 1; got 0."),
    ],
)
def test_bad_settings(settings, message):
    with pytest.raises(ParameterError) as caught:
        MMHC(**settings)
    assert str(caught.value) == message
