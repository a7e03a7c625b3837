"""States and probabilities in the sentences of an answer: "age >= 57", "from 0.08 to 0.39"."""

from __future__ import annotations

from coevo.data.cut_points import CutPoints, format_number
from coevo.data.incomplete import MISSING_STATE
from coevo.data.variable import Variable

__all__ = ["format_share", "format_shares", "format_state"]

MAX_DIGITS = 6  # of a probability


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
        return f"{variable.name}={state}"
    place = cuts.states.index(state)
    texts = [format_number(point) for point in cuts.points]
    if place == 0:
        return f"{variable.name} < {texts[0]}"
    if place == len(texts):
        return f"{variable.name} >= {texts[-1]}"
    return f"{texts[place - 1]} <= {variable.name} < {texts[place]}"


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
