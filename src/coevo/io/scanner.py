"""Text files, and the tokenizer of the readers of BIF, NET and DOT.

A tokenizer with line numbers, shared by the readers of BIF, NET and DOT.

Each language is a subclass that defines the patterns of its tokens and its comments. The
scanner first replaces each comment by blanks of the same length. A position in the text
therefore always points at the same character of the file. The scanner computes line and
column only when it reports an error.
"""

from __future__ import annotations

import gzip
import io
import re
from pathlib import Path
from typing import ClassVar, NamedTuple

from coevo.errors import FormatError
from coevo.files.files import MAX_TEXT_BYTES, open_source, replace_file

__all__ = [
    "NUMBER",
    "OPEN_STRING",
    "STRING",
    "Scanner",
    "Token",
    "decode_text",
    "encode_text",
    "parse_numbers",
    "quote_string",
    "read_bytes",
    "shorten_repr",
    "unquote_string",
    "write_text_file",
]

# No pattern here can backtrack (note the possessive `*+`). The scanner therefore reads or
# refuses a damaged file of any size in one pass.
OPEN_STRING = r'"(?:[^"\\\r\n]|\\[^\r\n])*+'
STRING = OPEN_STRING + '"'
NUMBER = re.compile(r"[-+]?(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][-+]?[0-9]++)?")
_NUMBERS = re.compile(r"[-+.0-9eE\s]*+")
_ESCAPE = re.compile(
    r"\\(u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|[^\r\n])"
)
_UNESCAPED = {"n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\"}
_NOT_IN_STRINGS = re.compile(r'["\\\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff]')
_MAX_SHOWN = 40  # characters of a value in a message


class Token(NamedTuple):
    """One token of the text; the `text` of a string has no quotes and no escapes."""

    kind: str  # "word", "string", "symbol" or "end"
    text: str
    start: int
    end: int

    @property
    def is_name(self) -> bool:
        """Whether this can be a name: a word or a string."""
        return self.kind in ("word", "string")

    def is_word(self, text: str) -> bool:
        """Return whether this is the word `text`, unquoted."""
        return self.text == text and self.kind == "word"

    def is_symbol(self, text: str) -> bool:
        """Return whether this is the symbol `text`, such as a brace or a semicolon."""
        return self.text == text and self.kind == "symbol"


class Scanner:
    """A text and the current position in it."""

    # White space, then at most one of: a string, a word, a symbol, a quote without its partner.
    TOKEN: ClassVar[re.Pattern[str]]
    # A string, also one that never ends, or a comment; group 1 is the start of a comment that
    # never ends.
    COMMENT: ClassVar[re.Pattern[str]]
    COMMENT_STARTS: ClassVar[tuple[str, ...]]  # a text with none of these has no comments

    def __init__(self, text: str, source: str) -> None:
        self.source = source
        self.text = text.removeprefix("\ufeff")
        self.position = 0
        if any(start in text for start in self.COMMENT_STARTS):
            self.text = self.COMMENT.sub(self._blank_comment, self.text)

    def _blank_comment(self, match: re.Match[str]) -> str:
        if match[0].startswith('"'):
            return match[0]
        if match.re.groups and match[1]:
            raise self.make_error(match.start(), "the comment that starts here is never closed.")
        return re.sub(r"[^\r\n]", " ", match[0])

    def unquote(self, string: str) -> str:
        """Return the value of a string that still has its quotes."""
        return unquote_string(string)

    def make_error(self, position: int, sentence: str) -> FormatError:
        """Return a FormatError that begins with the source, the line and the column."""
        before = self.text[:position].replace("\r\n", "\n").replace("\r", "\n")
        line = before.count("\n") + 1
        column = len(before) - before.rfind("\n")
        return FormatError(f"{self.source}, line {line}, column {column}: {sentence}")

    def peek(self) -> Token:
        """Return the next token without moving."""
        match = self.TOKEN.match(self.text, self.position)
        assert match is not None  # every part of the pattern is optional
        string, word, symbol, lone_quote = match.groups()
        if word:
            return Token("word", word, match.start(2), match.end())
        if symbol:
            return Token("symbol", symbol, match.start(3), match.end())
        if string:
            return Token("string", self.unquote(string), match.start(1), match.end())
        if lone_quote:
            raise self.make_error(match.start(4), "the string that starts here is never closed.")
        return Token("end", "", match.end(), match.end())

    def next(self) -> Token:
        """Return the next token and move behind it."""
        token = self.peek()
        self.position = token.end
        return token

    def accept(self, symbol: str) -> bool:
        """Move behind a symbol if it is the next token; return whether it is."""
        token = self.peek()
        if token.is_symbol(symbol):
            self.position = token.end
            return True
        return False

    def expect(self, text: str, where: str) -> Token:
        """Move behind the word or symbol `text`; raise `FormatError` for any other token."""
        token = self.next()
        if token.kind == "string" or token.text != text:
            raise self.make_unexpected_error(token, f"{text!r} {where}")
        return token

    def expect_name(self, what: str) -> Token:
        """Move behind a word or a string; raise `FormatError` for any other token."""
        token = self.next()
        if not token.is_name:
            raise self.make_unexpected_error(token, what)
        return token

    def make_unexpected_error(self, token: Token, expected: str) -> FormatError:
        """Return the error for a token in a place where the grammar wants another one."""
        found = "the end of the file" if token.kind == "end" else shorten_repr(token.text)
        return self.make_error(token.start, f"expected {expected}, found {found}.")

    def read_list(self, closing: str, what: str) -> list[list[Token]]:
        """Move behind a list and its `closing` symbol; return the names between the commas."""
        groups: list[list[Token]] = [[]]
        while True:
            token = self.next()
            if token.is_name:
                groups[-1].append(token)
            elif token.is_symbol(","):
                groups.append([])
            elif token.is_symbol(closing):
                return [group for group in groups if group]
            else:
                raise self.make_unexpected_error(token, f"{what} or {closing!r}")


def shorten_repr(text: str) -> str:
    """Return `text` quoted for a message, cut off when it is long."""
    return repr(text if len(text) <= _MAX_SHOWN else text[:_MAX_SHOWN] + "...")


def parse_numbers(text: str) -> list[float] | None:
    """Return the numbers of a text with blanks between them, or None if it holds anything else.

    >>> parse_numbers("0.5 1e-3"), parse_numbers("0.5 1e"), parse_numbers("nan")
    ([0.5, 0.001], None, None)
    """
    if not _NUMBERS.fullmatch(text):
        return None
    try:
        return list(map(float, text.split()))
    except ValueError:  # `1e` has only allowed characters but is not a number
        return None


def quote_string(text: str) -> str:
    r"""Return `text` in quotes; characters that cannot stand in a line are escaped.

    >>> print(quote_string("a b"), quote_string('5"\n'))
    "a b" "5\"\n"
    """
    return '"' + _NOT_IN_STRINGS.sub(_escape, text) + '"'


def _escape(match: re.Match[str]) -> str:
    for letter, character in _UNESCAPED.items():
        if match[0] == character:
            return "\\" + letter
    return f"\\u{ord(match[0]):04x}"


def unquote_string(string: str) -> str:
    r"""Return the text that `quote_string` quoted.

    >>> unquote_string('"5\\""')
    '5"'
    """
    inner = string[1:-1]
    return _ESCAPE.sub(_unescape, inner) if "\\" in inner else inner


def _unescape(match: re.Match[str]) -> str:
    code = match[1]
    if len(code) == 11:  # a pair of surrogates is one character beyond U+FFFF
        return bytes.fromhex(code[1:5] + code[7:]).decode("utf-16-be")
    if len(code) == 5:
        return chr(int(code[1:], 16))
    return _UNESCAPED.get(code, match[0])  # other tools do not escape: keep their backslash


# Read and write text files: UTF-8, plain or compressed with gzip.


def read_bytes(path: Path) -> bytes:
    """Return the content of a file, decompressed if its first bytes say so."""
    with open_source(path) as source:
        return source.read_all(MAX_TEXT_BYTES)


def decode_text(data: bytes, source: str, encoding: str = "utf-8-sig") -> str:
    """Decode the bytes of a file; raise `FormatError` with the line of the first bad byte."""
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        label = "UTF-8" if encoding == "utf-8-sig" else encoding
        raise FormatError(
            f"{source}, line {line}: the byte 0x{data[error.start]:02x} is not {label}. "
            f"Save the file as UTF-8."
        ) from None


def encode_text(text: str, compressed: bool) -> bytes:
    """Encode a text as UTF-8; compress it with gzip, without date and name, if asked to."""
    data = text.encode("utf-8")
    if not compressed:
        return data
    buffer = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", fileobj=buffer, mtime=0) as stream:
        stream.write(data)
    return buffer.getvalue()


def write_text_file(path: Path, text: str) -> None:
    """Write a text; compress it when the name ends in ``.gz``. A failure leaves no partial file."""
    data = encode_text(text, compressed=path.name.lower().endswith(".gz"))
    with replace_file(path) as stream:
        stream.write(data)
