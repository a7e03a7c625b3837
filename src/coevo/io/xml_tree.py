"""Read XML into a small tree with line numbers; escape names so that they read back.

The reader uses Python's own parser, expands no entity and opens no other file. It refuses a
file that declares an entity: an entity can expand a few lines to gigabytes, or read other
files. It ignores a document type without entities.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass, field
from typing import NoReturn
from xml.parsers import expat

from coevo.errors import FormatError, warn_caller
from coevo.io.structures import make_name_error
from coevo.io.text_files import decode_text

__all__ = [
    "Element",
    "XmlPlace",
    "decode_xml",
    "format_attribute",
    "format_element",
    "make_xml_error",
    "parse_xml",
]

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
