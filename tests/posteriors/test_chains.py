"""Chains: their long-run answers against enumeration, threads, resuming, and their records.

Parallel tempering: the coldest chain keeps the posterior, and an exchange its probability.
"""

import dataclasses
import math

import numpy as np
import pytest

import naive
from coevo.errors import ParameterError
from coevo.posteriors.chain_state import N_BATCHES, ChainSettings
from coevo.posteriors.chain_tables import BlockChoice, estimate_memory, prepare_tables
from coevo.posteriors.chains import (
    exchange_neighbours,
    list_segments,
    make_powers,
    make_tables,
    start_chains,
    step_chains,
)
from coevo.posteriors.diagnostics import diagnose_chains
from coevo.runtime.threads import Threads
from helpers.random_weights import make_random_weights, weigh_all_dags


def run(weights, settings, n_steps, **start):
    tables = prepare_tables(weights)
    state = start_chains(tables, settings, **start)
    for _ in range(n_steps):
        state = step_chains(tables, settings, state)
    return tables, state


def make_exact_arcs(weights, prior):
    dags = weigh_all_dags(weights, prior)
    return np.array(naive.arc_shares(weights.n_variables, dags)), naive.shares(dags)


def assert_same(one, other):
    for field in dataclasses.fields(one):
        np.testing.assert_array_equal(getattr(one, field.name), getattr(other, field.name))


MOVES = {
    "both": {},
    "relocations alone": {"blocks": 0, "relocations": 6},
    "single families": {"relocations": 0, "blocks": 8, "block_size": 1},
    "pairs": {"relocations": 0, "blocks": 4, "block_size": 2},
    "blocks of four": {"relocations": 0, "blocks": 2, "block_size": 4},
}


@pytest.mark.parametrize("n_candidates", [None, 2])
@pytest.mark.parametrize("moves", MOVES.values(), ids=MOVES)
def test_chains_agree_with_enumeration(seed, n_candidates, moves):
    weights = make_random_weights(4, seed, n_candidates)
    _, state = run(weights, ChainSettings(rounds=1500, **moves), 8, seed=seed)
    expected, _ = make_exact_arcs(weights, "uniform")
    error = np.abs(diagnose_chains(state).arcs - expected)
    assert error.max() < 0.02


@pytest.mark.parametrize("n_candidates", [None, 2])
def test_order_chains_agree_with_enumeration(seed, n_candidates):
    weights = make_random_weights(4, seed, n_candidates)
    _, state = run(weights, ChainSettings("order", rounds=1500), 8, seed=seed)
    expected, _ = make_exact_arcs(weights, "order")
    assert np.abs(diagnose_chains(state).arcs - expected).max() < 0.02
    uniform, _ = make_exact_arcs(weights, "uniform")
    assert np.abs(uniform - expected).max() > 0.03  # the two priors can be told apart


@pytest.mark.parametrize("prior", ["uniform", "order"])
def test_sampled_dags_have_their_probabilities(seed, prior):
    weights = make_random_weights(3, seed)
    settings = ChainSettings(prior, rounds=1000, max_dags=4000)
    tables, state = run(weights, settings, 8, seed=seed)
    dags = tables.make_adjacency(state.kept_dags).reshape(-1, 3, 3)
    _, expected = make_exact_arcs(weights, prior)
    for arcs, share in expected.items():
        matrix = np.zeros((3, 3), dtype=bool)
        for u, v in arcs:
            matrix[u, v] = True
        assert (dags == matrix).all(axis=(1, 2)).mean() == pytest.approx(share, abs=0.02)
    best = max(expected, key=expected.get)
    found = tables.make_adjacency(state.best[state.best_chain])
    assert frozenset(map(tuple, np.argwhere(found).tolist())) == best


def test_the_error_falls_with_the_square_root_of_the_steps(seed):
    weights = make_random_weights(4, seed)
    expected, _ = make_exact_arcs(weights, "uniform")
    errors = []
    for n_steps in (4, 64):
        squares = []
        for other in range(6):
            settings = ChainSettings(rounds=20, chains=4)
            _, state = run(weights, settings, n_steps, seed=10 * seed + other)
            squares.append(((state.compute_arcs().mean(axis=0) - expected) ** 2).mean())
        errors.append(np.sqrt(np.mean(squares)))
    assert 2 < errors[0] / errors[1] < 8  # 4 is expected


@pytest.mark.parametrize("prior", ["uniform", "order"])
def test_threads_do_not_matter_and_no_argument_changes(seed, prior):
    weights = make_random_weights(5, seed, 3)
    settings = ChainSettings(prior, chains=3, rounds=10)
    tables = prepare_tables(weights)
    one = start_chains(weights, settings, seed=seed)
    many = start_chains(tables, settings, seed=seed, threads=Threads(3))
    assert_same(one, many)
    held = dataclasses.replace(one, **{k: v.copy() for k, v in vars(one).items()})
    after = step_chains(tables, settings, step_chains(weights, settings, one))
    threaded = step_chains(tables, settings, one, Threads(2))
    assert_same(one, held)
    assert_same(after, step_chains(tables, settings, threaded, Threads(3)))


def test_a_state_resumes_from_its_arrays(seed, tmp_path):
    settings = ChainSettings(rounds=7, max_dags=20)
    tables, state = run(make_random_weights(4, seed), settings, 3, seed=seed)
    np.savez(tmp_path / "state.npz", **vars(state))
    with np.load(tmp_path / "state.npz") as arrays:
        again = type(state)(**arrays)
    assert_same(step_chains(tables, settings, state), step_chains(tables, settings, again))


