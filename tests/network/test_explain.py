"""Explanations agree with enumeration, and their paths with the definition of d-separation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given as drawn
from hypothesis import settings
from hypothesis import strategies as st

import naive
from coevo.bundled import load_network
from coevo.data import Variable
from coevo.errors import NetworkError, ParameterError
from coevo.network import BayesianNetwork, FindingEffect
from coevo.network.explain import split_evidence
from helpers.errors import refusal
from helpers.random_networks import (
    enumerate_joint,
    random_evidence,
    random_network,
    reverse_network,
)

thorough = settings(derandomize=True, deadline=None, max_examples=150)
SEEDS = st.integers(0, 10**6)
SIZES = st.sampled_from([4, 5])
SHARES = st.sampled_from([0.3, 0.5, 0.8])
ZEROS = st.sampled_from([0.0, 0.3, 0.6])
ASIA = load_network("asia")


class Oracle:
    """The joint distribution of a network as an array, and what follows from it."""

    def __init__(self, network):
        self.network, self.joint = network, enumerate_joint(network)
        self.names = [variable.name for variable in network.variables]

    def restrict(self, given):
        """Return the joint distribution with 0 for all states that the evidence excludes."""
        joint = self.joint.copy()
        for name, state in given.items():
            axis, code = self.names.index(name), self.network.variable(name).states.index(state)
            keep = np.arange(joint.shape[axis]) == code
            shape = [-1 if i == axis else 1 for i in range(joint.ndim)]
            joint = joint * keep.reshape(shape)
        return joint

    def probability(self, given):
        return float(self.restrict(given).sum())

    def distribution(self, targets, given):
        """Return the joint distribution of some variables given evidence."""
        joint = self.restrict(given)
        axes = tuple(i for i, name in enumerate(self.names) if name not in targets)
        found = joint.sum(axis=axes) / joint.sum()
        kept = [name for name in self.names if name in targets]
        return found.transpose([kept.index(name) for name in targets])


def log_odds(probabilities, code):
    yes, no = probabilities[code], sum(np.delete(probabilities, code))
    if yes == 0 or no == 0:
        return -math.inf if yes == 0 else math.inf
    return math.log(yes / no)


def weigh(before, after, code):
    low, high = log_odds(before, code), log_odds(after, code)
    return 0.0 if low == high else high - low


def entropy(probabilities):
    return -sum(p * math.log(p) for p in np.ravel(probabilities) if p > 0)


def close(expected):
    return pytest.approx(expected, rel=1e-9, abs=1e-9)


def draw_case(seed, size, share, zeros):
    """Return a network, evidence, and a target that is not given."""
    network = random_network(seed, size, zeros=zeros)
    given = random_evidence(network, seed, share)
    free = sorted(v.name for v in network.variables if v.name not in given)
    if not free:
        free = [min(given)]
        del given[free[0]]
    return network, given, free[seed % len(free)]


# -- enumeration


@thorough
@drawn(SEEDS, SIZES, SHARES, ZEROS)
def test_effects_agree_with_enumeration(seed, size, share, zeros):
    network, given, target = draw_case(seed, size, share, zeros)
    oracle, found = Oracle(network), network.explain(target, given)
    prior, posterior = (oracle.distribution([target], one) for one in ({}, given))
    assert list(found.prior.values()) == close(prior.tolist())
    assert list(found.posterior.values()) == close(posterior.tolist())
    assert found.entropy == close(entropy(posterior))
    code = network.variable(target).states.index(found.state)
    change = abs(posterior - prior)
    assert change[code] >= change.max() - 1e-8
    assert found.weight == close(weigh(prior, posterior, code))
    assert {effect.name for effect in found.findings} == given.keys()
    for effect in found.findings:
        others = {name: state for name, state in given.items() if name != effect.name}
        own = {effect.name: given[effect.name]}
        alone, without = (oracle.distribution([target], one) for one in (own, others))
        assert effect.value == given[effect.name]
        assert list(effect.alone.values()) == close(alone.tolist())
        assert list(effect.without.values()) == close(without.tolist())
        assert effect.weight_alone == close(weigh(prior, alone, code))
        assert effect.weight == close(weigh(without, posterior, code))
        apart = oracle.probability(own) * oracle.probability(others)
        conflict = math.log(apart / oracle.probability(given))
        assert effect.conflict == close(conflict)


@thorough
@drawn(SEEDS, SIZES, SHARES, ZEROS)
def test_information_agrees_with_enumeration(seed, size, share, zeros):
    network, given, target = draw_case(seed, size, share, zeros)
    oracle, found = Oracle(network), network.explain(target, given, top=size)
    row = network.variable(target).states.index(found.state)
    total, told = found.entropy, {one.name: one for one in found.next_observations}
    for variable in network.variables:
        if variable.name in given or variable.name == target:
            assert variable.name not in told
            continue
        joint = oracle.distribution([target, variable.name], given)
        expected = entropy(joint.sum(axis=0)) + entropy(joint.sum(axis=1)) - entropy(joint)
        one = told.get(variable.name)
        if one is None:
            assert expected < 1e-8
            continue
        assert one.information == close(expected)
        assert one.share == close(expected / total)
        shares = joint.sum(axis=0)
        assert [outcome.state for outcome in one.outcomes] == [
            state for state, p in zip(variable.states, shares, strict=True) if p > 0
        ]
        for outcome in one.outcomes:
            i = variable.states.index(outcome.state)
            assert outcome.probability == close(shares[i])
            assert outcome.target_probability == close(joint[row, i] / shares[i])
    ranked = [one.information for one in found.next_observations]
    assert ranked == sorted(ranked, reverse=True) or np.allclose(ranked, sorted(ranked)[::-1])


@thorough
@drawn(SEEDS, SIZES, SHARES)
def test_paths_agree_with_d_separation(seed, size, share):
    network, given, target = draw_case(seed, size, share, 0.0)
    arcs = set(network.dag.arcs)
    for effect in network.explain(target, given).findings:
        others = given.keys() - {effect.name}
        expected = naive.active_paths(arcs, effect.name, target, others)
        assert [list(path.nodes) for path in effect.paths] == expected[:3]
        assert effect.is_separated == (not expected)
        separators = set(effect.separated_by)
        if expected:
            assert not separators
        else:
            assert naive.d_separated(arcs, [effect.name], [target], separators)
            for name in separators:
                fewer = separators - {name}
                assert not naive.d_separated(arcs, [effect.name], [target], fewer)


@thorough
@drawn(SEEDS, SIZES, SHARES, ZEROS)
def test_no_order_matters(seed, size, share, zeros):
    network, given, target = draw_case(seed, size, share, zeros)
    found = network.explain(target, given)
    other = reverse_network(network).explain(target, dict(reversed(given.items())))
    assert other.sentences() == found.sentences()


# -- states, sentences and records


def test_a_chosen_state_and_number():
    found = ASIA.explain("lung", {"xray": "yes"}, state="no", top=0)
    assert (found.state, found.next_observations) == ("no", ())
    assert found.weight == pytest.approx(-ASIA.explain("lung", {"xray": "yes"}).weight)
    assert [len(ASIA.explain("lung", top=n).next_observations) for n in (0, 1, 5, 9)] == [
        0,
        1,
        5,
        5,
    ]


def test_the_sentences_of_asia():
    given = {"dysp": "yes", "bronc": "no", "asia": "yes", "xray": "no"}
    assert ASIA.explain("lung", given, top=1).sentences() == [
        "The 4 findings lower P(lung=yes) from 0.055 to 0.007 (-2.14 nats).",
        "xray=no lowers P(lung=yes) from 0.194 to 0.007 (-3.55 nats), given the other findings.",
        "Alone it lowers P(lung=yes) from 0.055 to 0.001 (-3.85 nats).",
        "It reaches lung along xray <- either <- lung.",
        "dysp=yes raises P(lung=yes) from 0.001 to 0.007 (+1.94 nats), given the other findings.",
        "Alone it raises P(lung=yes) from 0.055 to 0.103 (+0.68 nats).",
        "It reaches lung along dysp <- either <- lung.",
        "It points the other way than all findings together.",
        "It conflicts with the others: they make it 4.3 times less probable.",
        "bronc=no raises P(lung=yes) from 0.003 to 0.007 (+0.99 nats), given the other findings.",
        "Alone it lowers P(lung=yes) from 0.055 to 0.043 (-0.27 nats).",
        "It reaches lung along bronc <- smoke -> lung, and by other paths.",
        "It points the other way than all findings together.",
        "It conflicts with the others: they make it 4.0 times less probable.",
        "asia=yes raises P(lung=yes) from 0.0066 to 0.0068 (+0.03 nats), given the other findings.",
        "Alone it leaves P(lung=yes) at 0.055.",
        "It reaches lung along asia -> tub -> either <- lung (open because dysp and xray are "
        "known).",
        "Observing either would remove 75% of the uncertainty on average (0.0308 nats): "
        "P(lung=yes) would be 0 if either=no (probability 0.986), and 0.472 if either=yes "
        "(probability 0.014).",
    ]


def test_findings_that_tell_nothing():
    found = ASIA.explain("lung", {"either": "yes", "xray": "no", "asia": "no"}, top=0)
    assert found.sentences()[-6:] == [
        "asia=no raises P(lung=yes) from 0.848 to 0.853 (+0.04 nats), given the other findings.",
        "Alone it leaves P(lung=yes) at 0.055.",
        "It reaches lung along asia -> tub -> either <- lung (open because either is known).",
        "xray=no tells nothing more about lung once either is known.",
        "Alone it lowers P(lung=yes) from 0.055 to 0.001 (-3.85 nats).",
        "It conflicts with the others: they make it 44 times less probable.",
    ]
    assert ASIA.explain("smoke", {"asia": "yes"}, top=0).sentences() == [
        "The finding leaves P(smoke=yes) at 0.500.",
        "asia=yes tells nothing about smoke.",
    ]


def test_certain_and_impossible_states():
    found = ASIA.explain("lung", {"either": "no", "smoke": "yes"})
    assert (found.weight, found.entropy, found.next_observations) == (-math.inf, 0.0, ())
    assert found.sentences() == [
        "The 2 findings make lung=yes impossible (from 0.055 to 0).",
        "either=no makes lung=yes impossible (from 0.100 to 0), given the other finding.",
        "Alone it makes lung=yes impossible (from 0.055 to 0).",
        "It reaches lung along either <- lung.",
        "smoke=yes leaves P(lung=yes) at 0, given the other finding.",
        "Alone it raises P(lung=yes) from 0.055 to 0.100 (+0.65 nats).",
    ]
    plain = found.as_dict()
    assert plain["weight"] is None
    assert [one["weight"] for one in plain["findings"]] == [None, 0.0]
    certain = ASIA.explain("either", {"lung": "yes"})
    assert certain.describe() == "The finding makes either=yes certain (from 0.065 to 1)."
    impossible = ASIA.explain("lung", {"either": "no"}, state="yes")
    assert impossible.posterior == {"yes": 0.0, "no": 1.0}


def test_odds_near_one_are_exact():
    tiny = 1e-18
    network = BayesianNetwork(
        [Variable("a", ("x", "y")), Variable("b", ("x", "y"))],
        {"b": ["a"]},
        {"a": [0.5, 0.5], "b": [[1 - 2**-53, 1e-17], [0.25, 0.75]]},
    )
    found = network.explain("a", {"b": "y"}, state="y")
    assert found.posterior["y"] == 1.0
    assert found.weight == pytest.approx(math.log(0.75 / 1e-17))
    assert found.posterior["x"] > tiny


def test_without_evidence_and_with_one_state():
    found = ASIA.explain("lung", top=1)
    assert found.sentences()[0] == "P(lung=yes) is 0.055 without evidence."
    assert (found.weight, found.findings) == (0.0, ())
    network = BayesianNetwork(
        [Variable("a", ("only",)), Variable("b", ("x", "y"))],
        {"b": ["a"]},
        {"a": [1.0], "b": [0.3, 0.7]},
    )
    found = network.explain("a", {"b": "x"})
    assert found.sentences() == [
        "The finding leaves P(a=only) at 1.",
        "b=x leaves P(a=only) at 1.",
    ]
    assert network.explain("b", {"a": "only"}).next_observations == ()


def test_bins_are_inequalities():
    age = Variable("age", ("below_18", "from_18_to_65", "from_65"))
    network = BayesianNetwork(
        [age, Variable("ill", ("no", "yes"))],
        {"ill": ["age"]},
        {"age": [0.2, 0.5, 0.3], "ill": [[0.9, 0.1], [0.8, 0.2], [0.5, 0.5]]},
    )
    assert network.explain("ill", {"age": "from_65"}, top=0).sentences() == [
        "The finding raises P(ill=yes) from 0.270 to 0.500 (+0.99 nats).",
        "age >= 65 raises P(ill=yes) from 0.270 to 0.500 (+0.99 nats).",
        "It reaches ill along age -> ill.",
    ]
    assert network.explain("age", {"ill": "yes"}).describe() == (
        "The finding raises P(age >= 65) from 0.300 to 0.556 (+1.07 nats)."
    )
    assert network.explain("ill").sentences()[1] == (
        "Observing age would remove 10% of the uncertainty on average (0.0601 nats): P(ill=yes) "
        "would be 0.100 if age < 18 (probability 0.200), and 0.500 if age >= 65 (probability "
        "0.300)."
    )


def test_the_records_are_plain():
    found = ASIA.explain("lung", {"xray": "yes", "smoke": "yes"}, top=1).as_dict()
    assert list(found) == [
        "target",
        "state",
        "given",
        "prior",
        "posterior",
        "weight",
        "entropy",
        "sentence",
        "findings",
        "next_observations",
    ]
    assert found["given"] == {"xray": "yes", "smoke": "yes"}
    first = found["findings"][0]
    assert first["paths"] == [
        {
            "nodes": ["xray", "either", "lung"],
            "text": "xray <- either <- lung",
            "opened_by": [],
        }
    ]
    assert (first["variable"], first["value"], first["is_separated"]) == ("xray", "yes", False)
    told = found["next_observations"][0]
    assert told["variable"] == "either"
    assert [outcome["state"] for outcome in told["outcomes"]] == ["yes", "no"]


def test_soft_evidence_is_shown_and_blocks_no_path():
    """The evidence itself is passed on unchanged; only words and paths look at its type."""
    soft = FindingEffect(ASIA.variable("xray"), {"yes": 0.8, "no": 0.2}, {}, {}, 0.0, 0.0, 0.0, ())
    assert str(soft) == "xray (yes 0.8, no 0.2)"
    assert soft.as_dict()["value"] == {"yes": 0.8, "no": 0.2}
    other = FindingEffect(ASIA.variable("xray"), [0.8, 0.2], {}, {}, 0.0, 0.0, 0.0, ())
    assert str(other) == "the finding about xray"
    assert split_evidence({"b": "yes", "c": {"yes": 0.5}, "a": "no"}) == (["a", "b"], ["c"])


# -- errors


def test_errors():
    assert refusal(ParameterError, ASIA.explain, "lung", {"lung": "yes"}) == (
        "'lung' is both a target and evidence. Remove it from one of them."
    )
    assert refusal(NetworkError, ASIA.explain, "lungs") == (
        "There is no variable 'lungs' in the network. Did you mean 'lung'?"
    )
    assert refusal(ParameterError, ASIA.explain, ["lung"]) == (
        "'target' of explain must be the name of a variable; got ['lung']."
    )
    assert refusal(ParameterError, ASIA.explain, "lung", "xray=yes") == (
        "'given' of explain must be a mapping of variable to state; got 'xray=yes'."
    )
    assert refusal(NetworkError, ASIA.explain, "lung", state="maybe") == (
        "'lung' has no state 'maybe'; its states are 'yes', 'no'."
    )
    assert refusal(ParameterError, ASIA.explain, "lung", top=-1) == (
        "'top' of explain must be an int >= 0; got -1."
    )
    assert refusal(NetworkError, ASIA.explain, "lung", {"either": "no", "tub": "yes"}) == (
        "The evidence has probability 0 under the network: 'either' = 'no', 'tub' = 'yes'."
    )
