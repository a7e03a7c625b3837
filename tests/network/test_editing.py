"""Edited networks have the joint distribution that enumeration gives."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import coevo
from coevo.bundled import load_network
from coevo.data import Variable
from coevo.errors import CoevoError, GraphError, NetworkError, ParameterError
from coevo.network import BayesianNetwork, fit_network, kl_divergence, sample
from coevo.network import random_network as draw
from helpers.random_networks import (
    enumerate_joint,
    grid_network,
    random_network,
    reverse_network,
)
from helpers.tiny_networks import GARDEN

SEEDS = st.integers(0, 10**6)


def message_of(function, *arguments, **options):
    with pytest.raises(CoevoError) as caught:
        function(*arguments, **options)
    return str(caught.value)


def joint_of(network, names):
    """Return the joint distribution of some variables by enumeration, in this order."""
    joint = enumerate_joint(network)
    all_names = [variable.name for variable in network.variables]
    rest = tuple(i for i, name in enumerate(all_names) if name not in names)
    kept = [name for name in all_names if name in names]
    return joint.sum(axis=rest).transpose([kept.index(name) for name in names])


def names_of(network):
    return [variable.name for variable in network.variables]


@settings(max_examples=60, deadline=None)
@given(SEEDS, st.sampled_from([0.0, 0.3]))
def test_every_arc_that_can_be_reversed_keeps_the_joint_distribution(seed, zeros):
    network = random_network(seed, 6, zeros=zeros)
    names = names_of(network)
    before = joint_of(network, names)
    for parent, child in network.dag.arcs:
        others = [name for name in network.dag.children(parent) if name != child]
        if child in network.dag.descendants(others):
            assert message_of(network.reverse_arc, parent, child) == (
                f"The arc {parent!r} -> {child!r} cannot be reversed: there is another directed "
                f"path from {parent!r} to {child!r}, so that there would be a cycle."
            )
            continue
        after = network.reverse_arc(parent, child)
        assert child in after.parents(parent)
        union = {*network.parents(parent), *network.parents(child)} - {parent}
        assert set(after.parents(child)) == union
        assert set(after.parents(parent)) == union | {child}
        assert names_of(after) == names
        np.testing.assert_allclose(joint_of(after, names), before, rtol=0, atol=1e-14)


@settings(max_examples=60, deadline=None)
@given(SEEDS, st.sampled_from([0.0, 0.3]), st.integers(1, 5))
def test_variables_are_marginalised_out(seed, zeros, n_out):
    network = random_network(seed, 6, zeros=zeros)
    names = names_of(network)
    out = np.random.default_rng(seed).permutation(names)[:n_out].tolist()
    left = [name for name in names if name not in out]
    after = network.marginalise(out if n_out > 1 else out[0])
    assert names_of(after) == left
    np.testing.assert_allclose(joint_of(after, left), joint_of(network, left), rtol=0, atol=1e-14)
    assert after == network.marginalise(out[::-1])


@settings(max_examples=60, deadline=None)
@given(SEEDS, st.sampled_from([0.0, 0.3]))
def test_an_arc_is_added_and_removed(seed, zeros):
    network = random_network(seed, 5, zeros=zeros)
    names = names_of(network)
    before = joint_of(network, names)
    order = network.dag.topological_order
    free = [
        (one, other)
        for i, one in enumerate(order)
        for other in order[i + 1 :]
        if one not in network.parents(other)
    ]
    for parent, child in free:
        added = network.add_arc(parent, child)
        assert added.parents(child) == (*network.parents(child), parent)
        np.testing.assert_allclose(joint_of(added, names), before, rtol=0, atol=1e-14)
        removed = added.remove_arc(parent, child)
        assert removed.dag == network.dag
        np.testing.assert_allclose(joint_of(removed, names), before, rtol=0, atol=1e-13)


@settings(max_examples=40, deadline=None)
@given(SEEDS)
def test_a_removed_arc_leaves_the_closest_table(seed):
    """The table is the child's distribution given its other parents: no other one is closer."""
    network = random_network(seed, 5, min_states=2)
    rng = np.random.default_rng(seed)
    for parent, child in network.dag.arcs[:3]:
        after = network.remove_arc(parent, child)
        others = after.parents(child)
        assert others == tuple(name for name in network.parents(child) if name != parent)
        joint = joint_of(network, [*others, child])
        expected = joint / joint.sum(axis=-1, keepdims=True)
        found = after.table(child).reshape(joint.shape)
        np.testing.assert_allclose(found, expected, rtol=1e-10)
        near = after.table(child) + rng.uniform(0, 0.05, after.table(child).shape)
        other = after.replace(tables={child: near / near.sum(axis=1, keepdims=True)})
        assert kl_divergence(network, after) <= kl_divergence(network, other)


