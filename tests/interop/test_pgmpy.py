"""Networks convert to pgmpy and back, and both libraries read the same files."""

import importlib
import sys
import warnings

import numpy as np
import pytest

from coevo.bundled import load_network
from coevo.errors import DependencyError, GraphError, NetworkError
from coevo.graph import DAG
from coevo.interop import from_pgmpy, to_pgmpy
from coevo.io import read_model, write_model
from coevo.network import BayesianNetwork
from helpers.errors import refusal
from helpers.random_networks import random_network


def test_pgmpy_is_not_installed(monkeypatch):
    monkeypatch.setitem(sys.modules, "pgmpy", None)
    assert refusal(DependencyError, to_pgmpy, DAG(["a"])) == (
        "pgmpy is not installed. Install it with: pip install 'coevo[pgmpy]'"
    )


@pytest.fixture(scope="module")
def pgmpy():
    """Return pgmpy; it and its dependencies emit deprecation warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = pytest.importorskip("pgmpy", reason="pgmpy brings half a gigabyte: coevo[pgmpy]")
        importlib.import_module("pgmpy.inference")
        importlib.import_module("pgmpy.readwrite")
    return found


def some_networks():
    return [
        *(load_network(name) for name in ("asia", "sachs", "child", "alarm")),
        *(random_network(seed, 6, 3) for seed in range(3)),
    ]


@pytest.mark.parametrize("network", some_networks(), ids=str)
def test_round_trip(pgmpy, network):
    theirs = to_pgmpy(network)
    assert theirs.check_model()
    again = from_pgmpy(theirs)
    assert again == network


def test_structures(pgmpy):
    dag = DAG(["alone", "a b", "c"], [("a b", "c")])
    theirs = to_pgmpy(dag)
    assert type(theirs).__module__.startswith("pgmpy.base")
    assert from_pgmpy(theirs) == dag


def test_queries_agree(pgmpy):
    from pgmpy.inference import VariableElimination

    network = random_network(5, 5, 3)
    inference = VariableElimination(to_pgmpy(network))
    for name, ours in network.marginals().items():
        found = inference.query([name], show_progress=False)
        assert np.allclose(found.values, ours.probabilities, atol=1e-12)


def test_states_that_are_numbers_and_missing_tables(pgmpy):
    from pgmpy.factors.discrete import TabularCPD
    from pgmpy.models import DiscreteBayesianNetwork

    theirs = DiscreteBayesianNetwork([("a", "b")])
    theirs.add_cpds(TabularCPD("a", 2, [[0.25], [0.75]]))
    assert refusal(NetworkError, from_pgmpy, theirs) == (
        "The variable 'b' has no table, but other variables have one."
    )
    table = [[0.1, 0.2], [0.9, 0.8]]
    theirs.add_cpds(TabularCPD("b", 2, table, evidence=["a"], evidence_card=[2]))
    found = from_pgmpy(theirs)
    assert found.variable("a").states == ("0", "1")
    assert found.table("b").tolist() == [[0.1, 0.9], [0.2, 0.8]]
    assert refusal(GraphError, from_pgmpy, DiscreteBayesianNetwork([("a", 1)])) == (
        "pgmpy has a variable 1, which is not a string. Rename it to '1' first."
    )


def as_ours(theirs, network):
    """Return pgmpy's network with its variables in the order of ours."""
    found = from_pgmpy(theirs)
    variables = [found.variable(variable.name) for variable in network.variables]
    parents = {v.name: found.parents(v.name) for v in variables}
    return BayesianNetwork(variables, parents, {v.name: found.table(v.name) for v in variables})


@pytest.mark.parametrize("ending", ["xmlbif", "net"])
@pytest.mark.parametrize("name", ["asia", "child", "alarm"])
def test_pgmpy_reads_our_files(pgmpy, name, ending, tmp_path):
    from pgmpy.readwrite import NETReader, XMLBIFReader

    network = load_network(name)
    path = str(tmp_path / f"a.{ending}")
    write_model(network, path)
    reader = {"xmlbif": XMLBIFReader, "net": NETReader}[ending]
    assert as_ours(reader(path).get_model(), network) == network


@pytest.mark.parametrize("ending", ["xmlbif", "net"])
@pytest.mark.parametrize("name", ["asia", "sachs"])  # pgmpy changes states with special characters
def test_we_read_the_files_of_pgmpy(pgmpy, name, ending, tmp_path):
    from pgmpy.readwrite import NETWriter, XMLBIFWriter

    network = load_network(name)
    path = str(tmp_path / f"a.{ending}")
    writer = {"xmlbif": XMLBIFWriter, "net": NETWriter}[ending]
    writer(to_pgmpy(network)).write(path)
    found = as_ours(to_pgmpy(read_model(path)), network)
    assert found.variables == network.variables
    assert found.dag == network.dag
    for variable in network.variables:
        assert found.parents(variable.name) == network.parents(variable.name)
        off = abs(found.table(variable.name) - network.table(variable.name)).max()
        assert off < 1e-8  # pgmpy writes numbers with the precision of NumPy's repr
