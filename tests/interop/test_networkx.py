"""Structures convert to networkx and back, and both libraries read the same files."""

import sys

import pytest
from hypothesis import given, settings

from coevo.bundled import load_network
from coevo.errors import DependencyError, FormatError, GraphError
from coevo.graph import DAG
from coevo.interop import from_networkx, to_networkx
from coevo.io import format_model, parse_model, read_model, write_model
from helpers.errors import refusal
from helpers.nasty_networks import SETTINGS, networks


def test_networkx_is_not_installed(monkeypatch):
    monkeypatch.setitem(sys.modules, "networkx", None)
    assert refusal(DependencyError, to_networkx, DAG(["a"])) == (
        "networkx is not installed. Install it with: pip install 'coevo[networkx]'"
    )


@pytest.fixture(scope="module")
def nx():
    return pytest.importorskip("networkx", reason="networkx is an extra: coevo[networkx]")


@given(network=networks())
@settings(SETTINGS, max_examples=60)
def test_round_trip(nx, network):
    graph = to_networkx(network)
    assert nx.is_directed_acyclic_graph(graph)
    assert from_networkx(graph) == network.dag
    assert from_networkx(graph).nodes == network.dag.nodes
    assert list(to_networkx(network.dag)) == list(network.dag.nodes)


def test_refusals(nx):
    assert refusal(GraphError, from_networkx, nx.Graph([("a", "b")])) == (
        "The graph is undirected. Pass a networkx DiGraph."
    )
    assert refusal(GraphError, from_networkx, nx.DiGraph([("a", 1)])) == (
        "networkx has a variable 1, which is not a string. Rename it to '1' first."
    )
    assert refusal(GraphError, from_networkx, nx.DiGraph([("a", "b"), ("b", "a")])) == (
        "The arcs contain a cycle: 'a' -> 'b' -> 'a'."
    )
    assert refusal(GraphError, from_networkx, nx.MultiDiGraph([("a", "b"), ("a", "b")])) == (
        "The arc 'a' -> 'b' is given twice."
    )


@pytest.mark.parametrize("name", ["asia", "alarm", "munin"])
def test_graphml_of_bundled_networks(nx, name, tmp_path):
    dag = load_network(name).dag
    write_model(dag, tmp_path / "ours.graphml")
    assert from_networkx(nx.read_graphml(tmp_path / "ours.graphml")) == dag
    nx.write_graphml(to_networkx(dag), tmp_path / "theirs.graphml")
    assert read_model(tmp_path / "theirs.graphml") == dag


@given(network=networks())
@settings(SETTINGS, max_examples=60)
def test_graphml_of_any_names(nx, network):
    try:
        text = format_model(network, "graphml")
    except FormatError:
        return
    graph = nx.parse_graphml(text)
    assert from_networkx(graph) == network.dag
    assert parse_model("\n".join(nx.generate_graphml(graph)), "graphml") == network.dag


def test_graphml_with_attributes(nx):
    graph = nx.DiGraph([("a", "b")])
    graph.add_node("c", weight=1.5)
    graph.add_edge("a", "c", label="x")
    assert parse_model("\n".join(nx.generate_graphml(graph)), "graphml").arcs == (
        ("a", "b"),
        ("a", "c"),
    )


def test_dot(nx):
    pytest.importorskip("pydot", reason="networkx writes DOT through pydot")
    for name in ("asia", "alarm"):
        dag = load_network(name).dag
        assert parse_model(str(nx.nx_pydot.to_pydot(to_networkx(dag))), "dot") == dag
    dag = DAG(["a b", "1st", "c,d", "é", "alone;", "-5"], [("a b", "1st"), ("c,d", "é")])
    assert parse_model(str(nx.nx_pydot.to_pydot(to_networkx(dag))), "dot") == dag


@pytest.mark.filterwarnings("ignore")  # pydot uses deprecated names of pyparsing
def test_networkx_reads_our_dot(nx, tmp_path):
    pytest.importorskip("pydot", reason="networkx reads DOT through pydot")
    dag = DAG(["a b", "1st", "c,d", "é", "alone;"], [("a b", "1st"), ("c,d", "é")])
    write_model(dag, tmp_path / "a.dot")
    found = nx.DiGraph(nx.nx_pydot.read_dot(tmp_path / "a.dot"))
    unquoted = nx.relabel_nodes(found, {node: node.strip('"') for node in found})
    assert from_networkx(unquoted) == dag


def test_adjacency_matrices(nx, tmp_path):
    pandas = pytest.importorskip("pandas", reason="labelled matrices come as data frames")
    dag = load_network("asia").dag
    nx.to_pandas_adjacency(to_networkx(dag)).to_csv(tmp_path / "theirs.csv")
    assert read_model(tmp_path / "theirs.csv") == dag
    write_model(dag, tmp_path / "ours.adjacency.csv")
    frame = pandas.read_csv(tmp_path / "ours.adjacency.csv", index_col=0)
    assert from_networkx(nx.from_pandas_adjacency(frame, create_using=nx.DiGraph)) == dag


def test_lists_of_arcs(nx, tmp_path):
    pandas = pytest.importorskip("pandas", reason="lists of arcs come as data frames")
    dag = load_network("child").dag
    edges = nx.to_pandas_edgelist(to_networkx(dag), source="from", target="to")
    edges.to_csv(tmp_path / "theirs.csv", index=False)
    assert read_model(tmp_path / "theirs.csv") == dag
    write_model(dag, tmp_path / "ours.edges.csv")
    frame = pandas.read_csv(tmp_path / "ours.edges.csv")
    found = nx.from_pandas_edgelist(frame, "from", "to", create_using=nx.DiGraph)
    assert from_networkx(found) == dag
