"""Checks of values, and whether two results hold the same ones.

Checks of values: what counts as an int, what as a number, and what JSON can hold.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from numbers import Real
from typing import Any

import numpy as np

__all__ = [
    "as_plain",
    "finite_or_none",
    "have_equal_fields",
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
