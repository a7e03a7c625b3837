"""Paired comparisons of all systems with one of them, run by run.

Run r of every system on a data set has the same seed, so the runs are pairs. A system without
randomness has the same score in every pair. The test is a paired t-test, two-sided, about the
mean over runs on these rows: it says nothing about other rows. All tests against one system are
corrected together by the method of Holm.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from coevo.experiments.paper.plan import PaperDataSet
from coevo.experiments.t_test import compute_paired_t_test, correct_p_values

__all__ = ["ROUND_OFF", "SIGNIFICANT", "PairedComparison", "Scores", "compare_with"]

SIGNIFICANT = 0.05
ROUND_OFF = 1e-6  # nats; scores that differ by less are equal

Scores = Mapping[tuple[PaperDataSet, str], Sequence[float]]  # of the runs, by data set and system


@dataclass(frozen=True)
class PairedComparison:
    """A system against another on one data set; `difference` is the mean of its advantage."""

    data: PaperDataSet
    system: str
    other: str
    difference: float
    p_value: float  # corrected

    @property
    def sign(self) -> int:
        """1 if the system is significantly better, -1 if it is worse, else 0."""
        return int(np.sign(self.difference)) if self.p_value < SIGNIFICANT else 0


def compare_with(other: str, scores: Scores) -> dict[tuple[PaperDataSet, str], PairedComparison]:
    """Return the comparison of every system with one of them, on every data set."""
    keys = [key for key in scores if key[1] != other]
    pairs = [_pair(scores[key], scores[key[0], other]) for key in keys]
    p_values = correct_p_values([_compute_p_value(*pair) for pair in pairs])
    return {
        (data, system): PairedComparison(
            data, system, other, float(np.mean(first) - np.mean(second)), p_value
        )
        for (data, system), (first, second), p_value in zip(keys, pairs, p_values, strict=True)
    }


def _pair(first: Sequence[float], second: Sequence[float]) -> tuple[list[float], list[float]]:
    """Return both samples in the length of the longer one; the other repeats its only value."""
    n = max(len(first), len(second))
    long_first, long_second = (
        list(sample) if len(sample) == n else list(sample) * n for sample in (first, second)
    )
    return long_first, long_second


def _compute_p_value(first: list[float], second: list[float]) -> float:
    """Return the two-sided p-value; where nothing varies, 1 for equal scores and 0 for others."""
    differences = np.subtract(first, second)
    if np.ptp(differences) < ROUND_OFF:
        return float(abs(differences[0]) < ROUND_OFF)
    return compute_paired_t_test(first, second).p_two_sided
