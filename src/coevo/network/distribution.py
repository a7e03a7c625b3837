"""The result of a query: a probability distribution over states of variables."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coevo.data.variable import Variable
from coevo.errors import ParameterError
from coevo.network.evidence import encode_state

__all__ = ["Distribution"]


@dataclass(frozen=True, eq=False)
class Distribution:
    """The distribution of one variable, or the joint distribution of several.

    Parameters
    ----------
    variables : tuple of Variable
        The variables of the distribution.
    probabilities : array
        One axis for each variable, in the order of its states. Read-only; sums to 1.

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
        state_tuple = (states,) if isinstance(states, str) else states
        if len(state_tuple) != len(self.variables):
            names = ", ".join(repr(variable.name) for variable in self.variables)
            raise ParameterError(f"Give one state for each of {names}; got {states!r}.")
        return float(self.probabilities[tuple(map(encode_state, self.variables, state_tuple))])

    def to_dict(self) -> dict[str, float] | dict[tuple[str, ...], float]:
        """Return the probability of each state, or of each tuple of states."""
        values = self.probabilities.ravel().tolist()
        if len(self.variables) == 1:
            return dict(zip(self.variables[0].states, values, strict=True))
        state_tuples = itertools.product(*(variable.states for variable in self.variables))
        return dict(zip(state_tuples, values, strict=True))

    def __repr__(self) -> str:
        names = ", ".join(repr(variable.name) for variable in self.variables)
        return f"<Distribution of {names}: {self.probabilities.size:,} probabilities>"
