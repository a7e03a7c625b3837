"""The tables of a comparison: one row per run, and the summary."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from coevo.experiments.bench.plan import BenchSetting
from coevo.experiments.bench.results import BenchRun
from coevo.experiments.bench.summary import BenchSummary
from coevo.report import ReportTable

__all__ = ["format_summary_cells", "make_numbers_table", "make_results_table", "make_summary_table"]

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


def _format_cell(value: Any) -> str:
    return "" if value is None else str(value)


def make_results_table(results: Sequence[BenchRun]) -> ReportTable:
    """Return one row per run, in full precision."""
    names = BenchRun.list_column_names()
    rows = [
        [_format_cell(record[name]) for name in names] for record in (r.as_dict() for r in results)
    ]
    return ReportTable(names, rows)


def make_numbers_table(summaries: Sequence[BenchSummary]) -> ReportTable:
    """Return the summary in full precision, for programs."""
    records = [summary.as_dict() for summary in summaries]
    names = list(records[0])
    return ReportTable(
        names, [[_format_cell(record[name]) for name in names] for record in records]
    )


def make_summary_table(summaries: Sequence[BenchSummary], score: str) -> ReportTable:
    """Return the summary with rounded numbers, for readers."""
    caption = (
        f"Scores are {score}, natural logarithms, by coevo's scorer. Means over the runs with a "
        "result: below best, nats below the best score of all runs on the same rows; above true, "
        "nats above the score of the network from which the rows were sampled; SHD, structural "
        "Hamming distance of the DAGs and of the CPDAGs. At best: the share of runs that reached "
        "the best score. Seconds: the median."
    )
    rows = [
        [BenchSetting(summary.network, summary.rows).label, *format_summary_cells(summary)]
        for summary in summaries
    ]
    return ReportTable(["data sets", *HEADERS], rows, caption, n_labels=2)


def format_summary_cells(summary: BenchSummary) -> list[str]:
    """Return the cells of a row under `HEADERS`."""
    return [
        summary.method,
        _format_run_counts(summary),
        _format_number(summary.mean_gap_to_best, ",.1f"),
        f"{100 * summary.share_at_best:.0f} %",
        _format_number(summary.mean_above_true, "+,.1f"),
        _format_number(summary.mean_shd, ".1f"),
        _format_number(summary.mean_shd_cpdag, ".1f"),
        _format_number(summary.mean_skeleton_f1, ".2f"),
        _format_number(summary.mean_arc_f1, ".2f"),
        _format_number(
            summary.median_seconds, ".3f" if (summary.median_seconds or 0) < 1 else ".1f"
        ),
    ]


def _format_run_counts(summary: BenchSummary) -> str:
    """Return the number of runs, of runs that timed out, and of runs that failed."""
    without_result = [
        f"{n} {what}"
        for n, what in ((summary.timeouts, "timed out"), (summary.failed, "failed"))
        if n
    ]
    return ", ".join([str(summary.runs), *without_result])


def _format_number(value: float | None, pattern: str) -> str:
    return "-" if value is None else format(value, pattern)
