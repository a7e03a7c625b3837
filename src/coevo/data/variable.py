"""A variable: states that have names (`Discrete`), or numbers (`Continuous`).

States have two orders. The *source* order is the order in the data (LOW, NORMAL, HIGH); output
uses it. The *canonical* order sorts by code point; computations use it, so that results do not
depend on the layout of a table.

`size` is the number of states, and 1 for a number: what searches and limits multiply. Tables of
data and exact inference hold discrete variables alone; a number can be a node of a network whose
`NodeDistribution` is about numbers.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from coevo.errors import DataError, find_duplicate

__all__ = ["MAX_STATES", "Continuous", "Discrete", "Variable"]

MAX_STATES = 65_535


@dataclass(frozen=True, slots=True)
class Discrete:
    """A name and its states.

    `is_ordered` says that the order of the states has a meaning: data frames then have an ordered
    column. Variables that differ in nothing else are equal, because files do not hold it.

    >>> pressure = Discrete("BP", ("LOW", "NORMAL", "HIGH"), is_ordered=True)
    >>> pressure.size
    3
    >>> pressure.to_canonical().states
    ('HIGH', 'LOW', 'NORMAL')
    """

    name: str
    states: tuple[str, ...]
    is_ordered: bool = field(default=False, compare=False, repr=False)

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
    def size(self) -> int:
        """Number of states."""
        return len(self.states)

    @property
    def arity(self) -> int:
        """Number of states, as `size`."""
        return len(self.states)

    def to_canonical(self) -> Discrete:
        """Return the same variable with its states in canonical order, which has no meaning."""
        return Discrete(self.name, tuple(sorted(self.states)))


@dataclass(frozen=True, slots=True)
class Continuous:
    """A name of a variable whose values are numbers.

    >>> Continuous("age").size
    1
    """

    name: str

    @property
    def size(self) -> int:
        """One: a number multiplies no table."""
        return 1

    @property
    def arity(self) -> int:
        """One, as `size`."""
        return 1


Variable = Discrete  # all that data and tables hold today
