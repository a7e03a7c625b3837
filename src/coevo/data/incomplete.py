"""A table with missing cells: codes as a `Dataset` has them, and which of them mean nothing.

An `IncompleteDataset` is a value. Its variables and states are in the same canonical order as
those of a `Dataset`; every row is stored, in the order of the source, so that a completed
table has its rows where they were. What becomes of the missing cells is not decided here
(see `coevo.missing`), except for the two ways that need no model: to leave the rows out, and
to make a state of what is missing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coevo.data.dataset import Dataset
from coevo.data.variable import MAX_STATES, Variable
from coevo.errors import DataError, bad_parameter, listed

__all__ = ["MISSING_STATE", "IncompleteDataset", "Rows"]

MISSING_STATE = "missing"
FEWEST_ROWS = 2  # that are worth learning from


class IncompleteDataset:
    """Discrete observations of which some cells are missing.

    Use `read_incomplete` to make one.

    Parameters
    ----------
    dataset : Dataset
        All rows, none folded; a missing cell holds any of its states.
    missing : array of bool, (n_variables, n_rows)
        Which cells are missing, the variables in canonical order.

    Examples
    --------
    >>> rows = Dataset([Variable("wet", ("no", "yes")), Variable("rain", ("no", "yes"))],
    ...                [[0, 1, 1], [0, 0, 1]])
    >>> table = IncompleteDataset(rows, [[False, True, False], [False, False, False]])
    >>> table
    <IncompleteDataset: 3 rows, 2 variables, 1 cell missing>
    >>> table.missing_counts
    {'rain': 1, 'wet': 0}
    """

    def __init__(
        self, dataset: Dataset, missing: NDArray[np.bool_] | Sequence[Sequence[bool]]
    ) -> None:
        if not isinstance(dataset, Dataset) or dataset.weights is not None:
            expected = "a Dataset that is not folded"
            raise bad_parameter("dataset", "IncompleteDataset", expected, dataset)
        holes = np.array(missing)
        if holes.shape != dataset.codes.shape or holes.dtype != np.bool_:
            shape = " x ".join(map(str, dataset.codes.shape))
            raise DataError(f"'missing' must be {shape} truth values, one for each cell.")
        holes.flags.writeable = False
        self._dataset, self._missing = dataset, holes

    @property
    def dataset(self) -> Dataset:
        """All rows; the missing cells hold any of their states."""
        return self._dataset

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Which cells are missing: (n_variables, n_rows), read-only."""
        return self._missing

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the variables in canonical order."""
        return self._dataset.names

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self._dataset.n_rows

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return self._dataset.n_variables

    @cached_property
    def n_missing(self) -> int:
        """Number of missing cells."""
        return int(self._missing.sum())

    @cached_property
    def missing_counts(self) -> dict[str, int]:
        """How many cells of each variable are missing."""
        return dict(zip(self.names, self._missing.sum(axis=1).tolist(), strict=True))

    @cached_property
    def state_counts(self) -> tuple[NDArray[np.int64], ...]:
        """How many cells that are there hold each state, for each variable in canonical order."""
        cells = zip(self._dataset.codes, self._missing, self._dataset.arities, strict=True)
        return tuple(np.bincount(own[~holes], minlength=arity) for own, holes, arity in cells)

    @cached_property
    def n_complete_rows(self) -> int:
        """Number of rows without a missing cell."""
        return int((~self._missing.any(axis=0)).sum())

    def missing_facts(self) -> dict[str, Any]:
        """Return how much is missing where, as plain values; columns in the source's order."""
        counts = self.missing_counts
        source = [variable.name for variable in self._dataset.source_variables]
        return {
            "n_missing": self.n_missing,
            "share": self.n_missing / self._missing.size,
            "n_complete_rows": self.n_complete_rows,
            "columns": {name: counts[name] for name in source if counts[name]},
        }

    @cached_property
    def content_hash(self) -> str:
        """A digest of names, states, rows and holes that no order of any of them changes."""
        marked = self.with_state()
        return hashlib.blake2b(marked.content_hash.encode(), digest_size=16).hexdigest()

    def by_content(self) -> tuple[IncompleteDataset, NDArray[np.intp]]:
        """Return the table with its rows in an order that does not depend on theirs.

        The second is where each of its rows stands here.
        """
        codes = self._dataset.codes.astype(np.int64)
        codes[self._missing] = self._dataset.arities.max()
        order = np.lexsort(codes[::-1])
        return IncompleteDataset(
            self.completed(self._dataset.codes[:, order]), self._missing[:, order]
        ), order

    def resampled(self, rng: np.random.Generator) -> IncompleteDataset:
        """Return as many rows, drawn from these with replacement; no order of rows matters."""
        table, _ = self.by_content()
        drawn = rng.integers(self.n_rows, size=self.n_rows)
        rows = table.completed(table.dataset.codes[:, drawn])
        return IncompleteDataset(rows, table.missing[:, drawn])

    def completed(self, codes: NDArray[np.integer]) -> Dataset:
        """Return other codes of the same variables as a dataset; any number of rows."""
        source = self._dataset
        own: Any = np.array(codes, dtype=source.codes.dtype, order="C")
        return Dataset._assembled(source.source_variables, source.variables, own, None)

    def complete_rows(self) -> Dataset:
        """Return the rows without a missing cell, or refuse where too few are left."""
        kept = ~self._missing.any(axis=0)
        if self.n_complete_rows < FEWEST_ROWS:
            n = self.n_complete_rows
            left = "1 row is" if n == 1 else "no row is" if n == 0 else f"{n} rows are"
            raise DataError(
                f"Of {self.n_rows:,} rows, {left} without a missing cell, too few to learn from "
                "(missing='drop'). Take another policy, such as missing='evolve', or leave out "
                f"the columns that miss most: {listed(self._worst())}."
            )
        return self.completed(self._dataset.codes[:, kept])

    def with_state(self, label: str = MISSING_STATE) -> Dataset:
        """Return all rows, with a further state of each variable that misses some."""
        states, columns = [], []
        for variable in self._dataset.source_variables:
            place = self._dataset.position(variable.name)
            canonical = self._dataset.variables[place].states
            recode = np.array([variable.states.index(state) for state in canonical])
            column = recode[self._dataset.codes[place]]
            holes = self._missing[place]
            if holes.any():
                name = _unused(label, variable)
                column = np.where(holes, variable.arity, column)
                variable = Variable(variable.name, (*variable.states, name))
            states.append(variable)
            columns.append(column)
        return Dataset(states, columns)

    def _worst(self) -> list[str]:
        """Return the variables that miss something, the worst first, with how many."""
        counts = self.missing_counts
        ranked = sorted((n for n in counts if counts[n]), key=lambda name: (-counts[name], name))
        return [f"{name!r} ({counts[name]:,})" for name in ranked]

    def __eq__(self, other: object) -> bool:
        """Return whether both hold the same observations, with the same cells missing."""
        if not isinstance(other, IncompleteDataset):
            return NotImplemented
        return self.content_hash == other.content_hash

    def __hash__(self) -> int:
        return hash(self.content_hash)

    def __reduce__(self) -> tuple[Any, ...]:
        return IncompleteDataset, (self._dataset, self._missing)

    def __repr__(self) -> str:
        cells = "1 cell" if self.n_missing == 1 else f"{self.n_missing:,} cells"
        return (
            f"<IncompleteDataset: {self.n_rows:,} rows, {self.n_variables} variables, {cells} "
            "missing>"
        )


Rows = Dataset | IncompleteDataset  # a table in memory, whether all its cells are there or not


def _unused(label: str, variable: Variable) -> str:
    """Return the label, with underscores behind it as long as it is a state already."""
    while label in variable.states:
        label += "_"
    if variable.arity == MAX_STATES:
        raise DataError(
            f"Variable {variable.name!r} has {MAX_STATES:,} states, so that there is no room for "
            "one more. Group its values, or take another policy than missing='state'."
        )
    return label
