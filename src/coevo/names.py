"""Names as people type them: in any case, with hyphens, with a slip, or as lists with commas.

A name that is not exact is read as the one that was meant, if there is only one. The command line
says so in one line (`announce_readings`). A Python caller sees no message, because nothing else
could have been meant.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextvars import ContextVar

__all__ = [
    "announce_readings",
    "find_slip",
    "match_name",
    "note_reading",
    "split_items",
    "split_names",
]

Announcer = Callable[[str], object]  # takes a sentence
_announcer: ContextVar[Announcer | None] = ContextVar("announcer", default=None)


@contextlib.contextmanager
def announce_readings(announce: Announcer) -> Iterator[None]:
    """Call `announce` with a sentence for each name that is not read as written, once each."""
    said: set[str] = set()

    def announce_once(sentence: str) -> None:
        if sentence not in said:
            said.add(sentence)
            announce(sentence)

    token = _announcer.set(announce_once)
    try:
        yield
    finally:
        _announcer.reset(token)


def note_reading(given: str, meant: str) -> None:
    """Announce that a name was read as another one.

    >>> with announce_readings(print):
    ...     note_reading("BIC", "bic")
    Reading 'BIC' as 'bic'.
    """
    announce = _announcer.get()
    if announce is not None:
        announce(f"Reading {given!r} as {meant!r}.")


def match_name(given: object, names: Iterable[str]) -> str | None:
    """Return the name that was given, in any case, and with or without hyphens and underscores.

    Return None if there is no such name, or if there are several.

    >>> match_name("Hill-Climb", ["hill_climb", "k2"]), match_name("k3", ["hill_climb", "k2"])
    ('hill_climb', None)
    """
    known = list(names)
    if not isinstance(given, str) or given in known:
        return given if isinstance(given, str) else None
    meant = [name for name in known if _reduce(name) == _reduce(given)]
    if len(meant) != 1:
        return None
    note_reading(given, meant[0])
    return meant[0]


def _reduce(name: str) -> str:
    """Return a name without case, hyphens, underscores and spaces."""
    return name.casefold().translate({ord(mark): None for mark in "-_ "})


def find_slip(given: str, names: Iterable[str]) -> str | None:
    """Return the only name that differs from a given one by a slip of the fingers.

    A slip is one letter too many, too few or wrong, or two neighbours in the wrong order. Names
    of fewer than four letters are too short to tell.

    >>> find_slip("lern", ["learn", "score"]), find_slip("sampel", ["sample"])
    ('learn', 'sample')
    >>> find_slip("lerm", ["learn"]), find_slip("cat", ["bat"])
    (None, None)
    """
    if len(given) < 4:
        return None
    near = [name for name in names if len(name) >= 4 and _is_slip(given.casefold(), name)]
    return near[0] if len(near) == 1 else None


def _is_slip(one: str, other: str) -> bool:
    """Return whether one edit leads from one word to another.

    >>> [_is_slip("lern", other) for other in ("learn", "ern", "lean", "lren", "lern", "nrel")]
    [True, True, True, True, True, False]
    """
    start = 0
    while start < min(len(one), len(other)) and one[start] == other[start]:
        start += 1
    left, right = one[start:], other[start:]
    swapped = left[1:2] + left[:1] + left[2:]
    return right in (left, swapped) or right[1:] == left or left[1:] in (right, right[1:])


def split_items(text: str, known: Collection[str]) -> list[str] | None:
    """Split a text at commas into known items; return None if that is impossible.

    An item may contain commas. If there are two ways to split the text, the longest item wins.

    >>> split_items("b,a,b", ["a", "b", "a,b"])
    ['b', 'a,b']
    >>> split_items("b,c", ["a", "b"])
    """
    longest_first = sorted((item for item in known if item in text), key=len, reverse=True)
    lists: dict[int, list[str]] = {len(text) + 1: []}  # by start: the items of the rest
    for start in range(len(text), -1, -1):
        if start > 0 and text[start - 1] != ",":
            continue
        for item in longest_first:
            after = start + len(item) + 1
            if after in lists and text.startswith(item, start):
                lists[start] = [item, *lists[after]]
                break
    return lists.get(0)


def split_names(item: str, names: Sequence[str]) -> tuple[str, ...]:
    """Return the names that an item of a list means: itself, or a list with commas.

    A name with commas of its own has precedence.

    >>> split_names("a,b", ["a", "b", "c"]), split_names("a,b", ["a", "b", "a,b"])
    (('a', 'b'), ('a,b',))
    """
    if item in names or "," not in item:
        return (item,)
    items = split_items(item, names)
    return tuple(part.strip() for part in item.split(",")) if items is None else tuple(items)
