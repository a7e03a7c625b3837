"""Find the cut points of one column of numbers by quantiles, equal widths or k-means.

Each method gets the distinct values and their counts. The order of rows therefore does not
matter, and equal values are always in the same bin. A method finds the *starts* of all bins but
the first, as positions among the values. It then chooses a number with few digits for each cut
point, between the two values that the cut separates. A column with fewer distinct values than
bins gets one bin per value. A column with a very frequent value can get fewer bins than
requested, because one value cannot be split.

k-means in one dimension has an exact solution by dynamic programming (Wang and Song 2011,
"Ckmeans.1d.dp"). With more than 512 distinct values, neighbours are first merged into 512 groups
of about equal size.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from coevo.data.cut_points import CutPoints, round_between

__all__ = [
    "BINNINGS",
    "Costs",
    "Counts",
    "Starts",
    "Values",
    "cut_midway",
    "find_best_starts",
    "find_even_starts",
]

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
