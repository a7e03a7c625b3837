"""Imputations: tables in which every missing value has a state, drawn and never maximised.

An imputation that *maximises* the score of a structure is more regular than any real table. Each
imputed value is the one that the structure expects. Arcs of the structure then look stronger than
they are, and other arcs look weaker. Therefore `Imputations` is a population of tables that are
drawn from their posterior distribution under a structure (`Imputations.redraw`). Several draws
together give the probability of each state of each missing value
(`Imputations.estimate_probabilities`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from coevo.data import Codes, Dataset, IncompleteDataset
from coevo.engine import INT, Structure, array, kernel, read_array
from coevo.errors import ParameterError
from coevo.missing.policy_checkpoint import ImputedCodes, make_damage_error
from coevo.runtime.memory import check_memory
from coevo.runtime.randomness import random_stream
from coevo.runtime.threads import Threads

__all__ = [
    "Adjacency",
    "FamilyTables",
    "ImputationProbabilities",
    "Imputations",
    "MissingValues",
    "add_rows",
    "draw_values",
    "impute_codes",
    "impute_most_common",
    "impute_most_probable",
    "make_family_tables",
    "maximise_values",
]


# Collapsed Gibbs sampling of missing values under a structure; see engine/gibbs.h.


class FamilyTables(Structure):
    """The families of a structure and their tables of counts, one table after another.

    The table of variable v begins at ``first[v]`` in `counts`. Its margin, the number of rows for
    each configuration of the parents, begins at ``first_margin[v]`` in `margins`. The state of the
    child varies fastest.
    """

    arity: NDArray[np.int64] = read_array(np.int64)  # (n,)
    prior: NDArray[np.float64] = read_array(np.float64)  # (n,), pseudo-count of each cell
    start: NDArray[np.int64] = read_array(np.int64)  # (n + 1,), of the parents of v in `parents`
    parents: NDArray[np.int64] = read_array(np.int64)
    stride: NDArray[np.int64] = read_array(np.int64)  # of each parent in the table of its child
    child_start: NDArray[np.int64] = read_array(np.int64)  # (n + 1,), in `children`
    children: NDArray[np.int64] = read_array(np.int64)
    child_stride: NDArray[np.int64] = read_array(np.int64)  # of v in the table of each child
    first: NDArray[np.int64] = read_array(np.int64)  # (n,)
    first_margin: NDArray[np.int64] = read_array(np.int64)  # (n,)
    counts: NDArray[np.int64] = array(np.int64)
    margins: NDArray[np.int64] = array(np.int64)
    weights: NDArray[np.float64] = array(np.float64)  # (largest arity,), working memory


@kernel(FamilyTables, read_array(np.uint16, 2))
def add_rows(tables: FamilyTables, codes: NDArray[np.uint16]) -> None:
    """Add all rows to the tables. The tables must be empty."""


@kernel(
    FamilyTables,
    array(np.uint16, 2),
    read_array(np.int64),
    read_array(np.int64),
    read_array(np.float64),
    array(np.float64, 2),
)
def draw_values(
    tables: FamilyTables,
    codes: NDArray[np.uint16],
    variables: NDArray[np.int64],
    rows: NDArray[np.int64],
    uniforms: NDArray[np.float64],
    totals: NDArray[np.float64],
) -> None:
    """Draw each missing value again, and add the probabilities of its states to ``totals[value]``.

    `uniforms` has a random number from 0 to 1 for each missing value. If `totals` is empty, no
    probabilities are added.
    """


@kernel(
    FamilyTables, array(np.uint16, 2), read_array(np.int64), read_array(np.int64), returns=INT
)  # fmt: skip
def maximise_values(
    tables: FamilyTables,
    codes: NDArray[np.uint16],
    variables: NDArray[np.int64],
    rows: NDArray[np.int64],
) -> int:
    """Set each missing value to its most probable state; return how many values changed."""
    raise NotImplementedError


Adjacency = NDArray[np.bool_]  # (n, n), [parent, child]

STREAM = 1  # first key of the random streams of imputations
EQUIVALENT_SAMPLE_SIZE = 1.0  # of the prior of each table; the default of `fit_network`


@dataclass(frozen=True, eq=False)
class MissingValues:
    """The positions of the missing values of a table, row by row.

    Attributes
    ----------
    variables, rows : array of int, (n_missing,)
        The variable and the row of each missing value.
    """

    variables: NDArray[np.int64]
    rows: NDArray[np.int64]

    @classmethod
    def from_table(cls, table: IncompleteDataset) -> MissingValues:
        """Return the missing values of a table."""
        rows, variables = np.nonzero(table.missing.T)
        return cls(variables.astype(np.int64), rows.astype(np.int64))

    def group_by_equal_rows(self, table: IncompleteDataset) -> NDArray[np.intp]:
        """Return the group number of each missing value.

        Two missing values are in one group if they belong to the same variable and their rows are
        equal, with the same values missing.
        """
        codes = table.dataset.codes.astype(np.int64)
        codes[table.missing] = -1
        _, row_group = np.unique(codes, axis=1, return_inverse=True)
        keys = row_group.ravel()[self.rows] * table.n_variables + self.variables
        groups: NDArray[np.intp] = np.unique(keys, return_inverse=True)[1]
        return groups

    def __len__(self) -> int:
        return len(self.rows)


@dataclass(frozen=True, eq=False)
class ImputationProbabilities:
    """The probability of each state of each missing value.

    Attributes
    ----------
    missing_values : MissingValues
        The positions of the missing values.
    probabilities : array of float, (n_missing, largest arity)
        The states are in canonical order. A state that the variable does not have has 0.
    """

    missing_values: MissingValues
    probabilities: NDArray[np.float64]

    @property
    def most_probable_codes(self) -> NDArray[np.intp]:
        """The most probable state of each missing value; the first one in case of a tie."""
        codes: NDArray[np.intp] = self.probabilities.argmax(axis=1)
        return codes

    @property
    def highest_probabilities(self) -> NDArray[np.float64]:
        """The probability of the most probable state of each missing value."""
        highest: NDArray[np.float64] = self.probabilities.max(axis=1, initial=0.0)
        return highest


class Imputations:
    """A population of imputations of one table.

    The random stream of an individual depends on the seed, on the number of draws so far and on
    the number of the individual. It does not depend on threads.

    Parameters
    ----------
    table : IncompleteDataset
        The table with missing values.
    size : int
        Number of imputations.
    seed : int
        The seed of all random numbers.
    threads : Threads
        The threads that draw.
    """

    def __init__(self, table: IncompleteDataset, size: int, seed: int, threads: Threads) -> None:
        self.table, self._seed, self._threads = table, seed, threads
        self.missing_values = MissingValues.from_table(table)
        self._n_draws = 0
        self.codes: list[Codes] = [
            _draw_from_margins(table, random_stream(seed, STREAM, 0, i)) for i in range(size)
        ]

    @property
    def n_draws(self) -> int:
        """How often the population was drawn."""
        return self._n_draws

    @property
    def imputed_codes(self) -> ImputedCodes:
        """The imputed values of all imputations: (n_imputations, n_missing)."""
        positions = self.missing_values.variables, self.missing_values.rows
        return np.stack([codes[positions] for codes in self.codes])

    def restore(self, imputed_codes: ImputedCodes, n_draws: int) -> None:
        """Set all imputed values and the number of draws, as stored in a checkpoint."""
        if np.ndim(imputed_codes) != 2:
            raise make_damage_error("'imputed_codes' must have 2 axes")
        if imputed_codes.shape != (len(self.codes), len(self.missing_values)):
            raise ParameterError(
                f"The state has {imputed_codes.shape[-1]:,} missing values, and the table has "
                f"{len(self.missing_values):,}. Resume with the table that it was made from."
            )
        for codes in imputed_codes:
            self.check_codes(codes, "imputed_codes")
        self._n_draws = n_draws
        self.codes = [
            impute_codes(self.table, self.missing_values, codes) for codes in imputed_codes
        ]

    def check_codes(self, codes: ImputedCodes, name: str) -> None:
        """Raise `ParameterError` unless these are states of all missing values."""
        variables, arities = self.missing_values.variables, self.table.dataset.arities
        dtype = self.table.dataset.codes.dtype
        is_right = np.shape(codes) == variables.shape and np.asarray(codes).dtype == dtype
        if not is_right or (codes >= arities[variables]).any():
            raise make_damage_error(f"{name!r} must hold a state of each missing value")

    def make_datasets(self) -> list[Dataset]:
        """Return the current imputed tables."""
        return [self.table.make_dataset(codes) for codes in self.codes]

    def redraw(self, structures: Sequence[Adjacency], n_sweeps: int) -> None:
        """Draw all missing values again, in `n_sweeps` sweeps; individual i under structure i.

        If there are fewer structures than individuals, the structures are reused in turn.
        """
        self._sweep(structures, n_sweeps, 0)

    def estimate_probabilities(
        self, structures: Sequence[Adjacency], n_sweeps: int
    ) -> ImputationProbabilities:
        """Return the probability of each state of each missing value, over all individuals.

        The values are drawn again as in `redraw`: first `n_sweeps` sweeps that are not counted
        (burn-in), then `n_sweeps` sweeps that are. Equal rows with the same missing values have
        equal probabilities, so the result is the mean over them.
        """
        totals = self._sweep(structures, n_sweeps, n_sweeps)
        group = self.missing_values.group_by_equal_rows(self.table)
        group_totals = np.zeros((int(group.max(initial=-1)) + 1, totals.shape[1]))
        np.add.at(group_totals, group, totals)
        probabilities = (group_totals / group_totals.sum(axis=1, keepdims=True))[group]
        return ImputationProbabilities(self.missing_values, probabilities)

    def _sweep(
        self, structures: Sequence[Adjacency], n_burn_in: int, n_counted: int
    ) -> NDArray[np.float64]:
        """Sweep over all missing values of each individual; return the sums of probabilities."""
        self._n_draws += 1
        arities = self.table.dataset.arities
        shape = (len(self.missing_values), int(arities.max()))
        if n_counted:
            needed = 8 * len(self.codes) * shape[0] * shape[1]
            check_memory(needed, "Imputing the missing values", "Take fewer rows.")
        totals = np.zeros((len(self.codes), *shape)) if n_counted else np.zeros((1, 0, 0))
        positions = (self.missing_values.variables, self.missing_values.rows)
        not_counted = np.empty((0, 0))
        drawn = [codes.astype(np.uint16) for codes in self.codes]  # the type of the kernels

        def sweep_part(begin: int, end: int, part: int) -> None:
            for i in range(begin, end):
                rng = random_stream(self._seed, STREAM, self._n_draws, i)
                tables = make_family_tables(structures[i % len(structures)], arities)
                add_rows(tables, drawn[i])
                for sweep in range(n_burn_in + n_counted):
                    uniforms = rng.random(len(self.missing_values))
                    own_totals = not_counted if sweep < n_burn_in else totals[i]
                    draw_values(tables, drawn[i], *positions, uniforms, own_totals)

        self._threads.run_in_parts(sweep_part, len(drawn), 1)
        is_small = self.table.dataset.codes.dtype == np.uint8
        self.codes = [codes.astype(np.uint8) if is_small else codes for codes in drawn]
        total: NDArray[np.float64] = totals.sum(axis=0)
        return total


def impute_codes(
    table: IncompleteDataset, missing_values: MissingValues, imputed_codes: ImputedCodes
) -> Codes:
    """Return the codes of a table with these states in place of its missing values."""
    codes: Codes = table.dataset.codes.copy()
    codes[missing_values.variables, missing_values.rows] = imputed_codes
    return codes


def impute_most_probable(table: IncompleteDataset, estimated: ImputationProbabilities) -> Codes:
    """Return the codes of a table with the most probable state of each missing value."""
    return impute_codes(table, estimated.missing_values, estimated.most_probable_codes)


def impute_most_common(table: IncompleteDataset) -> Codes:
    """Return the codes of a table with the most common state of the column in each missing value.

    This is imputation by the mode.
    """
    codes: Codes = table.dataset.codes.copy()
    for column, is_missing, observed in _iter_columns(table, codes):
        column[is_missing] = np.bincount(observed).argmax()
    return codes


def _draw_from_margins(table: IncompleteDataset, rng: Generator) -> Codes:
    """Impute each column with states drawn from its observed values."""
    codes: Codes = table.dataset.codes.copy()
    for column, is_missing, observed in _iter_columns(table, codes):
        column[is_missing] = rng.choice(observed, size=int(is_missing.sum()))
    return codes


def _iter_columns(
    table: IncompleteDataset, codes: Codes
) -> Iterator[tuple[NDArray[Any], NDArray[np.bool_], NDArray[Any]]]:
    """Yield each column, the mask of its missing values, and its observed values.

    A column without observed values yields each of its states once in their place.
    """
    for column, is_missing, arity in zip(codes, table.missing, table.dataset.arities, strict=True):
        yield column, is_missing, np.arange(arity) if is_missing.all() else column[~is_missing]


def make_family_tables(
    adjacency: Adjacency, arities: NDArray[np.int64], cell_prior: float | None = None
) -> FamilyTables:
    """Return empty tables of counts for the families of a structure.

    The prior adds `cell_prior` pseudo-counts to each cell. By default it adds one to each table,
    spread evenly over its cells.
    """
    n = len(adjacency)
    parents = [np.flatnonzero(adjacency[:, v]) for v in range(n)]
    # The stride of a parent is the arity of the child times those of the parents before it.
    strides = [
        np.cumprod([arities[v], *arities[parent_set]]) for v, parent_set in enumerate(parents)
    ]
    sizes = [int(stride[-1]) for stride in strides]
    check_memory(16 * sum(sizes), "Counting the families of a structure", "Limit 'max_parents'.")
    flat = np.concatenate([*parents, np.empty(0, dtype=np.int64)]).astype(np.int64)
    stride = np.concatenate([s[:-1] for s in strides]).astype(np.int64)
    n_parents = [len(parent_set) for parent_set in parents]
    child_of = np.repeat(np.arange(n), n_parents)
    by_parent = np.argsort(flat, kind="stable")
    margin_sizes = [size // int(arity) for size, arity in zip(sizes, arities, strict=True)]
    even_prior = EQUIVALENT_SAMPLE_SIZE / np.array(sizes, dtype=np.float64)
    return FamilyTables(
        arity=arities,
        prior=even_prior if cell_prior is None else np.full(n, cell_prior),
        start=_compute_offsets(n_parents),
        parents=flat,
        stride=stride,
        child_start=_compute_offsets(np.bincount(flat, minlength=n).tolist()),
        children=child_of[by_parent],
        child_stride=stride[by_parent],
        first=_compute_offsets(sizes)[:-1],
        first_margin=_compute_offsets(margin_sizes)[:-1],
        counts=np.zeros(sum(sizes), dtype=np.int64),
        margins=np.zeros(sum(margin_sizes), dtype=np.int64),
        weights=np.empty(int(arities.max(initial=1))),
    )


def _compute_offsets(lengths: Sequence[int]) -> NDArray[np.int64]:
    """Return the start of each of several runs with these lengths, and the end of the last."""
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
