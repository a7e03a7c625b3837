"""The answer to a question: how probable each state of some variables is."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coevo.data.variable import Variable
from coevo.errors import ParameterError
from coevo.network.evidence import state_code

__all__ = ["Distribution"]


@dataclass(frozen=True, eq=False)
class Distribution:
    """The probability of each state of a variable, or of several variables together.

    Parameters
    ----------
    variables : tuple of Variable
        What it is about.
    probabilities : array
        One axis for each variable, states in their order; read-only, sums to 1.

    Examples
    --------
    >>> coin = Distribution((Variable("coin", ("heads", "tails")),), np.array([0.75, 0.25]))
    >>> coin["tails"]
    0.25
    >>> coin.to_dict()
    {'heads': 0.75, 'tails': 0.25}
    """

    variables: tuple[Variable, ...]
    probabilities: NDArray[np.float64]

    def __post_init__(self) -> None:
        self.probabilities.flags.writeable = False

    def __getitem__(self, states: str | tuple[str, ...]) -> float:
        """Return the probability of a state, or of one state of each variable."""
        given = (states,) if isinstance(states, str) else states
        if len(given) != len(self.variables):
            names = ", ".join(repr(variable.name) for variable in self.variables)
            raise ParameterError(f"One state is needed for each of {names}; got {states!r}.")
        return float(self.probabilities[tuple(map(state_code, self.variables, given))])

    def to_dict(self) -> dict[str, float] | dict[tuple[str, ...], float]:
        """Return the probability of each state, or of each tuple of states."""
        values = self.probabilities.ravel().tolist()
        if len(self.variables) == 1:
            return dict(zip(self.variables[0].states, values, strict=True))
        rows = itertools.product(*(variable.states for variable in self.variables))
        return dict(zip(rows, values, strict=True))

    def __repr__(self) -> str:
        names = ", ".join(repr(variable.name) for variable in self.variables)
        return f"<Distribution of {names}: {self.probabilities.size:,} probabilities>"
