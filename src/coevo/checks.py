"""Checks of values: what counts as an int, what as a number, and what JSON can hold."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import fields, is_dataclass
from numbers import Real
from typing import Any

import numpy as np

__all__ = [
    "announce_readings",
    "as_plain",
    "find_slip",
    "finite_or_none",
    "have_equal_fields",
    "is_bool",
    "is_choice",
    "is_int",
    "is_number",
    "is_true",
    "match_name",
    "note_reading",
    "split_items",
    "split_names",
]


def is_int(value: Any, minimum: int) -> bool:
    """Return whether a value is an int (of Python or NumPy, not a bool) and at least `minimum`.

    It must also fit into 64 bits.

    >>> is_int(np.int64(3), 1), is_int(0, 1), is_int(True, 1), is_int(2.0, 1), is_int(10**400, 1)
    (True, False, False, False, False)
    """
    is_integer = isinstance(value, int | np.integer) and not isinstance(value, bool)
    return bool(is_integer and minimum <= value < 1 << 63)


def is_choice(value: Any, choices: Iterable[str]) -> bool:
    """Return whether a value is one of these texts. An array or a missing value is none of them.

    >>> is_choice("a", ["a", "b"]), is_choice(np.array(["a", "b"]), ["a", "b"])
    (True, False)
    """
    return isinstance(value, str) and value in tuple(choices)


def is_bool(value: Any) -> bool:
    """Return whether a value is a bool of Python or NumPy."""
    return isinstance(value, bool | np.bool_)


def is_number(value: Any) -> bool:
    """Return whether a value is a finite real number, and a float can hold it.

    >>> is_number(1.5), is_number(math.nan), is_number(True), is_number("1"), is_number(10**400)
    (True, False, False, False, False)
    """
    if not isinstance(value, Real) or isinstance(value, bool):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def as_plain(value: Any) -> Any:
    """Return a number of NumPy as one of Python; this is the ``default`` of `json.dumps`.

    >>> as_plain(np.int64(3)), as_plain(np.float32(0.5)), as_plain(np.bool_(True))
    (3, 0.5, True)
    """
    if isinstance(value, np.bool_ | np.integer):
        return value.item()
    if isinstance(value, Real):
        return float(value)
    raise TypeError(f"{type(value).__name__} cannot be written as JSON")


def is_true(value: Any) -> bool:
    """Return whether a value is True, of Python or NumPy. Other values that count as true are not.

    >>> is_true(True), is_true(np.bool_(1)), is_true(1), is_true("yes")
    (True, True, False, False)
    """
    return isinstance(value, bool | np.bool_) and bool(value)


def finite_or_none(value: float) -> float | None:
    """Return a number for JSON, which has no infinity.

    >>> finite_or_none(1.5), finite_or_none(float("-inf"))
    (1.5, None)
    """
    return value if math.isfinite(value) else None


# Names as people type them: in any case, with hyphens, with a slip, or as lists with commas.
#
# A name that is not exact is read as the one that was meant, if there is only one. The command
# line says so in one line (`announce_readings`). A Python caller sees no message, because nothing
# else could have been meant.


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


# Whether two results hold the same values.
#
# Results hold arrays, which `dataclasses` cannot compare: ``==`` of two arrays is an array. A
# result therefore compares its fields with `have_equal_fields`, and equals its own pickle.


def have_equal_fields(one: Any, other: Any) -> bool:
    """Return whether two objects of a class have equal fields, down to the values of arrays.

    >>> from dataclasses import make_dataclass
    >>> Pair = make_dataclass("Pair", ["array", "number"], eq=False)
    >>> pair = Pair(np.arange(3), float("nan"))
    >>> have_equal_fields(pair, Pair(np.arange(3), float("nan")))
    True
    >>> have_equal_fields(pair, Pair(np.arange(3.0), float("nan")))
    False
    """
    if is_dataclass(one):
        names = [field.name for field in fields(one)]
    else:
        names = sorted({*vars(one), *vars(other)})
    missing = object()  # of a plain object, which need not have all of them
    return all(
        _are_equal(getattr(one, name, missing), getattr(other, name, missing)) for name in names
    )


def _are_equal(one: Any, other: Any) -> bool:
    """Return whether two values are equal; a number that is not a number equals itself."""
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if isinstance(one, np.ndarray):
        if one.dtype != other.dtype or one.shape != other.shape:
            return False
        return bool(np.array_equal(one, other, equal_nan=one.dtype.kind in "fc"))
    if isinstance(one, Mapping):
        return one.keys() == other.keys() and all(_are_equal(one[k], other[k]) for k in one)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(_are_equal, one, other))
    if isinstance(one, float):
        return one == other or (one != one and other != other)
    has_own_equality = any("__eq__" in vars(base) for base in type(one).__mro__[:-1])
    if is_dataclass(one) or (hasattr(one, "__dict__") and not has_own_equality):
        return have_equal_fields(one, other)
    return bool(one == other)
