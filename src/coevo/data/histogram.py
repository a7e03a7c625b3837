"""A histogram of numbers with round edges, for people to look at.

There are 10 to 25 bars. Their edges are multiples of 1, 2 or 5 times a power of ten. A bar holds
the numbers from its lower edge up to, but without, its upper edge, as a bin between two cut points
does. If a few numbers are far away from all others, the bars show the range of the others, and the
far numbers are counted below and above it.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Histogram", "make_histogram"]

MAX_BARS = 25
TAIL = 0.01  # share of the rows that may lie outside of the bars, at each end
FAR = 4.0  # a tail is cut off if the range is so many times the range without the tails


@dataclass(frozen=True, slots=True)
class Histogram:
    """Counts between edges. `n_below` and `n_above` are the rows outside of all bars."""

    edges: tuple[float, ...]
    counts: tuple[int, ...]
    n_below: int = 0
    n_above: int = 0

    def as_dict(self) -> dict[str, Any]:
        """Return the histogram as plain values."""
        return {
            "edges": list(self.edges),
            "counts": list(self.counts),
            "n_below": self.n_below,
            "n_above": self.n_above,
        }


def make_histogram(values: NDArray[np.float64], counts: NDArray[np.int64]) -> Histogram:
    """Return the histogram of sorted distinct values and the count of each.

    >>> histogram = make_histogram(np.array([0.1, 0.2, 1.0]), np.array([5, 1, 2]))
    >>> histogram.edges[:4], histogram.counts[:4]
    ((0.1, 0.15, 0.2, 0.25), (5, 0, 1, 0))
    """
    ends = np.cumsum(counts)
    first, last = np.searchsorted(values, [-math.inf, math.inf], side="right").tolist()
    last -= int(values[-1] == math.inf)
    if first >= last:  # all numbers are infinite
        n_below = int(ends[first - 1]) if first else 0
        return Histogram((0.0, 1.0), (0,), n_below, int(ends[-1]) - n_below)
    edges = _choose_edges(*_choose_range(values[first:last], counts[first:last]))
    at = np.searchsorted(values, np.array(edges), side="left")
    below = np.where(at > 0, ends[at - 1], 0)
    return Histogram(
        tuple(edges), tuple(np.diff(below).tolist()), int(below[0]), int(ends[-1] - below[-1])
    )


def _choose_range(values: NDArray[np.float64], counts: NDArray[np.int64]) -> tuple[float, float]:
    """Return the range of the bars: all numbers, or all without two small tails that are far."""
    low, high = float(values[0]), float(values[-1])
    ends = np.cumsum(counts)
    n_tail = math.floor(TAIL * int(ends[-1]))
    first = float(values[np.searchsorted(ends, n_tail, side="right")])
    last = float(values[np.searchsorted(ends, int(ends[-1]) - n_tail, side="left")])
    core = last - first
    if core <= 0 or (high / FAR - low / FAR) <= core:
        return low, high
    return first, last


def _choose_edges(low: float, high: float) -> list[float]:
    """Return round edges such that low and high lie inside of them."""
    span = high - low
    if not math.isfinite(span):
        return [low, 0.0, high]
    if span == 0:
        unit = 10.0 ** math.floor(math.log10(abs(low))) if low else 1.0
        return _make_one_bar(low, max(high + min(unit, 1.0), math.nextafter(high, math.inf)))
    power = math.floor(math.log10(span) - math.log10(MAX_BARS))
    for factor, exponent in ((1, power), (2, power), (5, power), (1, power + 1), (2, power + 1)):
        step = float(f"{factor}e{exponent}")
        if step > 0 and span / step <= MAX_BARS - 1:
            break
    else:  # the numbers are closer than a float can say
        return _make_one_bar(low, math.nextafter(high, math.inf))
    # Text gives the float that is nearest to the decimal number: 0.3, not 0.30000000000000004.
    first, last = math.floor(low / step), math.floor(high / step) + 1
    edges = [float(f"{i * factor}e{exponent}") for i in range(first - 1, last + 2)]
    above = next((i for i, edge in enumerate(edges) if edge > high), len(edges) - 1)
    below = max((i for i, edge in enumerate(edges) if edge <= low), default=0)
    edges = edges[below : above + 1]
    if len(set(edges)) < len(edges) or edges[0] > low or edges[-1] <= high:
        return _make_one_bar(low, math.nextafter(high, math.inf))  # too few digits
    return edges


def _make_one_bar(low: float, above: float) -> list[float]:
    """Return the edges of one bar; the largest float of all is above it."""
    return [low, above] if math.isfinite(above) else [low / 2, sys.float_info.max]
