"""The result of a query: a probability distribution over states of variables."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from coevo.data.variable import Variable
from coevo.errors import ParameterError, format_count
from coevo.network.evidence import encode_state

__all__ = ["Distribution", "States"]

States: TypeAlias = str | tuple[str, ...]  # a state, or one state of each variable

MAX_SHOWN = 12  # probabilities in the text form


@dataclass(frozen=True, eq=False, repr=False)
class Distribution(Mapping[States, float]):
    """The distribution of one variable, or the joint distribution of several.

    It is a read-only mapping of states to probabilities, in the order of the states. The keys of a
    joint distribution are tuples with one state of each variable, in the order of `variables`. A
    distribution equals another one with the same variables and exactly the same probabilities. It
    equals a dict if ``to_dict()`` does.

    Parameters
    ----------
    variables : tuple of Variable
        The variables of the distribution.
    probabilities : array
        One axis for each variable, in the order of its states. Read-only; sums to 1.

    Examples
    --------
    >>> coin = Distribution((Variable("coin", ("heads", "tails")),), np.array([0.75, 0.25]))
    >>> coin
    <Distribution of 'coin': {'heads': 0.75, 'tails': 0.25}>
    >>> coin["tails"], "edge" in coin, max(coin, key=coin.get)
    (0.25, False, 'heads')
    >>> dict(coin) == coin.to_dict() == coin
    True
    >>> print(coin)
    coin
      0.750000  heads
      0.250000  tails
    """

    variables: tuple[Variable, ...]
    probabilities: NDArray[np.float64]

    def __post_init__(self) -> None:
        self.probabilities.flags.writeable = False

    def __getitem__(self, states: States) -> float:
        """Return the probability of a state, or of one state of each variable."""
        state_tuple = (states,) if isinstance(states, str) else states
        if len(state_tuple) != len(self.variables):
            names = ", ".join(repr(variable.name) for variable in self.variables)
            raise ParameterError(f"Give one state for each of {names}; got {states!r}.")
        return float(self.probabilities[tuple(map(encode_state, self.variables, state_tuple))])

    def __contains__(self, states: object) -> bool:
        """Return whether a state, or a tuple of states, is one of the distribution."""
        state_tuple = (states,) if isinstance(states, str) else states
        if not isinstance(state_tuple, tuple) or len(state_tuple) != len(self.variables):
            return False
        pairs = zip(self.variables, state_tuple, strict=True)
        return all(state in variable.states for variable, state in pairs)

    def __iter__(self) -> Iterator[States]:
        if len(self.variables) == 1:
            return iter(self.variables[0].states)
        return itertools.product(*(variable.states for variable in self.variables))

    def __len__(self) -> int:
        return self.probabilities.size

    def get(self, states: Any, default: Any = None) -> Any:
        """Return the probability of a state, or `default` if there is no such state."""
        if states not in self:  # unknown states raise no KeyError, which `Mapping.get` expects
            return default
        return self[states]

    def to_dict(self) -> dict[str, float] | dict[tuple[str, ...], float]:
        """Return the probability of each state, or of each tuple of states."""
        answer: dict[Any, float] = dict(zip(self, self.probabilities.ravel().tolist(), strict=True))
        return answer

    def __eq__(self, other: object) -> bool:
        """Return whether both have the same states with exactly the same probabilities."""
        if isinstance(other, Distribution):
            return self.variables == other.variables and np.array_equal(
                self.probabilities, other.probabilities
            )
        if isinstance(other, Mapping):
            return self.to_dict() == dict(other)
        return NotImplemented

    __hash__ = None  # type: ignore[assignment]  # it holds an array

    def _list_first(self) -> tuple[list[tuple[States, float]], int]:
        """Return the first states with their probabilities, and the number of the others."""
        first = itertools.islice(zip(self, self.probabilities.flat, strict=True), MAX_SHOWN)
        return [(states, float(p)) for states, p in first], max(0, len(self) - MAX_SHOWN)

    def __repr__(self) -> str:
        first, n_others = self._list_first()
        shown = [f"{states!r}: {p:.4g}" for states, p in first]
        shown += [f"... {n_others:,} more"] if n_others else []
        names = ", ".join(repr(variable.name) for variable in self.variables)
        return f"<Distribution of {names}: {{{', '.join(shown)}}}>"

    def __str__(self) -> str:
        first, n_others = self._list_first()
        lines = [", ".join(variable.name for variable in self.variables)]
        lines += [
            f"  {p:.6f}  {states if isinstance(states, str) else ', '.join(states)}"
            for states, p in first
        ]
        return "\n".join([*lines, *([f"  ... {n_others:,} more"] if n_others else [])])

    def _repr_html_(self) -> str:
        from coevo.picture.notebook import MAX_ROWS, Bar, Table, render_block, render_table

        names = [variable.name for variable in self.variables]
        pairs = zip(self, self.probabilities.flat, strict=True)
        rows = [
            (*((states,) if isinstance(states, str) else states), f"{p:.6f}", Bar(float(p)))
            for states, p in itertools.islice(pairs, MAX_ROWS)
        ]
        table = Table([*names, "probability", ""], rows, numbers={len(names)})
        n_others = len(self) - len(rows)
        more = (
            f", the first {len(rows)} of {format_count(len(self), 'probability', 'probabilities')}"
        )
        caption = f"Distribution of {', '.join(names)}{more if n_others else ''}"
        return render_block(caption, render_table(table))
