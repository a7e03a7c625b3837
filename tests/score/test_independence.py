"""Tests of independence equal the direct sum over strata, and their p-values are exact."""

import dataclasses
import decimal
import itertools

import numpy as np
import pytest
import scipy.special
import scipy.stats

import naive
from coevo.data import IncompleteDataset
from coevo.errors import ParameterError
from coevo.missing import AvailableScorer, ExpectedScorer
from coevo.score import TESTS, FamilyScorer, TripleBatch
from coevo.score import independence as independence_module
from coevo.score import scorer as scorer_module
from coevo.score.independence import compute_p_values
from helpers.problems import random_table
from helpers.random_tables import SHAPES, dataset_of, random_codes

TIGHT = {"rel": 1e-11, "abs": 1e-9}


def random_triples(n_variables, n_triples, most_given, seed):
    rng = np.random.default_rng(seed)
    triples = []
    for _ in range(n_triples):
        size = int(rng.integers(0, most_given + 1))
        x, y, *given = rng.permutation(n_variables)[: size + 2].tolist()
        triples.append((x, y, tuple(given)))
    return triples


def run(scorer, triples, test="g2"):
    return scorer.test_triples(TripleBatch.from_triples(triples), test)


def check(found, test, rows, triples, weights=None):
    right = [naive.independence_test(test, rows, *triple, weights) for triple in triples]
    assert found.statistics.tolist() == pytest.approx([s for s, _ in right], **TIGHT)
    assert found.degrees_of_freedom.tolist() == [df for _, df in right]
    tails = [scipy.stats.chi2.sf(s, df) if df else 1.0 for s, df in right]
    assert found.p_values.tolist() == pytest.approx(tails, rel=1e-8, abs=1e-12)


@pytest.mark.kernel
@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("shape", ["skewed", "mixed", "wide"])
def test_tests_equal_the_direct_sum(shape, test, seed):
    arities, codes = random_codes(shape, seed, n_rows=70)
    triples = random_triples(len(arities), 12, 3, seed)
    found = run(FamilyScorer(dataset_of(arities, codes)), triples, test)
    check(found, test, codes.T.tolist(), triples)


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("n_rows", [1, 64, 700, 4100])
def test_tests_equal_the_direct_sum_for_any_number_of_rows(shape, n_rows, test, seed):
    arities, codes = random_codes(shape, seed, n_rows)
    triples = random_triples(len(arities), 40, 5, seed)
    found = run(FamilyScorer(dataset_of(arities, codes)), triples, test)
    check(found, test, codes.T.tolist(), triples)


@pytest.mark.kernel
@pytest.mark.parametrize("test", TESTS)
def test_strata_beyond_every_integer_type(test, seed):
    """17 variables of 16 states have 2**68 strata, of which at most 30 occur."""
    rng = np.random.default_rng(seed)
    codes = np.vstack(
        [rng.integers(0, 2, (2, 200)), rng.integers(0, 16, (17, 30))[:, np.arange(200) % 30]]
    )
    weights = rng.integers(1, 9, 200)
    triples = [(0, 1, range(2, 19)), (18, 0, (1, *range(2, 18))), (2, 1, ())]
    dataset = dataset_of([2, 2, *[16] * 17], codes, weights)
    check(
        run(FamilyScorer(dataset), triples, test), test, codes.T.tolist(), triples, weights.tolist()
    )


@pytest.mark.parametrize("test", TESTS)
def test_tables_and_rows_give_the_same_numbers(test, seed, monkeypatch):
    arities, codes = random_codes("skewed", seed, n_rows=300)
    triples = random_triples(8, 60, 6, seed)
    dataset = dataset_of(arities, codes)
    dense = run(FamilyScorer(dataset), triples, test)
    monkeypatch.setattr(scorer_module, "compute_dense_limit", lambda n_rows: 1)
    sparse = run(FamilyScorer(dataset), triples, test)
    assert sparse.statistics == pytest.approx(dense.statistics, **TIGHT)
    assert sparse.degrees_of_freedom.tolist() == dense.degrees_of_freedom.tolist()


