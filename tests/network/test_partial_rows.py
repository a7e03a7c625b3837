"""Predictions and likelihoods with unknown cells agree with enumeration and with a peer."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

import naive
from coevo.bundled import load_network
from coevo.data import CutPoints, Dataset, IncompleteDataset, Variable
from coevo.data.known_rows import KnownRows, read_known_rows
from coevo.errors import CoevoWarning, DataError, ParameterError
from coevo.network import BayesianNetwork, row_elimination, sample
from helpers.errors import refusal
from helpers.random_networks import random_network


def hide_cells(dataset, share, rng):
    """Return the rows with random cells unknown."""
    return IncompleteDataset(dataset.expand(), rng.random(dataset.expand().codes.shape) < share)


def enumerate_joint(network):
    """Return the joint distribution as an array, one axis for each variable of the network."""
    names = [variable.name for variable in network.variables]
    arities = {variable.name: variable.arity for variable in network.variables}
    parents = {name: network.parents(name) for name in names}
    tables = {name: network.table(name).tolist() for name in names}
    joint = naive.joint_distribution(arities, parents, tables)
    return np.array([joint[key] for key in sorted(joint)]).reshape(list(arities.values()))


def list_rows(network, table):
    """Return the codes of each row in the order of the network, -1 if a cell is unknown."""
    rows = read_known_rows(table, network.variables)
    return np.stack([rows.codes[variable.name] for variable in network.variables], axis=1)


def slice_of(codes):
    return tuple(slice(None) if code < 0 else int(code) for code in codes)


@pytest.mark.parametrize("zeros", [0.0, 0.2])
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_rows_with_unknown_cells_agree_with_enumeration(seed, share, zeros):
    for number in range(3):
        network = random_network([seed, number], 6, zeros=zeros, min_states=1 + (number > 0))
        rng = np.random.default_rng([seed, number])
        table = hide_cells(sample(network, 40, seed), share, rng)
        joint = enumerate_joint(network)
        rows = list_rows(network, table)
        found = network.log_likelihood(table)
        expected = [joint[slice_of(row)].sum() for row in rows]
        np.testing.assert_allclose(np.exp(found.per_row), expected, rtol=1e-9)
        assert found.total == pytest.approx(math.fsum(np.log(expected)), rel=1e-9)
        assert found.per_variable == {}
        for place, variable in enumerate(network.variables):
            shares = network.predict(table, variable.name).probabilities
            for row, probabilities in zip(rows, shares, strict=True):
                given = row.copy()
                given[place] = -1
                others = tuple(
                    i for i in np.flatnonzero(given < 0) if i != place
                )  # axes to sum out
                axes = [int((given[:axis] < 0).sum()) for axis in others]
                weights = joint[slice_of(given)].sum(axis=tuple(axes))
                np.testing.assert_allclose(probabilities, weights / weights.sum(), atol=1e-9)


def test_predictions_agree_with_a_peer(seed):
    gum = pytest.importorskip("pyagrum")
    network = load_network("alarm")
    rng = np.random.default_rng(seed)
    table = hide_cells(sample(network, 15, seed), 0.4, rng)
    rows = list_rows(network, table)
    peer = gum.BayesNet()
    for variable in network.variables:
        peer.add(gum.LabelizedVariable(variable.name, "", list(variable.states)))
    for child, parent in ((c, p) for c in network.dag.nodes for p in network.parents(c)):
        peer.addArc(parent, child)
    for variable in network.variables:
        parents = network.parents(variable.name)
        shape = [network.variable(p).arity for p in parents]
        values = network.table(variable.name).reshape([*shape, variable.arity])
        for place in np.ndindex(*shape):
            given = dict(zip(parents, map(int, place), strict=True))
            peer.cpt(variable.name)[given if given else slice(None)] = values[place].tolist()
    engine = gum.LazyPropagation(peer)
    for target in ("HR", "LVFAILURE", "VENTLUNG"):
        shares = network.predict(table, target).probabilities
        for row, probabilities in zip(rows, shares, strict=True):
            engine.eraseAllEvidence()
            for variable, code in zip(network.variables, row, strict=True):
                if code >= 0 and variable.name != target:
                    engine.addEvidence(variable.name, int(code))
            np.testing.assert_allclose(engine.posterior(target).tolist(), probabilities, atol=1e-9)


def test_blocks_of_rows_change_nothing(seed, monkeypatch):
    network = load_network("survey")
    table = hide_cells(sample(network, 200, seed), 0.5, np.random.default_rng(seed))
    expected = network.predict(table, "T").probabilities
    total = network.log_likelihood(table).total
    monkeypatch.setattr(row_elimination, "CELLS_AT_ONCE", 1)
    monkeypatch.setattr(row_elimination, "MAX_KEY", 2)
    assert network.predict(table, "T").probabilities == pytest.approx(expected, rel=1e-12)
    assert network.log_likelihood(table).total == pytest.approx(total, rel=1e-12)


def test_rows_in_another_order_have_the_same_answers(seed):
    network = load_network("survey")
    table = hide_cells(sample(network, 200, seed), 0.4, np.random.default_rng(seed))
    order = np.random.default_rng(seed).permutation(200)
    other = IncompleteDataset(
        Dataset(table.dataset.variables, list(table.dataset.codes[:, order])),
        table.missing[:, order],
    )
    expected = network.predict(table, "O").probabilities[order]
    assert network.predict(other, "O").probabilities.tolist() == expected.tolist()


AGE = Variable("age", CutPoints((18, 65)).states)
STAGE = Variable("stage", ("1", "2", "3"))
ILL = Variable("ill", ("no", "yes"))
CLINIC = BayesianNetwork(
    [AGE, STAGE, ILL],
    {"ill": ["age"], "stage": ["ill"]},
    {
        "age": [0.2, 0.5, 0.3],
        "ill": [[0.9, 0.1], [0.8, 0.2], [0.5, 0.5]],
        "stage": [[0.7, 0.2, 0.1], [0.2, 0.3, 0.5]],
    },
)
VISITORS = {
    "age": [70.5, None, 12.0, 30.0],
    "stage": [2.0, 3.0, None, 9.0],
    "note": ["a", "b", "c", "d"],
}


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_data_frames_are_predicted_as_they_come(make):
    found = CLINIC.predict(
        make(VISITORS, strict=False) if make is pl.DataFrame else make(VISITORS), "ill"
    )
    given = [
        {"age": 70.5, "stage": 2},
        {"stage": "3"},
        {"age": "12"},
        {"age": 30},
    ]
    expected = [CLINIC.query("ill", one).probabilities for one in given]
    np.testing.assert_allclose(found.probabilities, expected, atol=1e-12)
    assert found.unknown.as_dict() == {
        "absent": [],
        "missing": {"age": 1, "stage": 1},
        "unseen": {"stage": {"9": 1}},
    } or found.unknown.as_dict()["unseen"] == {"stage": {"9.0": 1}}


def test_the_table_that_a_network_was_learned_from_can_be_predicted(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("age,stage,ill\n12,1,no\n,2,yes\n70,?,yes\n40,4,\n,,\n30,1,no\n")
    found = CLINIC.predict(path, "ill")
    assert len(found.states) == 5  # the row without any value is left out by the reader
    metrics = found.evaluate(path)
    assert metrics.n_rows == 4
    assert found.unknown.describe() == [
        "2 missing values are unknown: 'age' (1), 'stage' (1).",
        "1 value of 'stage' is unknown, because the network has no such state: '4' (1).",
    ]


def test_a_column_without_any_value_is_unknown():
    rows = read_known_rows(pd.DataFrame({"age": [None, None], "stage": ["1", "2"]}), [AGE, STAGE])
    assert {name: codes.tolist() for name, codes in rows.codes.items()} == {
        "age": [-1, -1],
        "stage": [0, 1],
    }
    assert rows.unknown.missing == {"age": 2}
    assert isinstance(rows, KnownRows)


def test_numbers_among_words_fall_into_their_bins():
    table = pd.DataFrame({"age": ["17", "65", "adult", "from_65", "1e2", "below_18"]})
    rows = read_known_rows(table, [AGE])
    assert rows.codes["age"].tolist() == [0, 2, -1, 2, 2, 0]
    assert rows.unknown.unseen == {"age": {"adult": 1}}


def test_soft_evidence_agrees_with_enumeration(seed):
    network = random_network([seed, 3], 5, min_states=2)
    joint = enumerate_joint(network)
    rng = np.random.default_rng(seed)
    one, two, target = network.variables[0], network.variables[3], network.variables[1]
    weights = rng.random(one.arity), rng.random(two.arity)
    given = {
        one.name: dict(zip(one.states, weights[0].tolist(), strict=True)),
        two.name: dict(zip(two.states, weights[1].tolist(), strict=True)),
    }
    shape = [1] * 5
    first, second = shape.copy(), shape.copy()
    first[0], second[3] = one.arity, two.arity
    soft = joint * weights[0].reshape(first) * weights[1].reshape(second)
    soft /= weights[0].sum() * weights[1].sum()
    assert network.log_probability(given) == pytest.approx(math.log(soft.sum()), rel=1e-12)
    soft /= soft.sum()
    expected = soft.sum(axis=(0, 2, 3, 4))
    np.testing.assert_allclose(
        network.query(target.name, given).probabilities, expected, atol=1e-12
    )
    marginals = network.marginals(given=given)
    assert list(marginals) == [variable.name for variable in network.variables]
    np.testing.assert_allclose(
        marginals[one.name].probabilities, soft.sum(axis=(1, 2, 3, 4)), atol=1e-12
    )
    best = network.most_probable_explanation(given)
    codes = [v.states.index(best.states[v.name]) for v in network.variables]
    assert soft[tuple(codes)] == pytest.approx(soft.max(), rel=1e-12)
    rows = sample(network, 20000, seed, given)
    assert rows.names == tuple(sorted(variable.name for variable in network.variables))
    counts = rows.state_counts[rows.find_position(target.name)]
    states = rows.variables[rows.find_position(target.name)].states
    shares = [counts[states.index(state)] / 20000 for state in target.states]
    assert shares == pytest.approx(expected.tolist(), abs=0.02)


def test_equal_weights_say_nothing_and_one_weight_is_hard_evidence():
    asia = load_network("asia")
    prior = asia.query("lung").probabilities
    nothing = asia.query("lung", {"smoke": {"yes": 2, "no": 2}}).probabilities
    np.testing.assert_allclose(nothing, prior, atol=1e-12)
    hard = asia.query("lung", {"smoke": "yes"}).probabilities
    np.testing.assert_allclose(asia.query("lung", {"smoke": {"yes": 1}}).probabilities, hard)


def test_an_incomplete_table_of_one_state_variables():
    network = BayesianNetwork(
        [Variable("one", ("only",)), ILL], {"ill": ["one"]}, {"one": [1.0], "ill": [0.25, 0.75]}
    )
    table = pd.DataFrame({"ill": ["no", None, "yes"]})
    assert np.exp(network.log_likelihood(table).per_row) == pytest.approx([0.25, 1.0, 0.75])
    assert network.predict(table, "one").probabilities.tolist() == [[1.0]] * 3


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow"])
def test_predictions_join_the_rows_of_a_data_frame(kind):
    frame = pd.DataFrame({"id": ["a", "b"], "predicted": [1, 2], "age": [70.5, None]})
    frame.index = pd.Index(["row 7", "row 3"])
    table = {
        "pandas": lambda: frame,
        "polars": lambda: pl.from_pandas(frame),
        "arrow": lambda: pl.from_pandas(frame).to_arrow(),
    }[kind]()
    prediction = CLINIC.predict(table, "ill")
    alone = prediction.to_pandas(probabilities=True)
    assert alone.to_dict("list") == dict(prediction.list_columns(True))
    assert list(prediction.to_pandas().columns) == ["predicted", "probability"]
    joined = prediction.join(table, probabilities=True)
    assert type(joined) is type(table)
    as_frame = joined if kind == "pandas" else joined.to_pandas()
    names = ["id", "predicted", "age", "predicted_2", "probability", "ill=no", "ill=yes"]
    assert list(as_frame.columns) == names
    assert as_frame["predicted_2"].tolist() == list(prediction.states)
    assert as_frame["ill=yes"].tolist() == prediction.probabilities[:, 1].tolist()
    if kind == "pandas":
        assert list(joined.index) == ["row 7", "row 3"]
        assert list(frame.columns) == ["id", "predicted", "age"]
    sentence = refusal(DataError, prediction.join, table[:1])
    assert sentence == (
        "The data frame has 1 rows, but there are 2 predictions. Give the rows that were predicted."
    )
    assert refusal(ParameterError, prediction.join, [1]) == (
        "'frame' of join must be a data frame; got [1]."
    )


def test_a_contradiction_anywhere_in_a_row_is_found(seed):
    """Predict rows of random states, of which the joint distribution says whether they occur."""
    n_impossible = n_possible = 0
    for number in range(6):
        network = random_network([seed, number, 7], 6, zeros=0.25, min_states=1 + (number > 0))
        rng = np.random.default_rng([seed, number, 7])
        columns = [rng.integers(0, v.arity, 60) for v in network.variables]
        table = hide_cells(Dataset(network.variables, columns), 0.4, rng)
        rows, joint = list_rows(network, table), enumerate_joint(network)
        for place, variable in enumerate(network.variables):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", CoevoWarning)
                found = network.predict(table, variable.name)
            prior = joint.sum(axis=tuple(i for i in range(joint.ndim) if i != place))
            for row, shares in zip(rows, found.probabilities, strict=True):
                known = [*row[:place], -1, *row[place + 1 :]]
                others = tuple(i for i in range(joint.ndim) if known[i] < 0 and i != place)
                part = joint[tuple(slice(None) if c < 0 else slice(c, c + 1) for c in known)]
                part = part.sum(axis=others).ravel()
                expected = part / part.sum() if part.sum() > 0 else prior
                np.testing.assert_allclose(shares, expected, atol=1e-12)
            sums = [joint[slice_of([*row[:place], -1, *row[place + 1 :]])].sum() for row in rows]
            assert found.impossible.tolist() == np.flatnonzero(np.array(sums) == 0).tolist()
            n_impossible += len(found.impossible)
            n_possible += len(rows) - len(found.impossible)
    assert min(n_impossible, n_possible) > 100


def test_a_contradiction_away_from_the_target():
    states = ("no", "yes")
    network = BayesianNetwork(
        [Variable(name, states) for name in "tabc"],
        {"a": ["t"], "b": ["a"], "c": ["b"]},
        {
            "t": [0.4, 0.6],
            "a": [[0.9, 0.1], [0.2, 0.8]],
            "b": [[1, 0], [0.5, 0.5]],
            "c": [[1, 0], [0.5, 0.5]],
        },
    )
    row = pd.DataFrame({"a": ["no"], "b": ["yes"], "c": ["yes"]})
    with pytest.warns(CoevoWarning) as caught:
        found = network.predict(row, "t")
    assert [str(warning.message) for warning in caught] == [
        "1 row is impossible under the network for every state of 't' (Row 1 is the first); its "
        "prediction uses no evidence."
    ]
    np.testing.assert_allclose(found.probabilities, [[0.4, 0.6]])
    assert found.impossible.tolist() == [0]
