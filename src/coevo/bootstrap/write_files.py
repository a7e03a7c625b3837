"""The strengths as files: a table, a picture, the consensus, and all of it as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coevo.bootstrap.result import BootstrapResult
from coevo.io import make_run_folder, write_json, write_model
from coevo.report import ReportTable, new_figure, write_figure
from coevo.report.figures import BLUE, GREY, ORANGE, in_style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["strength_figure", "strength_table", "write_strength"]

HEADERS = ["from", "to", "strength", "direction", "gain", "support", "in consensus"]
SUPPORT = "Support: the share of that search's last population that joins the two; no probability. "


def strength_table(result: BootstrapResult) -> ReportTable:
    """Return one row an arc, strongest first; support only where there is a population."""
    supported = any(arc.support is not None for arc in result.arcs)
    rows = [
        [
            arc.parent,
            arc.child,
            f"{arc.strength:.4f}",
            f"{arc.direction:.4f}",
            "" if arc.gain is None else f"{arc.gain:.4f}",
            *(["" if arc.support is None else f"{arc.support:.4f}"] if supported else []),
            "yes" if arc.in_consensus else "no",
        ]
        for arc in result.arcs
    ]
    headers = [name for name in HEADERS if supported or name != "support"]
    caption = (
        f"Arcs over {result.n_bootstraps:,} bootstraps. Strength: the share that join the two, "
        "either way. Direction: the share of these that lead from the first to the second; "
        "what data cannot direct counts half. Gain: what the score of the network of the whole "
        f"table would lose without the arc. {SUPPORT if supported else ''}"
        f"Significant above {result.threshold:.4f}."
    )
    return ReportTable(headers, rows, caption, n_labels=2)


def strength_figure(result: BootstrapResult) -> Figure:
    """Draw the strengths from highest to lowest, with the threshold."""
    figure, (panel,) = new_figure(1, width=6.0, height=3.4)
    with in_style():
        for in_consensus, label, face in (
            (True, "in the consensus", BLUE),
            (False, "not in it", "white"),
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
        panel.set_ylabel(f"share of {result.n_bootstraps:,} bootstraps")
        figure.legend(loc="outside upper center", ncols=3, frameon=False, fontsize=9)
    return figure


def write_strength(
    result: BootstrapResult,
    folder: str | Path,
    *,
    figures: bool = True,
    facts: Mapping[str, Any] | None = None,
) -> dict[str, str]:
    """Write everything into a folder; return the paths by what they hold.

    strength.md, .tex, .csv   the arcs as a table
    strength.png, .svg        their strengths and the threshold (needs matplotlib)
    consensus.json            the consensus and its CPDAG, which every command reads
    strength.json             everything, and `facts` beside it
    """
    place = Path(folder)
    make_run_folder(place)
    written = strength_table(result).write(place / "strength")
    if figures:
        written += write_figure(strength_figure(result), place / "strength")
    files = {path.suffix.removeprefix("."): str(path) for path in written}
    files["consensus"] = str(place / "consensus.json")
    write_model(result.consensus, files["consensus"])
    files["json"] = str(place / "strength.json")
    write_json(place / "strength.json", {**(facts or {}), **result.as_dict()})
    return files
