"""Figures 5 and 6 of the paper: the convergence of CCGA, with the mean of K2."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from coevo.experiments.paper.summary import PaperSummary
from coevo.report import draw_band_panel, make_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw_convergence_figure"]


def draw_convergence_figure(summaries: Sequence[PaperSummary], runs: int) -> Figure:
    """Draw one panel per data set: mean and standard deviation over the runs."""
    figure, panels = make_figure(len(summaries))
    for panel, summary in zip(panels, summaries, strict=True):
        _draw_panel(panel, summary)
    panels[0].set_ylabel("best K2 score so far")
    handles, labels = panels[0].get_legend_handles_labels()
    labels[0] = f"CCGA, mean and sd of {runs} runs"
    figure.legend(
        handles, labels, loc="outside lower center", ncols=len(labels), frameon=False, fontsize=9
    )
    return figure


def _draw_panel(panel: Axes, summary: PaperSummary) -> None:
    curve, sd = summary.curve, summary.curve_sd
    lines = {"K2, mean": summary.k2.mean, "original DAG": summary.original}
    draw_band_panel(panel, curve, (curve - sd, curve + sd), lines, "CCGA")
    panel.set_title(summary.data.label)
    crossing = summary.crossing_generation
    if crossing is not None and crossing > 0:
        panel.plot([crossing], [curve[crossing]], "o", color="black", markersize=4)
        panel.annotate(
            f"at {crossing}",
            (crossing, curve[crossing]),
            xytext=(4, -12),
            textcoords="offset points",
            fontsize=8,
        )
    # The first scores are far below all others. The comparison is at the top of the panel.
    top = max(summary.original, summary.k2.mean, float((curve + sd).max()))
    bottom = min(float((curve - sd)[-1]), summary.k2.mean)
    panel.set_ylim(bottom - 1.5 * (top - bottom), top + 0.08 * (top - bottom))
