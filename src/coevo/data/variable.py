"""A variable: its name and the states that it can take.

Two orders matter and are kept apart. The *source* order is the one that a person wrote
(LOW, NORMAL, HIGH) and is used wherever something is shown or written. The *canonical*
order sorts by code point and is used wherever something is computed, so that an answer
never depends on how a table was laid out.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from coevo.errors import DataError, first_repeated

__all__ = ["MAX_STATES", "Variable", "natural_order"]

MAX_STATES = 65_535


@dataclass(frozen=True, slots=True)
class Variable:
    """A name and its states.

    >>> pressure = Variable("BP", ("LOW", "NORMAL", "HIGH"))
    >>> pressure.arity
    3
    >>> pressure.canonical().states
    ('HIGH', 'LOW', 'NORMAL')
    """

    name: str
    states: tuple[str, ...]

    def __post_init__(self) -> None:
        if not self.states:
            raise DataError(f"Variable {self.name!r} has no states. Declare at least one.")
        twice = first_repeated(self.states)
        if twice is not None:
            raise DataError(
                f"Variable {self.name!r} declares the state {twice!r} twice. Remove one of them."
            )
        if len(self.states) > MAX_STATES:
            raise DataError(
                f"Variable {self.name!r} has {len(self.states):,} states; "
                f"the most that coevo takes is {MAX_STATES:,}. Group its values."
            )

    @property
    def arity(self) -> int:
        """Number of states."""
        return len(self.states)

    def canonical(self) -> Variable:
        """Return the same variable with its states in canonical order."""
        return Variable(self.name, tuple(sorted(self.states)))


def natural_order(labels: Iterable[str]) -> tuple[str, ...]:
    """Sort labels as a person would: by value when all are whole numbers, else by text.

    >>> natural_order(["10", "9", "-1"])
    ('-1', '9', '10')
    >>> natural_order(["yes", "no"])
    ('no', 'yes')
    """
    texts = sorted(labels)
    try:
        return tuple(sorted(texts, key=int))
    except ValueError:
        return tuple(texts)
