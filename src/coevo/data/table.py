"""What is known of a table without looking at a row: its variables, in canonical order.

Two digests of the rows add up over any parts of them, so that a table has the same hash
wherever its rows are: in memory, in files or on other machines.
"""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from coevo.data.variable import Variable
from coevo.errors import DataError, suggestion

__all__ = ["RowDigest", "Table"]

RowDigest = tuple[int, int]  # sums over rows, of their marks and of the squares of those


class Table(ABC):
    """Observations of some variables, wherever the rows are."""

    _source: tuple[Variable, ...]
    _variables: tuple[Variable, ...]

    @property
    def variables(self) -> tuple[Variable, ...]:
        """Variables in canonical order, with their states in canonical order."""
        return self._variables

    @property
    def source_variables(self) -> tuple[Variable, ...]:
        """Variables and states in the order of the source, for output."""
        return self._source

    @property
    @abstractmethod
    def n_rows(self) -> int:
        """Number of observations."""

    @property
    @abstractmethod
    def state_counts(self) -> tuple[NDArray[np.int64], ...]:
        """How many observations are in each state, for each variable in canonical order."""

    @property
    @abstractmethod
    def row_digest(self) -> RowDigest:
        """Two numbers that no order of the rows changes; those of parts add up to them."""

    @cached_property
    def content_hash(self) -> str:
        """A digest of names, states and rows that no order of any of them changes."""
        head = json.dumps([[v.name, v.states] for v in self._variables], ensure_ascii=True)
        digest = [number % 2**64 for number in self.row_digest]
        text = f"{head} {self.n_rows} {digest}"
        return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the variables in canonical order."""
        return tuple(variable.name for variable in self._variables)

    @cached_property
    def arities(self) -> NDArray[np.int64]:
        """Number of states of each variable, in canonical order."""
        arities = np.array([variable.arity for variable in self._variables], dtype=np.int64)
        arities.flags.writeable = False
        return arities

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return len(self._variables)

    def position(self, name: str) -> int:
        """Return the canonical index of the variable called `name`."""
        if name not in self._positions:
            raise DataError(f"There is no column {name!r}.{suggestion(name, self.names)}")
        return self._positions[name]

    @cached_property
    def _positions(self) -> Mapping[str, int]:
        return {name: i for i, name in enumerate(self.names)}
