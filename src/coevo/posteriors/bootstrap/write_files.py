"""Arc strengths as files: a table, a figure, the consensus network, and JSON."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coevo.io import make_run_folder, write_json, write_model
from coevo.posteriors.bootstrap.result import BootstrapResult
from coevo.report import ReportTable, make_figure, write_figure
from coevo.report.figures import BLUE, GREY, ORANGE, apply_style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["draw_strength_figure", "make_strength_table", "write_strength"]

HEADERS = [
    *("from", "to", "strength", "low", "high", "direction", "reverse"),
    *("gain", "support", "in consensus"),
]
SUPPORT = (
    "Support: the share of the last population of that search that joins the two; not a "
    "probability. "
)


def make_strength_table(result: BootstrapResult) -> ReportTable:
    """Return one row per arc, strongest first; with support only where there is a population."""
    supported = any(arc.support is not None for arc in result.arcs)
    rows = [
        [
            arc.parent,
            arc.child,
            *(f"{share:.4f}" for share in (arc.strength, *arc.interval)),
            *(f"{share:.4f}" for share in (arc.direction, arc.reverse)),
            "" if arc.gain is None else f"{arc.gain:z.4f}",
            *(["" if arc.support is None else f"{arc.support:.4f}"] if supported else []),
            "yes" if arc.in_consensus else "no",
        ]
        for arc in result.arcs
    ]
    headers = [name for name in HEADERS if supported or name != "support"]
    caption = (
        f"Arcs over {result.n_bootstraps:,} bootstrap samples. Strength: the share of samples that "
        "join the two variables, in either direction. Low and high: its 95 % interval. Direction: "
        "the share of these samples in which the data direct the edge from the first to the "
        "second (in the CPDAG); reverse: the other way. Gain: the loss of score if the arc is "
        "removed from the network of the original table. "
        f"{SUPPORT if supported else ''}"
        f"Significant above {result.threshold:.4f}."
    )
    return ReportTable(headers, rows, caption, n_labels=2)


def draw_strength_figure(result: BootstrapResult) -> Figure:
    """Draw the strengths from highest to lowest, with the threshold."""
    figure, (panel,) = make_figure(1, width=6.0, height=3.4)
    with apply_style():
        for in_consensus, label, face in (
            (True, "in the consensus", BLUE),
            (False, "not in the consensus", "white"),
        ):
            points = [
                (place, arc.strength)
                for place, arc in enumerate(result.arcs, start=1)
                if arc.in_consensus == in_consensus
            ]
            panel.plot(
                [place for place, _ in points],
                [strength for _, strength in points],
                "o",
                markersize=4.5,
                markerfacecolor=face,
                markeredgecolor=BLUE if in_consensus else GREY,
                label=f"{label}: {len(points):,}",
                clip_on=False,
                zorder=3,
            )
        panel.axhline(
            result.threshold,
            color=ORANGE,
            linestyle="--",
            linewidth=1.3,
            label=f"threshold {result.threshold:.3f}",
        )
        panel.set_ylim(0, 1.02)
        panel.set_xlim(0, len(result.arcs) + 1)
        panel.locator_params(axis="x", integer=True)
        panel.set_xlabel("arcs, from strongest to weakest")
        panel.set_ylabel(f"share of {result.n_bootstraps:,} bootstrap samples")
        figure.legend(loc="outside upper center", ncols=3, frameon=False, fontsize=9)
    return figure


def write_strength(
    result: BootstrapResult,
    folder: str | Path,
    *,
    figures: bool = True,
    facts: Mapping[str, Any] | None = None,
) -> dict[str, str]:
    """Write the result into a folder; return the path of each file.

    strength.md, .tex, .csv   the arcs as a table
    strength.png, .svg        the strengths and the threshold (needs matplotlib)
    consensus.json            the consensus and its CPDAG; every command reads it
    strength.json             the complete result, with `facts`
    """
    place = Path(folder)
    make_run_folder(place)
    written = make_strength_table(result).write(place / "strength")
    if figures:
        written += write_figure(draw_strength_figure(result), place / "strength")
    files = {path.suffix.removeprefix("."): str(path) for path in written}
    files["consensus"] = str(place / "consensus.json")
    write_model(result.consensus, files["consensus"])
    files["json"] = str(place / "strength.json")
    write_json(place / "strength.json", {**(facts or {}), **result.as_dict()})
    return files
