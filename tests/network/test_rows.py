"""Log-likelihoods and predictions of rows agree with inference on each row."""

from __future__ import annotations

import math

import numpy as np
import pytest

import coevo.runtime.memory
from coevo.bundled import load_network
from coevo.data import Dataset, Variable, read_data
from coevo.errors import CoevoWarning, DataError, FileError, NetworkError, ParameterError
from coevo.network import BayesianNetwork, read_rows, sample
from helpers.errors import refusal
from helpers.random_networks import random_network, reverse_network

RAIN = Variable("rain", ("no", "yes"))
WET = Variable("wet", ("dry", "wet"))
GARDEN = BayesianNetwork(
    [RAIN, WET], {"wet": ["rain"]}, {"rain": [0.75, 0.25], "wet": [[0.5, 0.5], [0.0, 1.0]]}
)


def rows_of(dataset):
    """Return each stored row as {name: state}."""
    columns = {
        variable.name: np.array(variable.states)[dataset.codes[i]].tolist()
        for i, variable in enumerate(dataset.variables)
    }
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def permuted(dataset, rng):
    """Return the same rows with columns and states in another order, and an extra column."""
    variables, columns = [Variable("another", ("?",))], [np.zeros(dataset.n_rows, dtype=int)]
    for i in rng.permutation(dataset.n_variables):
        variable = dataset.variables[i]
        places = rng.permutation(variable.arity)
        states = ("never seen", *(variable.states[place] for place in places))
        variables.append(Variable(variable.name, states))
        columns.append(np.argsort(places)[dataset.codes[i]] + 1)
    return Dataset(variables, columns)


def test_log_likelihood_agrees_with_log_probability(seed):
    for number in range(5):
        network = random_network([seed, number], 7, zeros=0.2)
        dataset = sample(network, 30, seed)
        found = network.log_likelihood(dataset)
        expected = [network.log_probability(row) for row in rows_of(dataset)]
        np.testing.assert_allclose(found.per_row, expected, rtol=1e-9, atol=1e-12)
        assert found.total == pytest.approx(math.fsum(expected), rel=1e-9)


def test_predictions_agree_with_queries(seed):
    for number in range(5):
        network = random_network([seed, number], 7, zeros=0.2)
        dataset = sample(network, 20, seed)
        for variable in network.variables:
            found = network.predict(dataset, variable.name)
            assert found.variable == variable
            for i, row in enumerate(rows_of(dataset)):
                given = {name: state for name, state in row.items() if name != variable.name}
                expected = network.query(variable.name, given).probabilities
                np.testing.assert_allclose(found.probabilities[i], expected, atol=1e-9)
                assert found.states[i] == variable.states[found.codes[i]]
                best = expected.max()
                assert expected[found.codes[i]] == pytest.approx(best)
                assert (expected[: found.codes[i]] < best).all()


@pytest.mark.parametrize("name", ["survey", "alarm"])
def test_results_do_not_depend_on_order(name, seed):
    network, rng = load_network(name), np.random.default_rng(seed)
    dataset = sample(network, 100, seed)
    expected = network.log_likelihood(dataset)
    for other in (permuted(dataset, rng), dataset):
        found = reverse_network(network).log_likelihood(other)
        assert found.total == expected.total
        assert found.per_row.tolist() == expected.per_row.tolist()
    rows = rng.permutation(dataset.n_rows)
    canonical = Dataset(dataset.variables, list(dataset.codes[:, rows]))
    assert network.log_likelihood(canonical).total == expected.total
    target = network.variables[0].name
    for other in (permuted(dataset, rng), dataset):
        found = reverse_network(network).predict(other, target).probabilities
        expected_shares = network.predict(dataset, target).probabilities
        np.testing.assert_allclose(found, expected_shares, rtol=1e-12)


