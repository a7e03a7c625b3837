"""The numbers of the comparison: each system on each data set, and paired comparisons.

Run r of every system on a data set has the same seed, so the runs are pairs. A system without
randomness has the same score in every pair. The test is a paired t-test, two-sided, about the
mean over runs on these rows: it says nothing about other rows. All tests against one system are
corrected together by the method of Holm.

The published numbers that stand beside ours are differences to the true network in nats. The paper
has CCGA and K2 on the six data sets (`coevo.experiments.paper.report`). The other systems were
published on other data. What is known from a text that could be read is here. The primary texts of
GA, K2GA, MDLEP and Wong's hybrid could not be had.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import fmean, median, stdev
from typing import Any, NamedTuple

import numpy as np

from coevo.experiments.paper.plan import PaperDataSet
from coevo.experiments.paper.report import PUBLISHED
from coevo.experiments.related_methods.plan import ReviewedRecord
from coevo.experiments.t_test import compute_paired_t_test, correct_p_values

__all__ = [
    "ELSEWHERE",
    "ROUND_OFF",
    "PairedComparison",
    "ReviewedResults",
    "ReviewedSummary",
    "Scores",
    "make_results",
    "summarise",
]


LOG_10 = math.log(10)  # those texts have logarithms to base 10
BLANCO = "Blanco, Inza and Larrañaga 2003"
DE_CAMPOS = "de Campos et al. 2002"


class PublishedResult(NamedTuple):
    """A published result on other data: scores to base 10."""

    system: str
    data: str
    score: float
    true_score: float
    source: str
    note: str = ""

    @property
    def difference(self) -> float:
        """The score minus that of the true network, in nats."""
        return LOG_10 * (self.score - self.true_score)


ELSEWHERE = (
    PublishedResult("GA", "Asia 10000", -9813.09, -9802.66, BLANCO, "mean of 10 runs"),
    PublishedResult(
        "GA under the true order", "Asia 10000", -11086.4, -9802.66, BLANCO, "mean of 10 runs"
    ),
    PublishedResult("K2", "Asia 10000", -9804.25, -9802.66, BLANCO, "random orders"),
    PublishedResult("K2 with the true order", "Asia 10000", -9802.66, -9802.66, BLANCO),
    PublishedResult("GA", "Alarm 10000", -47744.4, -47086.57, BLANCO, "mean of 10 runs"),
    PublishedResult(
        "GA under the true order",
        "Alarm 10000",
        -79494.7,
        -47086.57,
        BLANCO,
        "mean of 10 runs; they were stopped early",
    ),
    PublishedResult("K2", "Alarm 10000", -49193.4, -47086.57, BLANCO, "random orders"),
    PublishedResult("K2 with the true order", "Alarm 10000", -47103.5, -47086.57, BLANCO),
    PublishedResult("hill climbing", "Alarm 3000", -14425.62, -14412.69, DE_CAMPOS),
    PublishedResult(
        "the best that was known", "Alarm 3000", -14401.29, -14412.69, DE_CAMPOS, "of any method"
    ),
)


def find_published_difference(data: PaperDataSet, system: str) -> float | None:
    """Return the paper's mean minus its score of the true network; None if it has none.

    >>> round(find_published_difference(PaperDataSet("alarm", 1000, 0), "k2"), 2)
    -657.22
    """
    published = PUBLISHED.get((data.network, data.rows))
    if published is None or system not in ("ccga", "k2"):
        return None
    return float(getattr(published, system).mean - published.original)


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


REFERENCES = ("ccga", "ccma")  # every system is compared with these


@dataclass(frozen=True)
class ReviewedSummary:
    """A system on one data set. Scores are differences to the score of the true network.

    The standard deviation is None for one run. A comparison is None for the system itself, or if
    the other system was left out.
    """

    network: str
    rows: int
    system: str
    runs: int
    true_score: float
    mean: float
    sd: float | None
    min: float
    max: float
    mean_shd: float
    mean_n_arcs: float
    mean_evaluations: float
    max_evaluations: int  # the limit, for systems that evolve
    above_ccga: float | None
    p_ccga: float | None
    above_ccma: float | None
    p_ccma: float | None
    published: float | None  # the published mean minus the published score of the true network
    mean_seconds: float

    @property
    def data_key(self) -> tuple[str, int]:
        """The network and the number of rows."""
        return self.network, self.rows

    def as_dict(self) -> dict[str, Any]:
        """Return the fields as a dict, as ``coevo paper --reviewed --format json`` prints them."""
        return asdict(self)


@dataclass(frozen=True)
class ReviewedResults:
    """All numbers of the comparison.

    `records` are the runs of each system on each data set, `comparisons` those with each of
    `REFERENCES` that took part.
    """

    data_sets: tuple[PaperDataSet, ...]
    systems: tuple[str, ...]
    true_scores: Mapping[PaperDataSet, float]
    limits: Mapping[str, int]  # on evaluations, by network
    records: Mapping[tuple[PaperDataSet, str], tuple[ReviewedRecord, ...]]
    comparisons: Mapping[str, Mapping[tuple[PaperDataSet, str], PairedComparison]]

    def list_differences(self, data: PaperDataSet, system: str) -> list[float]:
        """Return the score of each run minus that of the true network."""
        return [record.score - self.true_scores[data] for record in self.records[data, system]]

    def compute_mean(self, data: PaperDataSet, system: str) -> float:
        """Return the mean score minus that of the true network."""
        return fmean(self.list_differences(data, system))

    def compute_mean_shd(self, data: PaperDataSet, system: str) -> float:
        """Return the mean structural Hamming distance."""
        return fmean(record.shd for record in self.records[data, system])

    def find_passing(self, data: PaperDataSet, system: str, other: str) -> int | None:
        """Return after how many evaluations a system passes the mean of another.

        It is the median over its runs. None if half of the runs never pass it.
        """
        level = self.true_scores[data] + self.compute_mean(data, other)
        passed = [
            next((at for at, score in record.improvements if score > level), None)
            for record in self.records[data, system]
        ]
        times = [float("inf") if at is None else float(at) for at in passed]
        middle = median(times)
        return None if middle == float("inf") else round(middle)


def make_results(
    data_sets: Sequence[PaperDataSet],
    systems: Sequence[str],
    true_scores: Mapping[PaperDataSet, float],
    limits: Mapping[str, int],
    records: Iterable[ReviewedRecord],
) -> ReviewedResults:
    """Return the numbers of the comparison, from the runs of the plan."""
    by_place = {(data.network, data.rows): data for data in data_sets}
    groups: dict[tuple[PaperDataSet, str], list[ReviewedRecord]] = {}
    for record in records:
        data = by_place[record.network, record.rows]
        groups.setdefault((data, record.system), []).append(record)
    scores = {key: [record.score for record in group] for key, group in groups.items()}
    return ReviewedResults(
        tuple(data_sets),
        tuple(systems),
        dict(true_scores),
        dict(limits),
        {key: tuple(group) for key, group in groups.items()},
        {other: compare_with(other, scores) for other in REFERENCES if other in systems},
    )


def summarise(results: ReviewedResults) -> tuple[ReviewedSummary, ...]:
    """Return a summary of each system on each data set, in the order of the tables."""
    return tuple(
        _summarise_group(results, data, system)
        for data in results.data_sets
        for system in results.systems
    )


def _summarise_group(results: ReviewedResults, data: PaperDataSet, system: str) -> ReviewedSummary:
    records = results.records[data, system]
    differences = results.list_differences(data, system)
    compared: dict[str, float | None] = {}
    for other in REFERENCES:
        comparison = results.comparisons.get(other, {}).get((data, system))
        compared[f"above_{other}"] = None if comparison is None else comparison.difference
        compared[f"p_{other}"] = None if comparison is None else comparison.p_value
    return ReviewedSummary(
        network=data.network,
        rows=data.rows,
        system=system,
        runs=len(records),
        true_score=results.true_scores[data],
        mean=fmean(differences),
        sd=stdev(differences) if len(differences) > 1 else None,
        min=min(differences),
        max=max(differences),
        mean_shd=results.compute_mean_shd(data, system),
        mean_n_arcs=fmean(record.n_arcs for record in records),
        mean_evaluations=fmean(record.evaluations for record in records),
        max_evaluations=results.limits[data.network],
        **compared,
        published=find_published_difference(data, system),
        mean_seconds=fmean(record.seconds for record in records),
    )
