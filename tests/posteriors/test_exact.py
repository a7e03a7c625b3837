"""The exact posterior agrees with the enumeration of all DAGs, for both priors."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from coevo.errors import ParameterError
from coevo.graph import Constraints
from coevo.posteriors import exact
from coevo.posteriors.exact import (
    MAX_EXACT,
    ExactSampler,
    compute_exact_posterior,
    estimate_exact_cost,
)
from coevo.posteriors.family_weights import (
    ParentSets,
    make_complete_weights,
    make_family_weights,
)
from coevo.score import FamilyScorer
from coevo.search.base import Problem
from helpers.family_tables import key_of, list_families, make_weights, random_rows
from helpers.problems import random_constraints, random_table, shuffle_table

PRIORS = ["uniform", "order"]
TOLERANCE = 1e-9
IMPOSSIBLE = (
    "No network is possible: every DAG has a family with the weight zero. Remove required or "
    "forbidden arcs, or raise the limit on the number of parents."
)


def check(weights, prior):
    """Expect the evidence and all arcs of the enumeration."""
    log_evidence, arcs = naive.posterior(weights.n_variables, list_families(weights), prior)
    found = compute_exact_posterior(weights, prior)
    assert found.log_evidence == pytest.approx(log_evidence, abs=TOLERANCE, rel=1e-12)
    assert np.abs(found.arcs - arcs).max() < TOLERANCE


def score_families(seed, score, n=4, family_prior="uniform", constraints=None, **options):
    """Return the weights of all families of a random table."""
    scorer = FamilyScorer(random_table(seed, n, 60), score, **options)
    return make_complete_weights(Problem.from_scorer(scorer, constraints), family_prior)


def test_the_number_of_dags():
    """With equal weights the evidence is the number of DAGs, or of DAGs with an order."""
    assert [len(naive.dags_with_orders(n)) for n in range(1, 6)] == [1, 3, 25, 543, 29281]
    for n, n_dags, n_pairs in [(5, 29281, 122880), (7, 1138779265, 2**21 * math.factorial(7))]:
        equal = make_weights(np.zeros((n, 1 << (n - 1))))
        assert np.exp(compute_exact_posterior(equal, "uniform").log_evidence) == pytest.approx(
            n_dags, rel=1e-12
        )
        assert np.exp(compute_exact_posterior(equal, "order").log_evidence) == pytest.approx(
            n_pairs, rel=1e-12
        )


@pytest.mark.kernel
@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_random_weights(n, prior, seed):
    rng = np.random.default_rng([seed, n])
    for spread, zeros in [(1.0, 0.0), (30.0, 0.5), (3000.0, 0.2)]:
        weights = make_weights(random_rows(rng, n, spread, zeros))
        check(weights, prior)
        drawn = ExactSampler(weights, prior).draw_dags(20, rng)
        possible = naive.weigh_dags(n, list_families(weights), prior)
        assert {key_of(matrix) for matrix in drawn} <= set(possible)


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("score", ["bdeu", "bds", "k2", "bic", "fnml", "qnml"])
def test_scores(score, prior, seed):
    check(score_families(seed, score), prior)


@pytest.mark.parametrize("prior", PRIORS)
def test_five_variables(prior, seed):
    check(score_families(seed, "bdeu", n=5, ess=1.0), prior)


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("family_prior", ["uniform", "fair"])
@pytest.mark.parametrize("case", range(6))
def test_constraints(case, family_prior, prior, seed):
    rng = np.random.default_rng([seed, case])
    names = random_table(seed, 4, 60).names
    known = random_constraints(rng, names)
    weights = score_families(seed, "bdeu", family_prior=family_prior, constraints=known)
    check(weights, prior)
    arcs = compute_exact_posterior(weights, prior).arcs
    rules = known.to_rules(names)
    assert (arcs[~rules.allowed] == 0).all()
    assert arcs[rules.required] == pytest.approx(1.0, abs=TOLERANCE)


@pytest.mark.parametrize("prior", PRIORS)
def test_weights_of_arcs_and_a_limit_on_parents(prior, seed):
    one, two, *_ = random_table(seed, 4, 60).names
    options = {"weights": {(one, two): 0.9, (two, one): 0.05}, "parent_penalty": 0.5}
    plain = score_families(seed, "k2", constraints=Constraints(max_parents=2))
    weighted = score_families(seed, "k2", constraints=Constraints(max_parents=2), **options)
    check(weighted, prior)
    found = [compute_exact_posterior(w, prior).log_evidence for w in (plain, weighted)]
    assert found[0] != found[1]


@pytest.mark.parametrize("prior", PRIORS)
def test_pruned_weights(prior, seed):
    """Families outside the candidates count as well; others do not."""
    problem = Problem.from_scorer(FamilyScorer(random_table(seed, 4, 60), "bdeu"))
    candidates = [np.array(some) for some in ([2], [0, 3], [], [0, 1, 2])]
    sets = ParentSets(
        np.array([0, 2, 2, 5, 5]), np.array([0, 1, 3, 4, 6, 8]), np.array([1, 1, 3, 0, 0, 1, 1, 3])
    )
    weights = make_family_weights(problem, [c.astype(np.int64) for c in candidates], outside=sets)
    assert not weights.is_complete
    assert len(weights.outside.log_weight) > 3
    check(weights, prior)


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("most", [4, 3000])
def test_six_variables_with_integers(most, prior, seed):
    """Integer weights up to 2^3000, summed by another recursion without any round-off."""
    n = 6
    rng = np.random.default_rng([seed, most])
    logs = rng.integers(0, most, size=(n, 1 << (n - 1)))
    is_zero = rng.random(logs.shape) < 0.2
    found = compute_exact_posterior(
        make_weights(np.where(is_zero, -np.inf, logs * math.log(2))), prior
    )
    rows = [[0] * (1 << n) for _ in range(n)]
    for v, s in zip(*np.nonzero(~is_zero), strict=True):
        low = int(s) & ((1 << v) - 1)
        rows[v][low | (int(s) - low) << 1] = 1 << int(logs[v, s])
    total = naive.count_exactly(rows, prior)
    assert found.log_evidence == pytest.approx(math.log(total), rel=1e-12, abs=TOLERANCE)
    for parent, child in [(0, 1), (3, 2), (5, 0), (4, 5)]:
        with_arc = [list(row) for row in rows]
        with_arc[child] = [w * (p >> parent & 1) for p, w in enumerate(rows[child])]
        expected = Fraction(naive.count_exactly(with_arc, prior), total)
        assert found.arcs[parent, child] == pytest.approx(float(expected), abs=TOLERANCE)


LOG_WEIGHTS = st.one_of(
    st.just(-math.inf),
    st.floats(-3, 3),
    st.floats(-5000, 5000),
    st.sampled_from([-745.2, -700.0, 0.0, 650.0, 1e5, -1e5]),
)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.lists(LOG_WEIGHTS, min_size=4, max_size=4), min_size=3, max_size=3))
def test_any_weights_of_three_variables(rows):
    """No underflow, no nan, whatever the differences; or one sentence that nothing is possible."""
    weights = make_weights(rows)
    for prior in PRIORS:
        if naive.weigh_dags(3, list_families(weights), prior):
            check(weights, prior)
            drawn = ExactSampler(weights, prior).draw_dags(3, np.random.default_rng(0))
            possible = naive.weigh_dags(3, list_families(weights), prior)
            assert {key_of(matrix) for matrix in drawn} <= set(possible)
        else:
            for run in (compute_exact_posterior, ExactSampler):
                with pytest.raises(ParameterError) as caught:
                    run(weights, prior)
                assert str(caught.value) == IMPOSSIBLE


@settings(max_examples=25, deadline=None)
@given(st.lists(st.lists(LOG_WEIGHTS, min_size=8, max_size=8), min_size=4, max_size=4))
def test_any_weights_of_four_variables(rows):
    weights = make_weights([[0.0, *row[1:]] for row in rows])  # the empty DAG is possible
    for prior in PRIORS:
        check(weights, prior)


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("n", [3, 4])
def test_draws_have_the_probabilities_of_the_enumeration(n, prior):
    """The chi-square statistic of 20,000 draws is within five standard deviations."""
    weights = make_weights(random_rows(np.random.default_rng(n), n, 1.0, 0.1))
    logs = naive.weigh_dags(n, list_families(weights), prior)
    total = naive.log_sum(logs.values())
    number = 20_000
    drawn = ExactSampler(weights, prior).draw_dags(number, np.random.default_rng(1))
    counts = dict.fromkeys(logs, 0)
    for matrix in drawn:
        counts[key_of(matrix)] += 1  # an impossible DAG is a KeyError
    expected = {key: number * math.exp(log - total) for key, log in logs.items()}
    common = [key for key in logs if expected[key] >= 5]
    rare = [key for key in logs if expected[key] < 5]
    pairs = [(counts[key], expected[key]) for key in common]
    if rare:
        pairs.append((sum(counts[key] for key in rare), sum(expected[key] for key in rare)))
    statistic = sum((found - mean) ** 2 / mean for found, mean in pairs)
    assert abs(statistic - (len(pairs) - 1)) < 5 * math.sqrt(2 * len(pairs))
    assert len(pairs) > 15


@pytest.mark.parametrize("prior", PRIORS)
def test_draws_agree_with_the_arcs_of_a_larger_table(prior, seed):
    weights = score_families(seed, "bdeu", n=8)
    sampler = ExactSampler(weights, prior)
    posterior = compute_exact_posterior(weights, prior)
    drawn = sampler.draw_dags(5000, np.random.default_rng(seed))
    deviation = np.sqrt(posterior.arcs * (1 - posterior.arcs) / 5000)
    assert (np.abs(drawn.mean(axis=0) - posterior.arcs) <= 5 * deviation + 1e-3).all()
    assert sampler.log_evidence == pytest.approx(posterior.log_evidence, abs=TOLERANCE)


@pytest.mark.parametrize("prior", PRIORS)
def test_the_same_seed_gives_the_same_draws(prior, seed):
    """For any order of the columns, and for any division into calls."""
    table = random_table(seed, 5, 60)
    shuffled = shuffle_table(table, np.random.default_rng(1), "columns")
    drawn = []
    for rows in (table, shuffled):
        weights = make_complete_weights(Problem.from_scorer(FamilyScorer(rows, "bdeu")))
        drawn.append(ExactSampler(weights, prior).draw_dags(50, np.random.default_rng(seed)))
    assert np.array_equal(*drawn)
    sampler, rng = ExactSampler(weights, prior), np.random.default_rng(seed)
    parts = [sampler.draw_dags(number, rng) for number in (20, 0, 30)]
    assert np.array_equal(np.concatenate(parts), drawn[0])


def test_the_two_priors_differ():
    """An order prior favours DAGs with many orders."""
    equal = make_weights(np.zeros((3, 4)))
    found = [compute_exact_posterior(equal, prior).arcs[0, 1] for prior in PRIORS]
    assert found == pytest.approx([8 / 25, 0.25])


def test_bad_arguments(monkeypatch):
    equal = make_weights(np.zeros((3, 4)))
    for run in (compute_exact_posterior, ExactSampler):
        with pytest.raises(ParameterError) as caught:
            run(equal, "orders")
        assert str(caught.value) == (
            f"'prior' of {run.__name__} must be one of 'order', 'uniform'; got 'orders'. "
            "Did you mean 'order'?"
        )
    with pytest.raises(ParameterError) as caught:
        ExactSampler(equal, "order").draw_dags(-1, np.random.default_rng(0))
    assert str(caught.value) == "'number' of draw_dags must be an int >= 0; got -1."
    rows = np.zeros((3, 4))
    rows[1, 2] = np.nan
    with pytest.raises(ParameterError) as caught:
        compute_exact_posterior(make_weights(rows), "order")
    assert str(caught.value) == (
        "The log weights of the families have an entry that is nan or inf. Check the score."
    )
    monkeypatch.setitem(MAX_EXACT, "uniform", 2)
    with pytest.raises(ParameterError) as caught:
        compute_exact_posterior(equal, "uniform")
    assert str(caught.value) == (
        "The exact posterior under the prior 'uniform' is limited to 2 variables; these are 3. "
        "Sample from the posterior instead."
    )


def test_too_little_memory(monkeypatch):
    monkeypatch.setattr("coevo.runtime.memory.get_machine_memory", lambda: 1000)
    with pytest.raises(ParameterError) as caught:
        compute_exact_posterior(make_weights(np.zeros((6, 32))), "order")
    assert str(caught.value) == (
        "The exact posterior of 6 variables needs 0.0 GB of memory; this machine has 0.0 GB. "
        "Sample from it instead."
    )


def test_the_cost_grows_as_the_sums_do():
    for prior, growth in [("uniform", 3.0), ("order", 2.0)]:
        costs = [estimate_exact_cost(n, 3, prior) for n in range(5, MAX_EXACT[prior] + 1)]
        for small, large in itertools.pairwise(costs):
            assert large.operations > growth * small.operations
            assert large.n_bytes > 0.8 * growth * small.n_bytes
    assert estimate_exact_cost(12, 11, "uniform").seconds < 10
    assert estimate_exact_cost(20, 19, "order").n_bytes < 1e9
    assert estimate_exact_cost(10, 2, "order").n_families == 10 * (1 + 9 + 36)
    with pytest.raises(ParameterError, match="must be one of 'order', 'uniform'"):
        exact.estimate_exact_cost(10, 2, "fair")