def test_records_stay_bounded_and_complete(seed):
    settings = ChainSettings(chains=2, rounds=3, max_dags=10)
    tables = prepare_tables(make_random_weights(3, seed))
    state = start_chains(tables, settings, seed=seed)
    total = np.zeros((2, len(state.pairs)))
    trace = []
    for _ in range(2 * N_BATCHES + 5):
        after = step_chains(tables, settings, state)
        alone = dataclasses.replace(state, arc_sums=np.zeros_like(state.arc_sums))
        total += step_chains(tables, settings, alone).arc_sums.sum(axis=1)
        fine = dataclasses.replace(
            state, step=np.array(0), stride=np.array(1), trace=np.zeros((2, 3))
        )
        trace.append(_rerun(tables, settings, state, fine))
        state = after
    assert int(state.batch_steps) == 4
    np.testing.assert_allclose(state.arc_sums.sum(axis=1), total)
    every = np.concatenate(trace, axis=1)[:, :: int(state.stride)]
    assert every.shape[1] <= 10
    np.testing.assert_array_equal(state.trace[:, : every.shape[1]], every)
    assert state.kept_trace.shape[1] == every.shape[1] - every.shape[1] // 2
    n_steps = int(state.step) // 4
    assert state.kept_means.shape[1] == n_steps - n_steps // 2


def _rerun(tables, settings, state, fine):
    """Return the full trace of the next step: a state with the same random numbers."""
    first = int(state.step)
    shifted = dataclasses.replace(fine, step=np.array(first), stride=np.array(1))
    wide = np.zeros((2, 3 * first + 3))
    dags = np.zeros((2, 3 * first + 3, state.n_variables), dtype=np.int32)
    after = step_chains(tables, settings, dataclasses.replace(shifted, trace=wide, dags=dags))
    return after.trace[:, 3 * first :]


def test_chains_begin_where_they_are_told_to(seed):
    weights = make_random_weights(4, seed)
    chain = np.zeros((4, 4), dtype=bool)
    chain[[3, 1, 2], [1, 2, 0]] = True
    settings = ChainSettings("order", chains=2, warm_up=0)
    state = start_chains(weights, settings, chain[None], seed=seed)
    assert (state.level // 2).tolist() == 2 * [[[3, 1, 2, 0]]]


def test_many_variables_have_shorter_steps_unless_a_length_is_given():
    default, given = ChainSettings(), ChainSettings(rounds=50, warm_up=300, relocations=9)
    sizes = (20, 80, 100, 200, 1000)
    assert [default.count_rounds(n) for n in sizes] == [100, 100, 80, 40, 8]
    assert [default.count_warm_up(n) for n in sizes] == [200, 200, 200, 100, 20]
    assert [list_moves(default, n) for n in (20, 200)] == [[3, 20, 4], [4, 200, 4]]
    assert (given.count_rounds(1000), given.count_warm_up(1000)) == (50, 300)
    assert list_moves(given, 1000) == [9, 1000, 4]


def list_moves(settings, n):
    """Return the relocations and the blocks of a round, and their size, for n variables."""
    none_near = BlockChoice(
        np.zeros(n + 1, dtype=np.int64), np.empty(0, dtype=np.int64), np.ones(n)
    )
    plan = settings.make_plan(none_near)
    return [plan.n_relocations, plan.n_blocks, plan.block_size]


def test_required_arcs_hold_from_the_start(seed):
    weights = make_random_weights(4, seed)
    tables = list(weights.tables)
    needed = list(weights.candidates[2]).index(3)
    without = (np.arange(8) >> needed) & 1 == 0
    tables[2] = np.where(without, -np.inf, tables[2])
    weights = dataclasses.replace(weights, tables=tuple(tables))
    expected, _ = make_exact_arcs(weights, "uniform")
    _, state = run(weights, ChainSettings(rounds=500), 8, seed=seed)
    arcs = state.compute_arcs()
    assert (arcs[:, 3, 2] == 1).all()
    assert np.abs(arcs.mean(axis=0) - expected).max() < 0.03


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"prior": "unifrom"}, "'prior' of ChainSettings must be one of 'order', 'uniform'; got "
         "'unifrom'. Did you mean 'uniform'?"),
        ({"chains": 0}, "'chains' of ChainSettings must be an int >= 1; got 0."),
        ({"blocks": -1}, "'blocks' of ChainSettings must be an int >= 0 or None; got -1."),
        ({"block_size": 6}, "'block_size' of ChainSettings must be an int from 1 to 5; got 6."),
        ({"blocks": 0, "relocations": 0}, "'relocations' of ChainSettings must be an int >= 1 "
         "without blocks; got 0."),
    ],
)  # fmt: skip
def test_bad_settings_are_refused(setting, message):
    with pytest.raises(ParameterError) as error:
        ChainSettings(**setting)
    assert str(error.value) == message


def run_ladders(weights, settings, n_steps, seed):
    tables = make_tables(weights, settings)
    state = start_chains(tables, settings, seed=seed)
    for _ in range(n_steps):
        state = step_chains(tables, settings, state)
    return tables, state


def make_heated_arcs(weights, prior, power=1.0):
    return np.array(naive.arc_shares(weights.n_variables, weigh_all_dags(weights, prior, power)))


@pytest.mark.parametrize("prior", ["uniform", "order"])
def test_the_coldest_chain_keeps_the_posterior(seed, prior):
    weights = make_random_weights(4, seed, 2)
    settings = ChainSettings(prior, chains=2, temperatures=3, rounds=1500)
    _, state = run_ladders(weights, settings, 8, seed)
    expected = make_heated_arcs(weights, prior)
    assert np.abs(diagnose_chains(state).arcs - expected).max() < 0.02
    assert 0.2 < state.exchange_rate < 1.0
    hot = make_heated_arcs(weights, prior, make_powers(3, 4)[-1])
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
    tables, state = run_ladders(weights, settings, 2, seed)
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
