"""Where to cut one column of numbers: by quantiles, by equal widths, or by k-means.

Each method sees the distinct values and how often each occurs, so that no order of rows can
matter and equal values always share a bin. It returns the *starts* of all bins but the
first, as positions among the values; only then is a number with few digits chosen for each
cut, anywhere between the two values that it parts. A column with fewer distinct values than
bins gets a bin for each of them; one in which a value is very frequent may get fewer bins
than asked for, because that value cannot be parted.

k-means in one dimension is solved exactly, by dynamic programming (Wang and Song 2011,
"Ckmeans.1d.dp"), up to 512 distinct values; of more, neighbours are joined first into 512
groups of about equal size.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from coevo.data.cut_points import CutPoints, readable_between

__all__ = ["BINNINGS", "Costs", "Counts", "Values", "best_starts", "even_starts", "midway"]

Values = NDArray[np.float64]  # (m,), distinct, ascending
Counts = NDArray[np.int64]  # (m,), rows that show each value
Starts = NDArray[np.intp]  # (n_bins - 1,), the position of the first value of a bin
Costs = NDArray[np.float64]  # (m, m + 1), [i, j]: values i to j - 1 in one bin; inf if j <= i

MOST_GROUPS = 512


def quantile(values: Values, counts: Counts, bins: int) -> CutPoints:
    """Cut so that each bin holds about the same number of rows."""
    return midway(values, even_starts(counts, bins))


def uniform(values: Values, counts: Counts, bins: int) -> CutPoints:
    """Cut the range into parts of the same width; parts without a row join the one below."""
    if len(values) == 1:
        return CutPoints(())
    width = values[-1] / bins - values[0] / bins
    edges = values[0] + width * np.arange(1, bins)
    places = np.searchsorted(values, edges).clip(1, len(values) - 1)
    starts, first = np.unique(places, return_index=True)
    slack = width / 100  # a cut may move so far for the sake of a shorter number
    points = []
    for low, high, edge in zip(values[starts - 1], values[starts], edges[first], strict=True):
        if low < edge <= high:  # but for round-off
            low, high = max(low, edge - slack), min(high, edge + slack)
        points.append(readable_between(low, high, edge))
    return CutPoints(tuple(points))


def kmeans(values: Values, counts: Counts, bins: int) -> CutPoints:
    """Cut so that the squared distances from the means of the bins sum to the least."""
    first = np.concatenate([[0], even_starts(counts, MOST_GROUPS)]).astype(np.intp)
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
    _, starts = best_starts(costs, min(bins, len(first)))[-1]
    return midway(values, first[starts])


BINNINGS: dict[str, Callable[[Values, Counts, int], CutPoints]] = {
    "kmeans": kmeans,
    "quantile": quantile,
    "uniform": uniform,
}


def midway(values: Values, starts: Starts) -> CutPoints:
    """Return cuts about half way between the values on either side.

    >>> midway(np.array([1.0, 2.0, 7.53]), np.array([1, 2]))
    CutPoints(points=(2.0, 5.0))
    """
    points = []
    for low, high in zip(values[starts - 1], values[starts], strict=True):
        middle = low / 2 + high / 2
        if low.is_integer() and high.is_integer():
            middle = np.ceil(middle)  # whole numbers are cut at whole numbers
        points.append(readable_between(low, high, middle))
    return CutPoints(tuple(points))


def even_starts(counts: Counts, bins: int) -> Starts:
    """Return the starts of bins that hold about the same number of rows.

    The k-th cut goes where the number of rows below it is nearest to k parts of all; of two
    places that are as near, to the lower.

    >>> even_starts(np.array([1, 1, 1, 1, 1, 1]), 3).tolist()
    [2, 4]
    >>> even_starts(np.array([60, 10, 10, 10, 10]), 4).tolist()
    [1, 2]
    """
    if bins >= len(counts):
        return np.arange(1, len(counts))
    below = np.cumsum(counts)[:-1] * bins  # whole numbers, so that nothing is rounded
    wanted = int(counts.sum()) * np.arange(1, bins)
    after = np.searchsorted(below, wanted).clip(max=len(below) - 1)
    before = (after - 1).clip(min=0)
    nearest = np.where(wanted - below[before] <= np.abs(below[after] - wanted), before, after)
    return np.unique(nearest) + 1


def best_starts(costs: Costs, most: int) -> list[tuple[float, Starts]]:
    """Return the least total cost with 1, 2, ... `most` bins, and the starts that reach it.

    >>> costs = np.array([[np.inf, 0, 1, 9], [np.inf, np.inf, 0, 5], [np.inf, np.inf, np.inf, 0]])
    >>> [(float(total), starts.tolist()) for total, starts in best_starts(costs, 3)]
    [(9.0, []), (1.0, [2]), (0.0, [1, 2])]
    """
    m = len(costs)
    total, last_starts = costs[0], [np.zeros(m + 1, dtype=np.intp)]
    found: list[tuple[float, Starts]] = []
    for n_bins in range(1, most + 1):
        if n_bins > 1:
            tried = total[:-1, None] + costs  # [i, j]: the last of the bins of j values is i on
            last_starts.append(tried.argmin(axis=0))
            total = tried.min(axis=0)
        starts, end = [], m
        for chosen in last_starts[:0:-1]:
            end = int(chosen[end])
            starts.append(end)
        found.append((float(total[m]), np.array(starts[::-1], dtype=np.intp)))
    return found
