"""The t-test agrees with SciPy, which the package itself does not need."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import stats

import naive
from coevo.experiments.t_test import (
    compute_paired_t_test,
    compute_t_tail,
    compute_t_test,
    correct_p_values,
)

CLOSE = 1e-10


@pytest.mark.parametrize(
    "freedom", [1, 1.5, 2, 3.7, 5, 10, 29.9, 30, 59.9, 60.1, 200, 1e3, 1e4, 1e6]
)
def test_the_tail_of_the_distribution(freedom):
    for t in [1e-3, 0.1, 0.5, 1, 1.5, 1.7, 1.75, 2, 3, 5, 8, 12, 20, 35]:
        expected = float(stats.t.sf(t, freedom))
        assert compute_t_tail(t, freedom) == pytest.approx(expected, rel=CLOSE)
    assert compute_t_tail(0.0, freedom) == 0.5


@pytest.mark.parametrize("has_equal_variances", [False, True])
def test_samples(has_equal_variances, seed):
    rng = np.random.default_rng(seed)
    for n, m, shift, scale in itertools.product([2, 3, 10, 100], [2, 7, 50], [0, 0.7, 4], [0.1, 3]):
        first, second = rng.normal(size=n) + shift, scale * rng.normal(size=m)
        for one, two in ((first, second), (second, first)):
            found = compute_t_test(one.tolist(), two.tolist(), has_equal_variances)
            both = stats.ttest_ind(one, two, equal_var=has_equal_variances)
            greater = stats.ttest_ind(
                one, two, equal_var=has_equal_variances, alternative="greater"
            )
            assert found.statistic == pytest.approx(float(both.statistic), rel=CLOSE)
            assert found.degrees_of_freedom == pytest.approx(float(both.df), rel=CLOSE)
            assert found.p_two_sided == pytest.approx(float(both.pvalue), rel=CLOSE)
            assert found.p_greater == pytest.approx(float(greater.pvalue), rel=CLOSE)


@pytest.mark.parametrize("t", [1e-8, 1e-3, 0.5, 1, 2, 1e3, 1e8])
def test_the_tail_of_one_degree_of_freedom(t):
    """The Cauchy distribution; SciPy has nine digits of the first one."""
    assert compute_t_tail(t, 1) == pytest.approx(math.atan2(1, t) / math.pi, rel=1e-13)


@pytest.mark.filterwarnings("ignore:Precision loss:RuntimeWarning")
def test_one_constant_sample():
    found = compute_t_test([1.0, 1.0, 1.0], [0.0, 0.5, 0.25])
    expected = stats.ttest_ind([1.0, 1.0, 1.0], [0.0, 0.5, 0.25], equal_var=False)
    assert found.p_two_sided == pytest.approx(float(expected.pvalue), rel=CLOSE)


def test_pairs(seed):
    rng = np.random.default_rng(seed)
    for n, shift, scale in itertools.product([2, 3, 20, 100], [0, 0.3, 4], [0.01, 3]):
        first = rng.normal(size=n)
        second = first + shift + scale * rng.normal(size=n)
        for one, two in ((first, second), (second, first)):
            found = compute_paired_t_test(one.tolist(), two.tolist())
            both = stats.ttest_rel(one, two)
            greater = stats.ttest_rel(one, two, alternative="greater")
            assert found.statistic == pytest.approx(float(both.statistic), rel=CLOSE)
            assert found.degrees_of_freedom == n - 1
            assert found.p_two_sided == pytest.approx(float(both.pvalue), rel=CLOSE)
            assert found.p_greater == pytest.approx(float(greater.pvalue), rel=CLOSE)


def test_holm(seed):
    rng = np.random.default_rng(seed)
    for n in (1, 2, 7, 50):
        p_values = rng.random(n) ** rng.integers(1, 6)
        p_values[: n // 3] = p_values[-1]  # ties
        expected = naive.correct_p_values(p_values.tolist())
        assert correct_p_values(p_values.tolist()) == pytest.approx(expected, rel=1e-12)
    assert correct_p_values([]) == []