@pytest.mark.parametrize("test", TESTS)
def test_weighted_rows_are_repeated_rows(test, seed):
    arities, codes = random_codes("skewed", seed, n_rows=60)
    weights = np.random.default_rng(seed).integers(1, 9, 60)
    triples = random_triples(8, 30, 4, seed)
    weighted = run(FamilyScorer(dataset_of(arities, codes, weights)), triples, test)
    all_rows = dataset_of(arities, np.repeat(codes, weights, axis=1))
    repeated = run(FamilyScorer(all_rows), triples, test)
    check(weighted, test, codes.T.tolist(), triples, weights.tolist())
    assert weighted.statistics.tobytes() == repeated.statistics.tobytes()


def test_g2_is_twice_the_gain_in_log_likelihood(seed):
    dataset = random_table(seed, n_variables=6, n_rows=400)
    scorer = FamilyScorer(dataset, "loglik")
    names = dataset.names
    triples = random_triples(6, 30, 4, seed)
    gains = [
        scorer.local_score(names[x], [names[v] for v in (y, *given)])
        - scorer.local_score(names[x], [names[v] for v in given])
        for x, y, given in triples
    ]
    assert run(scorer, triples).statistics == pytest.approx(2 * np.array(gains), abs=1e-9)


@pytest.mark.parametrize(("test", "power"), [("g2", "log-likelihood"), ("x2", "pearson")])
def test_one_stratum_equals_the_test_of_scipy(test, power, seed):
    dataset = random_table(seed, n_variables=5, n_rows=200)
    pairs = list(itertools.combinations(range(5), 2))
    found = run(FamilyScorer(dataset), [(x, y, ()) for x, y in pairs], test)
    for i, (x, y) in enumerate(pairs):
        table = np.zeros(dataset.arities[[x, y]])
        np.add.at(table, (dataset.codes[x], dataset.codes[y]), 1)
        table = table[table.any(axis=1)][:, table.any(axis=0)]
        expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
        freedom = (table.shape[0] - 1) * (table.shape[1] - 1)
        right = scipy.stats.power_divergence(
            table, expected, ddof=table.size - 1 - freedom, axis=None, lambda_=power
        )
        assert found.statistics[i] == pytest.approx(right.statistic, rel=1e-11)
        assert found.degrees_of_freedom[i] == freedom
        assert found.p_values[i] == pytest.approx(right.pvalue, rel=1e-9, abs=1e-300)


@pytest.mark.kernel
@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("dense_limit", [None, 1])
def test_nothing_but_the_rows_changes_a_bit(test, dense_limit, seed, monkeypatch):
    """Threads, batches, the order of rows, and which variable comes first."""
    if dense_limit is not None:
        monkeypatch.setattr(scorer_module, "compute_dense_limit", lambda n_rows: dense_limit)
    arities, codes = random_codes("skewed", seed, n_rows=400)
    triples = random_triples(8, 300, 5, seed)
    right = run(FamilyScorer(dataset_of(arities, codes)), triples, test)
    turned = [(y, x, given[::-1]) for x, y, given in triples]
    shuffled = codes[:, np.random.default_rng(seed).permutation(400)]
    others = [
        run(FamilyScorer(dataset_of(arities, codes), n_jobs=3), triples, test),
        run(FamilyScorer(dataset_of(arities, shuffled)), triples, test),
        run(FamilyScorer(dataset_of(arities, codes)), turned, test),
    ]
    monkeypatch.setattr(scorer_module, "CELLS_PER_COUNT", 50)
    others.append(run(FamilyScorer(dataset_of(arities, codes)), triples, test))
    for other in others:
        for name in ("statistics", "degrees_of_freedom", "p_values"):
            assert getattr(other, name).tobytes() == getattr(right, name).tobytes()


def test_threads_share_tables_and_rows(seed, monkeypatch):
    parts = []
    threads = independence_module.Threads

    class Counting(threads):
        def run_in_parts(self, work, n_items, min_items, is_uneven=False):
            parts.append((n_items, min_items))
            super().run_in_parts(work, n_items, min_items, is_uneven)

    arities, codes = random_codes("wide", seed, n_rows=200)
    scorer = FamilyScorer(dataset_of(arities, codes), n_jobs=2)
    scorer.threads = Counting(2)
    run(scorer, [(0, 6, ()), (6, 7, ()), (0, 1, (2,)), (1, 3, (4, 5))])
    assert {(4, 64), (2, 4)} <= set(parts)  # two tests read rows


