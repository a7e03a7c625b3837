"""Inference is exact: it agrees with enumeration and with pyAgrum."""

from __future__ import annotations

import itertools
import math
from functools import partial

import numpy as np
import pytest
from hypothesis import given as drawn
from hypothesis import settings
from hypothesis import strategies as st

import coevo.runtime.memory
from coevo.bundled import load_network
from coevo.data import Dataset, Variable
from coevo.errors import NetworkError, ParameterError
from coevo.network import BayesianNetwork, elimination_order, inference, read_rows, sample
from coevo.network.elimination import Elimination
from helpers.errors import refusal
from helpers.peer_oracles import pyagrum, pyagrum_network
from helpers.random_networks import (
    enumerate_joint,
    grid_network,
    random_evidence,
    random_network,
    reverse_network,
)

thorough = settings(derandomize=True, deadline=None, max_examples=120)
SEEDS = st.integers(0, 10**6)
SHARES = st.sampled_from([0.0, 0.2, 0.5, 1.0])
ZEROS = st.sampled_from([0.0, 0.3, 0.6])


def names_of(network):
    return [variable.name for variable in network.variables]


def codes_of(network, states):
    return {name: network.variable(name).states.index(state) for name, state in states.items()}


def conditioned(network, given):
    """Return the joint distribution with excluded states set to 0, and its sum."""
    joint = enumerate_joint(network)
    for name, code in codes_of(network, given).items():
        axis = names_of(network).index(name)
        others = [i for i in range(joint.shape[axis]) if i != code]
        joint[(slice(None),) * axis + (others,)] = 0
    return joint, joint.sum()


def expected_joint(network, targets, given):
    joint, total = conditioned(network, given)
    names = names_of(network)
    rest = tuple(i for i, name in enumerate(names) if name not in targets)
    kept = [name for name in names if name in targets]
    return joint.sum(axis=rest).transpose([kept.index(name) for name in targets]) / total


# -- enumeration


@thorough
@drawn(SEEDS, SHARES, ZEROS, st.randoms(use_true_random=False))
def test_answers_agree_with_enumeration(seed, share, zeros, random):
    network = random_network(seed, 6, zeros=zeros)
    given = random_evidence(network, seed, share)
    _, total = conditioned(network, given)
    assert network.log_probability(given) == pytest.approx(math.log(total), rel=1e-9, abs=1e-12)
    free = [name for name in names_of(network) if name not in given]
    marginals = network.marginals(given=given)
    assert list(marginals) == free
    for name in free:
        expected = expected_joint(network, [name], given)
        for found in (marginals[name], network.query(name, given)):
            assert found.variables == (network.variable(name),)
            np.testing.assert_allclose(found.probabilities, expected, rtol=1e-9, atol=1e-14)
    if free:
        targets = random.sample(free, random.randint(1, len(free)))
        found = network.query(targets, given)
        assert [variable.name for variable in found.variables] == targets
        expected = expected_joint(network, targets, given)
        np.testing.assert_allclose(found.probabilities, expected, rtol=1e-9, atol=1e-14)


@thorough
@drawn(SEEDS, SHARES, ZEROS)
def test_the_explanation_agrees_with_enumeration(seed, share, zeros):
    network = random_network(seed, 6, zeros=zeros)
    given = random_evidence(network, seed, share)
    joint, _ = conditioned(network, given)
    found = network.most_probable_explanation(given)
    assert list(found.states) == [name for name in names_of(network) if name not in given]
    codes = codes_of(network, {**found.states, **given})
    value = joint[tuple(codes[name] for name in names_of(network))]
    assert value == pytest.approx(joint.max(), rel=1e-9)
    assert found.log_probability == pytest.approx(math.log(value), rel=1e-9, abs=1e-12)


