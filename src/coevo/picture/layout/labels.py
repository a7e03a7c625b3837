"""The width of a drawn name, estimated without a font.

The widths are those of a common sans-serif font, slightly enlarged, relative to the font size.
"""

from __future__ import annotations

import unicodedata

__all__ = ["estimate_text_width", "shorten_name"]

_NARROW = frozenset("!'(),./:;I[\\]fijlrt|` ")
_WIDE = frozenset("%@MWmw—…")


def estimate_text_width(text: str, size: float) -> float:
    """Return the approximate width of a text.

    >>> narrow, usual, wide = (estimate_text_width(text, 10) for text in ("lil", "abc", "MWM"))
    >>> narrow < usual < wide
    True
    """
    return size * sum(map(_estimate_relative_width, text))


def _estimate_relative_width(character: str) -> float:
    if unicodedata.combining(character):
        return 0.0
    if unicodedata.east_asian_width(character) in "WF":
        return 1.05
    if character in _NARROW:
        return 0.36
    if character in _WIDE:
        return 0.92
    return 0.7 if character.isupper() or not character.isascii() else 0.585


def shorten_name(name: str, max_length: int) -> str:
    """Return a name with at most `max_length` characters. A longer name loses its middle part.

    >>> shorten_name("a_rather_long_name", 10)
    'a_rat…name'
    """
    if len(name) <= max_length:
        return name
    tail = (max_length - 1) // 2
    return f"{name[: max_length - 1 - tail]}…{name[len(name) - tail :]}"
