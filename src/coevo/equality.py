"""Whether two results hold the same values.

Results hold arrays, which `dataclasses` cannot compare: ``==`` of two arrays is an array. A result
therefore compares its fields with `have_equal_fields`, and equals its own pickle.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

__all__ = ["have_equal_fields"]


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
