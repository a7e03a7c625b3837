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

import codecs
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NoReturn, TypeVar
from xml.parsers import expat

from coevo.errors import FormatError, warn_caller
from coevo.io.csv_structures import make_name_error
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
from coevo.io.scanner import NUMBER, decode_text, parse_numbers, shorten_repr
from coevo.network import BayesianNetwork

__all__ = [
    "Element",
    "XmlPlace",
    "decode_xml",
    "format_attribute",
    "format_element",
    "format_xmlbif",
    "make_xml_error",
    "parse_xml",
    "parse_xmlbif",
]


# Read XML into a small tree with line numbers; escape names so that they read back.
#
# The reader uses Python's own parser, expands no entity and opens no other file. It refuses a file
# that declares an entity: an entity can expand a few lines to gigabytes, or read other files. It
# ignores a document type without entities.


XmlPlace = tuple[str, int, int]  # source, line, column
_BLANK = " \t\r\n"  # white space of XML
_ENCODING = re.compile(rb"""\s*<\?xml[^>]*?encoding\s*=\s*["']([A-Za-z0-9._-]+)["']""")
_LATE_DECLARATION = re.compile(r"(\s++)<\?xml\s[^>]*+>")
# Codecs of Python that are no encodings of text files; some are slow, some raise any error.
_NO_TEXT = ("idna", "punycode", "raw-unicode-escape", "undefined", "unicode-escape", "utf-7")
_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_ESCAPES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\r": "&#13;"}
_IN_CONTENT = re.compile("[&<>\r]")
_IN_ATTRIBUTES = re.compile('[&<>"\r\n\t]')


@dataclass(slots=True)
class Element:
    """An XML element: name without prefix, attributes, children, text."""

    tag: str
    attributes: dict[str, str]
    place: XmlPlace
    children: list[Element] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The text between the tags; trimmed unless ``xml:space`` is ``preserve``."""
        text = "".join(self.texts)
        return text if self.attributes.get("xml:space") == "preserve" else text.strip(_BLANK)

    def find_all(self, tag: str) -> list[Element]:
        """Return the children with a tag."""
        return [child for child in self.children if child.tag == tag]

    def find_one(self, tag: str) -> Element:
        """Return the only child with a tag; raise `FormatError` if there is not exactly one."""
        children = self.find_all(tag)
        if len(children) != 1:
            fault = f"has more than one {tag}" if children else f"has no {tag}"
            place = (children[1] if children else self).place
            raise make_xml_error(place, f"this {self.tag} {fault}.")
        return children[0]


def make_xml_error(place: XmlPlace, sentence: str) -> FormatError:
    """Return a FormatError that begins with the source, the line and the column."""
    source, line, column = place
    return FormatError(f"{source}, line {line}, column {column}: {sentence}")


def decode_xml(data: bytes, source: str) -> str:
    """Decode an XML file with the encoding that it declares."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return decode_text(data, source, "utf-16")
    declared = _ENCODING.match(data)
    encoding = declared[1].decode("ascii") if declared else "utf-8"
    if encoding.lower() in ("utf-8", "utf8"):
        encoding = "utf-8-sig"
    try:
        if codecs.lookup(encoding).name.replace("_", "-") in _NO_TEXT:
            raise LookupError
        return decode_text(data, source, encoding)
    except (LookupError, UnicodeError):  # `decode_text` has its own error for bad bytes
        raise FormatError(
            f"{source}, line 1: there is no encoding {encoding!r}. Save the file as UTF-8."
        ) from None


def parse_xml(text: str, source: str, root: str) -> Element:
    """Return the tree of a text; raise `FormatError` unless its outermost element is `root`."""
    builder = _TreeBuilder(source)
    plain = _blank_late_declaration(text.removeprefix("\ufeff"), source)
    try:
        builder.parser.Parse(plain.encode("utf-8", "surrogatepass"), True)
    except expat.ExpatError as error:
        fault = expat.ErrorString(error.code)
        place = (source, error.lineno, error.offset + 1)
        raise make_xml_error(place, f"this is not XML: {fault}.") from None
    (outermost,) = builder.top.children
    if outermost.tag != root:
        sentence = f"the outermost element must be {root!r}, not {outermost.tag!r}."
        raise make_xml_error(outermost.place, sentence)
    return outermost


def _blank_late_declaration(text: str, source: str) -> str:
    """Return the text without a declaration that follows blanks; warn that it does.

    The text is decoded, so its declaration says nothing. Blanks in its place keep the lines and
    columns of the rest.
    """
    late = _LATE_DECLARATION.match(text)
    if late is None:
        return text
    place = source, late[1].count("\n") + 1, len(late[1]) - late[1].rfind("\n")
    fault = "blanks stand before '<?xml', where XML allows none; they were ignored."
    warn_caller(str(make_xml_error(place, fault)))
    return re.sub(r"[^\r\n]", " ", late[0]) + text[late.end() :]


class _TreeBuilder:
    """Build the tree of elements from the events of the parser."""

    def __init__(self, source: str) -> None:
        self._source = source
        self.top = Element("", {}, (source, 1, 1))
        self._open = [self.top]
        # The text is already decoded, so ignore the encoding that it declares.
        self.parser = expat.ParserCreate("utf-8")
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self._start_element
        self.parser.EndElementHandler = lambda tag: self._open.pop()
        self.parser.CharacterDataHandler = lambda text: self._open[-1].texts.append(text)
        self.parser.EntityDeclHandler = self._refuse_entity
        self.parser.SkippedEntityHandler = self._refuse_entity

    def _get_place(self) -> XmlPlace:
        column = self.parser.CurrentColumnNumber + 1
        return self._source, self.parser.CurrentLineNumber, column

    def _start_element(self, tag: str, attributes: dict[str, str]) -> None:
        element = Element(tag.rpartition(":")[2], attributes, self._get_place())
        self._open[-1].children.append(element)
        self._open.append(element)

    def _refuse_entity(self, name: str, *_: object) -> NoReturn:
        sentence = f"the entity {name!r} is not supported. Replace it by its text."
        raise make_xml_error(self._get_place(), sentence)


def format_element(tag: str, text: str, label: str) -> str:
    """Return an element that holds a text; ``xml:space`` preserves blanks at its ends.

    >>> format_element("NAME", "a < b", "XMLBIF")
    '<NAME>a &lt; b</NAME>'
    >>> format_element("NAME", " ", "XMLBIF")
    '<NAME xml:space="preserve"> </NAME>'
    """
    space = "" if text == text.strip(_BLANK) else ' xml:space="preserve"'
    return f"<{tag}{space}>{_escape(text, _IN_CONTENT, label)}</{tag}>"


def format_attribute(text: str, label: str) -> str:
    """Return a text as the value of an attribute, in quotes.

    >>> format_attribute('say "hi"', "GraphML")
    '"say &quot;hi&quot;"'
    """
    return f'"{_escape(text, _IN_ATTRIBUTES, label)}"'


def _escape(text: str, special: re.Pattern[str], label: str) -> str:
    if _NOT_IN_XML.search(text):
        raise make_name_error(text, label, "it has a character that XML does not allow")
    return special.sub(lambda match: _ESCAPES.get(match[0]) or f"&#{ord(match[0])};", text)


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
