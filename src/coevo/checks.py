"""What counts as a whole number, and as a number, wherever a parameter is checked."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any

import numpy as np

__all__ = ["is_int", "is_number"]


def is_int(value: Any, least: int) -> bool:
    """Return whether a value is an int, of Python or NumPy, and large enough.

    >>> is_int(np.int64(3), 1), is_int(0, 1), is_int(True, 1), is_int(2.0, 1)
    (True, False, False, False)
    """
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    return bool(whole and value >= least)


def is_number(value: Any) -> bool:
    """Return whether a value is a finite real number.

    >>> is_number(1.5), is_number(math.nan), is_number(True), is_number("1")
    (True, False, False, False)
    """
    return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)
