"""Tables 3 and 4 of the paper, with our values and the published ones, and the times."""

from __future__ import annotations

from collections.abc import Sequence

from coevo.experiments.paper.published import CROSSING, PUBLISHED, TABLE, Published, Spread
from coevo.experiments.paper.summary import PaperSummary
from coevo.report import ReportTable

__all__ = [
    "format_p_value",
    "make_convergence_table",
    "make_numbers_table",
    "make_result_table",
    "make_times_table",
]

_SPREAD = ("average", "sd", "minimum", "maximum")


def make_result_table(network: str, summaries: Sequence[PaperSummary]) -> ReportTable:
    """Return the table of one network in the layout of the paper, published values last."""
    known = [PUBLISHED.get((network, summary.data.rows)) for summary in summaries]
    headers = ["data set", "algorithm", "original DAG", *_SPREAD, "p", "crossing"]
    if any(known):
        headers += ["published original DAG", *(f"published {name}" for name in _SPREAD)]
        headers += ["published p", "published crossing"]
    rows = [
        row
        for summary, published in zip(summaries, known, strict=True)
        for row in _format_rows(summary, published, any(known))
    ]
    number = f" (table {TABLE[network]} of the paper)" if network in TABLE else ""
    caption = (
        f"Results with the {network.capitalize()} network{number}. K2 scores, natural "
        "logarithm; p of a one-tailed Welch t-test that CCGA's mean is higher; crossing is "
        "the generation in which CCGA's mean passes K2's."
    )
    return ReportTable(headers, rows, caption, n_labels=2)


def _format_rows(
    summary: PaperSummary, published: Published | None, with_published: bool
) -> list[list[str]]:
    """Return the two rows of a data set."""
    label, original = summary.data.label, f"{summary.original:,.2f}"
    comparison = [format_p_value(summary.p_value), _format_generation(summary.crossing_generation)]
    ours = [
        [label, "CCGA", original, *_format_spread(summary.ccga), *comparison],
        [label, "K2", "", *_format_spread(summary.k2), "", ""],
    ]
    if not with_published:
        return ours
    if published is None:
        return [row + [""] * 7 for row in ours]
    about = f"about {CROSSING[summary.data.network]}"
    theirs = [
        [f"{published.original:,.2f}", *_format_spread(published.ccga), published.p_value, about],
        ["", *_format_spread(published.k2), "", ""],
    ]
    return [our + their for our, their in zip(ours, theirs, strict=True)]


def _format_spread(spread: Spread) -> list[str]:
    return [f"{value:,.2f}" for value in spread]


def format_p_value(p_value: float) -> str:
    """Return a p-value in the format of the paper."""
    return "<0.0001" if p_value < 0.0001 else f"{p_value:.4f}"


def _format_generation(generation: int | None) -> str:
    return "never" if generation is None else str(generation)


def make_numbers_table(summaries: Sequence[PaperSummary]) -> ReportTable:
    """Return one row per data set, in full precision, without times."""
    records = [summary.as_dict() for summary in summaries]
    names = [name for name in records[0] if not name.endswith("_seconds")]
    rows = [["" if r[name] is None else str(r[name]) for name in names] for r in records]
    return ReportTable(names, rows)


def make_times_table(summaries: Sequence[PaperSummary]) -> ReportTable:
    """Return the mean CPU seconds of a run, which depend on the machine."""
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
        "Mean CPU seconds of a run; runs on the same data share cached local scores. The paper "
        "reports a ratio of about two orders of magnitude."
    )
    return ReportTable(["data set", "CCGA", "K2", "ratio"], rows, caption)


def make_convergence_table(summaries: Sequence[PaperSummary]) -> ReportTable:
    """Return the data of the figures: mean and standard deviation by generation."""
    rows = [
        [summary.data.network, str(summary.data.rows), str(generation), f"{mean:.2f}", f"{sd:.2f}"]
        for summary in summaries
        for generation, (mean, sd) in enumerate(zip(summary.curve, summary.curve_sd, strict=True))
    ]
    return ReportTable(["network", "rows", "generation", "ccga_mean", "ccga_sd"], rows)
