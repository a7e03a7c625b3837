"""The tables of a comparison: one row per run, and the summary.

The summary has the columns that make sense for its data sets: distances need a true structure, and
the held-out likelihood needs rows that were held out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from coevo.experiments.bench.data import BenchSetting
from coevo.experiments.bench.results import BenchRun
from coevo.experiments.bench.summary import BenchSummary
from coevo.report import ReportTable

__all__ = [
    "format_summary_rows",
    "make_numbers_table",
    "make_results_table",
    "make_summary_table",
]

_ALWAYS, _TABLE, _TRUE = range(3)  # which data sets have a column


class _Column(NamedTuple):
    header: str
    data: int
    format: Callable[[BenchSummary], str]
    explanation: str = ""


def _make_number_column(
    header: str, data: int, name: str, pattern: str, explanation: str = ""
) -> _Column:
    return _Column(header, data, lambda s: _format_number(getattr(s, name), pattern), explanation)


_COLUMNS = (
    _Column("method", _ALWAYS, lambda summary: summary.method),
    _Column("runs", _ALWAYS, lambda summary: _format_run_counts(summary)),
    _make_number_column(
        "below best",
        _ALWAYS,
        "mean_gap_to_best",
        ",.1f",
        "below best, nats below the best score of all runs on the same rows",
    ),
    _Column("at best", _ALWAYS, lambda summary: f"{100 * summary.share_at_best:.0f} %"),
    _make_number_column(
        "held-out",
        _TABLE,
        "mean_held_out",
        ".4f",
        "held-out, the log-likelihood of a row that was held out (higher is better)",
    ),
    _make_number_column("arcs", _TABLE, "mean_n_arcs", ".1f", "arcs, number of arcs"),
    _make_number_column(
        "above true",
        _TRUE,
        "mean_above_true",
        "+,.1f",
        "above true, nats above the score of the true structure",
    ),
    _make_number_column(
        "SHD",
        _TRUE,
        "mean_shd",
        ".1f",
        "SHD, structural Hamming distance of the DAGs and of the CPDAGs",
    ),
    _make_number_column("SHD CPDAG", _TRUE, "mean_shd_cpdag", ".1f"),
    _make_number_column(
        "SID", _TRUE, "mean_sid", ".1f", "SID, structural intervention distance of the DAGs"
    ),
    _make_number_column("skeleton F1", _TRUE, "mean_skeleton_f1", ".2f"),
    _make_number_column("arc F1", _TRUE, "mean_arc_f1", ".2f"),
    _Column("seconds", _ALWAYS, lambda summary: _format_seconds(summary.median_seconds)),
)


def _choose_columns(summaries: Sequence[BenchSummary]) -> list[_Column]:
    """Return the columns that at least one of these summaries has."""
    shown = {_ALWAYS}
    if any(summary.mean_true_score is not None for summary in summaries):
        shown.add(_TRUE)
    if any(summary.mean_held_out is not None for summary in summaries):
        shown.add(_TABLE)
    return [column for column in _COLUMNS if column.data in shown]


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
    columns = _choose_columns(summaries)
    explained = "; ".join(column.explanation for column in columns if column.explanation)
    caption = (
        f"Scores are {score}, natural logarithms, by coevo's scorer. Means over the runs with a "
        f"result: {explained}. At best: the share of runs that reached the best score. Seconds: "
        "the median."
    )
    headers, *rows = format_summary_rows(summaries)
    labels = [BenchSetting(summary.network, summary.rows).label for summary in summaries]
    labelled = [[label, *row] for label, row in zip(labels, rows, strict=True)]
    return ReportTable(["data sets", *headers], labelled, caption, n_labels=2)


def format_summary_rows(summaries: Sequence[BenchSummary]) -> list[list[str]]:
    """Return the headers, and a row of cells for each summary."""
    columns = _choose_columns(summaries)
    rows = [[column.format(summary) for column in columns] for summary in summaries]
    return [[column.header for column in columns], *rows]


def _format_run_counts(summary: BenchSummary) -> str:
    """Return the number of runs, of runs that timed out, and of runs that failed."""
    without_result = [
        f"{n} {what}"
        for n, what in ((summary.timeouts, "timed out"), (summary.failed, "failed"))
        if n
    ]
    return ", ".join([str(summary.runs), *without_result])


def _format_seconds(value: float | None) -> str:
    return _format_number(value, ".3f" if (value or 0) < 1 else ".1f")


def _format_number(value: float | None, pattern: str) -> str:
    return "-" if value is None else format(value, pattern)