def test_predictions_need_only_the_markov_blanket(seed):
    network = load_network("alarm")
    dataset = sample(network, 50, seed)
    blanket = network.dag.markov_blanket("HR")
    places = [dataset.find_position(name) for name in blanket]
    few = Dataset([dataset.variables[i] for i in places], [dataset.codes[i] for i in places])
    expected = network.predict(dataset, "HR").probabilities
    assert network.predict(few, "HR").probabilities.tolist() == expected.tolist()
    alone = BayesianNetwork([RAIN, WET], {}, {"rain": [0.75, 0.25], "wet": [0.5, 0.5]})
    found = alone.predict(Dataset([WET], [[0, 1]]), "rain")
    assert found.states == ("no", "no")
    assert found.probabilities == pytest.approx(np.array([[0.75, 0.25]] * 2))


def test_ties_go_to_the_first_state():
    network = BayesianNetwork(
        [RAIN, WET],
        {"wet": ["rain"]},
        {"rain": [0.5, 0.5], "wet": [[0.1 + 0.2, 0.7], [0.3, 0.7]]},
    )
    assert network.predict(Dataset([WET], [[0, 1]]), "rain").states == ("no", "no")


def test_rows_with_weights(seed):
    network = load_network("cancer")
    dataset = sample(network, 2000, seed)
    deduplicated = dataset.deduplicate()
    assert deduplicated.weights is not None
    total = network.log_likelihood(dataset).total
    assert network.log_likelihood(deduplicated).total == pytest.approx(total, rel=1e-12)
    assert len(network.log_likelihood(deduplicated).per_row) == deduplicated.codes.shape[1]
    assert len(network.predict(deduplicated, "Cancer").states) == deduplicated.codes.shape[1]


def test_a_table_without_deduplication_has_a_prediction_for_every_row():
    table = np.array([["no", "dry"], ["yes", "wet"], *[["no", "wet"]] * 98])
    names = ["rain", "wet"]
    assert read_data(table, names=names).weights is not None
    dataset = read_data(table, names=names, deduplicate=False)
    assert dataset.weights is None
    assert dataset == read_data(table, names=names)
    assert GARDEN.predict(dataset, "wet").states[:3] == ("dry", "wet", "dry")


def test_log_likelihoods_of_variables_add_up(seed):
    network = random_network([seed, 0], 7)
    dataset = sample(network, 300, seed)
    found = network.log_likelihood(dataset)
    rows = rows_of(dataset)
    for name, value in found.per_variable.items():
        parents = network.parents(name)
        terms = [
            network.query(name, {parent: row[parent] for parent in parents})[row[name]]
            for row in rows
        ]
        assert value == pytest.approx(math.fsum(map(math.log, terms)), rel=1e-9)
    assert math.fsum(found.per_variable.values()) == pytest.approx(found.total, rel=1e-12)
    twice = Dataset(dataset.variables, dataset.codes, np.full(300, 2))
    assert network.log_likelihood(twice).per_variable == pytest.approx(
        {name: 2 * value for name, value in found.per_variable.items()}, rel=1e-12
    )


def test_evaluate_by_hand():
    rows = [
        [0, 0, 1, 1],
        [0, 1, 1, 1],
    ]  # wet is informative about rain: 3/5 of the wet days have no rain
    prediction = GARDEN.predict(Dataset([RAIN, WET], rows), "rain")
    assert prediction.states == ("no", "no", "no", "no")
    found = prediction.evaluate(Dataset([RAIN, WET], rows))
    assert found.accuracy == 0.5
    assert found.confusion.tolist() == [[2, 0], [2, 0]]
    assert found.log_loss == pytest.approx(-math.log(1 * 0.6 * 0.4 * 0.4) / 4)
    weighted = Dataset([RAIN, WET], [[0, 0, 1], [0, 1, 1]], np.array([1, 1, 2]))
    again = GARDEN.predict(weighted, "rain").evaluate(weighted)
    assert (again.accuracy, again.log_loss) == (0.5, pytest.approx(found.log_loss))
    assert again.confusion.tolist() == found.confusion.tolist()
    sure = Dataset([RAIN, WET], [[1, 0], [0, 0]])
    assert GARDEN.predict(sure, "rain").evaluate(sure).log_loss == math.inf
    dry = Dataset([RAIN, WET], [[0], [0]])
    assert str(GARDEN.predict(dry, "rain").evaluate(dry).log_loss) == "0.0"
    assert refusal(DataError, prediction.evaluate, sure) == (
        "The prediction has 4 rows, but the dataset has 2. Pass the rows that were predicted."
    )
    assert refusal(DataError, prediction.evaluate, Dataset([WET], [[0, 1, 1, 1]])) == (
        "No row has a known state of 'rain', so the prediction cannot be evaluated."
    )


