"""Words, marks and places in a text: what the readers of BIF, NET and DOT share.

A language is a subclass that says what its tokens and its comments look like. Comments are
replaced by blanks of the same length before anything else looks at the text; an offset
therefore always points at the same character of the file, and line and column are worked
out only when there is something to complain about.
"""

from __future__ import annotations

import re
from typing import ClassVar, NamedTuple

from coevo.errors import FormatError

__all__ = [
    "NUMBER",
    "STRING",
    "Scanner",
    "Token",
    "plain_numbers",
    "quoted",
    "shown",
    "unquoted",
]

# No pattern here can backtrack (note the possessive `*+`), so that a damaged file of any
# size is read, or refused, in one pass.
STRING = r'"(?:[^"\\\r\n]|\\[^\r\n])*+"'
NUMBER = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
_NUMBERS = re.compile(r"[-+.0-9eE\s]*+")
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|[^\r\n])")
_UNESCAPED = {"n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\"}
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
    """A text and a place in it."""

    # White space, then at most one of: a string, a word, a mark, a quote that opens nothing.
    TOKEN: ClassVar[re.Pattern[str]]
    # A string, or a comment; group 1 is the start of a comment that never ends.
    COMMENT: ClassVar[re.Pattern[str]]
    COMMENT_MARKS: ClassVar[tuple[str, ...]]  # a text with none of these has no comments

    def __init__(self, text: str, source: str) -> None:
        self.source = source
        self.text = text.removeprefix("\ufeff")
        self.at = 0
        if any(mark in text for mark in self.COMMENT_MARKS):
            self.text = self.COMMENT.sub(self._blank, self.text)

    def _blank(self, found: re.Match[str]) -> str:
        if found[0].startswith('"'):
            return found[0]
        if found.re.groups and found[1]:
            raise self.error(found.start(), "the comment that starts here is never closed.")
        return re.sub(r"[^\r\n]", " ", found[0])

    def unquote(self, string: str) -> str:
        """Return what a string says, from its text with the quotes."""
        return unquoted(string)

    def error(self, at: int, sentence: str) -> FormatError:
        """Return a FormatError that begins with the source, the line and the column of `at`."""
        before = self.text[:at].replace("\r\n", "\n").replace("\r", "\n")
        line = before.count("\n") + 1
        column = len(before) - before.rfind("\n")
        return FormatError(f"{self.source}, line {line}, column {column}: {sentence}")

    def peek(self) -> Token:
        """Return the next token and stay where we are."""
        found = self.TOKEN.match(self.text, self.at)
        assert found is not None  # every part of the pattern is optional
        string, word, mark, lonely = found.groups()
        if word:
            return Token("word", word, found.start(2), found.end())
        if mark:
            return Token("mark", mark, found.start(3), found.end())
        if string:
            return Token("string", self.unquote(string), found.start(1), found.end())
        if lonely:
            raise self.error(found.start(4), "the string that starts here is never closed.")
        return Token("end", "", found.end(), found.end())

    def next(self) -> Token:
        """Return the next token and step behind it."""
        token = self.peek()
        self.at = token.end
        return token

    def accept(self, mark: str) -> bool:
        """Step over a mark if it is the next token; return whether it was."""
        token = self.peek()
        if token.is_mark(mark):
            self.at = token.end
            return True
        return False

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


def shown(text: str) -> str:
    """Return `text` quoted for a message, cut short when it is long."""
    return repr(text if len(text) <= _SHOWN else text[:_SHOWN] + "...")


def plain_numbers(text: str) -> list[float] | None:
    """Return the numbers of a text with blanks between them, or None if it holds anything else.

    >>> plain_numbers("0.5 1e-3"), plain_numbers("0.5 1e"), plain_numbers("nan")
    ([0.5, 0.001], None, None)
    """
    if not _NUMBERS.fullmatch(text):
        return None
    try:
        return list(map(float, text.split()))
    except ValueError:  # `1e` has the right letters and is no number
        return None


def quoted(text: str) -> str:
    r"""Return `text` as a string with its quotes; what a line cannot hold is escaped.

    >>> print(quoted("a b"), quoted('5"\n'))
    "a b" "5\"\n"
    """
    return '"' + _NOT_IN_STRINGS.sub(_escape, text) + '"'


def _escape(found: re.Match[str]) -> str:
    for letter, character in _UNESCAPED.items():
        if found[0] == character:
            return "\\" + letter
    return f"\\u{ord(found[0]):04x}"


def unquoted(string: str) -> str:
    r"""Return what `quoted` made a string of.

    >>> unquoted('"5\\""')
    '5"'
    """
    inner = string[1:-1]
    return _ESCAPE.sub(_unescape, inner) if "\\" in inner else inner


def _unescape(found: re.Match[str]) -> str:
    code = found[1]
    if len(code) == 5:
        return chr(int(code[1:], 16))
    return _UNESCAPED.get(code, found[0])  # a backslash of other tools stays what it is
