"""Labels: names that are shortened or broken into lines, and their width without a font.

The widths are those of a common sans-serif font, slightly enlarged, relative to the font size.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

__all__ = [
    "MAX_LABEL_LENGTH",
    "Lines",
    "clean_text",
    "estimate_text_width",
    "make_labels",
    "shorten_name",
    "wrap_name",
]


Lines = tuple[str, ...]  # of a label

MAX_LABEL_LENGTH = 26  # characters in a line
EXTRA_LENGTH = 4  # of a line that ends at a good place
WRAPPED_LENGTH = 18  # characters; a longer name has two lines if that is allowed
# Not in XML, or without a shape: control characters, lone surrogates, noncharacters.
_INVALID = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_BLANKS = re.compile("[\t\n\r\x85\u2028\u2029]+")
# A line may end after a blank or a mark, and before a capital letter in the middle of a word.
_BREAK = re.compile(r"(?<=[\s_./:;,&+-])(?=[^\s_./:;,&+-])|(?<=[a-z0-9])(?=[A-Z])")
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


def clean_text(text: str) -> str:
    r"""Return a text as one line without characters that XML cannot hold.

    >>> clean_text("two\nlines, \x00")
    'two lines, �'
    """
    return _INVALID.sub("\ufffd", _BLANKS.sub(" ", text))


def make_labels(names: Iterable[str], max_length: int, max_lines: int) -> dict[str, Lines]:
    """Return the lines of the label of each variable.

    Names that lose their middle part can have the same label. They get their first different word.

    >>> text = "In the last thirty days, how often did you feel {} during your work?"
    >>> list(make_labels([text.format(word) for word in ("ill", "well")], 26, 2).values())
    [('In the last thirty days,', '…ill during your work?'), \
('In the last thirty days,', '…well during your work?')]
    """
    labels = {name: wrap_name(name, max_length, max_lines) for name in names}
    same: dict[Lines, list[str]] = {}
    for name, lines in labels.items():
        same.setdefault(lines, []).append(name)
    for lines, group in same.items():
        if len(group) == 1 or not any("…" in line for line in lines):
            continue
        texts = [clean_text(name) for name in group]
        n_shared = _count_shared_characters(min(texts), max(texts))
        for name, text in zip(group, texts, strict=True):
            starts = [at.start() for at in _BREAK.finditer(text) if at.start() <= n_shared]
            part = text[max(starts, default=0) :]
            cut = f"{part[: max_length - 2]}…" if len(part) >= max_length else part
            labels[name] = (*lines[:-1], f"…{cut}")
    return labels


def _count_shared_characters(one: str, two: str) -> int:
    """Return the length of the common start of two texts."""
    pairs = enumerate(zip(one, two, strict=False))
    return next((i for i, (a, b) in pairs if a != b), min(len(one), len(two)))


def wrap_name(name: str, max_length: int, max_lines: int) -> tuple[str, ...]:
    """Return the lines of a label. A name that is too long for them loses its middle part.

    >>> wrap_name("worst fractal dimension", 26, 2), wrap_name("MeanRadius", 26, 2)
    (('worst fractal', 'dimension'), ('MeanRadius',))
    >>> wrap_name("How satisfied are you with your life as a whole these days?", 26, 2)
    ('How satisfied are you with', '…as a whole these days?')
    """
    text = clean_text(name)
    if max_lines == 1 or len(text) <= WRAPPED_LENGTH:
        return (shorten_name(text, max_length),)
    breaks = [at.start() for at in _BREAK.finditer(text)]
    fitting = [at for at in breaks if max(at, len(text) - at) <= max_length + EXTRA_LENGTH]
    if fitting:
        best = min(fitting, key=lambda at: (abs(at - len(text) / 2), at))
        return text[:best].rstrip(), text[best:].strip()
    if len(text) <= max_length:
        return (text,)
    if not breaks or len(text) <= 2 * max_length:
        shortened = shorten_name(text, 2 * max_length)
        middle = -(-len(shortened) // 2)
        return shortened[:middle].rstrip(), shortened[middle:].strip()
    heads = [at for at in breaks if len(text[:at].rstrip()) <= max_length]
    first = max(heads, default=max_length)
    rest = len(text) - max_length + 1
    last = min((at for at in breaks if at >= max(first, rest)), default=max(first, rest))
    return text[:first].rstrip(), f"…{text[last:].rstrip()}"
