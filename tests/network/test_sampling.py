"""Sampled rows depend on the seed and the network only, and follow its distribution."""

from __future__ import annotations

import itertools
import math
import sys

import numpy as np
import pytest
from scipy.stats import chi2

from coevo.bundled import load_network
from coevo.data import Variable
from coevo.errors import NetworkError, ParameterError
from coevo.network import BayesianNetwork, sample
from helpers.errors import refusal
from helpers.random_networks import (
    enumerate_joint,
    random_evidence,
    random_network,
    reverse_network,
)

# The function `sample` shadows the module of the same name.
MODULE = sys.modules["coevo.network.sampling"]


def labels(dataset):
    """Return {name: label of each row}, which does not depend on the order of variables."""
    return {
        variable.name: np.array(variable.states)[dataset.codes[i]].tolist()
        for i, variable in enumerate(dataset.variables)
    }


@pytest.mark.parametrize("name", ["survey", "alarm"])
def test_a_seed_gives_the_same_rows_in_any_order_of_variables(name, seed):
    network = load_network(name)
    first = sample(network, 300, seed)
    assert labels(sample(network, 300, seed)) == labels(first)
    assert labels(sample(network, 300, seed + 1)) != labels(first)
    again = sample(reverse_network(network), 300, np.int64(seed))
    assert labels(again) == labels(first)
    assert again == first
    assert again.source_variables == network.variables[::-1]


def test_a_short_sample_is_the_start_of_a_long_one(seed):
    network = load_network("survey")
    long = labels(sample(network, 1000, seed))
    for rows in (1, 2, 99, 1000):
        short = labels(sample(network, rows, seed))
        assert short == {name: column[:rows] for name, column in long.items()}


@pytest.mark.parametrize("block", [1, 7, 999, 1000, 1001])
def test_rows_do_not_depend_on_the_block_size(block, seed, monkeypatch):
    network = load_network("survey")
    expected = labels(sample(network, 1000, seed))
    monkeypatch.setattr(MODULE, "ROWS_PER_BLOCK", block)
    assert labels(sample(network, 1000, seed)) == expected


def joint(network, given):
    """Yield each row of labels with its probability given evidence, by enumeration."""
    rows = list(itertools.product(*(variable.states for variable in network.variables)))
    names = [variable.name for variable in network.variables]
    fits = [all(row[names.index(n)] == state for n, state in given.items()) for row in rows]
    values = enumerate_joint(network).ravel() * fits
    yield from zip(rows, (values / values.sum()).tolist(), strict=True)


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("asia", {}),
        ("asia", {"xray": "yes", "dysp": "no"}),
        ("asia", {"either": "yes"}),
        ("earthquake", {}),
        ("earthquake", {"JohnCalls": "True", "MaryCalls": "True"}),
        ("survey", {}),
        ("survey", {"T": "train", "A": "old"}),
    ],
)
def test_rows_follow_the_joint_distribution(name, given, seed):
    n_rows = 40_000
    network = load_network(name)
    columns = labels(sample(network, n_rows, seed, given))
    rows = list(zip(*(columns[v.name] for v in network.variables), strict=True))
    counts = {row: rows.count(row) for row in set(rows)}
    statistic, free, rest_seen, rest_expected = 0.0, -1, n_rows, float(n_rows)
    possible = set()
    for row, probability in joint(network, given):
        if probability > 0:
            possible.add(row)
        expected = n_rows * probability
        if expected >= 5:
            statistic += (counts.get(row, 0) - expected) ** 2 / expected
            rest_seen -= counts.get(row, 0)
            rest_expected -= expected
            free += 1
    if rest_expected >= 5:
        statistic += (rest_seen - rest_expected) ** 2 / rest_expected
        free += 1
    assert set(counts) <= possible
    assert chi2.sf(statistic, free) > 1e-6


@pytest.mark.parametrize("zeros", [0.0, 0.5])
def test_rows_with_evidence(zeros, seed):
    """The same rows for any order of variables; all agree with the evidence and are possible."""
    for number in range(20):
        network = random_network([seed, number], 9, zeros=zeros)
        given = random_evidence(network, [seed, number], share=0.4)
        found = sample(network, 60, seed, given)
        assert labels(sample(reverse_network(network), 60, seed, given)) == labels(found)
        assert found.source_variables == network.variables
        for name, state in given.items():
            assert set(labels(found)[name]) == {state}
        assert np.isfinite(network.log_likelihood(found).per_row).all()
        short = labels(sample(network, 7, seed, given))
        assert short == {name: column[:7] for name, column in labels(found).items()}


def test_without_evidence_the_rows_are_the_same(seed):
    network = load_network("survey")
    expected = labels(sample(network, 50, seed))
    assert labels(sample(network, 50, seed, {})) == labels(sample(network, 50, seed, None))
    assert labels(sample(network, 50, seed, {})) == expected


