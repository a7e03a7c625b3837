"""Diagnostics of chains: figures of made-up chains with known answers."""

import dataclasses
import math

import numpy as np
import pytest

from coevo.posteriors.chain_state import ChainSettings
from coevo.posteriors.chain_tables import prepare_tables
from coevo.posteriors.chains import start_chains
from coevo.posteriors.diagnostics import (
    compute_trace_r_hat,
    compute_trace_size,
    diagnose_chains,
)
from helpers.random_weights import make_random_weights


def make_state(means, seed=0):
    """Return a state of 3 variables with the given means of batches, (chains, 64, 6)."""
    n_chains = len(means)
    settings = ChainSettings(chains=n_chains, rounds=10, max_dags=64)
    state = start_chains(prepare_tables(make_random_weights(3, 0)), settings)
    trace = np.random.default_rng(seed).normal(size=(n_chains, 64))
    return dataclasses.replace(
        state, step=np.array(64), arc_sums=10 * means, trace=trace, stride=np.array(10)
    )


def make_means(seed, n_chains, p=0.3, spread=0.05):
    rng = np.random.default_rng(seed)
    return np.full((n_chains, 64, 6), p) + rng.normal(0, spread, (n_chains, 64, 6))


def test_chains_that_agree(seed):
    found = diagnose_chains(make_state(make_means(seed, 4)))
    assert found.is_converged(0.05)
    assert found.n_disagreements == 0
    assert found.n_rounds == 320
    off = ~np.eye(3, dtype=bool)
    np.testing.assert_allclose(found.arcs[off], 0.3, atol=0.03)
    assert (found.r_hat[off] < 1.01).all()
    # 4 x 32 batch means with standard deviation 0.05: the variance of the mean is 0.05^2 / 128
    expected = 0.3 * 0.7 / (0.05**2 / 128)
    assert expected / 4 < np.median(found.effective_size[off]) < 1.3 * expected
    assert (np.diag(found.arcs) == 0).all()


def test_the_error_of_an_edge_whose_direction_alone_is_uncertain(seed):
    """The two arcs of an edge add up to 1 in each batch: each is uncertain, the edge is not."""
    means = make_means(seed, 4)
    pairs = [tuple(pair) for pair in make_state(means).pairs.tolist()]
    forward, backward = pairs.index((0, 1)), pairs.index((1, 0))
    means[:, :, backward] = 1 - means[:, :, forward]
    found = diagnose_chains(make_state(means))
    assert found.standard_error[0, 1] > 0.002
    assert found.edge_error[0, 1] == found.edge_error[1, 0] < 1e-9
    other = found.standard_error[0, 2] ** 2 + found.standard_error[2, 0] ** 2
    assert found.edge_error[0, 2] == pytest.approx(math.sqrt(other), rel=0.8)


def test_a_chain_that_is_stuck_elsewhere(seed):
    means = make_means(seed, 4)
    means[2, :, 1] = 0.9
    state = make_state(means)
    found = diagnose_chains(state)
    u, v = state.pairs[1]
    assert found.largest_difference == pytest.approx(0.6, abs=0.04)
    assert not found.is_converged(0.05)
    assert found.n_disagreements == 1
    assert found.r_hat[u, v] > 1.1
    assert found.effective_size[u, v] < 50


def test_chains_that_never_move_and_disagree(seed):
    means = make_means(seed, 2)
    means[0, :, 3], means[1, :, 3] = 0.0, 1.0
    state = make_state(means)
    u, v = state.pairs[3]
    found = diagnose_chains(state)
    assert found.largest_difference == 1.0
    assert found.r_hat[u, v] == math.inf
    assert found.effective_size[u, v] <= 4


def test_an_arc_that_is_always_there(seed):
    means = make_means(seed, 2)
    means[:, :, 0] = 1.0
    state = make_state(means)
    u, v = state.pairs[0]
    found = diagnose_chains(state)
    assert (found.r_hat[u, v], found.effective_size[u, v]) == (1.0, math.inf)
    assert found.standard_error[u, v] == 0.0


def test_a_single_chain_is_compared_with_itself(seed):
    means = make_means(seed, 1)
    means[0, 48:, 2] += 0.5
    found = diagnose_chains(make_state(means))
    assert found.largest_difference == pytest.approx(0.5, abs=0.1)
    assert found.n_disagreements == 1


def test_too_few_steps_are_never_converged(seed):
    state = dataclasses.replace(make_state(make_means(seed, 4)), step=np.array(3))
    found = diagnose_chains(state)
    assert not found.is_converged(0.5)
    assert found.largest_difference == 1.0


def test_trace_figures_of_independent_draws(seed):
    draws = np.random.default_rng(seed).normal(size=(4, 1000))
    assert compute_trace_r_hat(draws) < 1.01
    assert 3000 < compute_trace_size(draws) < 5500


def test_trace_size_of_an_autoregressive_chain(seed):
    """A chain with correlation r at lag 1 has the effective size n (1 - r) / (1 + r)."""
    rng, r = np.random.default_rng(seed), 0.8
    draws = rng.normal(size=(4, 4000))
    for t in range(1, 4000):
        draws[:, t] = r * draws[:, t - 1] + math.sqrt(1 - r * r) * draws[:, t]
    expected = 16_000 * (1 - r) / (1 + r)
    assert compute_trace_size(draws) == pytest.approx(expected, rel=0.25)


def test_trace_r_hat_sees_a_shift_and_a_change_of_scale(seed):
    draws = np.random.default_rng(seed).normal(size=(4, 500))
    assert compute_trace_r_hat(draws + np.array([[0], [0], [0], [2]])) > 1.2
    assert compute_trace_r_hat(draws * np.array([[1], [1], [1], [8]])) > 1.2
    assert compute_trace_r_hat(np.ones((2, 100))) == 1.0
