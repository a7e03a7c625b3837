"""The constructor of a network validates it; the network is immutable."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from coevo.bundled import load_network
from coevo.data import Variable
from coevo.errors import CoevoError, GraphError, NetworkError
from coevo.network import BayesianNetwork

RAIN = Variable("rain", ("no", "light", "heavy"))
WET = Variable("wet", ("no", "yes"))
PARENTS = {"wet": ["rain"]}
TABLES = {"rain": [0.5, 0.25, 0.25], "wet": [[0.75, 0.25], [0.5, 0.5], [0.125, 0.875]]}


def build(variables=(WET, RAIN), parents=PARENTS, name="", **tables):
    return BayesianNetwork(variables, parents, {**TABLES, **tables}, name)


def refusal(kind=NetworkError, **parts):
    with pytest.raises(CoevoError) as caught:
        build(**parts)
    assert type(caught.value) is kind
    return str(caught.value)


def test_properties_of_a_network():
    network = build(name="garden")
    assert network.name == "garden"
    assert network.variables == (WET, RAIN)
    assert network.variable("rain") == RAIN
    assert network.parents("wet") == ("rain",)
    assert network.parents("rain") == ()
    assert network.dag.nodes == ("wet", "rain")
    assert network.dag.arcs == (("rain", "wet"),)
    assert network.n_configurations("wet") == 3
    assert network.n_configurations("rain") == 1
    assert network.table("rain").tolist() == [[0.5, 0.25, 0.25]]
    assert network.table("wet").tolist() == TABLES["wet"]
    assert network.n_parameters == 2 + 3 * 1
    assert repr(network) == "<BayesianNetwork 'garden': 2 variables, 1 arcs, 5 parameters>"
    assert repr(build()) == "<BayesianNetwork 2 variables, 1 arcs, 5 parameters>"


def test_a_flat_table_has_the_states_of_the_child_fastest():
    flat = build(wet=np.array(TABLES["wet"]).ravel())
    assert flat == build()


def test_parents_keep_the_order_of_the_table():
    dry = Variable("dry", ("a", "b"))
    table = np.full((6, 2), 0.5)
    table[1] = 0.25, 0.75  # wet=no, rain=light
    network = build((dry, RAIN, WET), {"dry": ["wet", "rain"]}, dry=table, wet=[0.5, 0.5])
    assert network.parents("dry") == ("wet", "rain")
    assert network.dag.parents("dry") == ("rain", "wet")
    assert network.table("dry")[0 * 3 + 1].tolist() == [0.25, 0.75]


def test_rows_are_normalised_within_a_millionth():
    network = build(rain=[0.5 + 9e-7, 0.25, 0.25], wet=[[0.7500001, 0.25], [0.5, 0.5], [0, 1]])
    assert abs(network.table("rain").sum() - 1) < 1e-15
    assert np.abs(network.table("wet").sum(axis=1) - 1).max() < 1e-15
    assert network.table("wet")[1:].tolist() == [[0.5, 0.5], [0, 1]]
    assert refusal(rain=[0.5 + 2e-6, 0.25, 0.25]) == (
        "Row 1 of the table of 'rain' sums to 1.000002; each row must sum to 1 within 1e-06."
    )
    assert refusal(wet=[[0.75, 0.25], [0.5, 0.25], [0, 1]]) == (
        "Row 2 of the table of 'wet' sums to 0.75; each row must sum to 1 within 1e-06."
    )


def test_a_row_that_sums_to_one_up_to_roundoff_is_not_changed(seed):
    rng = np.random.default_rng(seed)
    table = rng.dirichlet([1, 1], size=3)
    assert np.array_equal(build(wet=table).table("wet"), table)


@pytest.mark.parametrize("bad", [-0.25, float("nan"), float("inf")])
def test_entries_that_are_not_probabilities(bad):
    assert refusal(rain=[bad, 1.0, 0.25]) == (
        "The table of 'rain' has an entry that is not a number of 0 or above."
    )


def test_tables_of_the_wrong_form():
    assert refusal(wet=[0.5, 0.5]) == (
        "The table of 'wet' has 2 probabilities; its 2 states and 3 parent configurations need 6."
    )
    assert refusal(wet=[[0.5, 0.5], [1]]) == (
        "The table of 'wet' must be numbers, with rows of equal length."
    )
    assert refusal(rain=["a", "b", "c"]) == (
        "The table of 'rain' must be numbers, with rows of equal length."
    )
    assert refusal(rain=[1e308, 1e308, 0.0]) == (
        "Row 1 of the table of 'rain' sums to inf; each row must sum to 1 within 1e-06."
    )
    with pytest.raises(NetworkError) as caught:
        BayesianNetwork([RAIN, WET], PARENTS, {"rain": TABLES["rain"]})
    assert str(caught.value) == "The variable 'wet' has no table."


def test_names():
    assert refusal(variables=(RAIN, WET, RAIN)) == "The variable 'rain' is declared twice."
    assert refusal(wett=[1]) == (
        "A table is given for 'wett', which is not a variable. Did you mean 'wet'?"
    )
    assert refusal(parents={"rian": []}) == (
        "Parents are given for 'rian', which is not a variable. Did you mean 'rain'?"
    )
    assert refusal(GraphError, parents={"wet": ["rian"]}) == (
        "The arc 'rian' -> 'wet' names 'rian', which is not a variable. Did you mean 'rain'?"
    )
    assert refusal(GraphError, parents={"wet": ["rain", "rain"]}) == (
        "The arc 'rain' -> 'wet' is given twice."
    )
    assert refusal(GraphError, parents={"wet": ["rain"], "rain": ["wet"]}) == (
        "The arcs contain a cycle: 'rain' -> 'wet' -> 'rain'."
    )


@pytest.mark.parametrize("question", ["variable", "parents", "table", "n_configurations"])
def test_unknown_name(question):
    with pytest.raises(NetworkError) as caught:
        getattr(build(), question)("rian")
    assert str(caught.value) == "There is no variable 'rian' in the network. Did you mean 'rain'?"


@pytest.mark.parametrize(
    "made_by",
    [lambda n: n, lambda n: pickle.loads(pickle.dumps(n)), copy.copy, copy.deepcopy],
    ids=["constructor", "pickle", "copy", "deepcopy"],
)
def test_a_network_is_read_only(made_by):
    original = load_network("survey")
    network = made_by(original)
    assert network == original
    assert network.name == "survey"
    for variable in network.variables:
        with pytest.raises(ValueError, match="read-only"):
            network.table(variable.name)[0, 0] = 0.5
    with pytest.raises(AttributeError):
        network.name = "other"
    with pytest.raises(TypeError, match="unhashable"):
        hash(network)


def test_the_arguments_are_not_changed():
    table = np.array([0.5 + 5e-7, 0.25, 0.25])
    parents = {"wet": ["rain"]}
    network = build(parents=parents, rain=table)
    assert table.tolist() == [0.5 + 5e-7, 0.25, 0.25]
    table[:] = 0
    parents["wet"].append("wet")
    assert network.table("rain")[0, 0] > 0.49
    assert network.parents("wet") == ("rain",)


def test_equality_ignores_only_the_name():
    network = build()
    assert build(name="other") == network
    assert build(rain=[0.25, 0.5, 0.25]) != network
    assert build(variables=(RAIN, WET)) != network  # the order of output
    assert build(variables=(Variable("wet", ("yes", "no")), RAIN)) != network
    assert build(parents={}, wet=[0.5, 0.5]) != network
    assert network != "a network"


@pytest.mark.parametrize("name", ["asia", "survey", "alarm"])
def test_number_of_parameters(name):
    network = load_network(name)
    expected = 0
    for variable in network.variables:
        q = np.prod([network.variable(p).arity for p in network.parents(variable.name)], dtype=int)
        expected += q * (variable.arity - 1)
    assert network.n_parameters == expected
