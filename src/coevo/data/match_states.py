"""Match values from anywhere with the states of a variable.

A value matches a state if its text is the state, if it is a number in the bin that the state
names, if both are the same number (``2.0`` and ``2``), or if they differ in blanks and case
only. A value that matches no state is unknown; its code is -1.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coevo.data.cut_points import CutPoints
from coevo.data.number_labels import NumberLabels, parse_numbers
from coevo.data.state_words import shorten_states
from coevo.data.variable import Variable

__all__ = ["UNKNOWN", "find_code", "fold", "match_labels", "match_texts"]

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
        texts = [labels[int(i)] for i in others if codes[i] == UNKNOWN]
        spelled = match_texts([text for text in texts if text is not None], variable.states)
        for i in others[codes[others] == UNKNOWN]:
            codes[i] = number.get(spelled.get(str(labels[int(i)]), ""), UNKNOWN)
    return codes


def match_texts(labels: Iterable[str], states: Sequence[str]) -> dict[str, str]:
    """Return the state of each label that differs from it in blanks or case only.

    >>> match_texts(["Yes ", "no", "NO", "maybe"], ("no", "yes"))
    {'Yes ': 'yes', 'NO': 'no'}
    """
    known = set(states)
    by_text: dict[str, list[str]] = {}
    for state in states:
        by_text.setdefault(fold(state), []).append(state)
    found = {}
    for label in labels:
        same = by_text.get(fold(label), [])
        if label not in known and len(same) == 1:  # states that differ in case only are different
            found[label] = same[0]
    return found


def fold(label: str) -> str:
    """Return a label in lower case, without blanks around it, and with single blanks inside."""
    return " ".join(label.split()).casefold()


def find_code(variable: Variable, value: Any) -> int:
    """Return the number of the state that a value matches, or -1.

    The short name of a state, as answers show it, is accepted too.

    >>> find_code(Variable("age", ("below_18", "from_18")), 40)
    1
    >>> find_code(Variable("bmi", ("0.050680118739", "-0.04464163650")), "-0.04464")
    1
    """
    code = int(match_labels(variable, [None if value is None else str(value)])[0])
    if code != UNKNOWN:
        return code
    short = [shorten_states(variable.states)[state] for state in variable.states]
    return short.index(str(value)) if str(value) in short else UNKNOWN


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
