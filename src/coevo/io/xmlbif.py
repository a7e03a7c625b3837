"""XMLBIF 0.3, the Interchange Format as XML: JavaBayes, Weka, SamIam, pgmpy, pyAgrum.

In a table the child varies fastest, then the last of the GIVEN variables, and the first of
them slowest: the same order as in our rows, in the specification and in all these tools.
The reader ignores properties, observations and document types. Names may hold all
characters that XML allows. The standard attribute ``xml:space="preserve"`` keeps blanks at
the ends of a name; other tools may ignore it.
"""

from __future__ import annotations

from collections.abc import Iterator

from coevo.io.network_builder import NetworkBuilder
from coevo.io.scanner import NUMBER, parse_numbers, shorten_repr
from coevo.io.xml_tree import Element, XmlPlace, format_element, make_xml_error, parse_xml
from coevo.network import BayesianNetwork

__all__ = ["format_xmlbif", "parse_xmlbif"]

LABEL = "XMLBIF"
UNSUPPORTED = {"decision": "a decision", "utility": "a utility"}


def parse_xmlbif(text: str, source: str = "<text>") -> BayesianNetwork:
    """Read a network from an XMLBIF text.

    Raises `FormatError`, with line and column, when the text is malformed.

    >>> parse_xmlbif("<BIF><NETWORK><NAME>empty</NAME></NETWORK></BIF>").name
    'empty'
    >>> parse_xmlbif("<BIF></NETWORK></BIF>", "a.xml")
    Traceback (most recent call last):
    coevo.errors.FormatError: a.xml, line 1, column 8: this is not XML: mismatched tag.
    """
    network = parse_xml(text, source, "BIF").find_one("NETWORK")
    builder: NetworkBuilder[XmlPlace] = NetworkBuilder(make_xml_error, "DEFINITION")
    for element in network.find_all("VARIABLE"):
        _add_variable(builder, element)
    elements = {}
    for element in network.find_all("DEFINITION"):
        child = element.find_one("FOR")
        parents = [(parent.text, parent.place) for parent in element.find_all("GIVEN")]
        builder.add_family(child.text, child.place, parents)
        elements[child.text] = element.find_one("TABLE")
    parents_of = builder.check()
    tables = {
        name: builder.build_table(name, _read_numbers(name, elements[name]), elements[name].place)
        for name in parents_of
    }
    builder.warn_of_rounded_rows()
    title = network.find_one("NAME").text if network.find_all("NAME") else ""
    return BayesianNetwork(tuple(builder.variables.values()), parents_of, tables, title)


def _add_variable(builder: NetworkBuilder[XmlPlace], element: Element) -> None:
    name = element.find_one("NAME")
    kind = element.attributes.get("TYPE", "nature")
    if kind in UNSUPPORTED:
        sentence = f"{name.text!r} is {UNSUPPORTED[kind]}; only nature variables are supported."
        raise make_xml_error(element.place, sentence)
    builder.add_variable(name.text, name.place)
    outcomes = [outcome.text for outcome in element.find_all("OUTCOME")]
    builder.set_states(name.text, outcomes, name.place)


def _read_numbers(name: str, table: Element) -> list[float]:
    values = parse_numbers(table.text)
    if values is None:
        wrong = next(word for word in table.text.split() if not NUMBER.fullmatch(word))
        sentence = f"the table of {name!r} holds {shorten_repr(wrong)}, which is not a number."
        raise make_xml_error(table.place, sentence)
    return values


def format_xmlbif(network: BayesianNetwork) -> str:
    """Return a network as an XMLBIF text that `parse_xmlbif` turns into the same network.

    Raises `FormatError` when a name or state holds a character that XML does not allow.
    """
    return "\n".join(_format_lines(network)) + "\n"


def _format_lines(network: BayesianNetwork) -> Iterator[str]:
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield '<BIF VERSION="0.3">'
    yield "<NETWORK>"
    yield format_element("NAME", network.name, LABEL)
    for variable in network.variables:
        yield '<VARIABLE TYPE="nature">'
        yield f"  {format_element('NAME', variable.name, LABEL)}"
        yield from (f"  {format_element('OUTCOME', state, LABEL)}" for state in variable.states)
        yield "</VARIABLE>"
    for variable in network.variables:
        yield "<DEFINITION>"
        yield f"  {format_element('FOR', variable.name, LABEL)}"
        for parent in network.parents(variable.name):
            yield f"  {format_element('GIVEN', parent, LABEL)}"
        yield "  <TABLE>"
        for row in network.table(variable.name).tolist():
            yield f"    {' '.join(map(repr, row))}"
        yield "  </TABLE>"
        yield "</DEFINITION>"
    yield "</NETWORK>"
    yield "</BIF>"
