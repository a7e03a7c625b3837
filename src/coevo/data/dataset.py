"""The table that everything else computes on: compact codes in canonical order.

A `Dataset` is a value. Its variables are sorted by name and the states of each by code
point, so that the layout of the source cannot reach a result; what the source looked
like is kept beside it for output. A cell takes one byte, or two when some variable has
more than 256 states.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coevo.data.table import RowDigest, Table
from coevo.data.variable import Variable
from coevo.errors import DataError, first_repeated

__all__ = ["Codes", "Dataset", "combine_row_hashes", "row_hashes"]

Codes = NDArray[np.uint8] | NDArray[np.uint16]  # (n_vars, n_stored_rows)
Weights = NDArray[np.int64]  # (n_stored_rows,), each >= 1

# A weighted row costs more to count than a bit of a bit set, so that folding pays only
# when few distinct rows are left (see benchmarks/README.md, "Folding").
FOLD_AT_MOST = 1 / 16

MAX_OBSERVATIONS = 2**53  # up to which floats count exactly


class Dataset(Table):
    """Discrete observations, ready for counting.

    Use a reader of `coevo.data` to make one. The constructor takes coded columns.

    Parameters
    ----------
    variables : iterable of Variable
        One a column, in the order of the source, states in the order of the source.
    columns : sequence of integer arrays
        For each variable the code of its state in each row, an index into its `states`.
    weights : array of int, optional
        How often each row occurs; once if left out.

    Examples
    --------
    >>> dataset = Dataset(
    ...     [Variable("wet", ("no", "yes")), Variable("rain", ("no", "yes"))],
    ...     [[0, 1, 1], [0, 0, 1]],
    ... )
    >>> dataset.names
    ('rain', 'wet')
    >>> dataset.n_rows
    3
    """

    def __init__(
        self,
        variables: Iterable[Variable],
        columns: Sequence[NDArray[np.integer] | Sequence[int]],
        weights: NDArray[np.int64] | None = None,
    ) -> None:
        source = tuple(variables)
        arrays = [np.asarray(column) for column in columns]
        _check_columns(source, arrays)
        order = sorted(range(len(source)), key=lambda i: source[i].name)
        self._source = source
        self._variables = tuple(source[i].canonical() for i in order)
        dtype = np.uint8 if max(v.arity for v in source) <= 256 else np.uint16
        codes = np.empty((len(source), len(arrays[0])), dtype=dtype)
        for row, i in enumerate(order):
            rank = {state: code for code, state in enumerate(self._variables[row].states)}
            recode = np.array([rank[state] for state in source[i].states], dtype=dtype)
            np.take(recode, arrays[i], out=codes[row])
        codes.flags.writeable = False
        self._codes: Codes = codes
        self._weights = None if weights is None else _checked_weights(weights, codes.shape[1])

    @classmethod
    def _assembled(
        cls,
        source: tuple[Variable, ...],
        variables: tuple[Variable, ...],
        codes: Codes,
        weights: Weights | None,
    ) -> Dataset:
        """Return a dataset of parts that another dataset has already checked."""
        self = cls.__new__(cls)
        codes.flags.writeable = False
        if weights is not None:
            weights.flags.writeable = False
        self._source, self._variables = source, variables
        self._codes, self._weights = codes, weights
        return self

    @property
    def codes(self) -> Codes:
        """State of each variable in each stored row: (n_variables, n_stored), read-only."""
        return self._codes

    @property
    def weights(self) -> Weights | None:
        """How often each stored row occurs, or None when every row is stored."""
        return self._weights

    @cached_property
    def n_rows(self) -> int:
        """Number of observations."""
        return self._codes.shape[1] if self._weights is None else int(self._weights.sum())

    @cached_property
    def state_counts(self) -> tuple[NDArray[np.int64], ...]:
        """How many observations are in each state, for each variable in canonical order."""
        return tuple(
            np.bincount(column, weights=self._weights, minlength=int(arity)).astype(np.int64)
            for column, arity in zip(self._codes, self.arities, strict=True)
        )

    @cached_property
    def row_digest(self) -> RowDigest:
        """Two numbers that no order of the rows changes; those of parts add up to them."""
        return combine_row_hashes(self._marks, self._weights)

    def folded(self) -> Dataset:
        """Return the same observations with equal rows stored once, where that pays."""
        if self._weights is not None or not self._may_fold():
            return self
        _, first, counts = self._distinct_rows()
        if len(first) > FOLD_AT_MOST * self._codes.shape[1]:
            return self
        codes: Codes = self._codes[:, first].copy(order="C")
        folded = Dataset._assembled(self._source, self._variables, codes, counts)
        return folded if self._is_folding(first) else self

    def unfolded(self) -> Dataset:
        """Return the same observations with every row stored."""
        if self._weights is None:
            return self
        every = np.repeat(np.arange(len(self._weights)), self._weights)
        codes: Codes = self._codes[:, every].copy(order="C")
        return Dataset._assembled(self._source, self._variables, codes, None)

    def resampled(self, rng: np.random.Generator) -> Dataset:
        """Return as many observations, drawn from these with replacement.

        No order of rows changes the draw, nor does folding: it is made among the observations
        as their marks sort them. The result is stored as this one is, row by row or with
        weights, so that the same kernels count it.

        >>> dataset = Dataset([Variable("wet", ("no", "yes"))], [[0, 1, 1]])
        >>> dataset.resampled(np.random.default_rng(1)).codes
        array([[1, 1, 0]], dtype=uint8)
        """
        order = np.argsort(self._marks, kind="stable")
        drawn = rng.integers(self.n_rows, size=self.n_rows)
        if self._weights is None:
            codes: Codes = self._codes[:, order[drawn]].copy(order="C")
            return Dataset._assembled(self._source, self._variables, codes, None)
        slots = np.searchsorted(np.cumsum(self._weights[order]), drawn, side="right")
        counts = np.bincount(slots, minlength=len(order)).astype(np.int64)
        kept = np.flatnonzero(counts)
        codes = self._codes[:, order[kept]].copy(order="C")
        return Dataset._assembled(self._source, self._variables, codes, counts[kept])

    def _may_fold(self) -> bool:
        """Return whether a look at the first rows leaves a chance that folding pays."""
        start = self._codes[:, :4096]
        return bool(len(np.unique(row_hashes(start))) <= start.shape[1] / 2)

    @cached_property
    def _marks(self) -> NDArray[np.uint64]:
        return row_hashes(self._codes)

    def _distinct_rows(
        self,
    ) -> tuple[NDArray[np.uint64], NDArray[np.intp], NDArray[np.int64]]:
        """Return mark, first position and count of each distinct row, sorted by mark."""
        marks, first, counts = np.unique(self._marks, return_index=True, return_counts=True)
        return marks, first, counts.astype(np.int64)

    def _is_folding(self, first: NDArray[np.intp]) -> bool:
        """Return whether equal marks mean equal rows here; two rows may share a mark."""
        stands_for = first[np.searchsorted(self._marks[first], self._marks)]
        return all(np.array_equal(column[stands_for], column) for column in self._codes)

    def __eq__(self, other: object) -> bool:
        """Return whether both hold the same observations of the same variables."""
        if not isinstance(other, Dataset):
            return NotImplemented
        return self.content_hash == other.content_hash

    def __hash__(self) -> int:
        return hash(self.content_hash)

    def __reduce__(self) -> tuple[Any, ...]:
        # An array that was pickled can be written to; the parts of a dataset cannot.
        return Dataset._assembled, (self._source, self._variables, self._codes, self._weights)

    def __repr__(self) -> str:
        stored = "" if self._weights is None else f" ({self._codes.shape[1]:,} distinct)"
        return f"<Dataset: {self.n_rows:,} rows{stored}, {self.n_variables} variables>"


def _check_columns(variables: tuple[Variable, ...], columns: Sequence[NDArray[np.integer]]) -> None:
    twice = first_repeated(variable.name for variable in variables)
    if twice is not None:
        raise DataError(f"Two columns are called {twice!r}. Rename one of them.")
    if len(columns) != len(variables):
        raise DataError(f"{len(variables)} variables are declared for {len(columns)} columns.")
    if not columns:
        raise DataError("The table has no columns. A network needs at least two.")
    for variable, column in zip(variables, columns, strict=True):
        if column.ndim != 1 or len(column) != len(columns[0]):
            raise DataError(f"Column {variable.name!r} does not have one code for each row.")
        if not len(column):
            raise DataError("The table has no rows. Give at least one observation.")
        if column.dtype.kind not in "iu":
            raise DataError(f"The codes of column {variable.name!r} are not whole numbers.")
        if int(column.min()) < 0 or int(column.max()) >= variable.arity:
            raise DataError(
                f"A code of column {variable.name!r} is not one of its {variable.arity} states."
            )


def _checked_weights(weights: NDArray[np.int64], n_stored: int) -> Weights:
    given = np.asarray(weights)
    if given.shape != (n_stored,) or given.dtype.kind not in "iu" or (given < 1).any():
        raise DataError("Weights must be one whole number of 1 or above for each row.")
    if float(given.sum(dtype=np.float64)) > MAX_OBSERVATIONS:
        raise DataError(f"The weights sum to more than {MAX_OBSERVATIONS:,}.")
    checked = given.astype(np.int64)
    checked.flags.writeable = False
    return checked


def combine_row_hashes(marks: NDArray[np.uint64], weights: Weights | None = None) -> RowDigest:
    """Return two numbers that no order of rows with these marks changes."""
    times = np.uint64(1) if weights is None else weights.astype(np.uint64)
    return int((marks * times).sum()), int((marks * marks * times).sum())  # both wrap around


def row_hashes(codes: Codes) -> NDArray[np.uint64]:
    """Return a 64-bit mark for each row; equal rows have equal marks.

    Each step is the mixing function of splitmix64 (Steele, Lea and Flood 2014), taken on
    the mark so far plus the next code.
    """
    marks = np.zeros(codes.shape[1], dtype=np.uint64)
    shifted = np.empty_like(marks)
    for column in codes:
        marks += column
        marks += np.uint64(0x9E3779B97F4A7C15)
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            np.right_shift(marks, np.uint64(shift), out=shifted)
            marks ^= shifted
            marks *= np.uint64(factor)
        np.right_shift(marks, np.uint64(31), out=shifted)
        marks ^= shifted
    return marks
