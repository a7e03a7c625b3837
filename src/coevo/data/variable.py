"""A variable: its name and its states.

States have two orders. The *source* order is the order in the data (LOW, NORMAL, HIGH); output
uses it. The *canonical* order sorts by code point; computations use it, so that results do not
depend on the layout of a table.
"""

from __future__ import annotations

from dataclasses import dataclass

from coevo.errors import DataError, find_duplicate

__all__ = ["MAX_STATES", "Variable"]

MAX_STATES = 65_535


@dataclass(frozen=True, slots=True)
class Variable:
    """A name and its states.

    >>> pressure = Variable("BP", ("LOW", "NORMAL", "HIGH"))
    >>> pressure.arity
    3
    >>> pressure.to_canonical().states
    ('HIGH', 'LOW', 'NORMAL')
    """

    name: str
    states: tuple[str, ...]

    def __post_init__(self) -> None:
        if not self.states:
            raise DataError(f"Variable {self.name!r} has no states. Declare at least one.")
        twice = find_duplicate(self.states)
        if twice is not None:
            raise DataError(
                f"Variable {self.name!r} declares the state {twice!r} twice. Remove one of them."
            )
        if len(self.states) > MAX_STATES:
            raise DataError(
                f"Variable {self.name!r} has {len(self.states):,} states; "
                f"the maximum of coevo is {MAX_STATES:,}. Group its values."
            )

    @property
    def arity(self) -> int:
        """Number of states."""
        return len(self.states)

    def to_canonical(self) -> Variable:
        """Return the same variable with its states in canonical order."""
        return Variable(self.name, tuple(sorted(self.states)))
