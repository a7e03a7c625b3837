"""XMLBIF 0.3, the Interchange Format as XML: JavaBayes, Weka, SamIam, pgmpy, pyAgrum.

In a table the child varies fastest, then the last of the GIVEN variables, the first of them
slowest: the order of our own rows, of the specification and of all the tools named.
Properties, observations and document types are passed over. Names may hold anything that
XML can write; blanks at the ends of a name are kept by the standard attribute
``xml:space="preserve"``, which other tools may not look at.
"""

from __future__ import annotations

from collections.abc import Iterator

from coevo.io.bif_document import Document
from coevo.io.declarations import Declarations
from coevo.io.scanner import NUMBER, plain_numbers, shown
from coevo.io.xml_tree import Element, XmlPlace, content, parse_xml, xml_error
from coevo.network import BayesianNetwork

__all__ = ["format_xmlbif", "parse_xmlbif"]

LABEL = "XMLBIF"
KINDS = {"decision": "a decision", "utility": "a utility"}


def parse_xmlbif(text: str, source: str = "<text>") -> BayesianNetwork:
    """Read a network from an XMLBIF text.

    Raises `FormatError`, with line and column, when it is malformed.

    >>> parse_xmlbif("<BIF><NETWORK><NAME>empty</NAME></NETWORK></BIF>").name
    'empty'
    >>> parse_xmlbif("<BIF></NETWORK></BIF>", "a.xml")
    Traceback (most recent call last):
    coevo.errors.FormatError: a.xml, line 1, column 8: this is not XML: mismatched tag.
    """
    network = parse_xml(text, source, "BIF").only("NETWORK")
    found: Declarations[XmlPlace] = Declarations(xml_error, "DEFINITION")
    for element in network.all("VARIABLE"):
        _declare(found, element)
    tables = {}
    for element in network.all("DEFINITION"):
        child, given = element.only("FOR"), element.all("GIVEN")
        parents = [(parent.text, parent.place) for parent in given]
        found.add_family(child.text, child.place, parents)
        tables[child.text] = element.only("TABLE")
    parents_of = found.check()
    rows = {
        name: found.table(name, _numbers(name, tables[name]), tables[name].place)
        for name in parents_of
    }
    found.warn()
    title = network.only("NAME").text if network.all("NAME") else ""
    return Document(title, tuple(found.variables.values()), parents_of, rows).network()


def _declare(found: Declarations[XmlPlace], element: Element) -> None:
    name = element.only("NAME")
    kind = element.attributes.get("TYPE", "nature")
    if kind in KINDS:
        sentence = f"{name.text!r} is {KINDS[kind]}; only variables of nature are read."
        raise xml_error(element.place, sentence)
    found.declare(name.text, name.place)
    outcomes = [outcome.text for outcome in element.all("OUTCOME")]
    found.set_states(name.text, outcomes, name.place)


def _numbers(name: str, table: Element) -> list[float]:
    values = plain_numbers(table.text)
    if values is None:
        wrong = next(word for word in table.text.split() if not NUMBER.fullmatch(word))
        sentence = f"the table of {name!r} holds {shown(wrong)}, which is not a number."
        raise xml_error(table.place, sentence)
    return values


def format_xmlbif(network: BayesianNetwork) -> str:
    """Return a network as an XMLBIF text that `parse_xmlbif` turns into the same network.

    Raises `FormatError` when a name or state holds a character that XML cannot write.
    """
    return "\n".join(_lines(network)) + "\n"


def _lines(network: BayesianNetwork) -> Iterator[str]:
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield '<BIF VERSION="0.3">'
    yield "<NETWORK>"
    yield content("NAME", network.name, LABEL)
    for variable in network.variables:
        yield '<VARIABLE TYPE="nature">'
        yield f"  {content('NAME', variable.name, LABEL)}"
        yield from (f"  {content('OUTCOME', state, LABEL)}" for state in variable.states)
        yield "</VARIABLE>"
    for variable in network.variables:
        yield "<DEFINITION>"
        yield f"  {content('FOR', variable.name, LABEL)}"
        for parent in network.parents(variable.name):
            yield f"  {content('GIVEN', parent, LABEL)}"
        yield "  <TABLE>"
        for row in network.table(variable.name).tolist():
            yield f"    {' '.join(map(repr, row))}"
        yield "  </TABLE>"
        yield "</DEFINITION>"
    yield "</NETWORK>"
    yield "</BIF>"