def test_invalid_evidence():
    asia = load_network("asia")
    for given, sentence in (
        ({"smok": "yes"}, "There is no variable 'smok' in the network. Did you mean 'smoke'?"),
        ({"smoke": "si"}, "'smoke' has no state 'si'; its states are 'yes', 'no'."),
        (
            {"either": "no", "tub": "yes"},
            "The evidence has probability 0 under the network: 'either' = 'no', 'tub' = 'yes'.",
        ),
    ):
        assert refusal(NetworkError, sample, asia, 5, 1, given) == sentence


def chain(*rows):
    states = tuple(f"s{i}" for i in range(len(rows[0])))
    switch = Variable("a", tuple(f"r{i}" for i in range(len(rows))))
    tables = {"a": np.full(len(rows), 1 / len(rows)), "b": rows}
    return BayesianNetwork([switch, Variable("b", states)], {"b": ["a"]}, tables)


class Extremes:
    """A generator that returns the ends of [0, 1), and numbers close to the limits."""

    def random(self, size):
        ends = [0.0, np.nextafter(1, 0), 0.5, np.nextafter(0.5, 0), 1 / 3, 0.3, 5e-324]
        return np.resize(ends, size)


ROWS = [
    (0.0, 0.5, 0.0, 0.5, 0.0),
    (1.0, 0.0, 0.0, 0.0, 0.0),
    (0.0, 0.0, 0.0, 0.0, 1.0),
    (0.1, 0.2, 0.3, 0.4 - 1e-7, 0.0),  # the partial sums stay a little below 1
    (1 / 3, 1 / 3, 1 / 3, 0.0, 0.0),
    (0.7, 0.1, 0.1, 0.1, 0.0),  # the sum is not exactly 1
]


def test_a_state_of_probability_0_is_never_drawn(monkeypatch):
    for row in ROWS:
        network = chain(row)
        monkeypatch.setattr(np.random, "default_rng", lambda _: Extremes())
        drawn = set(labels(sample(network, 14, 0))["b"])
        assert drawn <= {f"s{i}" for i, p in enumerate(row) if p > 0}
        assert f"s{min(i for i, p in enumerate(row) if p > 0)}" in drawn
        assert f"s{max(i for i, p in enumerate(row) if p > 0)}" in drawn


def test_each_parent_configuration_has_its_own_row(seed):
    network = chain((1.0, 0, 0), (0, 1.0, 0), (0, 0, 1.0))
    columns = labels(sample(network, 200, seed))
    assert set(zip(columns["a"], columns["b"], strict=True)) == {
        ("r0", "s0"),
        ("r1", "s1"),
        ("r2", "s2"),
    }


def test_states_that_do_not_occur_are_declared(seed):
    dataset = sample(chain((1.0, 0.0, 0.0)), 5, seed)
    assert dataset.source_variables == (Variable("a", ("r0",)), Variable("b", ("s0", "s1", "s2")))
    assert dataset.arities.tolist() == [1, 3]
    assert dataset.n_rows == 5


@pytest.mark.parametrize("arity", [256, 257, 300])
def test_many_states(arity, seed):
    states = tuple(f"s{i:03d}" for i in range(arity))
    network = BayesianNetwork([Variable("x", states)], {}, {"x": np.full(arity, 1 / arity)})
    dataset = sample(network, 20_000, seed)
    assert set(labels(dataset)["x"]) == set(states)
    assert dataset.codes.dtype == (np.uint8 if arity <= 256 else np.uint16)


def test_random_states(seed):
    network = load_network("cancer")
    first = sample(network, 200, np.random.default_rng(seed))
    assert labels(sample(network, 200, np.random.default_rng(seed))) == labels(first)
    rng = np.random.default_rng(seed)
    assert labels(sample(network, 200, rng)) == labels(first)
    assert labels(sample(network, 200, rng)) != labels(first)  # the generator has advanced
    assert labels(sample(network, 200)) == labels(sample(network, 200, random_state=0))
    assert labels(sample(network, 200, None)) != labels(sample(network, 200, None))


@pytest.mark.parametrize("rows", [0, -1, 1.0, True, "5", None])
def test_wrong_rows(rows):
    with pytest.raises(ParameterError) as caught:
        sample(load_network("cancer"), rows)
    assert str(caught.value) == f"'rows' of sample must be an int >= 1; got {rows!r}."


@pytest.mark.parametrize("random_state", [-1, 1.5, True, "7", math.nan])
def test_wrong_random_state(random_state):
    with pytest.raises(ParameterError) as caught:
        sample(load_network("cancer"), 1, random_state)
    assert str(caught.value) == (
        "'random_state' of sample must be an int >= 0, a numpy Generator or None; "
        f"got {random_state!r}."
    )
