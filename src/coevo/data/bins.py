"""Bins of numbers: their cut points, and the methods that find these.

Cut points: they map numbers to states, and name the states.

Bins are half open: a number that equals a cut point belongs to the bin above. The names of the
states are ``below_3.2``, ``from_3.2_to_5`` and ``from_5``. Every BIF reader accepts these plain
words (pyAgrum rejects names such as ``3.2`` or ``<3``). The exact cut points can be parsed from
the names. A network therefore stores its cut points in its states, and new numbers can be put
into the bins of an old model.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coevo.checks import is_number
from coevo.errors import DataError, ParameterError

__all__ = [
    "BINNINGS",
    "Costs",
    "Counts",
    "CutPoints",
    "DiscreteColumn",
    "NumericColumn",
    "Starts",
    "Values",
    "bin_coarsely",
    "cut_by_mdl",
    "cut_midway",
    "find_best_starts",
    "find_even_starts",
    "format_number",
    "name_bins",
    "round_between",
]

ONE_BIN = "any"  # the state of a column without cut points
_NUMBER = r"-?(?:\d++(?:\.\d++)?)(?:e-?\d++)?"
_STATE = re.compile(
    rf"below_(?P<below>{_NUMBER})|from_(?P<low>{_NUMBER})(?:_to_(?P<high>{_NUMBER}))?"
)


@dataclass(frozen=True, slots=True)
class CutPoints:
    """Cut points in ascending order. `n` points make `n + 1` bins.

    Examples
    --------
    >>> cuts = CutPoints((18, 65.5))
    >>> cuts.states
    ('below_18', 'from_18_to_65.5', 'from_65.5')
    >>> cuts.apply([17.9, 18, 40, 99]).tolist()
    [0, 1, 1, 2]
    >>> CutPoints.from_states(cuts.states) == cuts
    True
    """

    points: tuple[float, ...]

    def __post_init__(self) -> None:
        points = tuple(self.points)
        if not all(map(is_number, points)) or any(a >= b for a, b in pairwise(points)):
            raise ParameterError(
                f"Cut points must be finite numbers in ascending order; got {list(points)!r}."
            )
        # Adding 0 turns -0 into 0, so that zero has one name.
        object.__setattr__(self, "points", tuple(float(point) + 0.0 for point in points))

    @property
    def states(self) -> tuple[str, ...]:
        """The names of the bins, from low to high."""
        return name_bins([format_number(point) for point in self.points])

    @classmethod
    def from_states(cls, states: Iterable[str]) -> CutPoints | None:
        """Return the cut points in the names of states, in any order; None if there are none.

        >>> CutPoints.from_states(["from_2", "below_2"])
        CutPoints(points=(2.0,))
        >>> CutPoints.from_states(["below_2", "from_3"]) is None
        True
        """
        listed = list(states)
        if listed == [ONE_BIN]:
            return cls(())
        ends: list[tuple[float, float]] = []
        for state in listed:
            found = _STATE.fullmatch(state)
            if found is None:
                return None
            below, low, high = found.group("below", "low", "high")
            ends.append((-math.inf if low is None else float(low), float(below or high or "inf")))
        ends.sort()
        points = tuple(low for low, _ in ends[1:])
        if len(set(points)) < len(points) or not all(map(math.isfinite, points)):
            return None
        cuts = cls(points)
        return cuts if set(cuts.states) == set(listed) and len(listed) == len(ends) else None

    def apply(self, values: ArrayLike) -> NDArray[np.intp]:
        """Return the bin of each number, counted from 0."""
        numbers = np.asarray(values, dtype=np.float64)
        missing = np.isnan(numbers)
        if missing.any():
            raise DataError(
                f"{int(missing.sum()):,} of the numbers to put into bins are missing. Drop or "
                "impute them."
            )
        return np.searchsorted(np.array(self.points), numbers, side="right")


def name_bins(points: Sequence[str]) -> tuple[str, ...]:
    """Return the names of the bins between cut points that are given as texts.

    >>> name_bins(["18", "65"]), name_bins([])
    (('below_18', 'from_18_to_65', 'from_65'), ('any',))
    """
    if not points:
        return (ONE_BIN,)
    inner = [f"from_{low}_to_{high}" for low, high in pairwise(points)]
    return (f"below_{points[0]}", *inner, f"from_{points[-1]}")


def format_number(number: float) -> str:
    """Return the shortest text of a number, without a plus sign.

    >>> format_number(3.0), format_number(-0.25), format_number(1e20)
    ('3', '-0.25', '1e20')
    """
    return repr(float(number)).removesuffix(".0").replace("e+", "e").replace("e-0", "e-")


def round_between(low: float, high: float, near: float) -> float:
    """Round `near` to as few digits as possible, so that the result is in (low, high].

    >>> round_between(3.1415, 3.2718, 3.2)
    3.2
    >>> round_between(-0.4, 0.9, 0.25), round_between(0.1, 0.30000000000000004, 0.3)
    (0.0, 0.3)
    """
    if low < 0 <= high:
        return 0.0
    for digits in range(1, 18):
        rounded = float(f"{near:.{digits}g}")
        if low < rounded <= high:
            return rounded
    return high


# Find the cut points of one column of numbers by quantiles, equal widths or k-means.
#
# Each method gets the distinct values and their counts. The order of rows therefore does not
# matter, and equal values are always in the same bin. A method finds the *starts* of all bins but
# the first, as positions among the values. It then chooses a number with few digits for each cut
# point, between the two values that the cut separates. A column with fewer distinct values than
# bins gets one bin per value. A column with a very frequent value can get fewer bins than
# requested, because one value cannot be split.
#
# k-means in one dimension has an exact solution by dynamic programming (Wang and Song 2011,
# "Ckmeans.1d.dp"). With more than 512 distinct values, neighbours are first merged into 512 groups
# of about equal size.


Values = NDArray[np.float64]  # (m,), distinct, ascending
Counts = NDArray[np.int64]  # (m,), number of rows with each value
Starts = NDArray[np.intp]  # (n_bins - 1,), the position of the first value of a bin
Costs = NDArray[np.float64]  # (m, m + 1), [i, j]: values i to j - 1 in one bin; inf if j <= i

MAX_GROUPS = 512


def cut_by_quantiles(values: Values, counts: Counts, bins: int) -> CutPoints:
    """Cut so that each bin holds about the same number of rows."""
    return cut_midway(values, find_even_starts(counts, bins))


def cut_uniformly(values: Values, counts: Counts, bins: int) -> CutPoints:
    """Cut the range into bins of the same width; empty bins are merged with the bin below."""
    if len(values) == 1:
        return CutPoints(())
    width = values[-1] / bins - values[0] / bins
    edges = values[0] + width * np.arange(1, bins)
    places = np.searchsorted(values, edges).clip(1, len(values) - 1)
    starts, first = np.unique(places, return_index=True)
    slack = width / 100  # the maximum shift of a cut point that saves digits
    points = []
    for low, high, edge in zip(values[starts - 1], values[starts], edges[first], strict=True):
        if low < edge <= high:  # always true, except for round-off
            low, high = max(low, edge - slack), min(high, edge + slack)
        points.append(round_between(low, high, edge))
    return CutPoints(tuple(points))


def cut_by_kmeans(values: Values, counts: Counts, bins: int) -> CutPoints:
    """Minimise the sum of squared distances of the values from the means of their bins."""
    first = np.concatenate([[0], find_even_starts(counts, MAX_GROUPS)]).astype(np.intp)
    scale = np.abs(values).max() or 1.0
    shifted = values / scale - np.average(values / scale, weights=counts)
    weight, total, squares = (
        np.concatenate([[0.0], np.cumsum(np.add.reduceat(part, first))])
        for part in (counts.astype(np.float64), counts * shifted, counts * shifted**2)
    )
    mass = weight - weight[:-1, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = (squares - squares[:-1, None]) - (total - total[:-1, None]) ** 2 / mass
    costs = np.where(mass > 0, np.maximum(spread, 0.0), np.inf)
    _, starts = find_best_starts(costs, min(bins, len(first)))[-1]
    return cut_midway(values, first[starts])


BINNINGS: dict[str, Callable[[Values, Counts, int], CutPoints]] = {
    "kmeans": cut_by_kmeans,
    "quantile": cut_by_quantiles,
    "uniform": cut_uniformly,
}


def cut_midway(values: Values, starts: Starts) -> CutPoints:
    """Return cut points about half way between the values on either side.

    >>> cut_midway(np.array([1.0, 2.0, 7.53]), np.array([1, 2]))
    CutPoints(points=(2.0, 5.0))
    """
    points = []
    for low, high in zip(values[starts - 1], values[starts], strict=True):
        middle = low / 2 + high / 2
        if low.is_integer() and high.is_integer():
            middle = np.ceil(middle)  # integers are cut at integers
        points.append(round_between(low, high, middle))
    return CutPoints(tuple(points))


def find_even_starts(counts: Counts, bins: int) -> Starts:
    """Return the starts of bins with about the same number of rows.

    The number of rows below the k-th cut is as near as possible to ``k / bins`` of all rows. In
    a tie the lower cut wins.

    >>> find_even_starts(np.array([1, 1, 1, 1, 1, 1]), 3).tolist()
    [2, 4]
    >>> find_even_starts(np.array([60, 10, 10, 10, 10]), 4).tolist()
    [1, 2]
    """
    if bins >= len(counts):
        return np.arange(1, len(counts))
    below = np.cumsum(counts)[:-1] * bins  # integers, so that nothing is rounded
    wanted = int(counts.sum()) * np.arange(1, bins)
    after = np.searchsorted(below, wanted).clip(max=len(below) - 1)
    before = (after - 1).clip(min=0)
    nearest = np.where(wanted - below[before] <= np.abs(below[after] - wanted), before, after)
    return np.unique(nearest) + 1


def find_best_starts(costs: Costs, max_bins: int) -> list[tuple[float, Starts]]:
    """Return the minimum total cost with 1, 2, ... `max_bins` bins, and the starts of the bins.

    >>> costs = np.array([[np.inf, 0, 1, 9], [np.inf, np.inf, 0, 5], [np.inf, np.inf, np.inf, 0]])
    >>> [(float(total), starts.tolist()) for total, starts in find_best_starts(costs, 3)]
    [(9.0, []), (1.0, [2]), (0.0, [1, 2])]
    """
    m = len(costs)
    total, last_starts = costs[0], [np.zeros(m + 1, dtype=np.intp)]
    found: list[tuple[float, Starts]] = []
    for n_bins in range(1, max_bins + 1):
        if n_bins > 1:
            tried = total[:-1, None] + costs  # [i, j]: the last bin of j values starts at i
            last_starts.append(tried.argmin(axis=0))
            total = tried.min(axis=0)
        starts, end = [], m
        for chosen in last_starts[:0:-1]:
            end = int(chosen[end])
            starts.append(end)
        found.append((float(total[m]), np.array(starts[::-1], dtype=np.intp)))
    return found


# Find the number of bins and the cut points of a column by minimum description length.
#
# A network does not need the density of a column. It needs the information of the column about the
# other columns. (The usual criteria for histograms leave a uniform column in one bin, and one bin
# has no information.) The cut points of a column therefore minimise the number of nats that
# describe its *relatives*:
#
#     sum over relatives Y of   N H(Y | bins) + (bins - 1) (arity of Y - 1) / 2 log N
#     plus the logarithm of the number of ways to place so many cut points.
#
# This is the two-part code of Fayyad and Irani (1993) and of Friedman and Goldszmidt (1996), with
# the penalty of BIC for a parameter. The relatives are the (at most five) columns that BIC would
# connect to this column. For this choice, and as relatives, columns of numbers have four bins of
# equal size, independent of their final bins. The order of columns therefore does not matter. A
# column without relatives gets one cut point, near its median.
#
# The candidates for cut points are the borders of 32 groups of about equal size. With at most 32
# values these are all possible cut points. Dynamic programming finds the best choice among them.


MAX_MDL_GROUPS = 32
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
        borders = find_even_starts(column.counts, MAX_MDL_GROUPS)
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
