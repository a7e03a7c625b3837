"""The base class of tables: variables in canonical order, and a hash of the content.

The rows can be in memory, in files or on other machines. The digest of a table is the sum of the
digests of its parts, so that equal tables have equal hashes wherever their rows are.
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
from coevo.errors import DataError, suggest_match

__all__ = ["RowDigest", "Table"]

RowDigest = tuple[int, int]  # sums over rows: of their hashes, and of the squared hashes


class Table(ABC):
    """Observations of some variables, in memory or elsewhere."""

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
        """Number of observations in each state, for each variable in canonical order."""

    @property
    @abstractmethod
    def row_digest(self) -> RowDigest:
        """Two numbers that do not depend on the order of rows; digests of parts add up."""

    @cached_property
    def content_hash(self) -> str:
        """A hash of names, states and rows that does not depend on their order."""
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

    def find_position(self, name: str) -> int:
        """Return the index of the variable `name` in canonical order."""
        if name not in self._positions:
            raise DataError(f"There is no column {name!r}.{suggest_match(name, self.names)}")
        return self._positions[name]

    @cached_property
    def _positions(self) -> Mapping[str, int]:
        return {name: i for i, name in enumerate(self.names)}
