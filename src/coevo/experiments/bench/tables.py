"""The tables of a comparison: every run, tidy, and the summary for people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from coevo.experiments.bench.plan import Setting
from coevo.experiments.bench.results import Result
from coevo.experiments.bench.summary import Summary
from coevo.report import ReportTable

__all__ = ["numbers_table", "results_table", "summary_cells", "summary_table"]

HEADERS = (
    "method",
    "runs",
    "below best",
    "at best",
    "above true",
    "SHD",
    "SHD CPDAG",
    "skeleton F1",
    "arc F1",
    "seconds",
)


def _cell(value: Any) -> str:
    return "" if value is None else str(value)


def results_table(results: Sequence[Result]) -> ReportTable:
    """Return one row a run, in full precision."""
    names = Result.names()
    rows = [[_cell(record[name]) for name in names] for record in (r.as_dict() for r in results)]
    return ReportTable(names, rows)


def numbers_table(summaries: Sequence[Summary]) -> ReportTable:
    """Return the summary for programs, in full precision."""
    records = [summary.as_dict() for summary in summaries]
    names = list(records[0])
    return ReportTable(names, [[_cell(record[name]) for name in names] for record in records])


def summary_table(summaries: Sequence[Summary], score: str) -> ReportTable:
    """Return the summary for people."""
    caption = (
        f"Scores are {score}, natural logarithms, by the scorer of coevo. Means over the runs "
        "that found a network: below best, nats below the best score that any run found on "
        "the same rows; above true, nats above the network that the rows were drawn from; SHD, "
        "pairs of variables that are wrong, of the DAGs and of the CPDAGs. At best: the share "
        "of runs that found that best score. Seconds: the median."
    )
    rows = [
        [Setting(summary.network, summary.rows).label, *summary_cells(summary)]
        for summary in summaries
    ]
    return ReportTable(["data sets", *HEADERS], rows, caption, n_labels=2)


def summary_cells(summary: Summary) -> list[str]:
    """Return the cells of a line under `HEADERS`."""
    return [
        summary.method,
        _runs(summary),
        _number(summary.mean_gap_to_best, ",.1f"),
        f"{100 * summary.share_at_best:.0f} %",
        _number(summary.mean_above_true, "+,.1f"),
        _number(summary.mean_shd, ".1f"),
        _number(summary.mean_shd_cpdag, ".1f"),
        _number(summary.mean_skeleton_f1, ".2f"),
        _number(summary.mean_arc_f1, ".2f"),
        _number(summary.median_seconds, ".3f" if (summary.median_seconds or 0) < 1 else ".1f"),
    ]


def _runs(summary: Summary) -> str:
    """Return how many runs there were, and how many of them found nothing.

    Both reasons are named, since one is the patience of the user and the other is not.
    """
    lost = [
        f"{n} {what}"
        for n, what in ((summary.timeouts, "timed out"), (summary.failed, "failed"))
        if n
    ]
    return ", ".join([str(summary.runs), *lost])


def _number(value: float | None, pattern: str) -> str:
    return "-" if value is None else format(value, pattern)
