"""Match values from anywhere with the states of a variable.

A value matches a state if its text is the state, if it is a number in the bin that the state
names, or if both are the same number (``2.0`` and ``2``). A value that matches no state is
unknown; its code is -1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coevo.data.cut_points import CutPoints
from coevo.data.number_labels import NumberLabels, parse_numbers
from coevo.data.variable import Variable

__all__ = ["UNKNOWN", "find_code", "match_labels"]

UNKNOWN = -1  # the code of a value that is not known

Codes = NDArray[np.int32]


def match_labels(variable: Variable, labels: Sequence[str | None]) -> Codes:
    """Return for each label the number of the state that it matches, or -1.

    >>> age = Variable("age", ("below_18", "from_18_to_65", "from_65"))
    >>> match_labels(age, ["70", "from_18_to_65", "17.5", "old", None]).tolist()
    [2, 1, 0, -1, -1]
    >>> match_labels(Variable("stage", ("1", "2")), ["2.0", "3"]).tolist()
    [1, -1]
    """
    number = {state: code for code, state in enumerate(variable.states)}
    cuts = CutPoints.from_states(variable.states)
    if cuts is not None:
        bins = np.array([number[state] for state in cuts.states], dtype=np.int32)
        if isinstance(labels, NumberLabels):
            return _apply_cuts(cuts, bins, labels.numbers)
    codes = np.array([number.get(str(label), UNKNOWN) for label in labels], dtype=np.int32)
    others = np.flatnonzero(codes == UNKNOWN)
    if not len(others):
        return codes
    numbers = np.array([_parse(labels[int(i)]) for i in others])
    if cuts is not None:
        codes[others] = _apply_cuts(cuts, bins, numbers)
    else:
        codes[others] = _match_numbers(variable.states, numbers)
    return codes


def find_code(variable: Variable, value: Any) -> int:
    """Return the number of the state that a value matches, or -1.

    >>> find_code(Variable("age", ("below_18", "from_18")), 40)
    1
    """
    return int(match_labels(variable, [None if value is None else str(value)])[0])


def _parse(label: str | None) -> float:
    numbers = None if label is None else parse_numbers([label])
    return float("nan") if numbers is None else float(numbers[0])


def _apply_cuts(cuts: CutPoints, bins: Codes, numbers: NDArray[np.floating]) -> Codes:
    """Return the states of numbers; NaN is unknown."""
    is_known = ~np.isnan(numbers)
    codes = np.full(len(numbers), UNKNOWN, dtype=np.int32)
    codes[is_known] = bins[cuts.apply(numbers[is_known])]
    return codes


def _match_numbers(states: Sequence[str], numbers: NDArray[np.float64]) -> Codes:
    """Return the first state that is the same number."""
    by_number: dict[float, int] = {}
    for code, state in enumerate(states):
        by_number.setdefault(_parse(state), code)  # a key that is NaN is never found
    found = [by_number.get(number, UNKNOWN) for number in numbers.tolist()]
    return np.array(found, dtype=np.int32)
