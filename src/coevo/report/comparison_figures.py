"""Panels that compare methods: what each reached in which time, and how much that varies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coevo.report.figures import in_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["LINE_LOOKS", "POINT_LOOKS", "Curve", "Look", "box_panel", "gap_axis", "time_panel"]

Curve = Sequence[tuple[float, float]]  # (seconds, value), the value holding until the next
LEAST_SECONDS = 1e-4  # a clock shows no less, and a logarithmic axis has no zero


class Look(NamedTuple):
    """How a method is drawn; no two differ by colour alone."""

    colour: str
    shape: Any  # dashes of a line, marker of a point


# Distinct in print without colour, and for the colour-blind (Okabe and Ito).
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


def time_panel(
    panel: Axes,
    curves: Mapping[str, Sequence[Curve]],
    points: Mapping[str, Curve],
    looks: Mapping[str, Look],
) -> None:
    """Draw values over time: of searches that always have an answer, and of others at the end.

    `curves` has for each method one curve a run; their median is drawn thick. `points` has
    for each method one (seconds, value) a run.
    """
    with in_style():
        for name, runs in curves.items():
            look = looks[name]
            style: dict[str, Any] = {"color": look.colour, "drawstyle": "steps-post"}
            for run in runs:
                panel.plot(*_columns(run), linewidth=0.6, alpha=0.35, **style)
            middle = _columns(_median_curve(runs))
            panel.plot(*middle, linewidth=1.8, linestyle=look.shape, label=name, **style)
        for name, found in points.items():
            look = looks[name]
            seconds, values = _columns(found)
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


def _columns(curve: Curve) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return times and values; times as a logarithmic axis can show them."""
    seconds, values = np.array(curve, dtype=float).T
    return np.maximum(seconds, LEAST_SECONDS), values


def _median_curve(runs: Sequence[Curve]) -> Curve:
    """Return the median of the runs, from the moment on at which all have a value.

    A run holds its last value after its end.

    >>> _median_curve([[(0, 9), (2, 5)], [(1, 7), (3, 6)], [(1, 1), (9, 1)]])
    [(1.0, 7.0), (2.0, 5.0), (3.0, 5.0), (9.0, 5.0)]
    """
    begin = max(run[0][0] for run in runs)
    moments = sorted({at for run in runs for at, _ in run if begin <= at} | {begin})
    held = [
        [run[int(np.searchsorted([at for at, _ in run], now, side="right")) - 1][1] for run in runs]
        for now in moments
    ]
    return [
        (float(now), float(np.median(values))) for now, values in zip(moments, held, strict=True)
    ]


def gap_axis(panel: Axes, axis: str, largest: float) -> None:
    """Let an axis show values from 0 to very many: even up to 1, logarithmic from there."""
    end = max(1.0, largest) * 1.6
    ticks = [0.0] + [10.0**power for power in range(1 + int(np.log10(end)))]
    with in_style():
        if axis == "y":
            panel.set_yscale("symlog", linthresh=1.0, linscale=0.5)
            panel.set_yticks(ticks, [f"{tick:,.0f}" for tick in ticks])
            panel.set_ylim(end, -0.15)  # the best is at the top
        else:
            panel.set_xscale("symlog", linthresh=1.0, linscale=0.5)
            panel.set_xticks(ticks, [f"{tick:,.0f}" for tick in ticks])
            panel.set_xlim(-0.15, end)
        panel.minorticks_off()


def box_panel(
    panel: Axes,
    values: Mapping[str, Sequence[float]],
    colours: Mapping[str, str],
    notes: Mapping[str, str],
) -> None:
    """Draw a box for each method, the first at the top: quartiles, extremes, and each value.

    `notes` are written where a method has no values.
    """
    with in_style():
        for place, (name, found) in enumerate(values.items()):
            if not found:
                panel.annotate(
                    notes.get(name, ""),
                    (0.02, place),
                    xycoords=("axes fraction", "data"),
                    va="center",
                    fontsize=8,
                    color="#555555",
                )
                continue
            low, first, middle, third, high = np.quantile(found, [0, 0.25, 0.5, 0.75, 1])
            colour = colours[name]
            panel.hlines(place, low, high, color=colour, linewidth=1.0)
            panel.barh(
                place, third - first, 0.55, first, facecolor=colour, edgecolor=colour, alpha=0.35
            )
            panel.vlines(middle, place - 0.275, place + 0.275, color=colour, linewidth=2.0)
            panel.plot(found, [place] * len(found), "o", color="#333333", markersize=2.6, alpha=0.8)
        panel.set_yticks(range(len(values)), list(values))
        panel.set_ylim(len(values) - 0.5, -0.5)
        panel.grid(axis="y", visible=False)
