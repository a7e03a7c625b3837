"""The numbers of the tables and figures, from the runs of one data set."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coevo.experiments.paper.plan import DataSet
from coevo.experiments.paper.published import Spread
from coevo.experiments.paper.runs import RunRecord

__all__ = ["Summary", "summarise"]


@dataclass(frozen=True)
class Summary:
    """One data set: a row of the tables, a panel of the figures.

    `curve` is the mean of the best scores so far over the runs of CCGA, generation by
    generation; `curve_sd` their standard deviation.
    """

    data: DataSet
    original: float
    ccga: Spread
    k2: Spread
    p_value: float  # Welch's t-test, one-tailed: CCGA's mean is higher
    crossing_generation: int | None  # the first in which CCGA's mean is above K2's
    ccga_seconds: float  # CPU, mean of the runs
    k2_seconds: float
    curve: NDArray[np.float64]
    curve_sd: NDArray[np.float64]

    @property
    def time_ratio(self) -> float:
        """How many times as long CCGA took."""
        return self.ccga_seconds / self.k2_seconds if self.k2_seconds else float("nan")

    def as_dict(self) -> dict[str, Any]:
        """Return one flat record, as ``coevo paper --format json`` prints it."""
        spreads = {
            f"{name}_{field}": value
            for name, spread in (("ccga", self.ccga), ("k2", self.k2))
            for field, value in spread._asdict().items()
        }
        return {
            "network": self.data.network,
            "rows": self.data.rows,
            "original": self.original,
            **spreads,
            "p_value": self.p_value,
            "crossing_generation": self.crossing_generation,
            "ccga_seconds": self.ccga_seconds,
            "k2_seconds": self.k2_seconds,
        }


def summarise(
    data: DataSet, original: float, records: Iterable[RunRecord], generations: int
) -> Summary:
    """Return the numbers of one data set; `records` are its runs, by number."""
    runs = list(records)
    ccga = [record for record in runs if record.algorithm == "ccga"]
    k2 = [record for record in runs if record.algorithm == "k2"]
    curves = np.array([_curve(record, generations) for record in ccga])
    curve = curves.mean(axis=0)
    k2_spread = _spread(k2)
    above = np.flatnonzero(curve > k2_spread.mean + 1e-5)  # not by what was rounded
    return Summary(
        data=data,
        original=original,
        ccga=_spread(ccga),
        k2=k2_spread,
        p_value=_welch([record.score for record in ccga], [record.score for record in k2]),
        crossing_generation=int(above[0]) if len(above) else None,
        ccga_seconds=_mean_seconds(ccga),
        k2_seconds=_mean_seconds(k2),
        curve=curve,
        curve_sd=curves.std(axis=0, ddof=1),
    )


def _spread(records: list[RunRecord]) -> Spread:
    scores = np.array([record.score for record in records])
    return Spread(
        float(scores.mean()), float(scores.std(ddof=1)), float(scores.min()), float(scores.max())
    )


def _welch(first: list[float], second: list[float]) -> float:
    """Return the p-value for the first mean being higher; 1/2 where nothing varies."""
    if np.ptp(first) == 0 and np.ptp(second) == 0:
        return 0.5 if first[0] == second[0] else float(first[0] < second[0])
    from scipy.stats import ttest_ind  # it takes half a second to import

    with warnings.catch_warnings():  # one group may well be all the same
        warnings.simplefilter("ignore", RuntimeWarning)
        return float(ttest_ind(first, second, equal_var=False, alternative="greater").pvalue)


def _mean_seconds(records: list[RunRecord]) -> float:
    return float(np.mean([record.seconds for record in records]))


def _curve(record: RunRecord, generations: int) -> NDArray[np.float64]:
    """Return the best score so far after each generation."""
    at, scores = zip(*record.improvements, strict=True)
    held = np.diff([*at, generations + 1])
    return np.repeat(np.array(scores), held)