def test_an_impossible_configuration_gets_the_mean_over_the_parent():
    network = BayesianNetwork(
        [Variable(name, ("n", "y")) for name in "abc"],
        {"c": ["a", "b"]},
        {"a": [1.0, 0.0], "b": [0.25, 0.75], "c": [[1, 0], [0.5, 0.5], [0.2, 0.8], [0.6, 0.4]]},
    )
    after = network.remove_arc("b", "c")
    np.testing.assert_allclose(after.table("c"), [[0.625, 0.375], [0.5, 0.5]], rtol=1e-14)


def test_arcs_take_tables():
    network = GARDEN.remove_arc("rain", "wet", [0.25, 0.75])
    assert network.parents("wet") == ()
    assert network.table("wet").tolist() == [[0.25, 0.75]]
    assert network.add_arc("rain", "wet", [[0.5, 0.5], [0.0, 1.0]]) == GARDEN


def test_bad_arcs_are_refused():
    assert message_of(GARDEN.add_arc, "rain", "wet") == "There is an arc 'rain' -> 'wet' already."
    assert message_of(GARDEN.remove_arc, "wet", "rain") == (
        "There is no arc 'wet' -> 'rain'. There is one from 'rain' to 'wet'."
    )
    assert message_of(GARDEN.reverse_arc, "rain", "rain") == "There is no arc 'rain' -> 'rain'."
    assert "There is no variable 'rian' in the network." in message_of(
        GARDEN.add_arc, "rian", "wet"
    )
    with pytest.raises(GraphError):
        GARDEN.add_arc("wet", "rain")
    assert message_of(GARDEN.marginalise, ["rain", "wet"]) == (
        "No variable would be left. Keep at least one."
    )
    assert message_of(GARDEN.marginalise, 3) == (
        "'names' of marginalise must be a variable, or a list of variables; got 3."
    )


def test_tables_that_would_be_too_large_are_refused():
    wide = BayesianNetwork(
        [Variable("top", ("a", "b")), *(Variable(f"v{i}", tuple("abcdefghij")) for i in range(9))],
        {f"v{i}": ["top"] for i in range(9)},
        {"top": [0.5, 0.5], **{f"v{i}": np.full((2, 10), 0.1) for i in range(9)}},
    )
    assert message_of(wide.marginalise, "top") == (
        "The table of 'top' with its 9 parents would have 2e+09 cells. Keep 'top'."
    )
    many = wide.replace(
        parents={"v8": [f"v{i}" for i in range(6)]}, tables={"v8": np.full((10**6, 10), 0.1)}
    )
    assert message_of(many.add_arc, "v6", "v8") == (
        "The table of 'v8' with its 7 parents would have 1e+08 cells. Keep these arcs as they are."
    )
    assert message_of(draw, 20, arcs=190, max_parents=19, states=3, random_state=1).endswith(
        "cells. Ask for fewer states or parents."
    )


def test_a_question_that_takes_too_long_is_refused(monkeypatch):
    network = grid_network(5)
    monkeypatch.setattr("coevo.network.elimination.MAX_OPERATIONS", 1)
    found = message_of(network.remove_arc, "r03c04", "r04c04")
    assert found.startswith("The table of 'r04c04' without 'r03c04' is never estimated; the exact")
    assert found.endswith("Give the table, or compute the exact answer with exact=True (--exact).")
    network.remove_arc("r03c04", "r04c04", exact=True)
    found = message_of(kl_divergence, network, network)
    assert found.startswith("The divergence is never estimated; the exact answer would take")
    assert kl_divergence(network, network, exact=True) == pytest.approx(0, abs=1e-12)
    assert message_of(kl_divergence, network, network, exact=1) == (
        "'exact' of kl_divergence must be a bool; got 1."
    )
    assert message_of(network.remove_arc, "r03c04", "r04c04", [0.5], exact=True) == (
        "'exact' of remove_arc is about a table that is computed. Leave it out, or the table."
    )


# ---- replace


def test_replace_names_and_states():
    after = GARDEN.replace(
        name="garden",
        names={"rain": "shower", "wet": "rain"},
        states={"rain": {"no": "none"}, "wet": ("wet", "dry")},
    )
    assert after.name == "garden"
    assert after.variables == (
        Variable("shower", ("none", "yes")),
        Variable("rain", ("wet", "dry")),
    )
    assert after.parents("rain") == ("shower",)
    assert after.table("rain").tolist() == [[0.5, 0.5], [1.0, 0.0]]
    assert after.table("shower").tolist() == [[0.75, 0.25]]
    assert GARDEN.replace() == GARDEN
    assert GARDEN.replace().name == GARDEN.name


