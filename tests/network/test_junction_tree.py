"""A junction tree agrees with elimination, enumeration and pyAgrum, whatever was asked before."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given as drawn
from hypothesis import settings
from hypothesis import strategies as st

import coevo.runtime.memory
from coevo.bundled import load_network
from coevo.data import Variable
from coevo.errors import NetworkError, ParameterError
from coevo.network import BayesianNetwork, JunctionTree
from helpers.errors import refusal
from helpers.peer_oracles import pyagrum, pyagrum_network
from helpers.random_networks import enumerate_joint, random_evidence, random_network

thorough = settings(derandomize=True, deadline=None, max_examples=60)
SEEDS = st.integers(0, 10**6)


def assert_same_as_elimination(network, beliefs, given):
    assert list(beliefs.marginals) == [variable.name for variable in network.variables]
    assert beliefs.log_probability == pytest.approx(network.log_probability(given), abs=1e-9)
    hard = {name for name, value in given.items() if isinstance(value, str)}
    expected = network.marginals([n for n in beliefs.marginals if n not in hard], given)
    for name, found in beliefs.marginals.items():
        if name in hard:
            assert found[given[name]] == 1.0
            continue
        np.testing.assert_allclose(
            found.probabilities, expected[name].probabilities, rtol=1e-9, atol=1e-13
        )


@thorough
@drawn(SEEDS, st.sampled_from([0.0, 0.3, 0.6]))
def test_beliefs_after_any_sequence_of_findings(seed, zeros):
    """Hard and soft findings come and go; a tree that is new gives the same bits."""
    network = random_network(seed, 9, zeros=zeros)
    tree = JunctionTree(network)
    rng = np.random.default_rng(seed)
    for turn in range(4):
        given = random_evidence(network, seed + turn // 2, rng.choice([0.0, 0.2, 0.6]))
        for name in list(given)[::2] if turn % 2 else []:
            states = network.variable(name).states  # all are possible, so the evidence is
            given[name] = dict(zip(states, rng.uniform(0.1, 2, len(states)), strict=True))
        beliefs = tree.compute_beliefs(given)
        if len(given) < 9:
            assert_same_as_elimination(network, beliefs, given)
        fresh = JunctionTree(network).compute_beliefs(given)
        assert fresh.log_probability == beliefs.log_probability
        assert fresh.marginals == beliefs.marginals


@thorough
@drawn(SEEDS)
def test_information_agrees_with_enumeration(seed):
    network = random_network(seed, 5, zeros=0.2)
    names = [variable.name for variable in network.variables]
    given = random_evidence(network, seed, 0.3)
    target = names[seed % 5]
    joint = enumerate_joint(network)
    for name, state in given.items():
        keep = np.zeros(network.variable(name).arity)
        keep[network.variable(name).states.index(state)] = 1
        joint = joint * keep.reshape([-1 if other == name else 1 for other in names])
    joint /= joint.sum()
    told = JunctionTree(network).measure_information(target, given)
    assert set(told) == {name for name in names if name not in given} | {target}
    rounded = [round(nats, 9) for nats in told.values()]
    assert rounded == sorted(rounded, reverse=True)
    for name, nats in told.items():
        rest = tuple(i for i, other in enumerate(names) if other not in {name, target})
        pair = np.atleast_2d(joint.sum(axis=rest))
        if name == target:
            pair = np.diag(pair.ravel())
        product = pair.sum(axis=1, keepdims=True) * pair.sum(axis=0)
        occurs = pair > 0
        expected = (pair[occurs] * np.log(pair[occurs] / product[occurs])).sum()
        assert nats == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("name", ["alarm", "win95pts", "andes"])
def test_beliefs_agree_with_pyagrum(name):
    network = load_network(name)
    given = random_evidence(network, 3, 0.1)
    peer = pyagrum.LazyPropagation(pyagrum_network(network))
    peer.setEvidence(given)
    peer.makeInference()
    tree = JunctionTree(network)
    tree.compute_beliefs()
    beliefs = tree.compute_beliefs(given)
    assert beliefs.log_probability == pytest.approx(math.log(peer.evidenceProbability()), abs=1e-6)
    for node, found in beliefs.marginals.items():
        np.testing.assert_allclose(found.probabilities, peer.posterior(node).toarray(), atol=1e-9)


def test_impossible_evidence_is_refused_and_the_next_question_is_answered():
    network = load_network("asia")
    tree = JunctionTree(network)
    sentence = "The evidence has probability 0 under the network: 'either' = 'no', 'lung' = 'yes'."
    assert refusal(NetworkError, tree.compute_beliefs, {"lung": "yes", "either": "no"}) == sentence
    given = {"lung": "yes"}
    assert_same_as_elimination(network, tree.compute_beliefs(given), given)


def make_chain(n, p):
    """Return a class with n children, each of which is yes with probability p if the class is a."""
    names = [f"x{i:03d}" for i in range(n)]
    variables = [Variable("class", ("a", "b")), *(Variable(x, ("no", "yes")) for x in names)]
    tables = {x: [[1 - p, p], [p, 1 - p]] for x in names}
    return BayesianNetwork(
        variables, {x: ["class"] for x in names}, {"class": [0.5, 0.5], **tables}
    )


def test_numbers_below_the_smallest_float_do_not_become_zero():
    network = make_chain(80, 1e-5)
    given = {f"x{i:03d}": "yes" if i % 2 else "no" for i in range(80)}
    tree = JunctionTree(network)
    half = dict.fromkeys(list(given)[:78], "yes")
    assert tree.compute_beliefs(half).marginals["class"]["b"] == pytest.approx(1)
    beliefs = tree.compute_beliefs(given)
    assert beliefs.marginals["class"]["a"] == pytest.approx(0.5)
    assert_same_as_elimination(network, beliefs, given)


def test_a_tree_that_does_not_fit_into_memory_is_refused(monkeypatch):
    monkeypatch.setattr(coevo.runtime.memory, "get_machine_memory", lambda: 2**16)
    sentence = (
        "The junction tree of the best elimination order found needs 0.0 GB of memory; this "
        "machine has 0.0 GB. Use query or marginals of the network."
    )
    assert refusal(ParameterError, JunctionTree, load_network("andes")) == sentence


def test_a_tree_that_takes_too_long_is_refused_unless_it_must_be_exact(monkeypatch):
    monkeypatch.setattr("coevo.network.elimination.MAX_OPERATIONS", 10**5)
    sentence = (
        "A junction tree is never estimated; the exact answer would take about 1 minute with the "
        "elimination orders tried (smallest found: 0.0 billion operations). Use query or marginals "
        "of the network, or compute the exact answer with exact=True (--exact)."
    )
    network = load_network("andes")
    assert refusal(ParameterError, JunctionTree, network) == sentence
    assert JunctionTree(network, exact=True).n_cells > 10**5 / 3
    sentence = "'exact' of JunctionTree must be a bool; got 1."
    assert refusal(ParameterError, JunctionTree, network, exact=1) == sentence
