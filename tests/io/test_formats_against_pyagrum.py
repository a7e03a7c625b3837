"""pyAgrum reads what we write and writes what we read, with the same tables."""

import itertools
import warnings

import numpy as np
import pytest
from hypothesis import given, settings

from coevo.bundled import load_network
from coevo.errors import CoevoWarning
from coevo.interop import from_pyagrum
from coevo.io import parse_model, read_model, write_model
from coevo.io.portable_names import make_portable
from coevo.io.xmlbif import is_plain
from coevo.network import BayesianNetwork
from helpers.nasty_networks import SETTINGS, networks
from helpers.peer_oracles import assert_same_network, pyagrum, pyagrum_network
from helpers.random_networks import random_network

NETWORKS = ["asia", "cancer", "survey", "sachs", "insurance", "alarm", "win95pts"]
RANDOM = range(6)  # at least two states a variable; pyAgrum refuses variables with one
EXTENSIONS = ["bif", "bifxml", "net"]


def some_networks():
    return [
        *(pytest.param(load_network(name), id=name) for name in NETWORKS),
        *(
            pytest.param(random_network(seed, 7, 4, min_states=2), id=f"random {seed}")
            for seed in RANDOM
        ),
    ]


@pytest.mark.parametrize("extension", EXTENSIONS)
@pytest.mark.parametrize("network", some_networks())
def test_pyagrum_reads_what_we_write(tmp_path, network, extension):
    path = tmp_path / f"a.{extension}"
    write_model(network, path)
    assert_same_network(path, make_network(make_portable(network)))
    if extension == "bifxml":  # only here does pyAgrum keep double precision
        theirs = from_pyagrum(pyagrum.loadBN(str(path)))
        for variable in network.variables:
            ours = reorder_table(network, variable.name, theirs.parents(variable.name))
            assert abs(theirs.table(variable.name) - ours).max() < 1e-15


def make_network(portable):
    return BayesianNetwork(portable.variables, portable.parents, portable.tables, portable.name)


@pytest.mark.parametrize("extension", EXTENSIONS)
@given(network=networks())
@settings(SETTINGS, max_examples=60)
def test_pyagrum_reads_any_names(tmp_path_factory, extension, network):
    path = tmp_path_factory.getbasetemp() / f"any.{extension}"
    write_model(network, path)
    rule = is_plain if extension == "bifxml" else None
    assert_same_network(path, make_network(make_portable(network, rule)))
    assert read_model(path) == network


@pytest.mark.parametrize(
    ("extension", "precision"), [("bifxml", 2e-6), ("net", 0.0), ("bif", 2e-6)]
)
@pytest.mark.parametrize("network", some_networks())
def test_we_read_what_pyagrum_writes(tmp_path, network, extension, precision):
    path = str(tmp_path / f"a.{extension}")
    pyagrum.saveBN(pyagrum_network(network), path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CoevoWarning)  # with six digits, rows do not sum to 1
        found = read_model(path)
    assert found.dag == network.dag
    for variable in network.variables:
        assert found.variable(variable.name) == variable
        ours = reorder_table(network, variable.name, found.parents(variable.name))
        assert abs(found.table(variable.name) - ours).max() <= precision


def reorder_table(network, name, parents):
    """Return a table of a network for another order of the parents."""
    own = network.parents(name)
    assert sorted(own) == sorted(parents)
    places = [
        dict(zip(parents, states, strict=True))
        for states in itertools.product(
            *(range(network.variable(parent).arity) for parent in parents)
        )
    ]
    columns = {p: np.array([place[p] for place in places], dtype=np.intp) for p in own}
    return network.table(name)[network.find_configurations(name, columns)]


def test_states_that_pyagrum_does_not_quote(tmp_path):
    """The network child has the states `<5`, `>=7.5`, `12+` and `Asy/Patchy`."""
    child = load_network("child")
    pyagrum.saveBN(pyagrum_network(child), str(tmp_path / "a.net"))
    found = read_model(tmp_path / "a.net")
    assert found.variables == child.variables
    assert found.dag == child.dag


@pytest.mark.parametrize("name", ["asia", "alarm"])
def test_we_read_the_dot_of_pyagrum(name):
    network = load_network(name)
    assert parse_model(pyagrum_network(network).toDot(), "dot") == network.dag