def test_rows_are_read_with_the_states_and_bins_of_the_network():
    age = Variable("age", ("below_18", "from_18_to_65", "from_65"))
    network = BayesianNetwork([age, RAIN], {}, {"age": [0.25, 0.5, 0.25], "rain": [0.75, 0.25]})
    table = np.array([["17.5", "no", "", "?"], ["18", "no", "x", "7"]])
    names = ["age", "rain", "note", "rain2"]
    rows = read_rows(network, table, names=names)
    assert {name: codes.tolist() for name, codes in rows.codes.items()} == {
        "age": [0, 1],
        "rain": [0, 0],
    }
    assert read_rows(network, rows) is rows
    assert list(read_rows(network, table, names=names, only=["rain"]).codes) == ["rain"]
    few = read_rows(network, table, names=names, drop=["rain"])
    assert (list(few.codes), few.unknown.absent) == (["age"], ("rain",))
    assert refusal(DataError, read_rows, network, table, names=["a", "b", "c", "d"]) == (
        "The table has none of the columns 'age', 'rain'."
    )


def test_impossible_rows():
    dataset = Dataset([RAIN, WET], [[0, 1, 0, 1], [0, 0, 1, 0]])
    with pytest.warns(CoevoWarning) as caught:
        found = GARDEN.log_likelihood(dataset)
    assert [str(warning.message) for warning in caught] == [
        "Row 2 (and 1 more) is impossible under the network; its log-likelihood is -inf."
    ]
    assert caught[0].filename == __file__
    assert np.isneginf(found.per_row).tolist() == [False, True, False, True]
    assert found.total == -math.inf
    rain, wet = found.per_variable["rain"], found.per_variable["wet"]
    assert (rain, wet) == (pytest.approx(math.log(0.75**2 * 0.25**2)), -math.inf)
    assert GARDEN.predict(dataset, "rain").states == ("no", "no", "no", "no")
    weighted = Dataset([RAIN, WET], [[0, 1], [0, 0]], np.array([3, 2]))
    with pytest.warns(CoevoWarning) as caught:
        GARDEN.log_likelihood(weighted)
    assert str(caught[0].message) == (
        "Distinct row 2 is impossible under the network; its log-likelihood is -inf."
    )
    sure = BayesianNetwork(
        [RAIN, WET], {"wet": ["rain"]}, {"rain": [0.75, 0.25], "wet": [[0.0, 1.0]] * 2}
    )
    with pytest.warns(CoevoWarning) as caught:
        found = sure.predict(dataset, "rain")
    assert [str(warning.message) for warning in caught] == [
        "3 rows are impossible under the network for every state of 'rain' (Row 1 is the first); "
        "their prediction uses no evidence."
    ]
    assert caught[0].filename == __file__
    assert found.impossible.tolist() == [0, 1, 3]
    assert found.probabilities == pytest.approx(np.array([[0.75, 0.25]] * 4))


def test_refusals(monkeypatch):
    dataset = Dataset([RAIN, Variable("wet", ("dry", "soaked", "wet"))], [[0, 1, 1], [0, 0, 1]])
    assert refusal(NetworkError, GARDEN.predict, dataset, "rian") == (
        "There is no variable 'rian' in the network. Did you mean 'rain'?"
    )
    for ask in (GARDEN.log_likelihood, lambda table: GARDEN.predict(table, "wet")):
        assert refusal(FileError, ask, "table.csv") == "There is no file 'table.csv'."
    monkeypatch.setattr(coevo.runtime.memory, "get_machine_memory", lambda: 10)
    assert refusal(ParameterError, GARDEN.predict, dataset, "wet") == (
        "A prediction for 3 rows needs 0.0 GB of memory; this machine has 0.0 GB. "
        "Predict fewer rows at a time."
    )