@thorough
@drawn(SEEDS, SHARES, ZEROS)
def test_the_most_probable_states_of_some_variables_agree_with_enumeration(seed, share, zeros):
    network = random_network(seed, 6, zeros=zeros)
    given = random_evidence(network, seed, share)
    free = [name for name in names_of(network) if name not in given]
    random = np.random.default_rng(seed)
    for n_targets in {1, 2, len(free) // 2, len(free)} - {0}:
        if n_targets > len(free):
            continue
        targets = random.permutation(free)[:n_targets].tolist()
        found = network.most_probable_states(targets, given)
        assert list(found.states) == targets
        expected = expected_joint(network, targets, given)
        place = tuple(network.variable(n).states.index(s) for n, s in found.states.items())
        assert expected[place] == pytest.approx(expected.max(), rel=1e-9)
        log_probability = math.log(expected[place]) + network.log_probability(given)
        assert found.log_probability == pytest.approx(log_probability, rel=1e-9, abs=1e-12)
    if free:
        every = network.most_probable_states(free, given)
        assert every.states == network.most_probable_explanation(given).states


def test_most_probable_states_of_large_networks(seed):
    for name in ("alarm", "win95pts", "pigs"):
        network = load_network(name)
        given = random_evidence(network, seed, 0.3)
        targets = [name for name in names_of(network) if name not in given][3:40:9]
        found = network.most_probable_states(targets, given)
        joint = network.query(targets, given)
        assert joint[tuple(found.states.values())] == pytest.approx(max(joint.values()), rel=1e-9)
        probability = math.exp(found.log_probability - network.log_probability(given))
        assert probability == pytest.approx(max(joint.values()), rel=1e-9)


def test_most_probable_states_take_soft_evidence():
    asia = load_network("asia")
    given = {"smoke": {"yes": 0.9, "no": 0.2}, "xray": "yes"}
    found = asia.most_probable_states(["bronc", "lung"], given)
    joint = asia.query(["bronc", "lung"], given)
    assert tuple(found.states.values()) == max(joint, key=joint.get)
    # They are not the states of the explanation of all variables.
    two = BayesianNetwork(
        [Variable("a", ("x", "y")), Variable("b", ("1", "2", "3"))],
        {"b": ["a"]},
        {"a": [0.4, 0.6], "b": [[1.0, 0.0, 0.0], [0.3, 0.3, 0.4]]},
    )
    assert two.most_probable_explanation().states == {"a": "x", "b": "1"}
    assert two.most_probable_states("a").states == {"a": "y"}


def test_most_probable_states_are_refused():
    network = load_network("asia")
    ask = network.most_probable_states
    assert refusal(ParameterError, ask, ["tub"], {"tub": "yes"}) == (
        "'tub' is both a target and evidence. Remove it from one of them."
    )
    assert refusal(ParameterError, ask, []) == (
        "'targets' of most_probable_states is empty. Name at least one variable."
    )
    assert refusal(NetworkError, ask, "tub", {"either": "no", "lung": "yes"}) == (
        "The evidence has probability 0 under the network: 'either' = 'no', 'lung' = 'yes'."
    )
    assert refusal(ParameterError, lambda: ask("tub", exact=1)) == (
        "'exact' of most_probable_states must be a bool; got 1."
    )


def test_most_probable_states_have_a_limit_of_work(monkeypatch):
    network = load_network("alarm")
    expected = network.most_probable_states(["HR", "CO"])
    monkeypatch.setattr("coevo.network.elimination.MAX_OPERATIONS", 10)
    found = refusal(ParameterError, network.most_probable_states, ["HR", "CO"])
    assert found.startswith(
        "The most probable explanation of some variables is never estimated; the"
    )
    assert found.endswith(
        "Give more evidence, ask for fewer variables, or compute the exact answer with exact=True "
        "(--exact)."
    )
    assert network.most_probable_states(["HR", "CO"], exact=True) == expected


@thorough
@drawn(SEEDS, SHARES, ZEROS)
def test_answers_do_not_depend_on_the_order_of_variables_or_parents(seed, share, zeros):
    network = random_network(seed, 8, zeros=zeros)
    given = random_evidence(network, seed, share)
    other, backwards = reverse_network(network), dict(reversed(given.items()))
    assert other.log_probability(backwards) == network.log_probability(given)
    assert (
        other.most_probable_explanation(backwards).states
        == network.most_probable_explanation(given).states
    )
    found = other.marginals(given=backwards)
    for name, each in network.marginals(given=given).items():
        assert found[name].to_dict() == each.to_dict()


def test_impossible_evidence_agrees_with_enumeration(seed):
    n_impossible = 0
    for number in range(30):
        network = random_network([seed, number], 5, zeros=0.6)
        rng = np.random.default_rng([seed, number])
        given = {v.name: str(rng.choice(v.states)) for v in network.variables[:3]}
        _, total = conditioned(network, given)
        if total > 0:
            assert math.exp(network.log_probability(given)) == pytest.approx(total)
            continue
        n_impossible += 1
        assert network.log_probability(given) == -math.inf
        listed = ", ".join(f"{name!r} = {state!r}" for name, state in sorted(given.items()))
        sentence = f"The evidence has probability 0 under the network: {listed}."
        target = network.variables[3].name
        assert refusal(NetworkError, network.most_probable_explanation, given) == sentence
        assert refusal(NetworkError, network.marginals, given=given) == sentence
        assert refusal(NetworkError, network.query, target, given) == sentence
    assert 0 < n_impossible < 30


# -- pyAgrum


def assert_as_pyagrum(network, given):
    """Compare all marginals and the probability of the evidence."""
    theirs = pyagrum.LazyPropagation(pyagrum_network(network))
    theirs.setEvidence(given)
    theirs.makeInference()
    for name, found in network.marginals(given=given).items():
        expected = theirs.posterior(name).toarray().ravel()
        np.testing.assert_allclose(found.probabilities, expected, rtol=0, atol=1e-9)
    total = math.log(theirs.evidenceProbability()) if given else 0.0
    assert network.log_probability(given) == pytest.approx(total, abs=1e-9)


@pytest.mark.parametrize("share", [0.0, 0.1, 0.4])
@pytest.mark.parametrize(
    "name", ["asia", "child", "insurance", "alarm", "hailfinder", "hepar2", "win95pts", "andes"]
)
def test_published_networks(name, share, seed):
    network = load_network(name)
    assert_as_pyagrum(network, random_evidence(network, seed, share))


def test_random_networks(seed):
    for number in range(10):
        network = random_network([seed, number], 30, max_states=4, zeros=0.1 * (number % 3))
        assert_as_pyagrum(network, random_evidence(network, seed, 0.2))


def test_joint_of_several(seed):
    network = load_network("alarm")
    given = random_evidence(network, seed, 0.2)
    targets = [name for name in names_of(network) if name not in given][3:18:4]
    theirs = pyagrum.LazyPropagation(pyagrum_network(network))
    theirs.setEvidence(given)
    theirs.addJointTarget(set(targets))
    table = theirs.jointPosterior(set(targets))
    order = list(table.names)[::-1]  # its axes are in the reverse order
    expected = table.toarray().transpose([order.index(name) for name in targets])
    found = network.query(targets, given)
    np.testing.assert_allclose(found.probabilities, expected, rtol=0, atol=1e-9)


# -- large networks


@pytest.mark.filterwarnings("ignore:Row")  # most changes of one state are impossible
@pytest.mark.parametrize("name", ["win95pts", "andes", "munin"])
def test_explanations_of_large_networks(name, seed):
    """No change of one state, and no row sampled given the evidence, is more probable."""
    network = load_network(name)
    given = random_evidence(network, seed, 0.3)
    found = network.most_probable_explanation(given)
    best = codes_of(network, {**found.states, **given})
    rows = [
        {**best, variable.name: code}
        for variable in network.variables
        if variable.name not in given
        for code in range(variable.arity)
    ]
    columns = [np.array([row[v.name] for row in rows]) for v in network.variables]
    for others in (Dataset(network.variables, columns), sample(network, 200, seed, given)):
        assert network.log_likelihood(others).per_row.max() <= found.log_probability + 1e-9


def test_munin_satisfies_the_chain_rule(seed):
    network = load_network("munin")
    given = random_evidence(network, seed, 0.1)
    some = [name for name in names_of(network) if name not in given][::250]
    marginals = network.marginals(given=given)
    for name in some:
        found = network.query(name, given).probabilities
        np.testing.assert_allclose(found, marginals[name].probabilities, atol=1e-12)
        # The chain rule, one state at a time.
        state = network.variable(name).states[int(found.argmax())]
        more = network.log_probability({**given, name: state}) - network.log_probability(given)
        assert math.exp(more) == pytest.approx(found.max(), rel=1e-9)


def test_nothing_underflows():
    """3,000 throws, each 50,000 times as probable with one coin as with the other."""
    coin = Variable("coin", ("fair", "odd"))
    throws = [Variable(f"t{i:04d}", ("no", "yes")) for i in range(3000)]
    parents = {throw.name: ["coin"] for throw in throws}
    tables = {throw.name: [[0.5, 0.5], [0.99999, 0.00001]] for throw in throws}
    tables["coin"] = [0.5, 0.5]
    network = BayesianNetwork([coin, *throws], parents, tables)
    given = {throw.name: "yes" for throw in throws}
    assert network.query("coin", given).probabilities.tolist() == [1.0, 0.0]
    assert network.log_probability(given) == pytest.approx(3001 * math.log(0.5), rel=1e-12)
    # The last throw is impossible with the probable coin, so the other coin is certain.
    tables[throws[-1].name] = [[1.0, 0.0], [0.5, 0.5]]
    network = BayesianNetwork([coin, *throws], parents, tables)
    assert network.query("coin", given).probabilities.tolist() == [0.0, 1.0]
    expected = 2 * math.log(0.5) + 2999 * math.log(0.00001)
    assert network.log_probability(given) == pytest.approx(expected, rel=1e-12)
    assert network.most_probable_explanation(given).states == {"coin": "odd"}


def test_a_query_that_needs_too_much_memory_is_refused_before_it_starts(monkeypatch):
    monkeypatch.setattr(coevo.runtime.memory, "get_machine_memory", lambda: 10**9)
    names = [f"v{i:02d}" for i in range(70)]
    variables = [Variable(name, ("0", "1")) for name in names]
    coins = BayesianNetwork(variables, {}, {name: [0.5, 0.5] for name in names})
    assert coins.query(names[:20]).probabilities.shape == (2,) * 20
    sentence = (
        "The joint distribution of 70 variables needs 9,444,732,965,739.3 GB of memory; this "
        "machine has 1.0 GB. Ask for fewer variables at once."
    )
    assert refusal(ParameterError, coins.query, names) == sentence


def test_what_must_be_exact_is_refused_if_the_structure_is_too_dense(monkeypatch):
    """The sentence says what the best order found needs, not what the exact answer needs."""
    network = grid_network(12)
    given = {"r11c11": "yes"}
    row = read_rows(network, np.array([["yes"]]), names=["r11c11"])
    monkeypatch.setattr(coevo.runtime.memory, "get_machine_memory", lambda: 5 * 10**4)
    sentence = (
        "Exact inference with the best elimination order found needs 0.0 GB of memory; this "
        "machine has 0.0 GB. Give more evidence, or use a machine with more memory."
    )
    for ask in (
        partial(network.log_probability, given),
        network.most_probable_explanation,
        partial(network.explain, "r11c11"),
        partial(inference.query, network, "r11c11", exact=True),
        partial(inference.marginals, network, exact=True),
        partial(sample, network, 10, given=given),
        partial(network.predict, row, "r00c00"),
    ):
        assert refusal(ParameterError, ask) == sentence
    assert network.query("r02c02").is_exact  # its ancestors are few


def test_the_size_of_an_elimination_counts_each_message_until_it_is_used():
    """In a chain of three states, each step has a clique of 9 cells and one message of 3."""
    names = [f"v{i}" for i in range(6)]
    tables = {name: np.full((3, 3) if name != "v0" else (1, 3), 1 / 3) for name in names}
    chain = BayesianNetwork(
        [Variable(name, ("a", "b", "c")) for name in names],
        dict(zip(names[1:], ([name] for name in names), strict=False)),
        tables,
    )
    elimination = Elimination(chain, {}, names, ["v5"])
    n_factors, n_step = 3 + 5 * 9, 3 * 9 + 3
    assert elimination.count_bytes() == 8 * (n_factors + n_step)
    assert elimination.count_bytes(["v5", "v4"]) == 8 * (n_factors + n_step + 2 * (3 + 9))
    assert elimination.count_bytes(is_maximised=True) == 8 * (n_factors + n_step + (5 * 3 + 1) // 4)


# -- grids


def sweep_grid(network, n, observed):
    """Return the probability of the evidence: slow, row by row, without an elimination order.

    The frontier holds the last variable of each column; `observed` maps names to codes.
    """
    frontier = {(): 1.0}  # the codes of the frontier, and the probability of them and the evidence
    for i, j in itertools.product(range(n), repeat=2):
        node = f"r{i:02d}c{j:02d}"
        table = network.table(node)
        after = {}
        for codes, probability in frontier.items():
            above, left = codes[j] if i else 0, codes[j - 1] if j else 0
            row = table[2 * above + left if i and j else above + left]
            for code in [observed[node]] if node in observed else (0, 1):
                new = (*codes[:j], code, *codes[j + 1 :])
                after[new] = after.get(new, 0.0) + probability * row[code]
        frontier = after
    return sum(frontier.values())


@pytest.mark.parametrize("n", [2, 4, 6])
@pytest.mark.parametrize("all_rules", [False, True])
def test_grids_agree_with_a_sweep_by_rows(n, all_rules, monkeypatch):
    if all_rules:
        monkeypatch.setattr(elimination_order, "SMALL", 0)
        monkeypatch.setattr(elimination_order, "CELLS_PER_OPERATION", 1)
    network = grid_network(n)
    target, corner = "r01c00", f"r{n - 1:02d}c{n - 1:02d}"
    given = {corner: "no", f"r00c{n - 1:02d}": "yes"}
    codes = codes_of(network, given)
    total = sweep_grid(network, n, codes)
    expected = [sweep_grid(network, n, {**codes, target: code}) / total for code in (0, 1)]
    assert network.log_probability(given) == pytest.approx(math.log(total), rel=1e-12)
    assert network.query(target, given).probabilities == pytest.approx(expected, rel=1e-12)
    marginal = network.marginals([target], given)[target]
    assert marginal.probabilities == pytest.approx(expected, rel=1e-12)
    reverse = reverse_network(network)
    assert reverse.query(target, given) == network.query(target, given)


def test_a_grid_of_20_times_20_is_answered_exactly():
    """No variable depends on its left parent, so the last column is a chain below the first row."""
    network = grid_network(20)
    tables = {variable.name: network.table(variable.name) for variable in network.variables}
    for node in tables:
        if not node.startswith("r00") and not node.endswith("c00"):
            table = tables[node].reshape(2, 2, 2)
            tables[node] = np.stack([table[:, 0], table[:, 0]], axis=1).reshape(4, 2)
    parents = {node: network.parents(node) for node in tables}
    network = BayesianNetwork(network.variables, parents, tables)
    belief = tables["r00c00"][0]
    for j in range(1, 20):
        belief = belief @ tables[f"r00c{j:02d}"]
    for i in range(1, 20):
        belief = belief @ tables[f"r{i:02d}c19"].reshape(2, 2, 2)[:, 0]
    assert network.query("r19c19").probabilities == pytest.approx(belief, rel=1e-12)


# -- special cases


def test_ties_go_to_the_first_state():
    network = BayesianNetwork(
        [Variable("b", ("y", "x")), Variable("a", ("2", "1", "0"))],
        {"b": ["a"]},
        {"a": [0.2, 0.4, 0.4], "b": [[0.5, 0.5], [0.5, 0.5], [0.5, 0.5]]},
    )
    assert network.most_probable_explanation().states == {"b": "y", "a": "1"}
    # 0.1 + 0.2 is not 0.3 to the last bit.
    a = Variable("a", ("u", "v"))
    b = Variable("b", ("u", "v"))
    network = BayesianNetwork(
        [a, b], {"b": ["a"]}, {"a": [0.6, 0.4], "b": [[0.3, 0.7], [0.0, 1.0]]}
    )
    tied = BayesianNetwork([a, b], {}, {"a": [0.1 + 0.2 + 0.2, 0.5], "b": [0.5, 0.2 + 0.2 + 0.1]})
    assert tied.most_probable_explanation().states == {"a": "u", "b": "u"}
    assert network.most_probable_explanation().states == {"a": "u", "b": "v"}


def test_evidence_for_all_variables_or_none():
    network = load_network("asia")
    full = random_evidence(network, 1, 1.0)
    assert network.marginals(given=full) == {}
    assert network.most_probable_explanation(full).states == {}
    columns = [[network.variable(v.name).states.index(full[v.name])] for v in network.variables]
    expected = network.log_likelihood(Dataset(network.variables, columns)).total
    assert network.log_probability(full) == pytest.approx(expected, rel=1e-12)
    assert network.most_probable_explanation(full).log_probability == pytest.approx(
        expected, rel=1e-12
    )
    assert network.log_probability() == network.log_probability({}) == 0.0


def test_variables_with_one_state():
    one = Variable("one", ("only",))
    coin = Variable("coin", ("heads", "tails"))
    network = BayesianNetwork(
        [one, coin], {"one": ["coin"]}, {"one": [[1.0], [1.0]], "coin": [0.25, 0.75]}
    )
    assert network.query("one").to_dict() == {"only": 1.0}
    both = {("only", "heads"): 0.25, ("only", "tails"): 0.75}
    assert network.query(["one", "coin"]).to_dict() == pytest.approx(both)
    found = network.marginals(given={"one": "only"})
    assert found["coin"].to_dict() == pytest.approx({"heads": 0.25, "tails": 0.75})
    assert network.marginals()["one"].to_dict() == {"only": 1.0}
    assert network.most_probable_explanation().states == {"one": "only", "coin": "tails"}


def test_a_distribution():
    found = load_network("earthquake").query(["Alarm", "Burglary"])
    assert found["True", "False"] == found.to_dict()["True", "False"]
    assert sum(found.to_dict().values()) == pytest.approx(1, abs=1e-12)
    with pytest.raises(ValueError, match="read-only"):
        found.probabilities[0, 0] = 1
    assert refusal(NetworkError, found.__getitem__, ("True", "flase")) == (
        "'Burglary' has no state 'flase'; its states are 'True', 'False'. Did you mean 'False'?"
    )
    for states in ("True", ("True",), ("True",) * 3):
        assert refusal(ParameterError, found.__getitem__, states) == (
            f"Give one state for each of 'Alarm', 'Burglary'; got {states!r}."
        )


@pytest.mark.parametrize(
    ("kind", "targets", "given", "sentence"),
    [
        (
            NetworkError,
            "Alrm",
            {},
            "There is no variable 'Alrm' in the network. Did you mean 'Alarm'?",
        ),
        (
            NetworkError,
            "Alarm",
            {"Jon": "True"},
            "There is no variable 'Jon' in the network.",
        ),
        (
            NetworkError,
            "Alarm",
            {"Burglary": "Tru"},
            "'Burglary' has no state 'Tru'; its states are 'True', 'False'. Did you mean 'True'?",
        ),
        (
            NetworkError,
            "Alarm",
            {"Burglary": 0.5},
            "'Burglary' has no state 0.5; its states are 'True', 'False'.",
        ),
        (
            NetworkError,
            "Alarm",
            {"Burglary": {"yes": 0.5}},
            "'Burglary' has no state 'yes'; its states are 'True', 'False'.",
        ),
        (
            ParameterError,
            "Alarm",
            {"Burglary": {"True": -1}},
            "The soft evidence on 'Burglary' must have finite numbers of 0 or above; got -1 for "
            "'True'.",
        ),
        (
            ParameterError,
            "Alarm",
            {"Burglary": {"True": 0}},
            "The soft evidence on 'Burglary' has no number above 0. Give the weight of at least "
            "one state.",
        ),
        (
            ParameterError,
            None,
            {},
            "'targets' of query must be a variable, or a list of variables; got None.",
        ),
        (ParameterError, [], {}, "'targets' of query is empty. Name at least one variable."),
        (ParameterError, ["Alarm", "Alarm"], {}, "'targets' of query names 'Alarm' twice."),
        (
            ParameterError,
            "Alarm",
            {"Alarm": "True"},
            "'Alarm' is both a target and evidence. Remove it from one of them.",
        ),
        (
            ParameterError,
            "Alarm",
            ["Burglary"],
            "'given' of query must be a mapping of variable to state; got ['Burglary'].",
        ),
    ],
)
def test_invalid_queries(kind, targets, given, sentence):
    assert refusal(kind, load_network("earthquake").query, targets, given) == sentence


def test_soft_evidence_of_any_size():
    asia = load_network("asia")
    for factor in (1e-300, 1e308, 2.0**1000):
        weights = {"yes": factor, "no": 0.9 * factor}
        found = asia.query("lung", {"xray": weights})
        expected = asia.query("lung", {"xray": {"yes": 1, "no": 0.9}})
        np.testing.assert_allclose(found.probabilities, expected.probabilities, rtol=1e-12)
