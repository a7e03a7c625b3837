"""The figures of the comparison: systems side by side, and scores over evaluations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from coevo.experiments.paper.plan import PaperDataSet
from coevo.experiments.reviewed.summary import ReviewedResults
from coevo.experiments.reviewed.systems import SYSTEMS
from coevo.report import LINE_LOOKS, draw_box_panel, draw_time_panel, make_figure, set_gap_axis

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["CURVES", "draw_curve_figure", "draw_score_figure"]

OF_PAPER, EVOLVES, OTHER, OURS = "#D55E00", "#E69F00", "#555555", "#0072B2"
KNOWS_ORDER = "#009E73"
CURVES = ("ccma", "ccga", "ga", "k2ga", "wong")  # as many as there are styles of lines
SMALLEST_STEP = 1.05  # between two points of a curve
GAP_LABEL = "nats below the best structure of all runs"


def draw_score_figure(results: ReviewedResults, data_sets: Sequence[PaperDataSet]) -> Figure:
    """Draw the score of each run of each system, one panel per data set."""
    height = 1.3 + 0.25 * len(results.systems)
    figure, panels = make_figure(len(data_sets), width=3.7, height=height)
    colours = {name: _choose_colour(name) for name in results.systems}
    for panel, data in zip(panels, data_sets, strict=True):
        best = _find_best(results, data)
        values = {
            name: [max(0.0, best - d) for d in results.list_differences(data, name)]
            for name in results.systems
        }
        draw_box_panel(panel, values, colours, {})
        panel.axvline(max(0.0, best), color="black", linestyle=":", linewidth=1.2)
        largest = max(best, *(gap for gaps in values.values() for gap in gaps))
        set_gap_axis(panel, "x", largest)
        panel.invert_xaxis()  # the best is on the right
        panel.set_xlabel(GAP_LABEL)
        panel.set_title(data.label)
    for panel in panels[1:]:
        panel.tick_params(labelleft=False)
    _add_legend(figure, results, n_columns=2 * len(panels))
    return figure


def _add_legend(figure: Figure, results: ReviewedResults, n_columns: int) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    kinds = {
        OF_PAPER: "the paper's CCGA and K2",
        EVOLVES: "older systems that evolve",
        KNOWS_ORDER: "knows the true order",
        OTHER: "other methods",
        OURS: "CCMA",
    }
    used = {_choose_colour(name) for name in results.systems}
    handles: list[Patch | Line2D] = [
        Patch(facecolor=colour, alpha=0.6, label=label)
        for colour, label in kinds.items()
        if colour in used
    ]
    handles.append(Line2D([], [], color="black", linestyle=":", label="the true network"))
    figure.legend(
        handles=handles,
        loc="outside lower center",
        ncols=min(len(handles), n_columns),
        frameon=False,
        fontsize=8,
    )


def _choose_colour(name: str) -> str:
    if name in ("ccga", "k2"):
        return OF_PAPER
    if name == "ccma":
        return OURS
    if SYSTEMS[name].order == "true":
        return KNOWS_ORDER
    return EVOLVES if SYSTEMS[name].evolves else OTHER


def draw_curve_figure(results: ReviewedResults, data_sets: Sequence[PaperDataSet]) -> Figure:
    """Draw the best score so far over evaluations, for the systems of `CURVES`."""
    names = [name for name in CURVES if name in results.systems]
    looks = dict(zip(names, LINE_LOOKS, strict=False))
    figure, panels = make_figure(len(data_sets), width=3.7, height=3.1)
    for panel, data in zip(panels, data_sets, strict=True):
        best = _find_best(results, data) + results.true_scores[data]
        curves = {
            name: [
                [
                    *((at, max(0.0, best - score)) for at, score in _thin(record.improvements)),
                    (float(record.evaluations), max(0.0, best - record.score)),
                ]
                for record in results.records[data, name]
            ]
            for name in names
        }
        draw_time_panel(panel, curves, {}, looks)
        _finish_curve_panel(panel, curves, data)
    panels[0].set_ylabel("nats below the best")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(
        handles,
        labels,
        loc="outside lower center",
        ncols=min(len(labels), 3 * len(panels)),
        frameon=False,
        fontsize=9,
    )
    return figure


def _thin(curve: Sequence[tuple[int, float]]) -> list[tuple[float, float]]:
    """Return a curve without points that a logarithmic axis cannot show apart.

    >>> _thin([(100, 1.0), (101, 2.0), (200, 3.0), (205, 4.0)])
    [(100.0, 1.0), (200.0, 3.0)]
    """
    kept: list[tuple[float, float]] = []
    for at, value in curve:
        if not kept or at >= kept[-1][0] * SMALLEST_STEP:
            kept.append((float(at), value))
    return kept


def _finish_curve_panel(
    panel: Axes, curves: dict[str, list[list[tuple[float, float]]]], data: PaperDataSet
) -> None:
    largest = max(gap for runs in curves.values() for run in runs for _, gap in run)
    set_gap_axis(panel, "y", largest)
    panel.set_xlim(left=min(run[0][0] for runs in curves.values() for run in runs))
    panel.set_xlabel("evaluations")
    panel.set_title(data.label)


def _find_best(results: ReviewedResults, data: PaperDataSet) -> float:
    """Return the best score of all runs minus that of the true network."""
    return max(max(results.list_differences(data, name)) for name in results.systems)
