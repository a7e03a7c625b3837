"""The tokens of a BIF text.

BIF was never fully standardised. The scanner therefore knows only what all dialects share:
words, quoted strings, a few symbols, white space and comments. `coevo.io.bif_reader`
interprets the words.
"""

from __future__ import annotations

import re
from typing import ClassVar

from coevo.io.scanner import OPEN_STRING, STRING, Scanner, Token, quote_string

__all__ = ["BifScanner", "quote_name", "split_names"]

_PROPERTY = re.compile(rf'(?:[^;"]++|{STRING})*+;')
_PLAIN = re.compile(r"(?!.*//)[A-Za-z0-9_.+\-<>=%/]+")


class BifScanner(Scanner):
    """A BIF text and the current position in it.

    >>> scanner = BifScanner('variable "a b" { // two words', "demo.bif")
    >>> [scanner.next().text for _ in range(4)]
    ['variable', 'a b', '{', '']
    """

    TOKEN: ClassVar[re.Pattern[str]] = re.compile(
        rf'\s*+(?:({STRING})|([^\s{{}}()\[\];,|"]++)|([{{}}()\[\];,|])|(")|)'
    )
    # `//` right after a colon is part of a web address; property lines contain such addresses.
    COMMENT: ClassVar[re.Pattern[str]] = re.compile(
        rf"{OPEN_STRING}\"?|(?<![:/])//[^\r\n]*+|/\*.*?\*/|(/\*)|^[ \t]*+#[^\r\n]*+",
        re.DOTALL | re.MULTILINE,
    )
    COMMENT_STARTS: ClassVar[tuple[str, ...]] = ("//", "/*", "#")

    _odd_until = 0  # the end of a line with a quote without its partner

    def read_property(self) -> tuple[str, str]:
        """Move behind a property and its semicolon; return its name and its value, if it has both.

        The text after the word `property` may be anything: most tools ignore it.
        """
        start = self.position
        self.skip_property()
        name, _, value = self.text[start : self.position - 1].partition("=")
        return name.strip(), value.strip()

    def skip_property(self) -> None:
        """Move behind the text that follows the word `property`, and its semicolon."""
        match = None
        if self.position >= self._odd_until:
            match = _PROPERTY.match(self.text, self.position)
        if match:
            self.position = match.end()
            return
        end = self.text.find(";", self.position) + 1
        if not end:
            raise self.make_error(self.position, "expected ';' after this property, found none.")
        line_end = self.text.find("\n", end)
        self._odd_until = line_end if line_end >= 0 else len(self.text)
        self.position = end


def split_names(groups: list[list[Token]], n_expected: int) -> list[str]:
    """Return the names of a list that should have `n_expected` of them.

    Commas are optional, so each word is a name. Some writers, R's bnlearn among them, do not
    quote names that contain spaces. If the number of words is wrong and the number of
    comma-separated items is right, the items are the names.
    """
    if len(groups) == n_expected and all(t.kind == "word" for group in groups for t in group):
        return [" ".join(token.text for token in group) for group in groups]
    return [token.text for group in groups for token in group]


def quote_name(name: str) -> str:
    r"""Return `name` as BIF writes it: unchanged if it is a plain word, else quoted and escaped.

    >>> print(quote_name(">=12"), quote_name("a b"), quote_name('5"'))
    >=12 "a b" "5\""
    """
    return name if _PLAIN.fullmatch(name) else quote_string(name)
