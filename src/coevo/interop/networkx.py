"""Convert structures to and from a networkx DiGraph."""

from __future__ import annotations

from typing import Any

from coevo.errors import GraphError, bad_parameter, import_optional
from coevo.graph import DAG
from coevo.interop.names import check_names
from coevo.io.csv_structures import Model, check_model, get_dag

__all__ = ["from_networkx", "to_networkx"]


def to_networkx(model: Model) -> Any:
    """Convert a structure, or the structure of a network, to a networkx DiGraph.

    The nodes are the names of the variables in their order, including isolated variables.

    Parameters
    ----------
    model : BayesianNetwork or DAG
        The model to convert. The tables of a network are not converted.

    Raises
    ------
    DependencyError
        If networkx is not installed.
    """
    check_model(model, "to_networkx")
    dag = get_dag(model)
    graph = import_optional("networkx", "networkx", "networkx").DiGraph()
    graph.add_nodes_from(dag.nodes)
    graph.add_edges_from(dag.arcs)
    return graph


def from_networkx(graph: Any) -> DAG:
    """Convert a directed networkx graph to a structure.

    Parameters
    ----------
    graph : networkx.DiGraph
        The graph to convert. Its nodes must be strings; attributes are ignored.

    Raises
    ------
    GraphError
        If the graph is undirected, has a cycle, or has a node that is not a string.
    """
    if not hasattr(graph, "is_directed"):
        raise bad_parameter("graph", "from_networkx", "a DiGraph of networkx", graph)
    if not graph.is_directed():
        raise GraphError("The graph is undirected. Pass a networkx DiGraph.")
    names = check_names(graph.nodes, "networkx")
    return DAG(names, list(graph.edges()))
