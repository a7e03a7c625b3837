"""The regret of a multinomial, against its definition."""

import math
from fractions import Fraction

import numpy as np
import pytest

import naive
from coevo.score import FamilyBatch, FamilyScorer
from coevo.score import scores as scores_module
from coevo.score.scores import (
    approximate_regret,
    compute_two_state_constants,
    tabulate_regret_by_states,
)
from helpers.random_tables import dataset_of

COUNTS = [0, 1, 2, 3, 17, 60, 127, 128, 129, 1000]


def enumerate_constant(n_states, n):
    """Return the sum of maximum likelihoods over all sequences of n observations."""
    total = 0.0
    for code in range(n_states**n):
        counts = [0] * n_states
        for place in range(n):
            counts[code // n_states**place % n_states] += 1
        total += np.prod([(k / n) ** k for k in counts if k])
    return total


@pytest.mark.parametrize(("n_states", "n"), [(2, 1), (2, 5), (3, 4), (4, 5), (5, 3)])
def test_the_oracle_is_the_sum_over_all_sequences(n_states, n):
    assert naive.log_regret(n_states, n) == pytest.approx(np.log(enumerate_constant(n_states, n)))


def test_constants_of_two_states():
    found = np.log(compute_two_state_constants(np.array(COUNTS)))
    assert found == pytest.approx([naive.log_regret(2, n) for n in COUNTS], abs=1e-11)


def sum_exactly(n):
    """Return the constant of two states as a fraction, by its definition."""
    terms = (math.comb(n, k) * k**k * (n - k) ** (n - k) for k in range(n + 1))
    return Fraction(sum(terms), n**n)


@pytest.mark.parametrize("n", [1, 2, 60, 126, 127])
def test_small_counts_are_summed(n):
    found = compute_two_state_constants(np.array([n]))[0]
    assert found == pytest.approx(float(sum_exactly(n)), rel=1e-14)


@pytest.mark.parametrize("n", [128, 129, 150, 400])
def test_the_series_ends_before_the_term_of_order_4(n):
    """Its error is the next two terms of the series of Ramanujan's Q function."""
    found = compute_two_state_constants(np.array([n]))[0]
    error = float(Fraction(float(found)) - sum_exactly(n))
    next_terms = 8992 / 12629925 * n**-4 - 163879 / 209018880 * math.sqrt(math.pi / 2) * n**-4.5
    assert error == pytest.approx(next_terms, abs=4e-15 * float(found))


@pytest.mark.parametrize("n_rows", COUNTS[1:])
def test_regret_by_states(n_rows):
    found = tabulate_regret_by_states(n_rows, 300)
    assert found[1:] == pytest.approx(
        [naive.log_regret(k, n_rows) for k in range(1, 301)], rel=1e-11, abs=1e-11
    )


def compute_regret(count, arity, parents=()):
    """Return the regret of equal rows: the likelihood is 1, so it is all that fNML subtracts.

    The second variable has a state that does not occur.
    """
    dataset = dataset_of([arity, 2], np.zeros((2, count), dtype=int))
    family = FamilyBatch.from_pairs([(0, parents)])
    return -FamilyScorer(dataset, "fnml").local_scores(family)[0]


@pytest.mark.kernel
@pytest.mark.parametrize("arity", [1, 2, 3, 4, 50, 3000])
def test_the_kernel_adds_states_one_by_one(arity, monkeypatch):
    for n in COUNTS[1:]:
        found = compute_regret(n, arity)
        assert found == pytest.approx(naive.log_regret(arity, n), rel=1e-11, abs=1e-11)
        if arity <= 50:
            assert compute_regret(n, arity, parents=[1]) == found  # nothing for a count of 0
        if n >= 128:  # beyond the table of constants
            with monkeypatch.context() as patch:
                patch.setattr(scores_module, "LONGEST_TABLE", 1)
                assert compute_regret(n, arity) == pytest.approx(found, abs=1e-4)


@pytest.mark.parametrize("n_rows", [1, 2, 100, 10_000, 10_000_000])
def test_many_states_are_approximated(n_rows):
    for n_states in (65_537, 200_000):
        exact = tabulate_regret_by_states(n_rows, n_states)[-1]
        found = float(approximate_regret(np.array([float(n_states)]), n_rows)[0])
        assert found == pytest.approx(exact, rel=1e-10, abs=0)
        assert found == pytest.approx(exact, rel=0, abs=3e-6)


@pytest.mark.parametrize("n_rows", [1, 100, 10_000])
def test_the_approximation_far_away(n_rows):
    far = approximate_regret(np.array([1e12, 1e200]), n_rows)
    assert np.diff(far) == pytest.approx(n_rows * np.log(1e188), rel=1e-9)
