"""The figures of a comparison: score over time, and boxes over the seeds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import cycle
from typing import TYPE_CHECKING

from coevo.experiments.bench.plan import Bench, Setting
from coevo.experiments.bench.records import RunRecord
from coevo.experiments.bench.results import Result
from coevo.report import (
    LINE_LOOKS,
    POINT_LOOKS,
    Curve,
    Look,
    box_panel,
    gap_axis,
    new_figure,
    time_panel,
)

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["FIGURES", "figure_of"]

OURS, PEER = "#0072B2", "#D55E00"
Row = tuple[RunRecord, Result]
BELOW = "nats below the best score known"


def figure_of(kind: str, bench: Bench, network: str, rows: Sequence[Row]) -> Figure:
    """Return a figure about one network: a panel for each size of data sets."""
    return FIGURES[kind](bench, network, rows)


def _of(rows: Sequence[Row], setting: Setting) -> list[Row]:
    return [row for row in rows if row[1].setting == setting]


def _looks(bench: Bench) -> dict[str, Look]:
    """Return how each method is drawn, the same in all figures."""
    looks: dict[str, Look] = dict(zip(bench.methods, cycle(LINE_LOOKS), strict=False))
    return looks | dict(zip(bench.peers, cycle(POINT_LOOKS), strict=False))


def _scores(bench: Bench, network: str, rows: Sequence[Row]) -> Figure:
    """Draw how far below the best each method is, over time."""
    figure, panels = new_figure(len(bench.rows), width=3.6 + 1.2 / len(bench.rows), height=3.4)
    looks = _looks(bench)
    handles: dict[str, Artist] = {}
    for panel, size in zip(panels, bench.rows, strict=True):
        setting = Setting(network, size)
        largest = _draw_scores(panel, _of(rows, setting), looks)
        gap_axis(panel, "y", largest)
        panel.set_title(setting.label, fontsize=10)
        drawn, labels = panel.get_legend_handles_labels()
        handles |= dict(zip(labels, drawn, strict=True))
    panels[0].set_ylabel(BELOW)
    shown = [name for name in looks if name in handles]
    figure.legend(
        [handles[name] for name in shown],
        shown,
        loc="outside right upper",
        frameon=False,
        fontsize=8,
    )
    return figure


def _draw_scores(panel: Axes, rows: Sequence[Row], looks: Mapping[str, Look]) -> float:
    """Draw one panel; return its largest number."""
    curves: dict[str, list[Curve]] = {}
    points: dict[str, list[tuple[float, float]]] = {}
    for record, result in rows:
        best, seconds, gap = result.best_score, result.seconds, result.gap_to_best
        if best is None or seconds is None or gap is None:
            continue
        if record.kind == "peer":
            points.setdefault(record.method, []).append((seconds, gap))
            continue
        held = [(at, max(0.0, best - score)) for at, score in record.curve]
        end = max(seconds, held[-1][0]) if held else seconds
        curves.setdefault(record.method, []).append([*held, (end, gap)])
    time_panel(panel, curves, points, looks)
    runs = [*points.values(), *(run for runs in curves.values() for run in runs)]
    return max((gap for run in runs for _, gap in run), default=1.0)


def _gaps(bench: Bench, network: str, rows: Sequence[Row]) -> Figure:
    """Draw how far below the best each method ends."""
    figure, panels = _boxes(bench, network, rows, "gap_to_best")
    for panel, size in zip(panels, bench.rows, strict=True):
        gaps = [r.gap_to_best for _, r in _of(rows, Setting(network, size)) if r.gap_to_best]
        gap_axis(panel, "x", max(gaps, default=1.0))
        panel.set_xlabel(BELOW)
    return figure


def _shd(bench: Bench, network: str, rows: Sequence[Row]) -> Figure:
    """Draw how wrong the structures are."""
    figure, panels = _boxes(bench, network, rows, "shd_cpdag")
    for panel in panels:
        panel.set_xlabel("SHD of the CPDAG")
        panel.set_xlim(left=min(0.0, panel.get_xlim()[0]))
    return figure


def _boxes(bench: Bench, network: str, rows: Sequence[Row], name: str) -> tuple[Figure, list[Axes]]:
    """Draw boxes of one number, methods from top to bottom."""
    height = 1.2 + 0.27 * len(bench.runners)
    figure, panels = new_figure(len(bench.rows), width=3.6, height=height)
    colours = {name: OURS if kind == "ours" else PEER for name, kind in bench.runners.items()}
    for panel, size in zip(panels, bench.rows, strict=True):
        setting = Setting(network, size)
        values: dict[str, list[float]] = {method: [] for method in bench.runners}
        statuses: dict[str, set[str]] = {method: set() for method in bench.runners}
        for _, result in _of(rows, setting):
            statuses[result.method].add(result.status)
            if getattr(result, name) is not None:
                values[result.method].append(getattr(result, name))
        notes = {
            method: "failed" if "failed" in seen else "timed out"
            for method, seen in statuses.items()
        }
        box_panel(panel, values, colours, notes)
        panel.set_title(setting.label, fontsize=10)
    for panel in panels[1:]:
        panel.tick_params(labelleft=False)
    return figure, panels


# what the names of the files begin with: how they are drawn
FIGURES: dict[str, Callable[[Bench, str, Sequence[Row]], Figure]] = {
    "scores": _scores,
    "gaps": _gaps,
    "shd": _shd,
}
