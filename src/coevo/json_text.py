"""Parse JSON that anyone may have written, with errors of one kind.

Python's parser raises `RecursionError` for lists in lists in lists, or returns a value that later
code cannot print. It also returns integers of hundreds of digits, which no float can hold.
`load_json` raises `ValueError` for both.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from itertools import accumulate
from typing import Any

__all__ = ["MAX_DEPTH", "MAX_DIGITS", "load_json"]

MAX_DEPTH = 100  # of lists and objects in each other
MAX_DIGITS = 300  # of an integer; a float can hold 308
_STEPS = dict.fromkeys(b"[{", 1) | dict.fromkeys(b"]}", -1)
_OTHERS = bytes(set(range(256)) - _STEPS.keys())
_STRING = re.compile(r'"(?:[^"\\]|\\.)*+"?', re.DOTALL)


def load_json(
    text: str,
    build_object: Callable[[list[tuple[str, Any]]], Any] | None = None,
    parse_constant: Callable[[str], Any] | None = None,
) -> Any:
    """Return the value of a JSON text; raise `ValueError` if there is none.

    `build_object` and `parse_constant` are the hooks of `json.loads`.

    >>> load_json('{"a": [1, 2.5]}')
    {'a': [1, 2.5]}
    >>> load_json("[" * 1000 + "]" * 1000)
    Traceback (most recent call last):
    ValueError: it is nested more than 100 deep
    """
    # Brackets in strings do not nest. They are removed only if they could change the answer.
    if _measure_depth(text) > MAX_DEPTH and _measure_depth(_STRING.sub("", text)) > MAX_DEPTH:
        raise ValueError(f"it is nested more than {MAX_DEPTH} deep")
    return json.loads(
        text, object_pairs_hook=build_object, parse_int=_parse_int, parse_constant=parse_constant
    )


def _measure_depth(text: str) -> int:
    """Return how deep the brackets of a text are nested, those in strings included."""
    brackets = text.encode("utf-8", "surrogatepass").translate(None, _OTHERS)
    return max(accumulate(map(_STEPS.__getitem__, brackets)), default=0)


def _parse_int(digits: str) -> int:
    if len(digits) > MAX_DIGITS:
        raise ValueError(
            f"it holds an integer of {len(digits):,} digits; the longest may have {MAX_DIGITS}"
        )
    return int(digits)
