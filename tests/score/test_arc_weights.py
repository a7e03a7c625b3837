"""The weight of an arc is added to the score of every family that has the arc, and to no other."""

import itertools
import math

import numpy as np
import pytest

import naive
from coevo.errors import GraphError, ParameterError
from coevo.graph import DAG
from coevo.score import FamilyBatch, FamilyScorer
from coevo.search import K2, Budget, run_search
from helpers.errors import refusal
from helpers.problems import random_table

ORDER = tuple(f"v00{i}" for i in range(5))


@pytest.fixture
def dataset(seed):
    return random_table(seed, n_variables=5)


def random_weights(names, seed):
    rng = np.random.default_rng([seed, 17])
    arcs = list(itertools.permutations(names, 2))
    chosen = [arcs[i] for i in rng.permutation(len(arcs))[:8]]
    return {arc: float(weight) for arc, weight in zip(chosen, rng.normal(size=8), strict=True)}


def test_the_weights_of_the_parents_are_added(dataset, seed):
    names = dataset.names
    weights = random_weights(names, seed)
    plain, weighted = FamilyScorer(dataset, "bic"), FamilyScorer(dataset, "bic", weights=weights)
    families = [
        (child, parents)
        for child in range(5)
        for size in range(4)
        for parents in itertools.combinations([v for v in range(5) if v != child], size)
    ]
    batch = FamilyBatch.from_pairs(families)
    extra = [
        math.fsum(weights.get((names[p], names[child]), 0.0) for p in parents)
        for child, parents in families
    ]
    for _ in range(2):  # first computed, then cached
        found = weighted.local_scores(batch)
        assert found == pytest.approx(plain.local_scores(batch) + extra, abs=1e-9)
    dag = DAG(names, [(names[0], names[1]), (names[2], names[1])])
    expected = plain.score(dag) + sum(weights.get(arc, 0.0) for arc in dag.arcs)
    assert weighted.score(dag) == pytest.approx(expected)
    assert weighted.weights == weights
    assert plain.weights == {}
    assert len(weighted.local_scores(FamilyBatch.from_pairs([]))) == 0


@pytest.mark.parametrize("weighted", [False, True])
def test_each_parent_costs_the_penalty(weighted, dataset, seed):
    weights = random_weights(dataset.names, seed) if weighted else None
    plain = FamilyScorer(dataset, "k2", weights=weights)
    penalised = FamilyScorer(dataset, "k2", weights=weights, parent_penalty=1.75)
    families = [(0, ()), (0, (1,)), (3, (0, 4)), (2, (0, 1, 3, 4))]
    batch = FamilyBatch.from_pairs(families)
    expected = plain.local_scores(batch) - [1.75 * len(parents) for _, parents in families]
    assert penalised.local_scores(batch) == pytest.approx(expected, abs=1e-9)
    assert (penalised.parent_penalty, plain.parent_penalty) == (1.75, 0.0)
    assert penalised.weights == plain.weights
    assert FamilyScorer(dataset, parent_penalty=1.75).favours_arcs is False


@pytest.mark.parametrize("score", ["k2", "bic"])
@pytest.mark.parametrize("method", ["ccma", "hill_climb", "tabu"])
def test_a_search_pays_the_penalty(method, score, dataset, seed):
    """The search finds the best DAG of four variables, which enumeration finds too."""
    rows = random_table(seed, n_variables=4)
    arities = rows.arities.tolist()
    for penalty in (0.5, 3.0, 1e6):
        best = max(
            naive.structure_score(score, rows.codes.T.tolist(), arities, arcs) - penalty * len(arcs)
            for arcs in naive.all_dags(4)
        )
        scorer = FamilyScorer(rows, score, parent_penalty=penalty)
        found = run_search(method, scorer, random_state=seed)
        assert found.score == scorer.score(found.dag)
        assert found.score <= best + 1e-9
        if method == "ccma":
            assert found.score == pytest.approx(best, abs=1e-8)
    assert found.dag.arcs == ()


def test_no_weights_cost_nothing(dataset):
    batch = FamilyBatch.from_pairs([(0, (1, 2)), (3, ())])
    found = [FamilyScorer(dataset, weights=w).local_scores(batch).tolist() for w in (None, {})]
    assert found[0] == found[1] == FamilyScorer(dataset).local_scores(batch).tolist()


@pytest.mark.parametrize("method", ["ccma", "hill_climb", K2(order=ORDER)])
def test_a_search_follows_the_weights(dataset, method):
    a, b = dataset.names[:2]
    budget = Budget(max_generations=20)
    for weight, expected in ((1e4, True), (-1e4, False)):
        weights = {(a, b): weight, (b, a): -1e4}
        scorer = FamilyScorer(dataset, "bdeu", weights=weights)
        result = run_search(method, scorer, budget=budget, random_state=1)
        assert ((a, b) in result.dag.arcs) == expected
        assert (b, a) not in result.dag.arcs


def test_refusals(dataset):
    a, b = dataset.names[:2]
    arc = f"{a!r} -> {b!r}"
    assert refusal(ParameterError, FamilyScorer, dataset, weights={(a, b): math.nan}) == (
        f"The weight of {arc} must be a number from -1,000,000 to 1,000,000; got nan."
    )
    assert refusal(GraphError, FamilyScorer, dataset, weights={(a, a): 1}) == (
        f"The arc {a!r} -> {a!r} has a weight, but it starts and ends at the same variable. "
        "Remove it."
    )
    assert refusal(GraphError, FamilyScorer, dataset, weights={(a, "zz"): 1}).startswith(
        f"The weight of {a!r} -> 'zz' names 'zz', which is not a variable."
    )
    assert refusal(ParameterError, FamilyScorer, dataset, weights={(a, b): 1e308}).endswith(
        "1e+308."
    )
    for penalty in (-1, math.nan, "2", 1e308):
        assert refusal(ParameterError, FamilyScorer, dataset, parent_penalty=penalty) == (
            "'parent_penalty' of FamilyScorer must be a number from 0 to 1,000,000; "
            f"got {penalty!r}."
        )
    assert refusal(ParameterError, FamilyScorer, dataset, weights=[(a, b)]) == (
        "'weights' of FamilyScorer must be a mapping of (parent, child) to a number; got "
        f"[({a!r}, {b!r})]."
    )
