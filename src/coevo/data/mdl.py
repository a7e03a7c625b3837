"""Cut points, and how many of them, by description length.

What a network needs of a column is not its density but what it tells about the others. (The
usual criteria of a histogram leave a uniform column in one bin, and with that nothing to
learn from.) So the cuts of a column are those with which it describes its *relatives* in the
fewest nats:

    sum over relatives Y of   N H(Y | bins) + (bins - 1) (arity of Y - 1) / 2 log N
    plus the logarithm of the number of ways to place so many cuts,

the two-part code of Fayyad and Irani (1993) and of Friedman and Goldszmidt (1996), with the
price of a parameter that BIC has. The relatives are the (at most five) columns that a BIC
score would join to this one; for that question, and as relatives, columns of numbers are
taken in four bins of equal size, whatever becomes of them, so that no order of columns
matters. A column without relatives is cut once, near its median.

The cuts are chosen among the borders of 32 groups of about equal size, which is every
possible cut where there are no more values, and the best of all choices is found by dynamic
programming.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coevo.data.binning import Costs, Counts, Starts, Values, best_starts, even_starts, midway
from coevo.data.cut_points import CutPoints

__all__ = ["Coded", "Measured", "coarse", "mdl"]

MOST_GROUPS = 32
MOST_RELATIVES = 5
MOST_STATES = 64  # of a relative; pairs say little about one that has more
COARSE_BINS = 4
BLOCK_CELLS = 1 << 24  # of zeros and ones that pairs are counted with
LEAST_GAIN = 1e-9  # what round-off may pretend


@dataclass(frozen=True, slots=True)
class Coded:
    """A column of states: a code for each row."""

    name: str
    codes: NDArray[np.integer]
    arity: int

    def at(self, rows: NDArray[np.bool_]) -> Coded:
        """Return the column in some rows."""
        return Coded(self.name, self.codes[rows], self.arity)


@dataclass(frozen=True, slots=True)
class Measured:
    """A column of numbers: its distinct values, and which of them each row shows.

    A row whose number is missing has the place behind the last.
    """

    name: str
    values: Values
    places: NDArray[np.integer]  # (n_rows,)

    @property
    def counts(self) -> Counts:
        """How many rows show each value."""
        return np.bincount(self.places, minlength=len(self.values))[: len(self.values)]

    @property
    def seen(self) -> NDArray[np.bool_]:
        """Which rows have a number."""
        return self.places < len(self.values)

    def grouped(self, starts: Starts) -> Coded:
        """Return the column in bins that start at these of its values.

        Missing numbers, if there are any, are one bin more.
        """
        bins = np.searchsorted(starts, np.arange(len(self.values) + 1), side="right")
        n_bins = len(starts) + 1
        bins[-1] = n_bins
        arity = n_bins + int(not self.seen.all())
        return Coded(self.name, bins.astype(np.uint8)[self.places], arity)


def coarse(column: Measured) -> Coded:
    """Return a column of numbers in a few bins of about equal size."""
    return column.grouped(even_starts(column.counts, COARSE_BINS))


def mdl(
    columns: Sequence[Measured], coded: Sequence[Coded], most_bins: Sequence[int]
) -> list[CutPoints]:
    """Return the cuts of each column, of at most so many bins each.

    `coded` are the other columns of the table.
    """
    rough = [coarse(column) for column in columns]
    others = sorted(
        (other for other in (*coded, *rough) if 2 <= other.arity <= MOST_STATES),
        key=lambda other: other.name,
    )
    gains = _gains(rough, others)
    found = []
    for column, gain, most in zip(columns, gains, most_bins, strict=True):
        order = np.argsort(-gain, kind="stable")[:MOST_RELATIVES]
        relatives = [others[i] for i in order if gain[i] > LEAST_GAIN]
        borders = even_starts(column.counts, MOST_GROUPS)
        fine = Coded(column.name, column.grouped(borders).codes, len(borders) + 1).at(column.seen)
        near = [other.at(column.seen) for other in relatives]
        starts = borders[_best_cuts(fine, near, most)]
        if not len(starts):
            starts = even_starts(column.counts, 2)
        found.append(midway(column.values, starts))
    return found


def _gains(columns: Sequence[Coded], others: Sequence[Coded]) -> NDArray[np.float64]:
    """Return by how much BIC rises when a column is joined to another: [column, other].

    Pairs are counted by products of matrices of zeros and ones, which are exact and fast.
    """
    gains = np.full((len(columns), len(others)), -np.inf)
    if not columns or not others:
        return gains
    n_rows = len(columns[0].codes)
    own = n_rows * math.log(n_rows)
    price = math.log(n_rows) / 2
    for down, column_ones, column_starts in _ones(columns, n_rows):
        for across, other_ones, other_starts in _ones(others, n_rows):
            table = (column_ones @ other_ones.T).astype(np.float64)
            joint = np.add.reduceat(_x_log_x(table), other_starts, axis=1)
            joint = np.add.reduceat(joint, column_starts, axis=0)
            for side, ones, starts in (
                (1, column_ones, column_starts),
                (0, other_ones, other_starts),
            ):
                alone = _x_log_x(ones.sum(axis=1, dtype=np.float64))
                joint -= np.expand_dims(np.add.reduceat(alone, starts), side)
            free = np.multiply.outer(
                [c.arity - 1 for c in columns[down]], [o.arity - 1 for o in others[across]]
            )
            gains[down, across] = joint + own - price * free
    same = [[c.name == o.name for o in others] for c in columns]
    return np.where(same, -np.inf, gains)


def _ones(
    columns: Sequence[Coded], n_rows: int
) -> Iterator[tuple[slice, NDArray[np.floating], NDArray[np.intp]]]:
    """Yield blocks of columns as zeros and ones, (states, rows), and where each begins."""
    dtype = np.float32 if n_rows < 1 << 24 else np.float64  # that count exactly
    step = max(1, BLOCK_CELLS // (n_rows * max(c.arity for c in columns)))
    for first in range(0, len(columns), step):
        block = columns[first : first + step]
        ends = np.cumsum([c.arity for c in block])
        starts = ends - [c.arity for c in block]
        ones = np.zeros((ends[-1], n_rows), dtype=dtype)
        for column, start in zip(block, starts, strict=True):
            ones[start + column.codes.astype(np.intp), np.arange(n_rows)] = 1
        yield slice(first, first + len(block)), ones, starts


def _best_cuts(fine: Coded, relatives: Sequence[Coded], most: int) -> Starts:
    """Return which borders of the groups to cut at, counted from 0."""
    if not relatives or fine.arity == 1:
        return np.zeros(0, dtype=np.intp)
    price = math.log(len(fine.codes)) / 2 * sum(other.arity - 1 for other in relatives)
    best, chosen = math.inf, np.zeros(0, dtype=np.intp)
    for total, starts in best_starts(_costs(fine, relatives), min(most, fine.arity)):
        ways = math.comb(fine.arity - 1, len(starts))
        length = total + price * len(starts) + math.log(ways)
        if length < best - LEAST_GAIN:
            best, chosen = length, starts - 1
    return chosen


def _costs(fine: Coded, relatives: Sequence[Coded]) -> Costs:
    """Return what it takes to tell the relatives, for each run of groups as one bin."""
    costs = np.zeros((fine.arity, fine.arity + 1))
    for other in relatives:
        below = np.zeros((fine.arity + 1, other.arity))
        np.cumsum(_table(fine, other), axis=0, out=below[1:])
        inside = below - below[:-1, None]  # [i, j, state]
        inside = np.maximum(inside, 0.0)
        costs += _x_log_x(inside.sum(axis=2)) - _x_log_x(inside).sum(axis=2)
    costs[np.tri(*costs.shape, dtype=np.bool_)] = np.inf
    return costs


def _table(one: Coded, two: Coded) -> NDArray[np.float64]:
    """Return how many rows show each pair of states."""
    joint = one.codes.astype(np.intp) * two.arity + two.codes
    counts = np.bincount(joint, minlength=one.arity * two.arity)
    return counts.reshape(one.arity, two.arity).astype(np.float64)


def _x_log_x(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return x log x, which is 0 at 0."""
    product: NDArray[np.float64] = counts * np.log(np.where(counts > 0, counts, 1.0))
    return product
