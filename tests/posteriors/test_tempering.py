"""Parallel tempering: the coldest chain keeps the posterior, and an exchange its probability."""

import dataclasses
import math

import numpy as np
import pytest

import naive
from coevo.posteriors.chain_state import ChainSettings
from coevo.posteriors.chain_tables import estimate_memory
from coevo.posteriors.chains import make_tables, start_chains, step_chains
from coevo.posteriors.diagnostics import diagnose_chains
from coevo.posteriors.tempering import exchange_neighbours, list_segments, make_powers
from coevo.threads import Threads
from helpers.random_weights import make_random_weights, weigh_all_dags


def run(weights, settings, n_steps, seed):
    tables = make_tables(weights, settings)
    state = start_chains(tables, settings, seed=seed)
    for _ in range(n_steps):
        state = step_chains(tables, settings, state)
    return tables, state


def make_exact_arcs(weights, prior, power=1.0):
    return np.array(naive.arc_shares(weights.n_variables, weigh_all_dags(weights, prior, power)))


@pytest.mark.parametrize("prior", ["uniform", "order"])
def test_the_coldest_chain_keeps_the_posterior(seed, prior):
    weights = make_random_weights(4, seed, 2)
    settings = ChainSettings(prior, chains=2, temperatures=3, rounds=1500)
    _, state = run(weights, settings, 8, seed)
    expected = make_exact_arcs(weights, prior)
    assert np.abs(diagnose_chains(state).arcs - expected).max() < 0.02
    assert 0.2 < state.exchange_rate < 1.0
    hot = make_exact_arcs(weights, prior, make_powers(3, 4)[-1])
    assert np.abs(hot - expected).max() > 0.03  # the temperatures can be told apart


def test_the_tables_of_a_power_are_those_of_the_powered_weights(seed):
    weights = make_random_weights(4, seed, 2)
    tables = make_tables(weights, ChainSettings(temperatures=2))
    power = tables.powers[1]
    powered = dataclasses.replace(
        weights,
        tables=tuple(power * table for table in weights.tables),
        outside=weights.outside._replace(log_weight=power * weights.outside.log_weight),
    )
    expected = make_tables(powered, ChainSettings()).arrays
    for name in expected.field_types:
        found = getattr(tables.hotter[0], name)
        np.testing.assert_allclose(found, getattr(expected, name), rtol=1e-12, err_msg=name)


@pytest.mark.parametrize("prior", ["uniform", "order"])
def test_threads_and_pauses_do_not_matter(seed, prior):
    weights = make_random_weights(5, seed, 3)
    settings = ChainSettings(prior, chains=3, temperatures=2, rounds=25)
    tables, state = run(weights, settings, 2, seed)
    again = start_chains(weights, settings, seed=seed, threads=Threads(3))
    for _ in range(2):
        again = step_chains(tables, settings, again, Threads(2))
    for field in dataclasses.fields(state):
        one, other = (getattr(chains, field.name) for chains in (state, again))
        np.testing.assert_array_equal(one, other)
    assert state.counts[:, 2, 0].tolist() == [3] * 3  # by turns the first pair, and none


def test_an_exchange_has_the_probability_of_coupled_chains(seed):
    rng = np.random.default_rng(seed)
    powers, log_weights = (1.0, 0.6, 0.2), np.array([-10.0, -12.0, -11.0])
    counts = np.zeros((2, 2))
    for parity in (0, 1):
        for _ in range(20_000):
            level, logs = np.arange(3)[:, None], log_weights.copy()
            counts[parity] += exchange_neighbours(powers, level, logs, parity, rng)
            np.testing.assert_array_equal(logs, log_weights[level[:, 0]])
    accepted = counts[:, 1] / counts[:, 0]
    assert accepted[0] == pytest.approx(math.exp(0.4 * -2), abs=0.015)
    assert accepted[1] == 1.0  # the hotter chain has the better DAG
    assert (counts[:, 0] == 20_000).all()


def test_powers_descend_from_one_and_are_nearer_for_more_variables():
    assert make_powers(1, 1000) == (1.0,)
    for n_variables in (1, 16, 400):
        powers = make_powers(20, n_variables)
        assert powers[0] == 1.0
        assert min(powers) >= 0.1 - 1e-12
        assert (np.diff(powers) < 0).all()
    assert make_powers(2, 400)[1] == pytest.approx(0.95)


def test_segments_cover_all_rounds_and_neighbours_take_turns():
    assert list_segments(3, 100, 1) == [(0, 100, 0)]
    assert list_segments(0, 25, 2) == [(0, 10, 0), (10, 20, 1), (20, 25, 0)]
    assert list_segments(1, 25, 2) == [(0, 10, 1), (10, 20, 0), (20, 25, 1)]
    assert list_segments(5, 7, 3) == [(0, 7, 1)]


def test_steps_stay_short_and_the_memory_of_all_temperatures_is_counted():
    assert ChainSettings(temperatures=4).count_rounds(80) == 25
    assert estimate_memory(50, 10, 3) - estimate_memory(50, 10) == 50 * 2 * 16 << 10
