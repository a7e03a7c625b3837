"""Words, marks and places in a BIF text.

BIF was never quite standardised, so the scanner knows only what all dialects share: words,
quoted strings, a few marks, white space and comments. What a word means is decided by
`coevo.io.bif_reader`.
"""

from __future__ import annotations

import re
from typing import ClassVar

from coevo.io.scanner import STRING, Scanner, Token, quoted

__all__ = ["BifScanner", "choose", "quote"]

_PROPERTY = re.compile(rf'(?:[^;"]++|{STRING})*+;')
_PLAIN = re.compile(r"(?!.*//)[A-Za-z0-9_.+\-<>=%/]+")


class BifScanner(Scanner):
    """A BIF text and a place in it.

    >>> scanner = BifScanner('variable "a b" { // two words', "demo.bif")
    >>> [scanner.next().text for _ in range(4)]
    ['variable', 'a b', '{', '']
    """

    TOKEN: ClassVar[re.Pattern[str]] = re.compile(
        rf'\s*+(?:({STRING})|([^\s{{}}()\[\];,|"]++)|([{{}}()\[\];,|])|(")|)'
    )
    # `//` right after a colon is the middle of a web address, which property lines do contain.
    COMMENT: ClassVar[re.Pattern[str]] = re.compile(
        rf"{STRING}|(?<![:/])//[^\r\n]*+|/\*.*?\*/|(/\*)|^[ \t]*+#[^\r\n]*+",
        re.DOTALL | re.MULTILINE,
    )
    COMMENT_MARKS: ClassVar[tuple[str, ...]] = ("//", "/*", "#")

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


def quote(name: str) -> str:
    r"""Return `name` as BIF writes it: as it is when it is plain, else quoted and escaped.

    >>> print(quote(">=12"), quote("a b"), quote('5"'))
    >=12 "a b" "5\""
    """
    return name if _PLAIN.fullmatch(name) else quoted(name)
