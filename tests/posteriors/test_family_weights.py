"""Weights of families: scores, priors, constraints, the families outside the candidates.

Candidates: what the archive and the gains choose, constraints and limits.
"""

import itertools
import math

import numpy as np
import pytest

import naive
from coevo import Constraints, FamilyScorer, load_network, sample
from coevo.errors import ParameterError
from coevo.posteriors.family_weights import (
    ParentSets,
    choose_candidates,
    make_complete_weights,
    make_family_weights,
)
from coevo.score import FamilyBatch
from coevo.search import CCMA, Budget, run_search
from coevo.search.base import Problem
from helpers.random_tables import dataset_of
from helpers.random_weights import list_log_weights

ARITIES = (2, 3, 2, 2, 3)
SCORE = {"ess": 1.0}


def make_small_problem(seed, n_rows=300, constraints=None):
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
    problem, rows = make_small_problem(seed)
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
    problem, rows = make_small_problem(seed)
    candidates = [np.array([v for v in range(5) if v != child][1:3]) for child in range(5)]
    weights = make_family_weights(problem, candidates, prior, list_outside(candidates))
    assert weights.n_scored == 5 * 4 + len(weights.outside.log_weight)
    for child, found in enumerate(list_log_weights(weights)):
        families = list_naively(rows, child, prior)
        inside = set(candidates[child].tolist())
        assert_same(found, {p: w for p, w in families.items() if p <= inside or 0 < len(p) < 3})


def test_outside_families_are_sorted_and_ascending(seed):
    problem, _ = make_small_problem(seed)
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
    problem, _ = make_small_problem(seed)
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
    problem, rows = make_small_problem(seed, constraints=known)
    candidates = [np.array([v for v in range(5) if v != child][:3]) for child in range(5)]
    found = list_log_weights(make_family_weights(problem, candidates))[1]
    families = {p: w for p, w in list_naively(rows, 1).items() if len(p) <= 2}
    assert_same(found, {p: w for p, w in families.items() if 0 in p and 4 not in p})


@pytest.fixture(scope="module")
def table():
    return sample(load_network("child"), 500, random_state=3)


def make_table_problem(table, constraints=None):
    return Problem.from_scorer(FamilyScorer(table, "bdeu", ess=1), constraints)


def search(problem):
    return run_search(
        CCMA(),
        problem.scorer,
        constraints=problem.constraints,
        budget=Budget(max_generations=40),
        random_state=1,
    ).state


def test_candidates_hold_the_parents_of_the_best_network(table):
    problem = make_table_problem(table)
    state = search(problem)
    chosen = choose_candidates(problem, state.archive, 6, state.adjacency[None])
    assert [len(c) for c in chosen] == 20 * [6]
    for child in range(20):
        adjacent = state.adjacency[:, child] | state.adjacency[child]
        if adjacent.sum() <= 6:
            assert set(np.flatnonzero(adjacent)) <= set(chosen[child].tolist())
        assert (np.diff(chosen[child]) > 0).all()
        assert child not in chosen[child]


def test_parents_of_better_families_come_first(table):
    problem = make_table_problem(table)
    archive = search(problem).archive
    for n_candidates in (2, 5):
        chosen = choose_candidates(problem, archive, n_candidates)
        for child in range(20):
            first = int(archive.begin[child])
            walked = list[int]()
            for family in range(first, int(archive.begin[child + 1])):
                walked += [p for p in archive.parents_of(family) if p not in walked]
            assert set(walked[:n_candidates]) <= set(chosen[child].tolist())


def test_without_an_archive_the_greedy_family_and_the_largest_gains_are_chosen(table):
    problem = make_table_problem(table)
    chosen = choose_candidates(problem, None, 4)
    child = 7

    def score_of(parents):
        return float(problem.scorer.local_scores(FamilyBatch.from_pairs([(child, parents)]))[0])

    best, score = (), score_of(())
    while True:
        more = [tuple(sorted((*best, v))) for v in range(20) if v != child and v not in best]
        scores = [score_of(family) for family in more]
        if max(scores) <= score:
            break
        best, score = more[scores.index(max(scores))], max(scores)
    assert 0 < len(best) <= 4
    assert set(best) <= set(chosen[child].tolist())


def test_required_arcs_are_candidates_and_forbidden_ones_are_not(table):
    names = table.names
    known = Constraints(
        required=[(names[i], names[9]) for i in (3, 4, 5)], forbidden=[(names[0], names[9])]
    )
    problem = make_table_problem(table, known)
    state = search(problem)
    for archive in (None, state.archive):
        assert choose_candidates(problem, archive, 2)[9].tolist() == [3, 4, 5]
        barred = state.adjacency[None].copy()
        barred[0, 0, 9] = True
        assert 0 not in choose_candidates(problem, archive, 12, barred)[9]


def test_bad_numbers_are_refused(table):
    problem = make_table_problem(table)
    with pytest.raises(ParameterError) as error:
        choose_candidates(problem, None, 0)
    assert str(error.value) == "'candidates' of posterior must be an int >= 1; got 0."


def test_tables_that_do_not_fit_are_refused_with_the_number_that_does(monkeypatch):
    from coevo.posteriors.chain_tables import check_table_memory

    monkeypatch.setattr("coevo.posteriors.chain_tables.get_machine_memory", lambda: 8 * 10**9)
    monkeypatch.setattr("coevo.runtime.memory.get_machine_memory", lambda: 8 * 10**9)
    check_table_memory(200, 18)
    with pytest.raises(ParameterError) as error:
        check_table_memory(200, 30)
    assert str(error.value) == (
        "A table of all sets of 30 candidates for 200 variables needs 17,179.9 GB of memory; this "
        "machine has 8.0 GB. Set 'candidates' to at most 18."
    )
