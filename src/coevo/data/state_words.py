"""States and probabilities as people read them: "age >= 57", "from 0.08 to 0.39".

A label or a cut point can have seventeen digits (-0.044641636506989144). Text and pages show it
with as few digits as tell the states of its variable apart, and at least four. Files keep all
digits. `coevo.data.match_states` accepts the short name as evidence.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from coevo.data.cut_points import CutPoints, format_number, name_bins
from coevo.data.incomplete import MISSING_STATE
from coevo.data.variable import Variable

__all__ = ["format_share", "format_shares", "format_state", "shorten_numbers", "shorten_states"]

MAX_DIGITS = 6  # of a probability
LEAST_DIGITS = 4  # significant digits of a number in the name of a state
_LONG_NUMBER = re.compile(r"-?\d*\.\d{5,40}(?:e-?\d{1,3})?")


def format_state(variable: Variable, state: str) -> str:
    """Return a state of a variable as a condition; bins are written as inequalities.

    >>> age = Variable("age", ("below_18", "from_18_to_65", "from_65"))
    >>> [format_state(age, state) for state in age.states]
    ['age < 18', '18 <= age < 65', 'age >= 65']
    >>> format_state(Variable("smoker", ("no", "yes")), "yes")
    'smoker=yes'
    """
    cuts = CutPoints.from_states(name for name in variable.states if name != MISSING_STATE)
    if cuts is None or not cuts.points or state not in cuts.states:
        return f"{variable.name}={shorten_states(variable.states).get(state, state)}"
    place = cuts.states.index(state)
    texts = shorten_numbers(cuts.points)
    if place == 0:
        return f"{variable.name} < {texts[0]}"
    if place == len(texts):
        return f"{variable.name} >= {texts[-1]}"
    return f"{texts[place - 1]} <= {variable.name} < {texts[place]}"


def shorten_numbers(numbers: Sequence[float]) -> list[str]:
    """Return numbers with as few digits as tell them apart, and at least four.

    >>> shorten_numbers([-0.044641636506989144, 0.05068011873981862])
    ['-0.04464', '0.05068']
    >>> shorten_numbers([0.123451, 0.123452, 1234567]), shorten_numbers([0.1 + 0.2])
    (['0.123451', '0.123452', '1234567'], ['0.3'])
    """
    exact = [format_number(number) for number in numbers]
    for digits in range(LEAST_DIGITS, 17):
        short = [
            text if _is_short(text) else format_number(float(f"{number:.{digits}g}"))
            for text, number in zip(exact, numbers, strict=True)
        ]
        if len(set(short)) == len(set(exact)):
            return short
    return exact


def _is_short(text: str) -> bool:
    """Return whether a number is a whole one, or has few decimal places."""
    return "." not in text or len(text.partition(".")[2].partition("e")[0]) <= LEAST_DIGITS


@lru_cache(maxsize=4096)
def shorten_states(states: tuple[str, ...]) -> dict[str, str]:
    """Return the name of each state for people; only long numbers differ from the files.

    >>> shorten_states(("below_0.0012345678", "from_0.0012345678"))
    {'below_0.0012345678': 'below_0.001235', 'from_0.0012345678': 'from_0.001235'}
    >>> shorten_states(("-0.044641636506989144", "1e-05", "v1.123456"))
    {'-0.044641636506989144': '-0.04464', '1e-05': '1e-05', 'v1.123456': 'v1.123456'}
    """
    names = {state: state for state in states}
    cuts = CutPoints.from_states(state for state in states if state != MISSING_STATE)
    if cuts is not None:
        return names | dict(zip(cuts.states, name_bins(shorten_numbers(cuts.points)), strict=True))
    long = [state for state in states if _LONG_NUMBER.fullmatch(state)]
    short = shorten_numbers([float(state) for state in long])
    names |= dict(zip(long, short, strict=True))
    return names if len({*names.values()}) == len(names) else {state: state for state in states}


def format_shares(low: float, high: float, digits: int = 2) -> tuple[str, str]:
    """Return two probabilities, with some digits or as many as tell them apart."""
    texts = format_share(low, digits), format_share(high, digits)
    for more in range(digits + 1, MAX_DIGITS + 1):
        if texts[0] != texts[1]:
            break
        texts = format_share(low, more), format_share(high, more)
    return texts


def format_share(share: float, digits: int) -> str:
    """Return a probability; only 0 and 1 themselves are written without digits.

    >>> [format_share(share, 2) for share in (0, 0.5, 0.0004, 0.9996, 1)]
    ['0', '0.50', '0.0004', '0.9996', '1']
    """
    if share in (0, 1):
        return f"{share:.0f}"
    while digits < MAX_DIGITS and float(f"{share:.{digits}f}") in (0.0, 1.0):
        digits += 1
    return f"{share:.{digits}f}"
