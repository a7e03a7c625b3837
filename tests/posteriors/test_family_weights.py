"""Weights of families: scores, priors, constraints, and the families outside the candidates."""

import itertools
import math

import numpy as np
import pytest

import naive
from coevo import Constraints, FamilyScorer
from coevo.posteriors.family_weights import (
    ParentSets,
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
    for child, found in enumerate(list_log_weights(weights)):
        assert_same(found, list_naively(rows, child, prior))


def list_outside(candidates, sizes=(1, 2)):
    """Return all sets of these sizes with a parent that is no candidate."""
    sets = [
        (child, parents)
        for child, chosen in enumerate(candidates)
        for size in sizes
        for parents in itertools.combinations([v for v in range(5) if v != child], size)
        if not set(parents) <= set(chosen.tolist())
    ]
    begin = np.searchsorted([child for child, _ in sets], np.arange(6))
    start = np.cumsum([0, *(len(parents) for _, parents in sets)])
    return ParentSets(begin, start, np.array([p for _, s in sets for p in s], dtype=np.int32))


@pytest.mark.parametrize("prior", ["uniform", "fair"])
def test_outside_families_have_scores_and_priors_too(seed, prior):
    problem, rows = make_problem(seed)
    candidates = [np.array([v for v in range(5) if v != child][1:3]) for child in range(5)]
    weights = make_family_weights(problem, candidates, prior, list_outside(candidates))
    assert weights.n_scored == 5 * 4 + len(weights.outside.log_weight)
    for child, found in enumerate(list_log_weights(weights)):
        families = list_naively(rows, child, prior)
        inside = set(candidates[child].tolist())
        assert_same(found, {p: w for p, w in families.items() if p <= inside or 0 < len(p) < 3})


def test_outside_families_are_sorted_and_ascending(seed):
    problem, _ = make_problem(seed)
    candidates = [np.array([(v + 1) % 5]) for v in range(5)]
    out = make_family_weights(problem, candidates, "fair", list_outside(candidates)).outside
    assert out.begin[-1] == len(out.log_weight) == len(out.start) - 1
    for v in range(5):
        weights = out.log_weight[out.begin[v] : out.begin[v + 1]]
        assert len(weights) > 0
        assert (np.diff(weights) <= 0).all()
    for f in range(len(out.log_weight)):
        assert (np.diff(out.parents[out.start[f] : out.start[f + 1]]) > 0).all()


def test_known_tables_are_not_scored_again(seed):
    problem, _ = make_problem(seed)
    candidates = [np.array([v for v in range(5) if v != child][:3]) for child in range(5)]
    first = make_family_weights(problem, candidates)
    candidates[2] = np.array([1, 3, 4])
    again = make_family_weights(problem, candidates, known=first)
    assert again.n_scored == 8
    assert [again.tables[v] is first.tables[v] for v in range(5)] == [v != 2 for v in range(5)]
    np.testing.assert_array_equal(
        again.tables[2], make_family_weights(problem, candidates).tables[2]
    )


def test_constraints_exclude_families(seed):
    names = [f"v{i:03d}" for i in range(5)]
    known = Constraints(
        max_parents=2, required=[(names[0], names[1])], forbidden=[(names[4], names[1])]
    )
    problem, rows = make_problem(seed, constraints=known)
    candidates = [np.array([v for v in range(5) if v != child][:3]) for child in range(5)]
    found = list_log_weights(make_family_weights(problem, candidates))[1]
    families = {p: w for p, w in list_naively(rows, 1).items() if len(p) <= 2}
    assert_same(found, {p: w for p, w in families.items() if 0 in p and 4 not in p})
