"""Checks of values: what counts as an int, what as a number, and what JSON can hold."""

from __future__ import annotations

import math
from collections.abc import Iterable
from numbers import Real
from typing import Any

import numpy as np

__all__ = [
    "as_plain",
    "finite_or_none",
    "is_bool",
    "is_choice",
    "is_int",
    "is_number",
    "is_true",
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
