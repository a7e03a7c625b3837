"""Words, marks and places in a BIF text.

BIF was never quite standardised, so the scanner knows only what all dialects share: words,
quoted strings, a few marks, white space and comments. What a word means is decided by
`coevo.io.bif_reader`. Comments are replaced by blanks of the same length before anything
else looks at the text; an offset therefore always points at the same character of the
file, and line and column are worked out only when there is something to complain about.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from coevo.errors import FormatError

__all__ = ["Scanner", "Token", "choose", "quote", "shown"]

# No pattern here can backtrack (note the possessive `*+`), so that a damaged file of any
# size is read, or refused, in one pass.
STRING = r'"(?:[^"\\\r\n]|\\[^\r\n])*+"'
_TOKEN = re.compile(rf'\s*+(?:({STRING})|([^\s{{}}()\[\];,|"]++)|([{{}}()\[\];,|])|(")|)')
# `//` right after a colon is the middle of a web address, which property lines do contain.
_COMMENT = re.compile(
    rf"{STRING}|(?<![:/])//[^\r\n]*+|/\*.*?\*/|(/\*)|^[ \t]*+#[^\r\n]*+", re.DOTALL | re.MULTILINE
)
_PROPERTY = re.compile(rf'(?:[^;"]++|{STRING})*+;')
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|[^\r\n])")
_UNESCAPED = {"n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\"}
_PLAIN = re.compile(r"(?!.*//)[A-Za-z0-9_.+\-<>=%/]+")
_NOT_IN_STRINGS = re.compile(r'["\\\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff]')
_SHOWN = 40


class Token(NamedTuple):
    """A piece of the text; `text` is what it says, without the quotes of a string."""

    kind: str  # "word", "string", "mark" or "end"
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

    def is_mark(self, text: str) -> bool:
        """Return whether this is the mark `text`."""
        return self.text == text and self.kind == "mark"


class Scanner:
    """A text and a place in it.

    >>> scanner = Scanner('variable "a b" { // two words', "demo.bif")
    >>> [scanner.next().text for _ in range(4)]
    ['variable', 'a b', '{', '']
    """

    def __init__(self, text: str, source: str) -> None:
        self.source = source
        self.text = text.removeprefix("\ufeff")
        self.at = 0
        if "//" in text or "/*" in text or "#" in text:
            self.text = _COMMENT.sub(self._blank, self.text)

    def _blank(self, found: re.Match[str]) -> str:
        if found[0].startswith('"'):
            return found[0]
        if found[1]:
            raise self.error(found.start(), "the comment that starts here is never closed.")
        return re.sub(r"[^\r\n]", " ", found[0])

    def error(self, at: int, sentence: str) -> FormatError:
        """Return a FormatError that begins with the source, the line and the column of `at`."""
        before = self.text[:at].replace("\r\n", "\n").replace("\r", "\n")
        line = before.count("\n") + 1
        column = len(before) - before.rfind("\n")
        return FormatError(f"{self.source}, line {line}, column {column}: {sentence}")

    def peek(self) -> Token:
        """Return the next token and stay where we are."""
        found = _TOKEN.match(self.text, self.at)
        assert found is not None  # every part of the pattern is optional
        string, word, mark, lonely = found.groups()
        if word:
            return Token("word", word, found.start(2), found.end())
        if mark:
            return Token("mark", mark, found.start(3), found.end())
        if string:
            return Token("string", _unquote(string), found.start(1), found.end())
        if lonely:
            raise self.error(found.start(4), "the string that starts here is never closed.")
        return Token("end", "", found.end(), found.end())

    def next(self) -> Token:
        """Return the next token and step behind it."""
        token = self.peek()
        self.at = token.end
        return token

    def expect(self, text: str, where: str) -> Token:
        """Step over the word or mark `text`, or say what was found in its place."""
        token = self.next()
        if token.kind == "string" or token.text != text:
            raise self.unexpected(token, f"{text!r} {where}")
        return token

    def expect_name(self, what: str) -> Token:
        """Step over a word or a string."""
        token = self.next()
        if not token.is_name:
            raise self.unexpected(token, what)
        return token

    def unexpected(self, token: Token, expected: str) -> FormatError:
        """Return the error for a token that stands where something else belongs."""
        found = "the end of the file" if token.kind == "end" else shown(token.text)
        return self.error(token.start, f"expected {expected}, found {found}.")

    def items(self, closing: str, what: str) -> list[list[Token]]:
        """Step over a list and its `closing` mark; return the names between the commas."""
        groups: list[list[Token]] = [[]]
        while True:
            token = self.next()
            if token.is_name:
                groups[-1].append(token)
            elif token.is_mark(","):
                groups.append([])
            elif token.is_mark(closing):
                return [group for group in groups if group]
            else:
                raise self.unexpected(token, f"{what} or {closing!r}")

    def skip_property(self) -> None:
        """Step over what follows the word `property`, with its semicolon."""
        found = _PROPERTY.match(self.text, self.at)
        end = found.end() if found else self.text.find(";", self.at) + 1
        if not end:
            raise self.error(self.at, "expected ';' after this property, found none.")
        self.at = end


def choose(groups: list[list[Token]], wanted: int) -> list[str]:
    """Return the names of a list that should have `wanted` of them.

    Commas are optional, so each word is a name. Some writers, R's bnlearn among them, put
    names with spaces in a list without quoting them; where the number of words is wrong
    and the number of comma-separated items is right, the items are the names.
    """
    if len(groups) == wanted and all(t.kind == "word" for group in groups for t in group):
        return [" ".join(token.text for token in group) for group in groups]
    return [token.text for group in groups for token in group]


def shown(text: str) -> str:
    """Return `text` quoted for a message, cut short when it is long."""
    return repr(text if len(text) <= _SHOWN else text[:_SHOWN] + "...")


def quote(name: str) -> str:
    r"""Return `name` as BIF writes it: as it is when it is plain, else quoted and escaped.

    >>> print(quote(">=12"), quote("a b"), quote('5"'))
    >=12 "a b" "5\""
    """
    if _PLAIN.fullmatch(name):
        return name
    return '"' + _NOT_IN_STRINGS.sub(_escape, name) + '"'


def _escape(found: re.Match[str]) -> str:
    for letter, character in _UNESCAPED.items():
        if found[0] == character:
            return "\\" + letter
    return f"\\u{ord(found[0]):04x}"


def _unquote(string: str) -> str:
    inner = string[1:-1]
    return _ESCAPE.sub(_unescape, inner) if "\\" in inner else inner


def _unescape(found: re.Match[str]) -> str:
    code = found[1]
    if len(code) == 5:
        return chr(int(code[1:], 16))
    return _UNESCAPED.get(code, found[0])  # a backslash of other tools stays what it is