@settings(max_examples=40, deadline=None)
@given(SEEDS)
def test_states_in_another_order_are_the_same_distribution(seed):
    network = random_network(seed, 5)
    rng = np.random.default_rng(seed)
    orders = {v.name: tuple(rng.permutation(v.states).tolist()) for v in network.variables}
    after = network.replace(states=orders)
    assert {v.name: v.states for v in after.variables} == orders
    joint = enumerate_joint(network)
    for axis, variable in enumerate(network.variables):
        joint = joint.take([variable.states.index(s) for s in orders[variable.name]], axis)
    np.testing.assert_allclose(enumerate_joint(after), joint, rtol=1e-12)
    assert kl_divergence(network, after) == pytest.approx(0, abs=1e-12)
    assert after.replace(states={v.name: v.states for v in network.variables}) == network


def test_replace_parents_with_their_tables():
    after = GARDEN.replace(
        parents={"wet": [], "rain": ["wet"]},
        tables={"wet": [0.5, 0.5], "rain": [[1, 0], [0.5, 0.5]]},
    )
    assert after.dag.arcs == (("wet", "rain"),)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"parents": {"wet": []}},
            "'wet' gets other parents, so its table does not fit. Give the new one in 'tables', or "
            "use add_arc, remove_arc or reverse_arc.",
        ),
        ({"names": {"wet": "rain"}}, "Two variables would have the name 'rain'."),
        (
            {"states": {"wet": {"dry": "wet"}}},
            "Two states of 'wet' would have the name 'wet'. States cannot be merged.",
        ),
        (
            {"states": {"wet": {"drry": "moist"}}},
            "'wet' has no state 'drry' to rename. Did you mean 'dry'?",
        ),
        (
            {"states": {"wet": ["dry", "moist"]}},
            "A list of states of 'wet' is a new order of dry, wet; got ['dry', 'moist']. To rename "
            "states, give a mapping of old to new.",
        ),
        (
            {"tables": {"wett": [1]}},
            "There is no variable 'wett' in the network. Did you mean 'wet'?",
        ),
        ({"names": ["wet"]}, "'names' of replace must be a mapping by variable; got ['wet']."),
        ({"name": 3}, "'name' of replace must be a str; got 3."),
        (
            {"tables": {"wet": [0.5, 0.5]}},
            "The table of 'wet' has 2 probabilities; its 2 states and 2 parent configurations need "
            "4.",
        ),
    ],
)
def test_replace_validates(options, message):
    assert message_of(GARDEN.replace, **options) == message


# ---- random networks


def test_the_same_seed_gives_the_same_network(seed):
    one = draw(12, arcs=15, random_state=seed)
    assert one == draw(12, arcs=15, random_state=seed)
    assert one != draw(12, arcs=15, random_state=seed + 1)
    assert len(one.dag.arcs) == 15
    assert max(len(one.parents(name)) for name in names_of(one)) <= 3
    assert {v.arity for v in one.variables} <= {2, 3, 4}
    assert names_of(one)[:2] == ["v01", "v02"]


def test_random_networks_follow_their_settings():
    assert draw(["a", "b", "c"], states=2, arcs=0, random_state=1).dag.arcs == ()
    full = draw(6, arcs=15, max_parents=5, states=(1, 2), random_state=1)
    assert len(full.dag.arcs) == 15
    known = draw([Variable("x", ("u", "v", "w")), Variable("y", ("0", "1"))], random_state=2)
    assert [v.states for v in known.variables] == [("u", "v", "w"), ("0", "1")]
    sharp = draw(40, alpha=0.01, states=3, random_state=3)
    top = np.concatenate([sharp.table(name).max(axis=1) for name in names_of(sharp)])
    assert top.mean() > 0.95
    assert len(draw(10, random_state=1).dag.arcs) == 15  # 1.5 for each variable
    assert draw(1, random_state=1).dag.arcs == ()
    assert coevo.random_network is draw


def test_every_order_of_variables_is_drawn():
    arcs = {draw(["a", "b"], arcs=1, random_state=seed).dag.arcs for seed in range(20)}
    assert arcs == {(("a", "b"),), (("b", "a"),)}


