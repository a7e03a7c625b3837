"""The tables of the comparison: systems from top to bottom, data sets from left to right."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from coevo.experiments.paper.tables import format_p_value
from coevo.experiments.reviewed.published import ELSEWHERE
from coevo.experiments.reviewed.summary import ReviewedSummary
from coevo.experiments.reviewed.systems import SYSTEMS
from coevo.report import ReportTable

__all__ = [
    "make_elsewhere_table",
    "make_evaluations_table",
    "make_numbers_table",
    "make_score_table",
    "make_shd_table",
    "make_test_table",
    "make_times_table",
]

Cell = Callable[[ReviewedSummary], str]


def _make_table(
    summaries: Sequence[ReviewedSummary],
    format_cell: Cell,
    caption: str,
    systems: Sequence[str] | None = None,
) -> ReportTable:
    """Return a table with a row for each system and a column for each data set."""
    chosen = list(dict.fromkeys(s.system for s in summaries)) if systems is None else systems
    columns = list(dict.fromkeys(s.data_key for s in summaries))
    by_place = {(s.system, s.data_key): s for s in summaries}
    rows = [
        [system, *(format_cell(by_place[system, column]) for column in columns)]
        for system in chosen
    ]
    headers = [f"{network.capitalize()} {n_rows}" for network, n_rows in columns]
    return ReportTable(["system", *headers], rows, caption)


def make_score_table(summaries: Sequence[ReviewedSummary]) -> ReportTable:
    """Return the scores minus that of the true network; the published ones come last."""
    table = _make_table(
        summaries,
        _format_score,
        "K2 score minus that of the true network, in nats: mean (standard deviation) over the "
        "runs. Higher is better.",
    )
    published = [
        [f"{system}, published", *(_format_published(s) for s in summaries if s.system == system)]
        for system in ("ccga", "k2")
        if any(s.published is not None for s in summaries if s.system == system)
    ]
    return ReportTable(table.headers, [*table.rows, *published], table.caption)


def _format_score(summary: ReviewedSummary) -> str:
    sd = "" if summary.sd is None else f" ({summary.sd:,.1f})"
    return f"{summary.mean:+z,.1f}{sd}"


def _format_published(summary: ReviewedSummary) -> str:
    return "" if summary.published is None else f"{summary.published:+,.1f}"


def make_shd_table(summaries: Sequence[ReviewedSummary]) -> ReportTable:
    """Return the mean distances to the true network."""
    return _make_table(
        summaries,
        lambda s: f"{s.mean_shd:.1f}",
        "Structural Hamming distance between the CPDAGs of the structure and of the true network, "
        "mean over the runs. Lower is better.",
    )


def make_evaluations_table(summaries: Sequence[ReviewedSummary]) -> ReportTable:
    """Return the mean numbers of evaluations, and the limit."""
    table = _make_table(
        summaries,
        lambda s: f"{s.mean_evaluations:,.0f}",
        "Evaluations (local scores requested, cached ones included, and tests of independence), "
        "mean over the runs. A run ends with the generation that reaches the limit.",
    )
    first = summaries[0].system
    limits = [f"{s.max_evaluations:,}" for s in summaries if s.system == first]
    return ReportTable(table.headers, [["limit", *limits], *table.rows], table.caption)


def make_test_table(summaries: Sequence[ReviewedSummary], other: str) -> ReportTable:
    """Return the differences to a system with the corrected p-values of the tests."""
    systems = list(dict.fromkeys(s.system for s in summaries if s.system != other))

    def format_cell(summary: ReviewedSummary) -> str:
        difference = getattr(summary, f"above_{other}")
        return f"{difference:+z,.1f} ({format_p_value(getattr(summary, f'p_{other}'))})"

    n_tests = len(systems) * len({s.data_key for s in summaries})
    return _make_table(
        summaries,
        format_cell,
        f"Mean score minus that of {SYSTEMS[other].label}, in nats, and p of a two-sided paired "
        f"t-test over the runs, corrected for {n_tests} tests by the method of Holm.",
        systems,
    )


def make_times_table(summaries: Sequence[ReviewedSummary]) -> ReportTable:
    """Return the mean CPU seconds of a run, which depend on the machine."""
    return _make_table(
        summaries,
        lambda s: f"{s.mean_seconds:.3f}",
        "CPU seconds of a run, mean over the runs. Each run starts with an empty cache.",
    )


def make_numbers_table(summaries: Sequence[ReviewedSummary]) -> ReportTable:
    """Return one row per data set and system, in full precision, without times."""
    records = [summary.as_dict() for summary in summaries]
    names = [name for name in records[0] if name != "mean_seconds"]
    rows = [["" if r[name] is None else str(r[name]) for name in names] for r in records]
    return ReportTable(names, rows, n_labels=3)


def make_elsewhere_table() -> ReportTable:
    """Return the results of these systems that were published on other data."""
    rows = [
        [result.source, result.system, result.data, result.note, f"{result.difference:+z,.1f}"]
        for result in ELSEWHERE
    ]
    headers = ["source", "system", "data set", "note", "K2 score minus true"]
    return ReportTable(headers, rows, n_labels=4)
