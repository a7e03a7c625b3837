"""Tables 3 and 4 of the paper, ours beside the published values, and the times."""

from __future__ import annotations

from collections.abc import Sequence

from coevo.experiments.paper.published import CROSSING, PUBLISHED, TABLE, Published, Spread
from coevo.experiments.paper.summary import Summary
from coevo.report import ReportTable

__all__ = ["convergence_table", "numbers_table", "p_text", "result_table", "times_table"]

_SPREAD = ("average", "sd", "minimum", "maximum")


def result_table(network: str, summaries: Sequence[Summary]) -> ReportTable:
    """Return the table of one network, laid out as in the paper, published values at the end."""
    known = [PUBLISHED.get((network, summary.data.rows)) for summary in summaries]
    headers = ["data set", "algorithm", "original DAG", *_SPREAD, "p", "crossing"]
    if any(known):
        headers += ["published original DAG", *(f"published {name}" for name in _SPREAD)]
        headers += ["published p", "published crossing"]
    rows = [
        line
        for summary, published in zip(summaries, known, strict=True)
        for line in _lines(summary, published, any(known))
    ]
    number = f" (table {TABLE[network]} of the paper)" if network in TABLE else ""
    caption = (
        f"Results with the {network.capitalize()} network{number}. K2 scores, natural "
        "logarithm; p of a one-tailed Welch t-test that CCGA's mean is higher; crossing is "
        "the generation in which CCGA's mean passes K2's."
    )
    return ReportTable(headers, rows, caption, n_labels=2)


def _lines(summary: Summary, published: Published | None, with_published: bool) -> list[list[str]]:
    """Return the two lines of a data set."""
    label, original = summary.data.label, f"{summary.original:,.2f}"
    found = [p_text(summary.p_value), _or_never(summary.crossing_generation)]
    ours = [
        [label, "CCGA", original, *_cells(summary.ccga), *found],
        [label, "K2", "", *_cells(summary.k2), "", ""],
    ]
    if not with_published:
        return ours
    if published is None:
        return [line + [""] * 7 for line in ours]
    about = f"about {CROSSING[summary.data.network]}"
    theirs = [
        [f"{published.original:,.2f}", *_cells(published.ccga), published.p_value, about],
        ["", *_cells(published.k2), "", ""],
    ]
    return [our + their for our, their in zip(ours, theirs, strict=True)]


def _cells(spread: Spread) -> list[str]:
    return [f"{value:,.2f}" for value in spread]


def p_text(p_value: float) -> str:
    """Return a p-value as the paper prints it."""
    return "<0.0001" if p_value < 0.0001 else f"{p_value:.4f}"


def _or_never(generation: int | None) -> str:
    return "never" if generation is None else str(generation)


def numbers_table(summaries: Sequence[Summary]) -> ReportTable:
    """Return one tidy row a data set, in full precision, without times."""
    records = [summary.as_dict() for summary in summaries]
    names = [name for name in records[0] if not name.endswith("_seconds")]
    rows = [["" if r[name] is None else str(r[name]) for name in names] for r in records]
    return ReportTable(names, rows)


def times_table(summaries: Sequence[Summary]) -> ReportTable:
    """Return the mean CPU seconds of a run, which differ from machine to machine."""
    rows = [
        [
            summary.data.label,
            f"{summary.ccga_seconds:.3f}",
            f"{summary.k2_seconds:.4f}",
            f"{summary.time_ratio:.0f}",
        ]
        for summary in summaries
    ]
    caption = (
        "Mean CPU seconds of a run; runs on the same data share what was counted. The paper "
        "reports a ratio of about two orders of magnitude."
    )
    return ReportTable(["data set", "CCGA", "K2", "ratio"], rows, caption)


def convergence_table(summaries: Sequence[Summary]) -> ReportTable:
    """Return what the figures show: mean and standard deviation by generation."""
    rows = [
        [summary.data.network, str(summary.data.rows), str(generation), f"{mean:.2f}", f"{sd:.2f}"]
        for summary in summaries
        for generation, (mean, sd) in enumerate(zip(summary.curve, summary.curve_sd, strict=True))
    ]
    return ReportTable(["network", "rows", "generation", "ccga_mean", "ccga_sd"], rows)
