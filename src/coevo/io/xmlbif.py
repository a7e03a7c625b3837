"""XMLBIF 0.3, the Interchange Format as XML: JavaBayes, Weka, SamIam, pgmpy, pyAgrum.

In a table the child varies fastest, then the last of the GIVEN variables, and the first of
them slowest: the same order as in our rows, in the specification and in all these tools.
The reader ignores properties, observations and document types. Names may hold all
characters that XML allows. Names and states that tools would trim or cannot read (an empty one,
one with blanks at its ends, line breaks or control characters) have a portable spelling; the
originals stand in properties, which `parse_xmlbif` reads back (see `coevo.io.portable_names`).
Version 0.2.0 kept blanks by the attribute ``xml:space="preserve"``, which is still read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TypeVar

from coevo.io.network_builder import NetworkBuilder
from coevo.io.portable_names import (
    NAME_PROPERTY,
    STATES_PROPERTY,
    make_portable,
    quote_original,
    read_original,
    read_originals,
    restore_originals,
)
from coevo.io.scanner import NUMBER, parse_numbers, shorten_repr
from coevo.io.xml_tree import Element, XmlPlace, format_element, make_xml_error, parse_xml
from coevo.network import BayesianNetwork

__all__ = ["format_xmlbif", "parse_xmlbif"]

LABEL = "XMLBIF"
# What every tool reads as it is written: single blanks between words, no control characters.
_WORD = r"[^\s\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff\ufeff]++"
_PLAIN = re.compile(f"{_WORD}(?: {_WORD})*+")
_Value = TypeVar("_Value")
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
    names, states = {}, {}  # the originals, by the name in the file
    for element in network.find_all("VARIABLE"):
        name = _add_variable(builder, element)
        if (original := _find_property(element, NAME_PROPERTY, read_original)) is not None:
            names[name] = original
        if (originals := _find_property(element, STATES_PROPERTY, read_originals)) is not None:
            states[name] = originals
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
    title = _find_property(network, NAME_PROPERTY, read_original) or title
    parts = restore_originals(builder.variables, parents_of, tables, names, states)
    return BayesianNetwork(*parts, title)


def _find_property(
    element: Element, name: str, read: Callable[[str], _Value | None]
) -> _Value | None:
    """Return the value of one of our properties, or None if there is none that `read` can read."""
    for each in element.find_all("PROPERTY"):
        found, _, value = each.text.partition("=")
        if found.strip() == name and (original := read(value)) is not None:
            return original
    return None


def _add_variable(builder: NetworkBuilder[XmlPlace], element: Element) -> str:
    """Add a variable and its states; return its name in the file."""
    name = element.find_one("NAME")
    kind = element.attributes.get("TYPE", "nature")
    if kind in UNSUPPORTED:
        sentence = f"{name.text!r} is {UNSUPPORTED[kind]}; only nature variables are supported."
        raise make_xml_error(element.place, sentence)
    builder.add_variable(name.text, name.place)
    outcomes = [outcome.text for outcome in element.find_all("OUTCOME")]
    builder.set_states(name.text, outcomes, name.place)
    return name.text


def _read_numbers(name: str, table: Element) -> list[float]:
    values = parse_numbers(table.text)
    if values is None:
        wrong = next(word for word in table.text.split() if not NUMBER.fullmatch(word))
        sentence = f"the table of {name!r} holds {shorten_repr(wrong)}, which is not a number."
        raise make_xml_error(table.place, sentence)
    return values


def format_xmlbif(network: BayesianNetwork) -> str:
    """Return a network as an XMLBIF text that `parse_xmlbif` turns into the same network."""
    return "\n".join(_format_lines(network)) + "\n"


def is_plain(text: str) -> bool:
    return bool(_PLAIN.fullmatch(text))


def _format_lines(network: BayesianNetwork) -> Iterator[str]:
    portable = make_portable(network, is_plain)
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield '<BIF VERSION="0.3">'
    yield "<NETWORK>"
    yield format_element("NAME", portable.name, LABEL)
    if portable.name != network.name:
        yield _format_property(NAME_PROPERTY, quote_original(network.name))
    for variable in portable.variables:
        original = portable.originals[variable.name]
        yield '<VARIABLE TYPE="nature">'
        yield f"  {format_element('NAME', variable.name, LABEL)}"
        yield from (f"  {format_element('OUTCOME', state, LABEL)}" for state in variable.states)
        if variable.name != original.name:
            yield f"  {_format_property(NAME_PROPERTY, quote_original(original.name))}"
        if variable.states != original.states:
            listed = ", ".join(map(quote_original, original.states))
            yield f"  {_format_property(STATES_PROPERTY, f'[{listed}]')}"
        yield "</VARIABLE>"
    for name, parents in portable.parents.items():
        yield "<DEFINITION>"
        yield f"  {format_element('FOR', name, LABEL)}"
        for parent in parents:
            yield f"  {format_element('GIVEN', parent, LABEL)}"
        yield "  <TABLE>"
        for row in portable.tables[name].tolist():
            yield f"    {' '.join(map(repr, row))}"
        yield "  </TABLE>"
        yield "</DEFINITION>"
    yield "</NETWORK>"
    yield "</BIF>"


def _format_property(name: str, value: str) -> str:
    return format_element("PROPERTY", f"{name} = {value}", LABEL)
