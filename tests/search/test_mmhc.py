"""MMHC finds the neighbours of its naive twin, and climbs between them only."""

import numpy as np
import pytest
import scipy.stats

import coevo
import naive
from coevo.errors import ParameterError
from coevo.graph import Constraints
from coevo.score import FamilyScorer
from coevo.search import MMHC, mmhc, run_search
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
        monkeypatch.setattr(mmhc, "TESTS_PER_BATCH", 5)
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
    ],
)
def test_bad_settings(settings, message):
    with pytest.raises(ParameterError) as caught:
        MMHC(**settings)
    assert str(caught.value) == message
