"""GraphML: structures, as networkx writes and reads them.

A node's id is the name of its variable. igraph (R's bnlearn exports through it) numbers the
ids and keeps the names in a field called ``name``; where every node has that field, it is
the name. All other data are passed over. Edges without a direction are refused.
"""

from __future__ import annotations

from collections.abc import Iterator

from coevo.errors import suggestion
from coevo.graph import DAG
from coevo.io.structures import Model, StructureReader, dag_of
from coevo.io.xml_tree import Element, XmlPlace, attribute, parse_xml, xml_error

__all__ = ["format_graphml", "parse_graphml"]

LABEL = "GraphML"
NAMESPACE = "http://graphml.graphdrawing.org/xmlns"


def parse_graphml(text: str, source: str = "<text>") -> DAG:
    """Read a structure from a GraphML text.

    Raises `FormatError`, with line and column, when it is malformed, undirected or cyclic.

    >>> text = format_graphml(DAG(["rain", "wet"], [("rain", "wet")]))
    >>> parse_graphml(text).arcs
    (('rain', 'wet'),)
    """
    root = parse_xml(text, source, "graphml")
    graph = root.only("graph")
    names = _names(root, graph)
    directed = graph.attributes.get("edgedefault") == "directed"
    found: StructureReader[XmlPlace] = StructureReader(xml_error)
    for name in names.values():
        found.add_node(name)
    for edge in graph.all("edge"):
        ends = []
        for side in ("source", "target"):
            end = _required(edge, side)
            if end not in names:
                sentence = f"the {side} {end!r} is not a node.{suggestion(end, names)}"
                raise xml_error(edge.place, sentence)
            ends.append(names[end])
        parent, child = ends
        if edge.attributes.get("directed", "true" if directed else "false") != "true":
            sentence = f"the edge between {parent!r} and {child!r} has no direction."
            raise xml_error(edge.place, sentence)
        found.add_arc(parent, child, edge.place)
    return found.dag()


def _names(root: Element, graph: Element) -> dict[str, str]:
    """Return the name of each node by its id."""
    nodes: dict[str, Element] = {}
    for node in graph.all("node"):
        identifier = _required(node, "id")
        if identifier in nodes:
            raise xml_error(node.place, f"the node {identifier!r} is declared twice.")
        nodes[identifier] = node
    keys = {
        key.attributes.get("id")
        for key in root.all("key")
        if key.attributes.get("attr.name") == "name" and key.attributes.get("for") != "edge"
    }
    labels = {
        identifier: data.text
        for identifier, node in nodes.items()
        for data in node.all("data")
        if data.attributes.get("key") in keys
    }
    if len(labels) == len(nodes) == len(set(labels.values())):
        return labels
    return {identifier: identifier for identifier in nodes}


def _required(element: Element, name: str) -> str:
    if name not in element.attributes:
        raise xml_error(element.place, f"this {element.tag} has no {name}.")
    return element.attributes[name]


def format_graphml(model: Model) -> str:
    """Return a structure as a GraphML text that `parse_graphml` turns into the same structure.

    Raises `FormatError` when a name holds a character that XML cannot write.
    """
    return "\n".join(_lines(dag_of(model))) + "\n"


def _lines(dag: DAG) -> Iterator[str]:
    ids = {name: attribute(name, LABEL) for name in dag.nodes}
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield f'<graphml xmlns="{NAMESPACE}">'
    yield '  <graph edgedefault="directed">'
    yield from (f"    <node id={ids[name]}/>" for name in dag.nodes)
    for parent, child in dag.arcs:
        yield f"    <edge source={ids[parent]} target={ids[child]}/>"
    yield "  </graph>"
    yield "</graphml>"
