"""Panels that compare methods: scores over time, and the variation over runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coevo.view.figures import apply_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "LINE_LOOKS",
    "POINT_LOOKS",
    "Look",
    "TimeCurve",
    "draw_box_panel",
    "draw_time_panel",
    "set_gap_axis",
]

TimeCurve = Sequence[tuple[float, float]]  # (seconds, value); a value holds until the next
MIN_SECONDS = 1e-4  # resolution of the clock; a logarithmic axis has no zero


class Look(NamedTuple):
    """The style of a method. No two styles differ by colour alone."""

    colour: str
    shape: Any  # dashes of a line, marker of a point


# Distinguishable in black and white, and by colour-blind readers (Okabe and Ito).
LINE_LOOKS = (
    Look("#0072B2", "-"),
    Look("#D55E00", "--"),
    Look("#009E73", ":"),
    Look("#E69F00", "-."),
    Look("#CC79A7", (0, (5, 1, 1, 1, 1, 1))),
)
POINT_LOOKS = (
    Look("#000000", "o"),
    Look("#56B4E9", "s"),
    Look("#F0E442", "^"),
    Look("#FFFFFF", "D"),
)


def draw_time_panel(
    panel: Axes,
    curves: Mapping[str, Sequence[TimeCurve]],
    points: Mapping[str, TimeCurve],
    looks: Mapping[str, Look],
) -> None:
    """Draw values over time: curves for anytime methods, points for methods with one result.

    `curves` has one curve per run for each method; their median is drawn as a thick line.
    `points` has one (seconds, value) per run for each method.
    """
    with apply_style():
        for name, runs in curves.items():
            look = looks[name]
            style: dict[str, Any] = {"color": look.colour, "drawstyle": "steps-post"}
            for run in runs:
                panel.plot(*_split_columns(run), linewidth=0.6, alpha=0.35, **style)
            median = _split_columns(_compute_median_curve(runs))
            panel.plot(*median, linewidth=1.8, linestyle=look.shape, label=name, **style)
        for name, results in points.items():
            look = looks[name]
            seconds, values = _split_columns(results)
            panel.scatter(
                seconds,
                values,
                c=look.colour,
                marker=look.shape,
                s=22,
                linewidths=0.8,
                edgecolors="#333333",
                zorder=3,
                label=name,
            )
        panel.set_xscale("log")
        panel.set_xlabel("seconds")


def _split_columns(curve: TimeCurve) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return times and values. Times are at least `MIN_SECONDS`."""
    seconds, values = np.array(curve, dtype=float).T
    return np.maximum(seconds, MIN_SECONDS), values


def _compute_median_curve(runs: Sequence[TimeCurve]) -> TimeCurve:
    """Return the median of the runs, from the first time at which all runs have a value.

    A run keeps its last value after its end.

    >>> _compute_median_curve([[(0, 9), (2, 5)], [(1, 7), (3, 6)], [(1, 1), (9, 1)]])
    [(1.0, 7.0), (2.0, 5.0), (3.0, 5.0), (9.0, 5.0)]
    """
    start = max(run[0][0] for run in runs)
    times = sorted({at for run in runs for at, _ in run if start <= at} | {start})
    values_at = [
        [run[int(np.searchsorted([at for at, _ in run], now, side="right")) - 1][1] for run in runs]
        for now in times
    ]
    return [
        (float(now), float(np.median(values))) for now, values in zip(times, values_at, strict=True)
    ]


def set_gap_axis(panel: Axes, axis: str, largest: float) -> None:
    """Scale an axis from 0 to large values: linear up to 1, logarithmic beyond."""
    end = max(1.0, largest) * 1.6
    ticks = [0.0] + [10.0**power for power in range(1 + int(np.log10(end)))]
    with apply_style():
        if axis == "y":
            panel.set_yscale("symlog", linthresh=1.0, linscale=0.5)
            panel.set_yticks(ticks, [f"{tick:,.0f}" for tick in ticks])
            panel.set_ylim(end, -0.15)  # the best is at the top
        else:
            panel.set_xscale("symlog", linthresh=1.0, linscale=0.5)
            panel.set_xticks(ticks, [f"{tick:,.0f}" for tick in ticks])
            panel.set_xlim(-0.15, end)
        panel.minorticks_off()


def draw_box_panel(
    panel: Axes,
    values: Mapping[str, Sequence[float]],
    colours: Mapping[str, str],
    notes: Mapping[str, str],
) -> None:
    """Draw a box plot per method, the first at the top: quartiles, extremes, and each value.

    `notes` are shown for methods without values.
    """
    with apply_style():
        for y, (name, numbers) in enumerate(values.items()):
            if not numbers:
                panel.annotate(
                    notes.get(name, ""),
                    (0.02, y),
                    xycoords=("axes fraction", "data"),
                    va="center",
                    fontsize=8,
                    color="#555555",
                )
                continue
            low, first, median, third, high = np.quantile(numbers, [0, 0.25, 0.5, 0.75, 1])
            colour = colours[name]
            panel.hlines(y, low, high, color=colour, linewidth=1.0)
            panel.barh(
                y, third - first, 0.55, first, facecolor=colour, edgecolor=colour, alpha=0.35
            )
            panel.vlines(median, y - 0.275, y + 0.275, color=colour, linewidth=2.0)
            panel.plot(numbers, [y] * len(numbers), "o", color="#333333", markersize=2.6, alpha=0.8)
        panel.set_yticks(range(len(values)), list(values))
        panel.set_ylim(len(values) - 0.5, -0.5)
        panel.grid(axis="y", visible=False)
