"""A table with missing values: the codes of a `Dataset`, and a mask of the missing values.

An `IncompleteDataset` is immutable. Its variables and states are in the same canonical order as
those of a `Dataset`. It stores every row in the order of the source, so that an imputed table
has the same rows as the source. `coevo.missing` imputes missing values. This module has only the
two policies that need no model: drop the rows with missing values, or add the state "missing".
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coevo.data.dataset import Dataset, draw_clusters, hash_rows
from coevo.data.variable import MAX_STATES, Variable
from coevo.errors import DataError, bad_parameter, format_list

__all__ = ["MISSING_STATE", "IncompleteDataset", "Rows"]

MISSING_STATE = "missing"
MIN_ROWS = 2  # a network needs at least so many complete rows


class IncompleteDataset:
    """Discrete observations with missing values.

    Use `read_incomplete` to read one.

    Parameters
    ----------
    dataset : Dataset
        All rows, without weights. The code of a missing value can be any state.
    missing : array of bool, (n_variables, n_rows)
        True for each missing value; the variables are in canonical order.

    Examples
    --------
    >>> rows = Dataset([Variable("wet", ("no", "yes")), Variable("rain", ("no", "yes"))],
    ...                [[0, 1, 1], [0, 0, 1]])
    >>> table = IncompleteDataset(rows, [[False, True, False], [False, False, False]])
    >>> table
    <IncompleteDataset: 3 rows, 2 variables, 1 missing value>
    >>> table.missing_counts
    {'rain': 1, 'wet': 0}
    """

    def __init__(
        self, dataset: Dataset, missing: NDArray[np.bool_] | Sequence[Sequence[bool]]
    ) -> None:
        if not isinstance(dataset, Dataset) or dataset.weights is not None:
            expected = "a Dataset without weights (see Dataset.expand)"
            raise bad_parameter("dataset", "IncompleteDataset", expected, dataset)
        mask = np.array(missing)
        if mask.shape != dataset.codes.shape or mask.dtype != np.bool_:
            shape = dataset.codes.shape
            raise DataError(f"'missing' must be an array of bool of the shape {shape}.")
        mask.flags.writeable = False
        self._dataset, self._missing = dataset, mask

    @property
    def dataset(self) -> Dataset:
        """All rows; the code of a missing value has no meaning."""
        return self._dataset

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Mask of the missing values: (n_variables, n_rows), read-only."""
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
        """Number of missing values."""
        return int(self._missing.sum())

    @cached_property
    def missing_counts(self) -> dict[str, int]:
        """Number of missing values of each variable."""
        return dict(zip(self.names, self._missing.sum(axis=1).tolist(), strict=True))

    @cached_property
    def state_counts(self) -> tuple[NDArray[np.int64], ...]:
        """Number of observed values in each state, for each variable in canonical order."""
        columns = zip(self._dataset.codes, self._missing, self._dataset.arities, strict=True)
        return tuple(
            np.bincount(codes[~missing], minlength=arity) for codes, missing, arity in columns
        )

    @cached_property
    def n_complete_rows(self) -> int:
        """Number of rows without missing values."""
        return int((~self._missing.any(axis=0)).sum())

    def summarise_missing(self) -> dict[str, Any]:
        """Return the numbers of missing values as a dict; columns are in source order."""
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
        """A hash of names, states, rows and missing values that does not depend on their order."""
        table = self.add_missing_state()
        return hashlib.blake2b(table.content_hash.encode(), digest_size=16).hexdigest()

    def sort_by_content(self) -> tuple[IncompleteDataset, NDArray[np.intp]]:
        """Return the table with sorted rows, and the position of each of them in this table.

        The result does not depend on the order of rows in this table.
        """
        codes = self._dataset.codes.astype(np.int64)
        codes[self._missing] = self._dataset.arities.max()
        order = np.lexsort(codes[::-1])
        rows = self.make_dataset(self._dataset.codes[:, order], order)
        return IncompleteDataset(rows, self._missing[:, order]), order

    def resample(self, rng: np.random.Generator) -> IncompleteDataset:
        """Return a bootstrap sample: `n_rows` rows, drawn with replacement.

        Rows in clusters are drawn by cluster, as by `Dataset.resample`. The draw does not depend
        on the order of rows.
        """
        table, _ = self.sort_by_content()
        drawn: NDArray[np.intp] = rng.integers(self.n_rows, size=self.n_rows)
        if (clusters := table.dataset.clusters) is not None:
            codes = table.dataset.codes.astype(np.uint32) + 1
            codes[table.missing] = 0
            drawn = draw_clusters(hash_rows(codes), clusters, rng)
        sample: Any = table.dataset.codes[:, drawn].copy(order="C")
        source = table.dataset
        rows = Dataset._from_parts(source.source_variables, source.variables, sample, None)
        return IncompleteDataset(rows, table.missing[:, drawn])

    def make_dataset(
        self, codes: NDArray[np.integer], rows: NDArray[np.intp] | None = None
    ) -> Dataset:
        """Return a dataset with the variables of this table and these codes.

        The codes are (n_variables, any number of rows), for example those of an imputed table.
        `rows` says which rows of this table they are. Without it, as many rows are the same rows,
        and have the same clusters.
        """
        source = self._dataset
        copy: Any = np.array(codes, dtype=source.codes.dtype, order="C")
        clusters = source.clusters
        if clusters is not None and rows is not None:
            clusters = clusters[rows]
        elif copy.shape[1] != source.n_rows:
            clusters = None
        return Dataset._from_parts(source.source_variables, source.variables, copy, None, clusters)

    def drop_incomplete_rows(self) -> Dataset:
        """Return the complete rows. Raise `DataError` if fewer than two rows are complete."""
        kept = ~self._missing.any(axis=0)
        if self.n_complete_rows < MIN_ROWS:
            n = self.n_complete_rows
            left = "1 row is" if n == 1 else "no row is" if n == 0 else f"{n} rows are"
            raise DataError(
                f"Of {self.n_rows:,} rows, {left} without missing values, too few to learn from "
                "(missing='drop'). Use another policy, such as missing='evolve', or leave out the "
                f"columns with the most missing values: {format_list(self._rank_incomplete())}."
            )
        return self.make_dataset(self._dataset.codes[:, kept], np.flatnonzero(kept))

    def add_missing_state(self, label: str = MISSING_STATE) -> Dataset:
        """Return all rows; each variable with missing values gets the additional state `label`."""
        variables, columns = [], []
        for variable in self._dataset.source_variables:
            place = self._dataset.find_position(variable.name)
            canonical = self._dataset.variables[place].states
            places = {state: k for k, state in enumerate(variable.states)}
            recode = np.array([places[state] for state in canonical])
            column = recode[self._dataset.codes[place]]
            missing = self._missing[place]
            if missing.any():
                state = _choose_label(label, variable)
                column = np.where(missing, variable.arity, column)
                variable = Variable(variable.name, (*variable.states, state))
            variables.append(variable)
            columns.append(column)
        return Dataset(variables, columns, clusters=self._dataset.clusters)

    def _rank_incomplete(self) -> list[str]:
        """Return the incomplete variables with their counts, most missing values first."""
        counts = self.missing_counts
        ranked = sorted((n for n in counts if counts[n]), key=lambda name: (-counts[name], name))
        return [f"{name!r} ({counts[name]:,})" for name in ranked]

    def __eq__(self, other: object) -> bool:
        """Return whether both have the same observations and the same missing values."""
        if not isinstance(other, IncompleteDataset):
            return NotImplemented
        return self.content_hash == other.content_hash

    def __hash__(self) -> int:
        return hash(self.content_hash)

    def __reduce__(self) -> tuple[Any, ...]:
        return IncompleteDataset, (self._dataset, self._missing)

    def __repr__(self) -> str:
        missing = f"{self.n_missing:,} missing value{'' if self.n_missing == 1 else 's'}"
        return f"<IncompleteDataset: {self.n_rows:,} rows, {self.n_variables} variables, {missing}>"


Rows = Dataset | IncompleteDataset  # a table in memory, complete or not


def _choose_label(label: str, variable: Variable) -> str:
    """Return the label, with underscores appended until it is not a state of the variable."""
    while label in variable.states:
        label += "_"
    if variable.arity == MAX_STATES:
        raise DataError(
            f"Variable {variable.name!r} has {MAX_STATES:,} states, the maximum of coevo, so "
            "missing='state' cannot add one. Group its values, or use another policy."
        )
    return label
