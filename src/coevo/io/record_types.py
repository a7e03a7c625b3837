"""Check the values of a record against the types that its dataclass declares.

A record from a file may hold anything: a list where a name should be, a text for a number. A check
at the door is simpler than one in each place that uses a value.
"""

from __future__ import annotations

import math
import types
import typing
from dataclasses import fields
from functools import cache
from typing import Any

from coevo.checks import is_number

__all__ = ["check_record", "read_number"]


def read_number(value: Any) -> float:
    """Return a number of a record; raise `TypeError` for a text, or one that is not finite."""
    if not is_number(value):
        raise TypeError(f"{value!r} is not a number")
    return float(value)


def check_record(record: Any) -> None:
    """Raise `TypeError` if a field of a dataclass has a value of another type.

    Numbers must be finite, because JSON has no others. An int is a float, too; a bool is neither.
    """
    kind: Any = type(record)
    hints = _get_hints(kind)
    for field in fields(record):
        value = getattr(record, field.name)
        if not _fits(value, hints[field.name]):
            raise TypeError(f"{field.name} is {value!r}")


@cache
def _get_hints(kind: Any) -> dict[str, Any]:
    return typing.get_type_hints(kind)


def _fits(value: Any, hint: Any) -> bool:
    """Return whether a value has a type.

    >>> _fits((("a", 1.5),), tuple[tuple[str, float], ...]), _fits(None, int | None)
    (True, True)
    >>> _fits([1], int), _fits(True, int), _fits(float("nan"), float), _fits(1, float)
    (False, False, False, True)
    """
    if isinstance(hint, types.UnionType) or typing.get_origin(hint) is typing.Union:
        return any(_fits(value, part) for part in typing.get_args(hint))
    if typing.get_origin(hint) is tuple:
        parts = typing.get_args(hint)
        if not isinstance(value, tuple):
            return False
        if parts[-1:] == (...,):
            return all(_fits(item, parts[0]) for item in value)
        return len(value) == len(parts) and all(map(_fits, value, parts))
    if hint is float:
        return type(value) in (int, float) and abs(value) < math.inf
    return type(value) is (type(None) if hint is None else hint)
