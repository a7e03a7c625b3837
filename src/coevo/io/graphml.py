"""GraphML: structures, as networkx writes and reads them.

The id of a node is the name of its variable. igraph, through which R's bnlearn exports,
numbers the ids and keeps the names in a field called ``name``. If every node has that field
and all values differ, the field is the name. The reader ignores all other data and refuses
edges without a direction.
"""

from __future__ import annotations

from collections.abc import Iterator

from coevo.errors import suggest_match
from coevo.graph import DAG
from coevo.io.csv_structures import Model, StructureBuilder, get_dag
from coevo.io.xmlbif import Element, XmlPlace, format_attribute, make_xml_error, parse_xml

__all__ = ["format_graphml", "parse_graphml"]

LABEL = "GraphML"
NAMESPACE = "http://graphml.graphdrawing.org/xmlns"


def parse_graphml(text: str, source: str = "<text>") -> DAG:
    """Read a structure from a GraphML text.

    Raises `FormatError`, with line and column, when the text is malformed, or the graph is
    undirected or has a cycle.

    >>> text = format_graphml(DAG(["rain", "wet"], [("rain", "wet")]))
    >>> parse_graphml(text).arcs
    (('rain', 'wet'),)
    """
    root = parse_xml(text, source, "graphml")
    graph = root.find_one("graph")
    names = _read_names(root, graph)
    is_directed = graph.attributes.get("edgedefault") == "directed"
    builder: StructureBuilder[XmlPlace] = StructureBuilder(make_xml_error)
    for name in names.values():
        builder.add_node(name)
    for edge in graph.find_all("edge"):
        ends = []
        for side in ("source", "target"):
            end = _get_attribute(edge, side)
            if end not in names:
                sentence = f"the {side} {end!r} is not a node.{suggest_match(end, names)}"
                raise make_xml_error(edge.place, sentence)
            ends.append(names[end])
        parent, child = ends
        if edge.attributes.get("directed", "true" if is_directed else "false") != "true":
            sentence = f"the edge between {parent!r} and {child!r} has no direction."
            raise make_xml_error(edge.place, sentence)
        builder.add_arc(parent, child, edge.place)
    return builder.build_dag()


def _read_names(root: Element, graph: Element) -> dict[str, str]:
    """Return the name of each node by its id."""
    nodes: dict[str, Element] = {}
    for node in graph.find_all("node"):
        identifier = _get_attribute(node, "id")
        if identifier in nodes:
            raise make_xml_error(node.place, f"the node {identifier!r} is declared twice.")
        nodes[identifier] = node
    keys = {
        key.attributes.get("id")
        for key in root.find_all("key")
        if key.attributes.get("attr.name") == "name" and key.attributes.get("for") != "edge"
    }
    labels = {
        identifier: data.text
        for identifier, node in nodes.items()
        for data in node.find_all("data")
        if data.attributes.get("key") in keys
    }
    if len(labels) == len(nodes) == len(set(labels.values())):
        return labels
    return {identifier: identifier for identifier in nodes}


def _get_attribute(element: Element, name: str) -> str:
    if name not in element.attributes:
        raise make_xml_error(element.place, f"this {element.tag} has no {name}.")
    return element.attributes[name]


def format_graphml(model: Model) -> str:
    """Return a structure as a GraphML text that `parse_graphml` turns into the same structure.

    Raises `FormatError` when a name holds a character that XML does not allow.
    """
    return "\n".join(_format_lines(get_dag(model))) + "\n"


def _format_lines(dag: DAG) -> Iterator[str]:
    ids = {name: format_attribute(name, LABEL) for name in dag.nodes}
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield f'<graphml xmlns="{NAMESPACE}">'
    yield '  <graph edgedefault="directed">'
    yield from (f"    <node id={ids[name]}/>" for name in dag.nodes)
    for parent, child in dag.arcs:
        yield f"    <edge source={ids[parent]} target={ids[child]}/>"
    yield "  </graph>"
    yield "</graphml>"
