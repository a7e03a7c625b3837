"""The figures of a comparison: scores over time, and box plots over the seeds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import cycle
from typing import TYPE_CHECKING

from coevo.experiments.bench.data import BenchSetting
from coevo.experiments.bench.plan import Bench
from coevo.experiments.bench.records import BenchRecord
from coevo.experiments.bench.results import BenchRun
from coevo.report import (
    LINE_LOOKS,
    POINT_LOOKS,
    Look,
    TimeCurve,
    draw_box_panel,
    draw_time_panel,
    make_figure,
    set_gap_axis,
)

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["FIGURES", "draw_figure", "list_figures"]

OURS, PEER = "#0072B2", "#D55E00"
RecordedRun = tuple[BenchRecord, BenchRun]
USUAL_LENGTH, INCHES_PER_LETTER = 14, 0.08
GAP_LABEL = "nats below the best known score"


def list_figures(bench: Bench, source: str) -> list[str]:
    """Return the kinds of figures about a network or a table."""
    table = next((table for table in bench.tables if table.name == source), None)
    left_out = {"held-out"} if table is None else set() if table.true is not None else {"shd"}
    return [kind for kind in FIGURES if kind not in left_out]


def draw_figure(kind: str, bench: Bench, network: str, rows: Sequence[RecordedRun]) -> Figure:
    """Draw a figure about one network or table, with a panel for each size of data sets."""
    return FIGURES[kind](bench, network, rows)


def _select_setting(rows: Sequence[RecordedRun], setting: BenchSetting) -> list[RecordedRun]:
    return [row for row in rows if row[1].setting == setting]


def _measure_long_names(bench: Bench) -> float:
    """Return the inches that names need beyond the usual place; settings make names long."""
    longest = max(map(len, bench.runners), default=0)
    return INCHES_PER_LETTER * max(0, longest - USUAL_LENGTH)


def _assign_looks(bench: Bench) -> dict[str, Look]:
    """Return the style of each method, the same in all figures."""
    looks: dict[str, Look] = dict(zip(bench.labels.values(), cycle(LINE_LOOKS), strict=False))
    return looks | dict(zip(bench.peers, cycle(POINT_LOOKS), strict=False))


def _draw_scores_figure(bench: Bench, network: str, rows: Sequence[RecordedRun]) -> Figure:
    """Draw the nats below the best score over time, for each method."""
    settings = bench.list_settings(network)
    width = 3.6 + (1.2 + _measure_long_names(bench)) / len(settings)
    figure, panels = make_figure(len(settings), width=width, height=3.4)
    looks = _assign_looks(bench)
    handles: dict[str, Artist] = {}
    for panel, setting in zip(panels, settings, strict=True):
        largest = _draw_scores_panel(panel, _select_setting(rows, setting), looks)
        set_gap_axis(panel, "y", largest)
        panel.set_title(setting.label, fontsize=10)
        drawn, labels = panel.get_legend_handles_labels()
        handles |= dict(zip(labels, drawn, strict=True))
    panels[0].set_ylabel(GAP_LABEL)
    shown = [name for name in looks if name in handles]
    figure.legend(
        [handles[name] for name in shown],
        shown,
        loc="outside right upper",
        frameon=False,
        fontsize=8,
    )
    return figure


def _draw_scores_panel(
    panel: Axes, rows: Sequence[RecordedRun], looks: Mapping[str, Look]
) -> float:
    """Draw one panel; return its largest value."""
    curves: dict[str, list[TimeCurve]] = {}
    points: dict[str, list[tuple[float, float]]] = {}
    for record, result in rows:
        best, seconds, gap = result.best_score, result.seconds, result.gap_to_best
        if best is None or seconds is None or gap is None:
            continue
        if record.kind == "peer":
            points.setdefault(record.method, []).append((seconds, gap))
            continue
        curve = [(at, max(0.0, best - score)) for at, score in record.curve]
        end = max(seconds, curve[-1][0]) if curve else seconds
        curves.setdefault(record.method, []).append([*curve, (end, gap)])
    draw_time_panel(panel, curves, points, looks)
    runs = [*points.values(), *(run for runs in curves.values() for run in runs)]
    return max((gap for run in runs for _, gap in run), default=1.0)


def _draw_gaps_figure(bench: Bench, network: str, rows: Sequence[RecordedRun]) -> Figure:
    """Draw the final nats below the best score, for each method."""
    figure, panels = _draw_boxes(bench, network, rows, "gap_to_best")
    for panel, setting in zip(panels, bench.list_settings(network), strict=True):
        gaps = [r.gap_to_best for _, r in _select_setting(rows, setting) if r.gap_to_best]
        set_gap_axis(panel, "x", max(gaps, default=1.0))
        panel.set_xlabel(GAP_LABEL)
    return figure


def _draw_shd_figure(bench: Bench, network: str, rows: Sequence[RecordedRun]) -> Figure:
    """Draw the structural Hamming distances, for each method."""
    figure, panels = _draw_boxes(bench, network, rows, "shd_cpdag")
    for panel in panels:
        panel.set_xlabel("SHD of the CPDAG")
        panel.set_xlim(left=min(0.0, panel.get_xlim()[0]))
    return figure


def _draw_held_out_figure(bench: Bench, network: str, rows: Sequence[RecordedRun]) -> Figure:
    """Draw the log-likelihoods of held-out rows, for each method."""
    figure, panels = _draw_boxes(bench, network, rows, "held_out")
    for panel in panels:
        panel.set_xlabel("log-likelihood of a held-out row")
    return figure


def _draw_boxes(
    bench: Bench, network: str, rows: Sequence[RecordedRun], name: str
) -> tuple[Figure, list[Axes]]:
    """Draw box plots of one quantity, methods from top to bottom."""
    height = 1.2 + 0.27 * len(bench.runners)
    settings = bench.list_settings(network)
    width = 3.6 + _measure_long_names(bench) / len(settings)
    figure, panels = make_figure(len(settings), width=width, height=height)
    colours = {name: OURS if kind == "ours" else PEER for name, kind in bench.runners.items()}
    for panel, setting in zip(panels, settings, strict=True):
        values: dict[str, list[float]] = {method: [] for method in bench.runners}
        statuses: dict[str, set[str]] = {method: set() for method in bench.runners}
        for _, result in _select_setting(rows, setting):
            statuses[result.method].add(result.status)
            if getattr(result, name) is not None:
                values[result.method].append(getattr(result, name))
        notes = {
            method: "failed" if "failed" in seen else "timed out"
            for method, seen in statuses.items()
        }
        draw_box_panel(panel, values, colours, notes)
        panel.set_title(setting.label, fontsize=10)
    for panel in panels[1:]:
        panel.tick_params(labelleft=False)
    return figure, panels


# kind of figure, used in its file name: function that draws it
FIGURES: dict[str, Callable[[Bench, str, Sequence[RecordedRun]], Figure]] = {
    "scores": _draw_scores_figure,
    "gaps": _draw_gaps_figure,
    "shd": _draw_shd_figure,
    "held-out": _draw_held_out_figure,
}
