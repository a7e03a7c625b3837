"""Networks convert to pyAgrum and back, bit for bit."""

import sys

import numpy as np
import pytest
from hypothesis import given, settings

from coevo.bundled import load_network
from coevo.errors import DependencyError, ParameterError
from coevo.graph import DAG
from coevo.interop import from_pyagrum, to_pyagrum
from helpers.errors import refusal
from helpers.nasty_networks import SETTINGS, networks
from helpers.peer_oracles import pyagrum, pyagrum_network
from helpers.random_networks import enumerate_joint, random_network


@pytest.mark.parametrize("name", ["asia", "child", "alarm", "insurance"])
def test_round_trip(name):
    network = load_network(name)
    again = from_pyagrum(to_pyagrum(network))
    assert again == network
    assert again.name == network.name


@given(network=networks())
@settings(SETTINGS, max_examples=60)
def test_any_name_that_pyagrum_accepts(network):
    names = [variable.name for variable in network.variables]
    states = [state for variable in network.variables for state in variable.states]
    texts = [network.name, *names, *states]
    if any("\0" in text or "\ud800" in text or not text for text in texts):
        return  # pyAgrum uses C++ strings
    assert from_pyagrum(to_pyagrum(network)) == network


@pytest.mark.parametrize("seed", range(4))
def test_queries_agree(seed):
    network = random_network(seed, 6, 3)
    theirs = to_pyagrum(network)
    inference = pyagrum.LazyPropagation(theirs)
    for name, found in network.marginals().items():
        assert np.allclose(inference.posterior(name).toarray(), found.probabilities, atol=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_the_joint_distributions_agree(seed):
    network = random_network(seed, 5, 3)
    found = from_pyagrum(pyagrum_network(network))
    assert found == network
    assert np.array_equal(enumerate_joint(found), enumerate_joint(network))


def test_variables_of_other_kinds():
    found = from_pyagrum(pyagrum.fastBN("a[3]->b{low|high}->c[0,1,2]"))
    states = [variable.states for variable in found.variables]
    assert states == [("0", "1", "2"), ("low", "high"), ("[0;1[", "[1;2]")]
    assert found.dag.arcs == (("a", "b"), ("b", "c"))


def test_a_structure_has_no_states():
    assert refusal(ParameterError, to_pyagrum, DAG(["a"])) == (
        "'network' of to_pyagrum must be a BayesianNetwork; got <DAG: 1 variables, 0 arcs>."
    )


def test_pyagrum_is_not_installed(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyagrum", None)
    assert refusal(DependencyError, to_pyagrum, load_network("asia")) == (
        "pyAgrum is not installed. Install it with: pip install 'coevo[pyagrum]'"
    )
