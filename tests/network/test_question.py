"""Plans of exact inference agree with enumeration, and do no more than the question needs."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given as drawn
from hypothesis import settings
from hypothesis import strategies as st

import coevo.network.clique_tree as clique_tree
import coevo.runtime.memory
from coevo.bundled import load_network
from coevo.data import Variable
from coevo.errors import CoevoWarning, ParameterError
from coevo.network import BayesianNetwork, JunctionTree, inference
from coevo.network.elimination import Elimination, find_relevant
from coevo.network.kernels import USED_STEPS, USED_WORK
from coevo.network.question import JointQuestion, MarginalQuestion, encode_evidence
from helpers.random_networks import (
    enumerate_joint,
    grid_network,
    random_evidence,
    random_network,
    reverse_network,
)

pytestmark = pytest.mark.kernel
thorough = settings(derandomize=True, deadline=None, max_examples=60)
SEEDS = st.integers(0, 10**6)


def ask(kind, network, given, names, is_total=True):
    return kind(network, *encode_evidence(network, given, "ask"), names, is_total)


def draw_evidence(network, seed, share):
    """Return some states of one sampled row, every second one as a soft finding."""
    rng = np.random.default_rng(seed)
    given = random_evidence(network, seed, share)
    for name in list(given)[::2]:
        states = network.variable(name).states
        given[name] = dict(zip(states, rng.uniform(0, 2, len(states)), strict=True))
    return given


def weigh_joint(network, given):
    """Return the joint distribution of all variables and the evidence, by enumeration."""
    joint = enumerate_joint(network)
    codes, findings = encode_evidence(network, given, "ask")
    for i, variable in enumerate(network.variables):
        weights = np.ones(variable.arity)
        if variable.name in codes:
            weights = np.arange(variable.arity) == codes[variable.name]
        elif variable.name in findings:
            weights = np.array(findings[variable.name])
        joint = joint * weights.reshape([-1 if k == i else 1 for k in range(joint.ndim)])
    return joint


@thorough
@drawn(SEEDS, st.sampled_from([0.0, 0.3, 0.6]), st.sampled_from([0.0, 0.3, 0.7]))
def test_answers_agree_with_enumeration(seed, zeros, share):
    network = random_network(seed, 7, zeros=zeros)
    given = draw_evidence(network, seed, share)
    codes, _ = encode_evidence(network, given, "ask")
    joint = weigh_joint(network, given)
    names = [variable.name for variable in network.variables]
    free = [name for name in names if name not in codes]
    if joint.sum() == 0:
        return
    expected_log = pytest.approx(math.log(joint.sum()), abs=1e-12)
    found, log_probability = ask(MarginalQuestion, network, given, free).answer()
    assert log_probability == expected_log
    for name in free:
        others = tuple(i for i, other in enumerate(names) if other != name)
        np.testing.assert_allclose(
            found[name], joint.sum(axis=others) / joint.sum(), rtol=1e-12, atol=1e-15
        )
    assert ask(JointQuestion, network, given, []).answer()[1] == expected_log
    asked = np.random.default_rng(seed).permutation(free)[:3].tolist()
    table, log_probability = ask(JointQuestion, network, given, asked).answer()
    assert log_probability == expected_log
    rest = tuple(i for i, name in enumerate(names) if name not in asked)
    kept = [name for name in names if name in asked]
    expected = (joint.sum(axis=rest) / joint.sum()).transpose([kept.index(n) for n in asked])
    np.testing.assert_allclose(table.ravel(), expected.ravel(), rtol=1e-12, atol=1e-15)
    # and without what has no effect
    table, _ = ask(JointQuestion, network, given, asked, is_total=False).answer()
    np.testing.assert_allclose(table.ravel(), expected.ravel(), rtol=1e-12, atol=1e-15)
    found, _ = ask(MarginalQuestion, network, given, asked, is_total=False).answer()
    for k, name in enumerate(asked):
        others = tuple(i for i in range(expected.ndim) if i != k)
        np.testing.assert_allclose(found[name], expected.sum(axis=others), rtol=1e-12, atol=1e-15)


@thorough
@drawn(SEEDS)
def test_the_order_of_the_variables_changes_no_bit(seed):
    network = random_network(seed, 9, zeros=0.2)
    given = draw_evidence(network, seed, 0.3)
    codes, _ = encode_evidence(network, given, "ask")
    names = [v.name for v in network.variables if v.name not in codes]
    other = reverse_network(network)
    found, total = ask(MarginalQuestion, network, given, names).answer()
    again, same = ask(MarginalQuestion, other, given, names[::-1]).answer()
    assert total == same
    assert all(np.array_equal(found[name], again[name]) for name in found)


def test_impossible_evidence_has_no_probability():
    network = load_network("asia")
    given = {"lung": "yes", "either": "no"}
    assert ask(JointQuestion, network, given, ["bronc"]).answer()[1] == -math.inf
    assert ask(JointQuestion, network, given, []).answer()[1] == -math.inf
    assert ask(MarginalQuestion, network, given, ["bronc"]).answer() == ({}, -math.inf)
    # the evidence is possible, and so is the target; both together are not
    assert ask(JointQuestion, network, given, ["tub"]).answer()[1] == -math.inf


def make_class(n_children, arity, rng):
    """Return a class of some states with two-state children."""
    names = [f"x{i:03d}" for i in range(n_children)]
    states = tuple(f"s{k:05d}" for k in range(arity))
    variables = [Variable("class", states), *(Variable(x, ("no", "yes")) for x in names)]
    tables = {x: rng.dirichlet([1, 1], arity) for x in names}
    tables["class"] = rng.dirichlet(np.ones(arity))
    return BayesianNetwork(variables, {x: ["class"] for x in names}, tables)


@pytest.mark.parametrize("n_children", [1, 7, 8, 9, 64, 65, 100])
def test_many_tables_of_one_variable(n_children):
    """More than a step multiplies."""
    network = make_class(n_children, 5, np.random.default_rng(n_children))
    given = {variable.name: "yes" for variable in network.variables[1:]}
    expected = network.table("class")[0]
    for name in given:
        expected = expected * network.table(name)[:, 1]
    for kind in (JointQuestion, MarginalQuestion):
        found, total = ask(kind, network, given, ["class"]).answer()
        shares = found if kind is JointQuestion else found["class"]
        np.testing.assert_allclose(shares, expected / expected.sum(), rtol=1e-12)
        assert total == pytest.approx(math.log(expected.sum()), rel=1e-12)


@pytest.mark.parametrize("arity", [63, 64, 65, 1023, 1024, 1025, 3000])
def test_long_axes(arity):
    """Longer than a block of cells, which is computed at once."""
    rng = np.random.default_rng(arity)
    states = tuple(f"s{k:05d}" for k in range(arity))
    variables = [Variable("a", states), Variable("b", ("0", "1", "2")), Variable("c", states)]
    tables = {
        "a": rng.dirichlet(np.ones(arity)),
        "b": rng.dirichlet(np.ones(3), arity),
        "c": rng.dirichlet(np.ones(arity), 3),
    }
    network = BayesianNetwork(variables, {"b": ["a"], "c": ["b"]}, tables)
    b = tables["a"] @ tables["b"]
    c = b @ tables["c"]
    found, _ = ask(MarginalQuestion, network, {}, ["a", "b", "c"]).answer()
    for name, expected in {"a": tables["a"], "b": b, "c": c}.items():
        np.testing.assert_allclose(found[name], expected, rtol=1e-12)
    both, _ = ask(JointQuestion, network, {}, ["b", "a"]).answer()
    np.testing.assert_allclose(both, (tables["a"][:, None] * tables["b"]).T, rtol=1e-12)
    after, _ = ask(JointQuestion, network, {"c": states[-1]}, ["a"]).answer()
    expected = tables["a"] * (tables["b"] @ tables["c"][:, -1])
    np.testing.assert_allclose(after, expected / expected.sum(), rtol=1e-12)


def test_a_plan_that_needs_more_room_is_made_again(monkeypatch):
    network = load_network("andes")
    given = random_evidence(network, 1, 0.1)
    expected = JunctionTree(network).compute_beliefs(given)
    monkeypatch.setattr(clique_tree, "ROOM", 1)
    tree = JunctionTree(network)
    assert tree.compute_beliefs(given).marginals == expected.marginals
    assert tree.compute_beliefs(given).marginals == expected.marginals


def test_threads_share_a_tree():
    network = load_network("win95pts")
    tree = JunctionTree(network)
    findings = [random_evidence(network, seed, 0.2) for seed in range(8)]
    expected = [JunctionTree(network).compute_beliefs(given) for given in findings]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(tree.compute_beliefs, findings * 4))
    for one, other in zip(found, expected * 4, strict=True):
        assert one.log_probability == other.log_probability
        assert one.marginals == other.marginals


def count(calculation):
    """Return the number of steps of a plan, and of the cells that they read."""
    used = calculation.plan.used
    return int(used[USED_STEPS]), int(used[USED_WORK])


def test_a_question_about_what_is_known_computes_nothing():
    network = load_network("alarm")
    roots = [v.name for v in network.variables if not network.parents(v.name)]
    assert count(ask(MarginalQuestion, network, {}, roots).calculation) == (0, 0)
    everything = random_evidence(network, 0, 1.0)
    question = ask(JointQuestion, network, everything, [])
    assert count(question.calculation) == (0, 0)
    codes, _ = encode_evidence(network, everything, "ask")
    rows = {n: network.table(n)[network.find_configurations(n, codes)] for n in codes}
    expected = math.fsum(math.log(row[codes[name]]) for name, row in rows.items())
    assert question.answer()[1] == pytest.approx(expected, rel=1e-12)


def make_two_parts(rare):
    """Return x, and apart from it causes a and b of an observed effect.

    The effect needs `rare` of both, which are improbable.
    """
    variables = [Variable(name, ("0", "1")) for name in ("a", "b", "effect", "x", "y")]
    tables = {name: [0.9, 0.1] for name in ("a", "b", "x")}
    effect = np.tile([1.0, 0.0], (4, 1))
    effect[rare] = [0.5, 0.5]
    return BayesianNetwork(
        variables,
        {"effect": ["a", "b"], "y": ["x"]},
        {**tables, "effect": effect, "y": [[0.8, 0.2], [0.3, 0.7]]},
    )


@pytest.mark.parametrize(("rare", "n_families"), [(0, 2), (3, 5)])
def test_evidence_without_an_effect_is_only_found_possible(rare, n_families):
    """A witness shows it if the most probable causes explain it; else all is read."""
    network = make_two_parts(rare)
    given = {"effect": "1", "y": "1"}
    codes, findings = encode_evidence(network, given, "ask")
    families, _ = network.numbered.find_order(
        network.numbered.encode(codes, findings), np.array([3]), is_total=False
    )
    assert len(families) == n_families
    expected = np.array([0.9 * 0.2, 0.1 * 0.7])
    for kind in (JointQuestion, MarginalQuestion):
        found, total = ask(kind, network, given, ["x"], is_total=False).answer()
        shares = found if kind is JointQuestion else found["x"]
        np.testing.assert_allclose(shares, expected / expected.sum(), rtol=1e-12)
        assert total > -math.inf
    impossible = {**given, "a": "1" if rare == 0 else "0"}
    for kind in (JointQuestion, MarginalQuestion):
        assert ask(kind, network, impossible, ["x"], is_total=False).answer()[1] == -math.inf


def test_what_evidence_separates_is_not_multiplied():
    """All but one of the parents of a large table are known, and so is it itself."""
    rng = np.random.default_rng(0)
    names = [f"p{i:02d}" for i in range(12)]
    variables = [Variable(name, ("no", "yes")) for name in [*names, "child"]]
    tables = {name: [0.5, 0.5] for name in names}
    network = BayesianNetwork(
        variables, {"child": names}, {**tables, "child": rng.dirichlet([1, 1], 2**12)}
    )
    tree = JunctionTree(network)
    codes = dict.fromkeys([*names[1:], "child"], 0)
    plan = tree._tree.plan(network.numbered.encode(codes, {}))
    assert count(plan)[1] <= 16


def test_the_cells_of_a_message_are_used_again():
    """A sweep through a grid needs the memory of a few cliques, however long the grid is."""
    network = grid_network(12)
    calculation = ask(JointQuestion, network, {"r11c11": "yes"}, ["r00c00"]).calculation
    largest = max(
        2 ** len(step.clique)
        for step in Elimination(
            network, {"r11c11": 0}, find_relevant(network, ["r11c11"]), ["r00c00"]
        ).steps
    )
    assert calculation.cost.n_bytes <= 8 * 3 * largest
    assert calculation.plan.used[USED_STEPS] >= 12 * 12 - 2


def test_numbers_below_the_smallest_float_are_noticed():
    network = make_class(400, 2, np.random.default_rng(0))
    tables = {x.name: [[1 - 1e-5, 1e-5], [1e-5, 1 - 1e-5]] for x in network.variables[1:]}
    network = BayesianNetwork(
        network.variables,
        {name: ["class"] for name in tables},
        {**tables, "class": [0.5, 0.5]},
    )
    given = dict.fromkeys(tables, "yes")
    for kind in (JointQuestion, MarginalQuestion):
        with pytest.raises(FloatingPointError):
            ask(kind, network, given, ["class"]).answer()
    assert network.query("class", given).probabilities.tolist() == [0.0, 1.0]
    assert network.marginals(given=given)["class"].probabilities.tolist() == [0.0, 1.0]
    expected = math.log(0.5) + 400 * math.log1p(-1e-5)
    assert network.log_probability(given) == pytest.approx(expected, rel=1e-12)


def test_small_numbers_that_all_cells_share_are_no_problem():
    """The probability of the evidence is far below the smallest float."""
    network = make_class(300, 2, np.random.default_rng(3))
    tables = {x.name: [[1 - 1e-5, 1e-5], [1 - 2e-5, 2e-5]] for x in network.variables[1:]}
    network = BayesianNetwork(
        network.variables, {name: ["class"] for name in tables}, {**tables, "class": [0.9, 0.1]}
    )
    given = dict.fromkeys(tables, "yes")
    expected = 300 * math.log(2e-5) + math.log(0.1 + 0.9 * 0.5**300)
    for kind in (JointQuestion, MarginalQuestion):
        assert ask(kind, network, given, ["class"]).answer()[1] == pytest.approx(expected)


def test_a_table_larger_than_any_memory_is_not_planned(monkeypatch):
    """65 variables, each pair of which has a child that is observed."""
    rng = np.random.default_rng(0)
    names = [f"v{i:02d}" for i in range(65)]
    parents, tables = {}, {name: [0.5, 0.5] for name in names}
    for i, one in enumerate(names):
        for other in names[:i]:
            parents[f"{one}{other}"] = [one, other]
            tables[f"{one}{other}"] = rng.dirichlet([1, 1], 4)
    network = BayesianNetwork([Variable(n, ("0", "1")) for n in tables], parents, tables)
    given = dict.fromkeys(parents, "1")
    for kind in (JointQuestion, MarginalQuestion):
        cost = ask(kind, network, given, ["v00"]).calculation.cost
        assert cost.n_operations == sum(2**n for n in range(1, 66))
        assert not cost.is_feasible
    # not even where the system does not report its memory
    monkeypatch.setattr(coevo.runtime.memory, "get_machine_memory", lambda: None)
    with pytest.raises(ParameterError, match=r"^Exact inference .* GB of memory\. Give more"):
        network.query("v00", given, exact=True)


def test_small_numbers_are_noticed_once_for_all_marginals(monkeypatch):
    """One elimination with logarithms answers for all variables."""
    network = make_class(120, 2, np.random.default_rng(0))
    tables = {x.name: [[1 - 1e-5, 1e-5], [1e-5, 1 - 1e-5]] for x in network.variables[1:]}
    network = BayesianNetwork(
        network.variables, {x: ["class"] for x in tables}, {**tables, "class": [0.5, 0.5]}
    )
    given = dict.fromkeys(list(tables)[:100], "yes")
    made = []
    eliminate = inference.Elimination
    monkeypatch.setattr(
        inference, "Elimination", lambda *values: made.append(1) or eliminate(*values)
    )
    found = network.marginals(given=given)
    assert len(made) == 1
    assert found["class"].probabilities.tolist() == [0.0, 1.0]
    assert found["x119"].probabilities == pytest.approx([1e-5, 1 - 1e-5])
    beliefs = JunctionTree(network).compute_beliefs(given)
    assert len(made) == 2
    assert beliefs.marginals["x119"] == found["x119"]
    assert beliefs.marginals["x000"].probabilities.tolist() == [0.0, 1.0]
    assert beliefs.log_probability == network.log_probability(given)


def test_named_targets_are_planned_only_until_they_cost_too_much(monkeypatch):
    network = grid_network(6)
    planned = []
    monkeypatch.setattr("coevo.network.elimination.MAX_OPERATIONS", 0)
    joint = inference.JointQuestion
    monkeypatch.setattr(
        inference, "JointQuestion", lambda *values: planned.append(1) or joint(*values)
    )
    names = [variable.name for variable in network.variables][::-1]
    with pytest.warns(CoevoWarning):
        network.marginals(names)
    assert 1 <= len(planned) < len(names)
