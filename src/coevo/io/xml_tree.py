"""XML, read into a small tree with line numbers, and names written so that they come back.

Python's own parser is used, with nothing expanded and nothing fetched: a file that declares
an entity (the way to make a few lines unfold to gigabytes, or to read other files) is
refused; a document type without entities is passed over.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import NoReturn
from xml.parsers import expat

from coevo.errors import FormatError
from coevo.io.structures import unfit
from coevo.io.text_files import decode_text

__all__ = ["Element", "XmlPlace", "attribute", "content", "decode_xml", "parse_xml", "xml_error"]

XmlPlace = tuple[str, int, int]  # source, line, column
_BLANK = " \t\r\n"  # white space as XML knows it
_ENCODING = re.compile(rb"""\s*<\?xml[^>]*?encoding\s*=\s*["']([A-Za-z0-9._-]+)["']""")
_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_ESCAPES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\r": "&#13;"}
_IN_CONTENT = re.compile("[&<>\r]")
_IN_ATTRIBUTES = re.compile('[&<>"\r\n\t]')


@dataclass(slots=True)
class Element:
    """An element: its name without a prefix, its attributes, its children, its text."""

    tag: str
    attributes: dict[str, str]
    place: XmlPlace
    children: list[Element] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The text between the tags, trimmed unless ``xml:space`` says that blanks count."""
        text = "".join(self.texts)
        return text if self.attributes.get("xml:space") == "preserve" else text.strip(_BLANK)

    def all(self, tag: str) -> list[Element]:
        """Return the children of a name."""
        return [child for child in self.children if child.tag == tag]

    def only(self, tag: str) -> Element:
        """Return the one child of a name, or say that there is none or more than one."""
        found = self.all(tag)
        if len(found) != 1:
            fault = f"has more than one {tag}" if found else f"has no {tag}"
            raise xml_error((found[1] if found else self).place, f"this {self.tag} {fault}.")
        return found[0]


def xml_error(place: XmlPlace, sentence: str) -> FormatError:
    """Return a FormatError that begins with the source, the line and the column."""
    source, line, column = place
    return FormatError(f"{source}, line {line}, column {column}: {sentence}")


def decode_xml(data: bytes, source: str) -> str:
    """Return the text of an XML file, in the encoding that it declares."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return decode_text(data, source, "utf-16")
    declared = _ENCODING.match(data)
    encoding = declared[1].decode("ascii") if declared else "utf-8"
    if encoding.lower() in ("utf-8", "utf8"):
        encoding = "utf-8-sig"
    try:
        return decode_text(data, source, encoding)
    except LookupError:
        raise FormatError(
            f"{source}, line 1: there is no encoding {encoding!r}. Save the file as UTF-8."
        ) from None


def parse_xml(text: str, source: str, root: str) -> Element:
    """Return the tree of a text whose outermost element should be `root`."""
    builder = _Builder(source)
    try:
        builder.parser.Parse(text.removeprefix("\ufeff").encode("utf-8", "surrogatepass"), True)
    except expat.ExpatError as error:
        fault = expat.ErrorString(error.code)
        place = (source, error.lineno, error.offset + 1)
        raise xml_error(place, f"this is not XML: {fault}.") from None
    (found,) = builder.top.children
    if found.tag != root:
        raise xml_error(found.place, f"the outermost element must be {root!r}, not {found.tag!r}.")
    return found


class _Builder:
    """Collects elements as the parser finds them."""

    def __init__(self, source: str) -> None:
        self._source = source
        self.top = Element("", {}, (source, 1, 1))
        self._open = [self.top]
        # The text was decoded before, whatever encoding it declares.
        self.parser = expat.ParserCreate("utf-8")
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = lambda tag: self._open.pop()
        self.parser.CharacterDataHandler = lambda text: self._open[-1].texts.append(text)
        self.parser.EntityDeclHandler = self._refuse
        self.parser.SkippedEntityHandler = self._refuse

    def _place(self) -> XmlPlace:
        column = self.parser.CurrentColumnNumber + 1
        return self._source, self.parser.CurrentLineNumber, column

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        element = Element(tag.rpartition(":")[2], attributes, self._place())
        self._open[-1].children.append(element)
        self._open.append(element)

    def _refuse(self, name: str, *_: object) -> NoReturn:
        sentence = f"the entity {name!r} is not read. Write out what it stands for."
        raise xml_error(self._place(), sentence)


def content(tag: str, text: str, label: str) -> str:
    """Return an element with a text in it; blanks at its ends are marked as meant.

    >>> content("NAME", "a < b", "XMLBIF"), content("NAME", " ", "XMLBIF")
    ('<NAME>a &lt; b</NAME>', '<NAME xml:space="preserve"> </NAME>')
    """
    kept = "" if text == text.strip(_BLANK) else ' xml:space="preserve"'
    return f"<{tag}{kept}>{_escaped(text, _IN_CONTENT, label)}</{tag}>"


def attribute(text: str, label: str) -> str:
    """Return a text as the value of an attribute, with its quotes.

    >>> attribute('say "hi"', "GraphML")
    '"say &quot;hi&quot;"'
    """
    return f'"{_escaped(text, _IN_ATTRIBUTES, label)}"'


def _escaped(text: str, special: re.Pattern[str], label: str) -> str:
    if _NOT_IN_XML.search(text):
        raise unfit(text, label, "it has a character that XML has no way to write")
    return special.sub(lambda found: _ESCAPES.get(found[0]) or f"&#{ord(found[0])};", text)
