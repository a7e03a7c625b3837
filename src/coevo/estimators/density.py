"""The density of a number, given the bin that it is in.

A network gives the probability of a bin. Networks with different bins can be compared only by the
density of the numbers themselves: the probability of the bin times the density within the bin.
Bins with a lower and an upper cut point have a uniform density, 1 / width. The first and the last
bin have no end, so an end is chosen from the training data:

- The *range* reaches from the smallest to the largest training number, and one mean gap between
  neighbouring numbers beyond each. (Cut points outside the training data extend it.) Within the
  range the first and the last bin are uniform.
- A *tail* beyond each end of the range gets a share of the probability of its bin: 1 / (n + 2),
where n
  is the number of training rows in this bin. This is the rule of succession for a number beyond all
  earlier ones. At distance t from the range, the density of a tail is proportional to
  1 / (t + width of the range) ** 2, so that half of it lies within one width of the range.

Every finite number has a finite density above 0, and the density integrates to 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coevo.data import CutPoints

__all__ = ["BinDensity"]

Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class BinDensity:
    """The density of the numbers of one column within their bins.

    Attributes
    ----------
    cuts : CutPoints
        The cut points.
    low, high : float
        The ends of the range.
    low_tail, high_tail : float
        The share of the first and of the last bin that lies beyond the range.
    """

    cuts: CutPoints
    low: float
    high: float
    low_tail: float
    high_tail: float

    @classmethod
    def from_numbers(cls, cuts: CutPoints, numbers: Numbers) -> BinDensity:
        """Return the density for training numbers; NaN is missing.

        >>> BinDensity.from_numbers(CutPoints((2.0,)), np.array([0.0, 1.0, 3.0]))
        BinDensity(cuts=CutPoints(points=(2.0,)), low=-1.5, high=4.5, low_tail=0.25, \
high_tail=0.3333333333333333)
        """
        known = numbers[~np.isnan(numbers)]
        distinct = np.unique(known)
        gap = 1.0
        if len(distinct) > 1:
            gap = float(distinct[-1] - distinct[0]) / (len(distinct) - 1)
        ends = [*distinct[:1].tolist(), *distinct[-1:].tolist(), *cuts.points]
        low, high = min(ends, default=0.0), max(ends, default=0.0)
        bins = cuts.apply(known)
        n_first, n_last = int((bins == 0).sum()), int((bins == len(cuts.points)).sum())
        return cls(cuts, low - gap, high + gap, 1 / (n_first + 2), 1 / (n_last + 2))

    def log_density(self, numbers: Numbers) -> Numbers:
        """Return the log density of each number, given its bin; 0 for a missing number.

        >>> density = BinDensity.from_numbers(CutPoints((2.0, 4.0)), np.array([1.0, 3.0, 7.0]))
        >>> np.exp(density.log_density(np.array([3.0, 1.0, -6.0, np.nan]))).round(4).tolist()
        [0.5, 0.1667, 0.0156, 1.0]
        """
        is_known = ~np.isnan(numbers)
        values = numbers[is_known]
        bins = self.cuts.apply(values)
        edges = np.array([self.low, *self.cuts.points, self.high])
        shares = np.ones(len(edges) - 1)
        shares[0] -= self.low_tail
        shares[-1] -= self.high_tail
        logs = np.log(shares / np.diff(edges))[bins]
        width = self.high - self.low
        for beyond, share in (
            (self.low - values, self.low_tail),
            (values - self.high, self.high_tail),
        ):
            in_tail = beyond > 0
            logs[in_tail] = np.log(share * width) - 2 * np.log(width + beyond[in_tail])
        found = np.zeros(len(numbers))
        found[is_known] = logs
        return found
