"""Weights of families: scores, priors, constraints, and the families outside the candidates."""

import itertools
import math

import numpy as np
import pytest

import naive
from coevo import Constraints, FamilyScorer
from coevo.averaging.family_weights import (
    NEGLIGIBLE,
    make_complete_weights,
    make_family_weights,
)
from coevo.search.base import Problem
from helpers.random_tables import dataset_of
from helpers.random_weights import list_log_weights

ARITIES = (2, 3, 2, 2, 3)
SCORE = {"ess": 1.0}


def make_problem(seed, n_rows=300, constraints=None):
    """Return a problem of five variables of which some depend on others, and its rows."""
    rng = np.random.default_rng(seed)
    codes = np.stack([rng.integers(arity, size=n_rows) for arity in ARITIES])
    codes[1] = np.where(rng.random(n_rows) < 0.8, codes[0] + codes[2], codes[1])
    codes[3] = np.where(rng.random(n_rows) < 0.9, codes[2], codes[3])
    scorer = FamilyScorer(dataset_of(ARITIES, codes), "bdeu", ess=1)
    return Problem.from_scorer(scorer, constraints), codes.T.tolist()


def list_naively(rows, child, prior="uniform", allowed=None):
    """Return {parent set: log weight} of all families of a child."""
    others = [v for v in range(5) if v != child] if allowed is None else allowed
    return {
        frozenset(parents): naive.local_score("bdeu", rows, ARITIES, child, parents, **SCORE)
        - (math.log(math.comb(4, k)) if prior == "fair" else 0.0)
        for k in range(len(others) + 1)
        for parents in itertools.combinations(others, k)
    }


def drop_naively(families, candidates, max_outside):
    """Return the families that stay and the sum of the bounds of the others."""
    known = {p: w for p, w in families.items() if p <= set(candidates) or len(p) <= max_outside}
    kept, dropped = {}, 0.0
    for parents, weight in known.items():
        below = math.fsum(math.exp(w - weight) for p, w in known.items() if p <= parents)
        if parents <= set(candidates) or 1 / below >= NEGLIGIBLE:
            kept[parents] = weight
        else:
            dropped += 1 / below
    return kept, dropped


def assert_same(found, expected):
    assert found.keys() == expected.keys()
    for parents, weight in expected.items():
        assert found[parents] == pytest.approx(weight, abs=1e-9)


@pytest.mark.parametrize("prior", ["uniform", "fair"])
def test_complete_weights_are_scores_and_priors(seed, prior):
    problem, rows = make_problem(seed)
    weights = make_complete_weights(problem, prior)
    assert weights.is_complete
    assert weights.n_scored == 5 * 16
    assert weights.dropped == 0.0
    for child, found in enumerate(list_log_weights(weights)):
        assert_same(found, list_naively(rows, child, prior))


@pytest.mark.parametrize("prior", ["uniform", "fair"])
@pytest.mark.parametrize("max_outside", [0, 1, 2, 3])
def test_outside_families_are_those_of_the_twin(seed, prior, max_outside):
    problem, rows = make_problem(seed)
    candidates = [np.array([v for v in range(5) if v != child][1:3]) for child in range(5)]
    weights = make_family_weights(problem, candidates, prior, max_outside)
    total = 0.0
    for child, found in enumerate(list_log_weights(weights)):
        families = list_naively(rows, child, prior)
        expected, dropped = drop_naively(families, candidates[child].tolist(), max_outside)
        assert_same(found, expected)
        total += dropped
    assert weights.dropped == pytest.approx(total, rel=1e-6, abs=1e-15)


def test_outside_families_are_sorted_and_ascending(seed):
    problem, _ = make_problem(seed)
    out = make_family_weights(
        problem, [np.array([(v + 1) % 5]) for v in range(5)], "fair", 3
    ).outside
    assert out.begin[-1] == len(out.log_weight) == len(out.start) - 1
    for v in range(5):
        weights = out.log_weight[out.begin[v] : out.begin[v + 1]]
        assert len(weights) > 0
        assert (np.diff(weights) <= 0).all()
    for f in range(len(out.log_weight)):
        assert (np.diff(out.parents[out.start[f] : out.start[f + 1]]) > 0).all()


def test_the_bound_on_dropped_families_holds(seed, monkeypatch):
    """The exact probability of all DAGs with a dropped family is at most the bound."""
    monkeypatch.setattr("coevo.averaging.family_weights.NEGLIGIBLE", 0.05)
    barred = Constraints(forbidden=[(f"v{i:03d}", "v004") for i in range(4)], leaves=["v004"])
    problem, rows = make_problem(seed, constraints=barred)
    candidates = [np.array([(v + 1) % 4]) for v in range(4)] + [np.empty(0, dtype=np.int64)]
    weights = make_family_weights(problem, candidates, "uniform", 2)
    kept = list_log_weights(weights)[:4]
    scaled = []  # without the last variable, which has no arcs; the exponentials stay in range
    for v in range(4):
        families = list_naively(rows, v, allowed=[u for u in range(4) if u != v])
        known = {p: w for p, w in families.items() if len(p) <= 2}
        scaled.append({p: w - max(known.values()) for p, w in known.items()})
    share = naive.shares(naive.dag_weights(4, scaled))
    lost = math.fsum(
        p
        for arcs, p in share.items()
        if any(frozenset(naive.parents_in(arcs, v)) not in kept[v] for v in range(4))
    )
    assert 0 < lost <= weights.dropped


def test_constraints_exclude_families(seed):
    names = [f"v{i:03d}" for i in range(5)]
    known = Constraints(
        max_parents=2, required=[(names[0], names[1])], forbidden=[(names[4], names[1])]
    )
    problem, rows = make_problem(seed, constraints=known)
    candidates = [np.array([v for v in range(5) if v != child][:2]) for child in range(5)]
    found = list_log_weights(make_family_weights(problem, candidates, "uniform", 3))[1]
    families = {p: w for p, w in list_naively(rows, 1).items() if len(p) <= 2}
    families = {p: w for p, w in families.items() if 0 in p and 4 not in p}
    expected, _ = drop_naively(families, candidates[1].tolist(), 3)
    assert_same(found, expected)