def test_scores_are_right_after_tests_and_tests_after_scores(seed):
    dataset = random_table(seed)
    scorer, triples = FamilyScorer(dataset, "k2"), random_triples(7, 50, 4, seed)
    first = run(scorer, triples)
    name = dataset.names[0]
    assert scorer.local_score(name) == FamilyScorer(dataset, "k2").local_score(name)
    assert run(scorer, triples).p_values.tobytes() == first.p_values.tobytes()


def test_an_interrupt_inside_a_batch_leaves_a_sound_scorer(seed, monkeypatch):
    dataset = random_table(seed)
    scorer, triples = FamilyScorer(dataset), random_triples(7, 50, 4, seed)

    def interrupt(*arguments):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(scorer_module, "evaluate_families", interrupt)
        with pytest.raises(KeyboardInterrupt):
            run(scorer, triples)
    right = run(FamilyScorer(dataset), triples)
    assert run(scorer, triples).p_values.tobytes() == right.p_values.tobytes()


def test_no_triples():
    assert len(run(FamilyScorer(dataset_of([2, 2], np.zeros((2, 4), dtype=int))), [])) == 0


def test_no_degrees_of_freedom_give_p_1():
    dataset = dataset_of([1, 2, 2], np.array([[0] * 4, [0, 1, 0, 1], [0, 1, 0, 1]]))
    found = run(FamilyScorer(dataset), [(0, 1, ()), (1, 2, ()), (1, 0, (2,))])
    assert found.degrees_of_freedom.tolist() == [0, 1, 0]
    assert found.p_values.tolist() == pytest.approx([1, scipy.stats.chi2.sf(8 * np.log(2), 1), 1])


@pytest.mark.parametrize("test", TESTS)
def test_rows_with_missing_values_are_left_out_test_by_test(test, seed):
    dataset = random_table(seed, n_variables=5, n_rows=150)
    missing = np.random.default_rng(seed).random(dataset.codes.shape) < 0.2
    triples = random_triples(5, 30, 3, seed)
    found = run(AvailableScorer(IncompleteDataset(dataset, missing)), triples, test)
    for i, (x, y, given) in enumerate(triples):
        complete = ~missing[[x, y, *given]].any(axis=0)
        rows = dataset.codes[:, complete].T.tolist()
        right = naive.independence_test(test, rows, x, y, given)
        assert (found.statistics[i], found.degrees_of_freedom[i]) == pytest.approx(right, **TIGHT)


def test_imputed_tables_give_the_mean_statistic(seed):
    datasets = [random_table([seed, i], n_variables=4, n_rows=90).codes % 2 for i in range(3)]
    tables = [dataset_of([2] * 4, codes) for codes in datasets]
    triples = random_triples(4, 10, 2, seed)
    found = run(ExpectedScorer(tables), triples)
    each = [run(FamilyScorer(table), triples) for table in tables]
    assert found.statistics == pytest.approx(np.mean([one.statistics for one in each], axis=0))
    freedoms = np.mean([one.degrees_of_freedom for one in each], axis=0)
    assert found.degrees_of_freedom == pytest.approx(freedoms)
    tails = scipy.stats.chi2.sf(found.statistics, freedoms)
    assert found.p_values == pytest.approx(np.where(freedoms > 0, tails, 1.0), rel=1e-11)


