"""The numbers in the tables and figures, computed from the runs of one data set."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coevo.experiments.paper.plan import PaperDataSet
from coevo.experiments.paper.published import Spread
from coevo.experiments.paper.runs import PaperRecord
from coevo.experiments.t_test import compute_t_test

__all__ = ["PaperSummary", "summarise"]


@dataclass(frozen=True)
class PaperSummary:
    """One data set: two rows of a table and a panel of a figure.

    `curve` is the mean over the runs of CCGA of the best score so far, by generation.
    `curve_sd` is the standard deviation.
    """

    data: PaperDataSet
    original: float
    ccga: Spread
    k2: Spread
    p_value: float  # Welch's t-test, one-tailed: CCGA's mean is higher
    crossing_generation: int | None  # the first with CCGA's mean above K2's
    ccga_seconds: float  # CPU, mean of the runs
    k2_seconds: float
    curve: NDArray[np.float64]
    curve_sd: NDArray[np.float64]

    @property
    def time_ratio(self) -> float:
        """The time of CCGA divided by the time of K2."""
        return self.ccga_seconds / self.k2_seconds if self.k2_seconds else float("nan")

    def as_dict(self) -> dict[str, Any]:
        """Return the numbers as a dict, as ``coevo paper --format json`` prints them."""
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
    data: PaperDataSet, original: float, records: Iterable[PaperRecord], generations: int
) -> PaperSummary:
    """Return the summary of one data set; `records` are its runs."""
    runs = list(records)
    ccga = [record for record in runs if record.algorithm == "ccga"]
    k2 = [record for record in runs if record.algorithm == "k2"]
    curves = np.array([_expand_curve(record, generations) for record in ccga])
    curve = curves.mean(axis=0)
    k2_spread = _compute_spread(k2)
    above = np.flatnonzero(curve > k2_spread.mean + 1e-5)  # more than the rounding error
    return PaperSummary(
        data=data,
        original=original,
        ccga=_compute_spread(ccga),
        k2=k2_spread,
        p_value=_compute_p_value(
            [record.score for record in ccga], [record.score for record in k2]
        ),
        crossing_generation=int(above[0]) if len(above) else None,
        ccga_seconds=_compute_mean_seconds(ccga),
        k2_seconds=_compute_mean_seconds(k2),
        curve=curve,
        curve_sd=curves.std(axis=0, ddof=1),
    )


def _compute_spread(records: list[PaperRecord]) -> Spread:
    scores = np.array([record.score for record in records])
    return Spread(
        float(scores.mean()), float(scores.std(ddof=1)), float(scores.min()), float(scores.max())
    )


def _compute_p_value(first: list[float], second: list[float]) -> float:
    """Return the p-value of the test that the first mean is higher; 1/2 for equal constants."""
    if np.ptp(first) == 0 and np.ptp(second) == 0:
        return 0.5 if first[0] == second[0] else float(first[0] < second[0])
    return compute_t_test(first, second).p_greater


def _compute_mean_seconds(records: list[PaperRecord]) -> float:
    return float(np.mean([record.seconds for record in records]))


def _expand_curve(record: PaperRecord, generations: int) -> NDArray[np.float64]:
    """Return the best score so far after each generation."""
    at, scores = zip(*record.improvements, strict=True)
    lengths = np.diff([*at, generations + 1])
    return np.repeat(np.array(scores), lengths)
