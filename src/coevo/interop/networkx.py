"""To and from networkx: the structure, as a DiGraph."""

from __future__ import annotations

from typing import Any

from coevo.errors import GraphError, require
from coevo.graph import DAG
from coevo.interop.names import checked_names
from coevo.io.structures import Model, dag_of

__all__ = ["from_networkx", "to_networkx"]


def to_networkx(model: Model) -> Any:
    """Return the structure of a network, or a structure, as a networkx DiGraph.

    Nodes are the names of the variables in their order, isolated ones too.

    Parameters
    ----------
    model : BayesianNetwork or DAG
        What to hand over. Tables stay behind; networkx has no place for them.

    Raises
    ------
    DependencyError
        When networkx is not installed.
    """
    dag = dag_of(model)
    graph = require("networkx", "networkx", "networkx").DiGraph()
    graph.add_nodes_from(dag.nodes)
    graph.add_edges_from(dag.arcs)
    return graph


def from_networkx(graph: Any) -> DAG:
    """Return a directed networkx graph as a structure.

    Parameters
    ----------
    graph : networkx.DiGraph
        Its nodes must be texts; their attributes are passed over.

    Raises
    ------
    GraphError
        When the graph is undirected, has a cycle, or has a node that is not a text.
    """
    if not graph.is_directed():
        raise GraphError("The graph is undirected. Pass a networkx DiGraph.")
    names = checked_names(graph.nodes, "networkx")
    return DAG(names, list(graph.edges()))