def exact_tail(statistic, freedom):
    """Return the tail for an even number of degrees of freedom: a sum of Poisson terms."""
    half = decimal.Decimal(statistic) / 2
    term, total = decimal.Decimal(1), decimal.Decimal(0)
    for k in range(int(freedom) // 2):
        total += term
        term = term * half / (k + 1)
    return total * (-half).exp()


@pytest.mark.kernel
def test_p_values_equal_exact_sums():
    freedoms = [2, 4, 18, 20, 22, 100, 5322, 14810, 100_000]
    cases = [
        (float(freedom * ratio), float(freedom))
        for freedom in freedoms
        for ratio in (1e-3, 0.5, 0.79, 0.81, 0.99, 1 + 1e-9, 1.01, 1.19, 1.21, 1.6, 3, 20, 140)
        if freedom * (ratio - 1 - np.log(ratio)) < 1300  # else it is not a normal float
    ]
    assert len(cases) > 80
    found = compute_p_values(*(np.array(column) for column in zip(*cases, strict=True)))
    with decimal.localcontext() as context:
        context.prec = 60
        for (statistic, freedom), p in zip(cases, found.tolist(), strict=True):
            right = exact_tail(statistic, freedom)
            assert abs(decimal.Decimal(p) - right) <= decimal.Decimal("1e-12") * right


def test_p_values_equal_those_of_scipy(seed):
    rng = np.random.default_rng(seed)
    freedoms = np.concatenate([rng.integers(1, 40, 3000), np.exp(rng.uniform(0, 14, 300)).round()])
    statistics = freedoms * np.exp(rng.uniform(-9, 4, len(freedoms)))
    near = freedoms + 5 * np.sqrt(2 * freedoms) * rng.normal(size=len(freedoms))
    statistics[::2] = np.abs(near)[::2]
    right = scipy.special.gammaincc(freedoms / 2, statistics / 2)
    found = compute_p_values(statistics, freedoms)
    small = freedoms < 40
    assert found[small] == pytest.approx(right[small], rel=1e-12, abs=1e-300)
    assert found == pytest.approx(right, rel=3e-11, abs=1e-300)  # SciPy's error for large ones
    assert ((found >= 0) & (found <= 1)).all()


@pytest.mark.kernel
def test_extreme_p_values():
    statistics = np.array([0.0, 0.0, 1e-300, 1e300, 5e4, 1e9, 1e9])
    freedoms = np.array([0.0, 3.0, 1.0, 1.0, 2.0, 1e9, 0.9e9])
    found = compute_p_values(statistics, freedoms)
    assert found.tolist()[:5] == [1.0, 1.0, 1.0, 0.0, 0.0]
    assert found[5] == pytest.approx(scipy.special.gammaincc(5e8, 5e8), rel=1e-9)
    assert found[6] == 0.0


@pytest.mark.parametrize(
    ("triples", "message"),
    [
        ([(0, 0, ())], "A triple names a variable twice."),
        ([(0, 1, (1,))], "A triple names a variable twice."),
        ([(0, 1, (2, 2))], "A triple names a variable twice."),
        ([(0, 7, ())], "A triple names variable 7; there are 3, counted from 0."),
        ([(0, -1, ())], "A triple names variable -1; there are 3, counted from 0."),
        ([(0, 1.5, ())], "A triple is two variables and the variables given, as numbers of "
         "variables."),
        ([(0, 1)], "A triple is two variables and the variables given, as numbers of variables."),
    ],
)  # fmt: skip
def test_bad_triples(triples, message):
    scorer = FamilyScorer(dataset_of([2, 2, 2], np.zeros((3, 4), dtype=int)))
    with pytest.raises(ParameterError) as caught:
        run(scorer, triples)
    assert str(caught.value) == message


def test_a_bad_test():
    scorer = FamilyScorer(dataset_of([2, 2], np.zeros((2, 4), dtype=int)))
    with pytest.raises(ParameterError) as caught:
        run(scorer, [(0, 1, ())], "g3")
    assert str(caught.value) == ("'test' of test_triples must be one of 'g2', 'x2'; got 'g3'.")


def test_a_triple_of_one_variable():
    scorer = FamilyScorer(dataset_of([2, 2, 2], np.zeros((3, 4), dtype=int)))
    batch = TripleBatch(np.array([0, 1, 2], dtype=np.int32), np.array([0, 2, 3]))
    with pytest.raises(ParameterError) as caught:
        scorer.test_triples(batch)
    assert str(caught.value) == "A triple has at least two variables."


def test_results_cannot_be_replaced():
    found = run(FamilyScorer(dataset_of([2, 2], np.zeros((2, 4), dtype=int))), [(0, 1, ())])
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.p_values = np.zeros(1)