@pytest.mark.parametrize(
    ("variables", "options", "message"),
    [
        (0, {}, "'variables' of random_network must be an int >= 1, or a list of names or "
         "variables; got 0."),
        ("abc", {}, "'variables' of random_network must be an int >= 1, or a list of names or "
         "variables; got 'abc'."),
        ([1, 2], {}, "'variables' of random_network must be a list of names or variables; got "
         "[1, 2]."),
        (3, {"arcs": 4}, "'arcs' of random_network must be an int from 0 to 3 (the most with "
         "max_parents=3); got 4."),
        (3, {"arcs": True}, "'arcs' of random_network must be an int from 0 to 3 (the most with "
         "max_parents=3); got True."),
        (3, {"max_parents": -1}, "'max_parents' of random_network must be an int >= 0; got -1."),
        (3, {"alpha": 0}, "'alpha' of random_network must be a number above 0; got 0."),
        (3, {"states": (3, 2)}, "'states' of random_network must be an int from 1 to 65,535, or a "
         "tuple of the least and the most; got (3, 2)."),
    ],
)  # fmt: skip
def test_random_networks_validate(variables, options, message):
    assert message_of(draw, variables, **options) == message


# ---- divergence


@settings(max_examples=80, deadline=None)
@given(SEEDS, st.sampled_from([0.0, 0.3]))
def test_kl_divergence_matches_enumeration(seed, zeros):
    p, other = (random_network((seed, i), 5, zeros=zeros) for i in range(2))
    rng = np.random.default_rng(seed)
    shuffled = [Variable(v.name, tuple(rng.permutation(v.states).tolist())) for v in p.variables]
    by_name = {v.name: v for v in shuffled}
    q = draw([by_name[name] for name in rng.permutation(list(by_name)).tolist()], random_state=seed)
    if zeros:
        q = q.replace(tables={q.variables[0].name: sharpen(q.table(q.variables[0].name))})
    joint = enumerate_joint(p)
    other = joint_of(q, names_of(p))
    for axis, variable in enumerate(p.variables):
        order = [by_name[variable.name].states.index(state) for state in variable.states]
        other = other.take(order, axis)
    with np.errstate(divide="ignore"):
        terms = joint[joint > 0] * np.log(joint[joint > 0] / other[joint > 0])
    expected = math.inf if np.isinf(terms).any() else math.fsum(terms)
    assert kl_divergence(p, q) == pytest.approx(expected, rel=1e-9, abs=1e-12)


def sharpen(table):
    """Return a table whose first state is impossible, if there is another one."""
    sharp = np.array(table)
    if sharp.shape[1] > 1:
        sharp[:, 0] = 0
        sharp /= sharp.sum(axis=1, keepdims=True)
    return sharp


def test_kl_divergence_of_the_same_distribution_is_zero(seed):
    network = random_network(seed, 6)
    assert kl_divergence(network, network) == pytest.approx(0, abs=1e-12)
    assert kl_divergence(network, reverse_network(network)) == pytest.approx(0, abs=1e-12)


def test_kl_divergence_matches_pyagrum(seed):
    gum = pytest.importorskip("pyagrum")
    from coevo.interop import to_pyagrum

    p = random_network(seed, 7, min_states=2)
    q = fit_network(p.dag, sample(p, 500, random_state=seed))
    one, other = to_pyagrum(p), to_pyagrum(q)  # kept: what computes holds no reference to them
    found = gum.ExactBNdistance(one, other).compute()["klPQ"]
    assert kl_divergence(p, q) == pytest.approx(found * math.log(2), rel=1e-9)


def test_kl_divergence_of_a_bundled_network():
    alarm = load_network("alarm")
    fitted = fit_network(alarm.dag, sample(alarm, 20_000, random_state=1))
    assert 0 < kl_divergence(alarm, fitted) < 0.05


def test_kl_divergence_needs_the_same_variables():
    one = GARDEN.replace(names={"wet": "grass"})
    assert message_of(kl_divergence, GARDEN, one) == "'q' of kl_divergence has no variable 'wet'."
    less = GARDEN.marginalise("wet")
    assert message_of(kl_divergence, less, GARDEN) == "'p' of kl_divergence has no variable 'wet'."
    other = GARDEN.replace(states={"wet": {"dry": "no"}})
    assert message_of(kl_divergence, GARDEN, other) == (
        "'wet' has the states dry, wet in 'p' of kl_divergence, and no, wet in 'q'."
    )
    assert message_of(kl_divergence, GARDEN, GARDEN.dag) == (
        "'q' of kl_divergence must be a BayesianNetwork; got <DAG: 2 variables, 1 arcs>."
    )


def test_errors_have_their_kinds():
    with pytest.raises(NetworkError):
        GARDEN.remove_arc("wet", "rain")
    with pytest.raises(ParameterError):
        draw(0)
