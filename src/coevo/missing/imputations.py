"""Imputations: tables in which every missing cell has a state, drawn and never maximised.

A completion that *maximises* the score of a structure is more regular than any real table:
each missing cell is what the structure expects, so that arcs which are there look stronger
than they are and arcs which are not there look weaker. Here a completion is an individual
of a population that is drawn, as often as it is probable under a structure (`redraw`).
Several of them together say what the missing cells can be, and how sure that is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from coevo.data import Codes, Dataset, IncompleteDataset
from coevo.errors import ParameterError
from coevo.memory import check_memory
from coevo.missing.gibbs_kernels import Tables, add_rows, draw_cells
from coevo.missing.policy_checkpoint import Cells
from coevo.randomness import random_stream
from coevo.threads import Threads

__all__ = [
    "Adjacency",
    "Filled",
    "Holes",
    "Imputations",
    "family_tables",
    "filled_in",
    "most_common",
    "with_cells",
]

Adjacency = NDArray[np.bool_]  # (n, n), [parent, child]

STREAM = 1  # first key of the random streams of completions
PRIOR_ROWS = 1.0  # imagined rows, spread over each table; what `fit` takes


@dataclass(frozen=True)
class Holes:
    """The missing cells of a table, row by row."""

    variables: NDArray[np.int64]
    rows: NDArray[np.int64]

    @classmethod
    def of(cls, table: IncompleteDataset) -> Holes:
        """Return the missing cells of a table."""
        rows, variables = np.nonzero(table.missing.T)
        return cls(variables.astype(np.int64), rows.astype(np.int64))

    def kinds(self, table: IncompleteDataset) -> NDArray[np.intp]:
        """Return a number for each cell, the same for the same cell of equal rows."""
        codes = table.dataset.codes.astype(np.int64)
        codes[table.missing] = -1
        _, row_kind = np.unique(codes, axis=1, return_inverse=True)
        cell = row_kind.ravel()[self.rows] * table.n_variables + self.variables
        kinds: NDArray[np.intp] = np.unique(cell, return_inverse=True)[1]
        return kinds

    def __len__(self) -> int:
        return len(self.rows)


@dataclass(frozen=True)
class Filled:
    """How probable each state of each missing cell is, states in canonical order."""

    holes: Holes
    probabilities: NDArray[np.float64]  # (n_holes, largest arity); 0 where there is no state

    @property
    def codes(self) -> NDArray[np.intp]:
        """The most probable state of each cell; of several the first."""
        best: NDArray[np.intp] = self.probabilities.argmax(axis=1)
        return best

    @property
    def probability(self) -> NDArray[np.float64]:
        """How probable the most probable state of each cell is."""
        highest: NDArray[np.float64] = self.probabilities.max(axis=1, initial=0.0)
        return highest


class Imputations:
    """A population of completions of one table.

    Which random numbers an individual gets depends on the seed, on how often the population
    was redrawn and on its own number, never on a thread.
    """

    def __init__(self, table: IncompleteDataset, size: int, seed: int, threads: Threads) -> None:
        self.table, self._seed, self._threads = table, seed, threads
        self.holes = Holes.of(table)
        self._n_drawn = 0
        self.codes: list[Codes] = [
            _from_margins(table, random_stream(seed, STREAM, 0, i)) for i in range(size)
        ]

    @property
    def n_drawn(self) -> int:
        """How often they were drawn."""
        return self._n_drawn

    @property
    def cells(self) -> Cells:
        """The missing cells of all completions."""
        own = [codes[self.holes.variables, self.holes.rows] for codes in self.codes]
        return np.stack(own)

    def put(self, cells: Cells, n_drawn: int) -> None:
        """Be as they were when they had these cells, and were drawn so often."""
        if cells.shape != (len(self.codes), len(self.holes)):
            raise ParameterError(
                f"The state has {cells.shape[-1]:,} missing cells, and the table has "
                f"{len(self.holes):,}."
            )
        self._n_drawn = n_drawn
        self.codes = [with_cells(self.table, self.holes, own) for own in cells]

    def datasets(self) -> list[Dataset]:
        """Return all completions as they are now."""
        return [self.table.make_dataset(codes) for codes in self.codes]

    def redraw(self, structures: Sequence[Adjacency], n_sweeps: int) -> None:
        """Replace all missing cells by new draws, so many times; individual i under structure i.

        Where there are fewer structures they serve in turn.
        """
        self._sweep(structures, n_sweeps, 0)

    def fill(self, structures: Sequence[Adjacency], n_sweeps: int) -> Filled:
        """Return how probable the states of the missing cells are, over all individuals.

        They are drawn anew as in `redraw`, with as many sweeps before any is counted. Rows
        that are equal, holes included, have equal probabilities, so that their mean is taken.
        """
        seen = self._sweep(structures, n_sweeps, n_sweeps)
        kind = self.holes.kinds(self.table)
        total = np.zeros((int(kind.max(initial=-1)) + 1, seen.shape[1]))
        np.add.at(total, kind, seen)
        return Filled(self.holes, (total / total.sum(axis=1, keepdims=True))[kind])

    def _sweep(
        self, structures: Sequence[Adjacency], n_before: int, n_counted: int
    ) -> NDArray[np.float64]:
        """Sweep over all cells of each individual; return the sum of their probabilities."""
        self._n_drawn += 1
        arities = self.table.dataset.arities
        shape = (len(self.holes), int(arities.max()))
        if n_counted:
            needed = 8 * len(self.codes) * shape[0] * shape[1]
            check_memory(needed, "Filling the missing cells", "Take fewer rows.")
        seen = np.zeros((len(self.codes), *shape)) if n_counted else np.zeros((1, 0, 0))
        none, cells = np.empty((0, 0)), (self.holes.variables, self.holes.rows)
        drawn: list[Codes] = [codes.copy() for codes in self.codes]

        def sweep(begin: int, end: int, part: int) -> None:
            for i in range(begin, end):
                rng = random_stream(self._seed, STREAM, self._n_drawn, i)
                tables = family_tables(structures[i % len(structures)], arities)
                add_rows(tables, drawn[i])
                for turn in range(n_before + n_counted):
                    numbers = rng.random(len(self.holes))
                    counted = none if turn < n_before else seen[i]
                    draw_cells(tables, drawn[i], *cells, numbers, counted)

        self._threads.run_in_parts(sweep, len(drawn), 1)
        self.codes = drawn
        total: NDArray[np.float64] = seen.sum(axis=0)
        return total


def filled_in(table: IncompleteDataset, filled: Filled) -> Codes:
    """Return the codes of a table with the most probable state in each missing cell."""
    return with_cells(table, filled.holes, filled.codes)


def with_cells(table: IncompleteDataset, holes: Holes, cells: Cells) -> Codes:
    """Return the codes of a table with these states in its missing cells."""
    codes: Codes = table.dataset.codes.copy()
    codes[holes.variables, holes.rows] = cells
    return codes


def most_common(table: IncompleteDataset) -> Codes:
    """Return the codes of a table with the most common state of its column in each hole."""
    codes: Codes = table.dataset.codes.copy()
    for own, holes, seen in _columns(table, codes):
        own[holes] = np.bincount(seen).argmax()
    return codes


def _from_margins(table: IncompleteDataset, rng: Generator) -> Codes:
    """Fill each column with states drawn from those that it shows."""
    codes: Codes = table.dataset.codes.copy()
    for own, holes, seen in _columns(table, codes):
        own[holes] = rng.choice(seen, size=int(holes.sum()))
    return codes


def _columns(
    table: IncompleteDataset, codes: Codes
) -> Iterator[tuple[NDArray[Any], NDArray[np.bool_], NDArray[Any]]]:
    """Yield each column, its holes, and what it shows: each state once, if it shows nothing."""
    for own, holes, arity in zip(codes, table.missing, table.dataset.arities, strict=True):
        yield own, holes, np.arange(arity) if holes.all() else own[~holes]


def family_tables(
    adjacency: Adjacency, arities: NDArray[np.int64], cell_prior: float | None = None
) -> Tables:
    """Return the empty tables of the families of a structure.

    Each cell has `cell_prior` imagined rows; if left out, each table has one.
    """
    n = len(adjacency)
    parents = [np.flatnonzero(adjacency[:, v]) for v in range(n)]
    # The stride of a parent is the arity of the child times those of the parents before it.
    strides = [np.cumprod([arities[v], *arities[own]]) for v, own in enumerate(parents)]
    sizes = [int(stride[-1]) for stride in strides]
    check_memory(16 * sum(sizes), "Counting the families of a structure", "Limit 'max_parents'.")
    flat = np.concatenate([*parents, np.empty(0, dtype=np.int64)]).astype(np.int64)
    stride = np.concatenate([s[:-1] for s in strides]).astype(np.int64)
    child_of = np.repeat(np.arange(n), [len(own) for own in parents])
    by_parent = np.argsort(flat, kind="stable")
    rows = [size // int(arity) for size, arity in zip(sizes, arities, strict=True)]
    even = PRIOR_ROWS / np.array(sizes, dtype=np.float64)
    return Tables(
        arity=arities,
        prior=even if cell_prior is None else np.full(n, cell_prior),
        start=_begins([len(own) for own in parents]),
        parents=flat,
        stride=stride,
        child_start=_begins(np.bincount(flat, minlength=n).tolist()),
        children=child_of[by_parent],
        child_stride=stride[by_parent],
        first=_begins(sizes)[:-1],
        first_margin=_begins(rows)[:-1],
        counts=np.zeros(sum(sizes), dtype=np.int64),
        margins=np.zeros(sum(rows), dtype=np.int64),
    )


def _begins(lengths: Sequence[int]) -> NDArray[np.int64]:
    """Return where each of some runs begins, and where the last ends."""
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
