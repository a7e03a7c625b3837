"""The schema of a state: what each field must be, checked before a search resumes from it.

Kernels trust the arrays of a state. A state from a file may be damaged, or made by someone else,
and one wrong index in it would read memory that is not its own. So each type of state declares
its fields: the type and the shape of an array, the range of a number, and a rule for the values.
`find_flaw` returns the first field that breaks its declaration. What depends on several fields is
the method `find_flaw` of a state.

A shape names its sizes. Equal names are equal sizes, and ``n`` is the number of variables.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coevo.checks import is_int

__all__ = [
    "ACYCLIC",
    "FINITE",
    "LARGEST_SCORE",
    "OFFSETS",
    "PERMUTATIONS",
    "SCORES",
    "STATES_OF",
    "SYMMETRIC",
    "Array",
    "Flag",
    "Number",
    "Rule",
    "Schema",
    "ScoreNumber",
    "find_flaw",
    "is_acyclic",
    "make_range",
]

STATES_OF = "states of"  # metadata key: the field is a tuple of states of this type
LARGEST_SCORE = 1e100  # far beyond any score, and sums of such numbers do not overflow
Sizes = dict[str, int]


@dataclass(frozen=True)
class Rule:
    """What the values of an array must be, in words and as a test."""

    words: str
    holds: Callable[[NDArray[Any], Sizes], bool]


@dataclass(frozen=True)
class Array:
    """A field that is an array."""

    dtype: type[np.generic]
    shape: tuple[str | int, ...]
    rule: Rule | None = None

    def find_flaw(self, value: Any, sizes: Sizes) -> str:
        """Return what a value should be; an empty text if it is. Add new sizes to `sizes`."""
        is_array = isinstance(value, np.ndarray) and value.ndim == len(self.shape)
        if not is_array or value.dtype != self.dtype:
            return f"must be an array of {np.dtype(self.dtype)} with {len(self.shape)} axes"
        for name, size in zip(self.shape, value.shape, strict=True):
            wanted = sizes.setdefault(name, size) if isinstance(name, str) else name
            if size != wanted:
                return f"must have the shape ({', '.join(map(str, self.shape))})"
        if self.dtype is np.bool_ and (value.view(np.uint8) > 1).any():
            return "must hold bytes 0 and 1"  # C relies on it; a file may hold others
        if self.rule is not None and not self.rule.holds(value, sizes):
            return f"must hold {self.rule.words}"
        return ""


@dataclass(frozen=True)
class Number:
    """A field that is an int; `most` may be the name of a size."""

    least: int = 0
    most: int | str | None = None

    def find_flaw(self, value: Any, sizes: Sizes) -> str:
        """Return what a value should be; an empty text if it is."""
        most = sizes[self.most] if isinstance(self.most, str) else self.most
        if is_int(value, self.least) and (most is None or value <= most):
            return ""
        return f"must be an int >= {self.least}" + ("" if most is None else f" and <= {most}")


@dataclass(frozen=True)
class Flag:
    """A field that is True or False."""

    def find_flaw(self, value: Any, sizes: Sizes) -> str:
        """Return what a value should be; an empty text if it is."""
        return "" if isinstance(value, bool | np.bool_) else "must be True or False"


@dataclass(frozen=True)
class ScoreNumber:
    """A field that is a score."""

    def find_flaw(self, value: Any, sizes: Sizes) -> str:
        """Return what a value should be; an empty text if it is."""
        is_score = isinstance(value, float) and _are_scores(np.array(value), sizes)
        return "" if is_score else "must be a score"


Schema = Mapping[str, Array | Number | Flag | ScoreNumber]


def find_flaw(state: Any, sizes: Sizes | None = None) -> str:
    """Return the first flaw of a state, as a sentence without its full stop; "" if none.

    Fields that a type does not declare are not checked: a method from outside coevo may declare
    none of its own.
    """
    known: Sizes = {} if sizes is None else sizes
    for name, declared in state.schema.items():
        flaw = declared.find_flaw(getattr(state, name), known)
        if flaw:
            return f"{name!r} {flaw}"
    for field in fields(state):
        if STATES_OF not in field.metadata:
            continue
        for part in getattr(state, field.name):
            flaw = find_flaw(part, {"n": known["n"]})
            if flaw:
                return f"a part of {field.name!r} is wrong: {flaw}"
    own_flaw: str = state.find_flaw()
    return own_flaw


def is_acyclic(adjacency: NDArray[np.bool_]) -> bool:
    """Return whether a graph, ``[parent, child]``, has no cycle.

    >>> is_acyclic(np.array([[False, True], [False, False]])), is_acyclic(np.eye(1, dtype=bool))
    (True, False)
    """
    n_waiting = adjacency.sum(axis=0)
    ready = np.flatnonzero(n_waiting == 0).tolist()
    n_done = 0
    while ready:
        children = np.flatnonzero(adjacency[ready.pop()])
        n_waiting[children] -= 1
        ready.extend(children[n_waiting[children] == 0].tolist())
        n_done += 1
    return n_done == len(adjacency)


def make_range(least: float, most: float | str) -> Rule:
    """Return the rule that all values are from `least` to `most`; a size stands for itself less 1.

    >>> make_range(0, "n").holds(np.array([0, 3]), {"n": 3})
    False
    """

    def holds(values: NDArray[Any], sizes: Sizes) -> bool:
        highest = sizes[most] - 1 if isinstance(most, str) else most
        return bool(((values >= least) & (values <= highest)).all())

    words = f"below {most}" if isinstance(most, str) else f"<= {most:g}"
    return Rule(f"numbers >= {least:g} and {words}", holds)


def _are_scores(values: NDArray[Any], sizes: Sizes) -> bool:
    """Return whether all values can be scores or sums of them; a score may be minus infinity."""
    is_impossible = values == -np.inf
    return bool(((np.abs(values) <= LARGEST_SCORE) | is_impossible).all())  # NaN is neither


def _are_permutations(values: NDArray[Any], sizes: Sizes) -> bool:
    return bool((np.sort(values, axis=-1) == np.arange(values.shape[-1])).all())


def _are_offsets(values: NDArray[Any], sizes: Sizes) -> bool:
    return bool(len(values)) and values[0] == 0 and bool((np.diff(values) >= 0).all())


SCORES = Rule("scores", _are_scores)
FINITE = Rule("finite scores", lambda values, sizes: bool((np.abs(values) <= LARGEST_SCORE).all()))
ACYCLIC = Rule("no cycle", lambda values, sizes: is_acyclic(values))
PERMUTATIONS = Rule("permutations", _are_permutations)
OFFSETS = Rule("offsets, ascending from 0", _are_offsets)
SYMMETRIC = Rule(
    "a symmetric matrix without loops",
    lambda values, sizes: bool((values == values.T).all()) and not values.diagonal().any(),
)
