"""Find the number of bins and the cut points of a column by minimum description length.

A network does not need the density of a column. It needs the information of the column about
the other columns. (The usual criteria for histograms leave a uniform column in one bin, and
one bin has no information.) The cut points of a column therefore minimise the number of nats
that describe its *relatives*:

    sum over relatives Y of   N H(Y | bins) + (bins - 1) (arity of Y - 1) / 2 log N
    plus the logarithm of the number of ways to place so many cut points.

This is the two-part code of Fayyad and Irani (1993) and of Friedman and Goldszmidt (1996), with
the penalty of BIC for a parameter. The relatives are the (at most five) columns that BIC would
connect to this column. For this choice, and as relatives, columns of numbers have four bins of
equal size, independent of their final bins. The order of columns therefore does not matter. A
column without relatives gets one cut point, near its median.

The candidates for cut points are the borders of 32 groups of about equal size. With at most 32
values these are all possible cut points. Dynamic programming finds the best choice among them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coevo.data.binning import (
    Costs,
    Counts,
    Starts,
    Values,
    cut_midway,
    find_best_starts,
    find_even_starts,
)
from coevo.data.cut_points import CutPoints

__all__ = ["DiscreteColumn", "NumericColumn", "bin_coarsely", "cut_by_mdl"]

MAX_GROUPS = 32
MAX_RELATIVES = 5
MAX_RELATIVE_STATES = 64  # pairs say little about a column with more states
COARSE_BINS = 4
BLOCK_CELLS = 1 << 24  # zeros and ones in memory while pairs are counted
MIN_GAIN = 1e-9  # a smaller gain can be round-off


@dataclass(frozen=True, slots=True)
class DiscreteColumn:
    """A column of states: a code for each row."""

    name: str
    codes: NDArray[np.integer]
    arity: int

    def select_rows(self, rows: NDArray[np.bool_]) -> DiscreteColumn:
        """Return the column with some of its rows."""
        return DiscreteColumn(self.name, self.codes[rows], self.arity)


@dataclass(frozen=True, slots=True)
class NumericColumn:
    """A column of numbers: its distinct values, and the index of the value of each row.

    The index of a missing value is ``len(values)``.
    """

    name: str
    values: Values
    indices: NDArray[np.integer]  # (n_rows,)

    @property
    def counts(self) -> Counts:
        """Number of rows with each value."""
        return np.bincount(self.indices, minlength=len(self.values))[: len(self.values)]

    @property
    def is_observed(self) -> NDArray[np.bool_]:
        """Whether the number of each row is present."""
        return self.indices < len(self.values)

    def group(self, starts: Starts) -> DiscreteColumn:
        """Return the column in bins that start at these positions among its values.

        If there are missing values, they are in an additional bin.
        """
        bins = np.searchsorted(starts, np.arange(len(self.values) + 1), side="right")
        n_bins = len(starts) + 1
        bins[-1] = n_bins
        arity = n_bins + int(not self.is_observed.all())
        return DiscreteColumn(self.name, bins.astype(np.uint8)[self.indices], arity)


def bin_coarsely(column: NumericColumn) -> DiscreteColumn:
    """Return a column of numbers in a few bins of about equal size."""
    return column.group(find_even_starts(column.counts, COARSE_BINS))


def cut_by_mdl(
    columns: Sequence[NumericColumn], discrete: Sequence[DiscreteColumn], max_bins: Sequence[int]
) -> list[CutPoints]:
    """Return the cut points of each column; `max_bins` limits the bins of each column.

    `discrete` are the other columns of the table.
    """
    coarse = [bin_coarsely(column) for column in columns]
    others = sorted(
        (other for other in (*discrete, *coarse) if 2 <= other.arity <= MAX_RELATIVE_STATES),
        key=lambda other: other.name,
    )
    gains = _compute_gains(coarse, others)
    found = []
    for column, gain, limit in zip(columns, gains, max_bins, strict=True):
        order = np.argsort(-gain, kind="stable")[:MAX_RELATIVES]
        relatives = [others[i] for i in order if gain[i] > MIN_GAIN]
        borders = find_even_starts(column.counts, MAX_GROUPS)
        groups = DiscreteColumn(column.name, column.group(borders).codes, len(borders) + 1)
        observed = column.is_observed
        fine = groups.select_rows(observed)
        cuts = _choose_cuts(fine, [other.select_rows(observed) for other in relatives], limit)
        starts = borders[cuts]
        if not len(starts):
            starts = find_even_starts(column.counts, 2)
        found.append(cut_midway(column.values, starts))
    return found


def _compute_gains(
    columns: Sequence[DiscreteColumn], others: Sequence[DiscreteColumn]
) -> NDArray[np.float64]:
    """Return the increase of BIC when a column is connected to another: [column, other].

    Products of matrices of zeros and ones count the pairs of states, exactly and fast.
    """
    gains = np.full((len(columns), len(others)), -np.inf)
    if not columns or not others:
        return gains
    n_rows = len(columns[0].codes)
    base = n_rows * math.log(n_rows)
    penalty = math.log(n_rows) / 2
    for down, column_ones, column_starts in _iter_one_hot(columns, n_rows):
        for across, other_ones, other_starts in _iter_one_hot(others, n_rows):
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
            gains[down, across] = joint + base - penalty * free
    same = [[c.name == o.name for o in others] for c in columns]
    return np.where(same, -np.inf, gains)


def _iter_one_hot(
    columns: Sequence[DiscreteColumn], n_rows: int
) -> Iterator[tuple[slice, NDArray[np.floating], NDArray[np.intp]]]:
    """Yield blocks of columns as zeros and ones, (states, rows), and the first row of each."""
    dtype = np.float32 if n_rows < 1 << 24 else np.float64  # exact up to this number of rows
    step = max(1, BLOCK_CELLS // (n_rows * max(c.arity for c in columns)))
    for first in range(0, len(columns), step):
        block = columns[first : first + step]
        ends = np.cumsum([c.arity for c in block])
        starts = ends - [c.arity for c in block]
        ones = np.zeros((ends[-1], n_rows), dtype=dtype)
        for column, start in zip(block, starts, strict=True):
            ones[start + column.codes.astype(np.intp), np.arange(n_rows)] = 1
        yield slice(first, first + len(block)), ones, starts


def _choose_cuts(
    fine: DiscreteColumn, relatives: Sequence[DiscreteColumn], max_bins: int
) -> Starts:
    """Return the borders between groups to cut at, counted from 0."""
    if not relatives or fine.arity == 1:
        return np.zeros(0, dtype=np.intp)
    penalty = math.log(len(fine.codes)) / 2 * sum(other.arity - 1 for other in relatives)
    best, chosen = math.inf, np.zeros(0, dtype=np.intp)
    for total, starts in find_best_starts(
        _compute_costs(fine, relatives), min(max_bins, fine.arity)
    ):
        ways = math.comb(fine.arity - 1, len(starts))
        length = total + penalty * len(starts) + math.log(ways)
        if length < best - MIN_GAIN:
            best, chosen = length, starts - 1
    return chosen


def _compute_costs(fine: DiscreteColumn, relatives: Sequence[DiscreteColumn]) -> Costs:
    """Return the nats that describe the relatives, for each run of groups as one bin."""
    costs = np.zeros((fine.arity, fine.arity + 1))
    for other in relatives:
        below = np.zeros((fine.arity + 1, other.arity))
        np.cumsum(_count_pairs(fine, other), axis=0, out=below[1:])
        inside = below - below[:-1, None]  # [i, j, state]
        inside = np.maximum(inside, 0.0)
        costs += _x_log_x(inside.sum(axis=2)) - _x_log_x(inside).sum(axis=2)
    costs[np.tri(*costs.shape, dtype=np.bool_)] = np.inf
    return costs


def _count_pairs(one: DiscreteColumn, two: DiscreteColumn) -> NDArray[np.float64]:
    """Return the number of rows with each pair of states."""
    joint = one.codes.astype(np.intp) * two.arity + two.codes
    counts = np.bincount(joint, minlength=one.arity * two.arity)
    return counts.reshape(one.arity, two.arity).astype(np.float64)


def _x_log_x(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return x log x, which is 0 at 0."""
    product: NDArray[np.float64] = counts * np.log(np.where(counts > 0, counts, 1.0))
    return product
