"""How wide a name is when it is written, without a font to ask.

The widths are those of a common sans-serif face, a little generous, in shares of its size.
"""

from __future__ import annotations

import unicodedata

__all__ = ["shortened", "text_width"]

_NARROW = frozenset("!'(),./:;I[\\]fijlrt|` ")
_WIDE = frozenset("%@MWmw—…")


def text_width(text: str, size: float) -> float:
    """Return about how wide a text is.

    >>> text_width("lil", 10) < text_width("abc", 10) < text_width("MWM", 10)
    True
    """
    return size * sum(map(_share, text))


def _share(character: str) -> float:
    if unicodedata.combining(character):
        return 0.0
    if unicodedata.east_asian_width(character) in "WF":
        return 1.05
    if character in _NARROW:
        return 0.36
    if character in _WIDE:
        return 0.92
    return 0.7 if character.isupper() or not character.isascii() else 0.585


def shortened(name: str, longest: int) -> str:
    """Return a name of so many characters at most, its middle left out where it has more.

    >>> shortened("a_rather_long_name", 10)
    'a_rat…name'
    """
    if len(name) <= longest:
        return name
    tail = (longest - 1) // 2
    return f"{name[: longest - 1 - tail]}…{name[len(name) - tail :]}"
