"""The numbers in the tables and figures: each system on each data set, over its runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import fmean, median, stdev
from typing import Any

from coevo.experiments.paper.plan import PaperDataSet
from coevo.experiments.reviewed.comparisons import PairedComparison, compare_with
from coevo.experiments.reviewed.published import find_published_difference
from coevo.experiments.reviewed.runs import ReviewedRecord

__all__ = ["REFERENCES", "ReviewedResults", "ReviewedSummary", "make_results", "summarise"]

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
