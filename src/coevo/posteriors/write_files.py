"""A posterior as files: tables, a figure, the median probability graph, the sample, and JSON."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from coevo.array_files import write_arrays
from coevo.io import make_run_folder, write_json
from coevo.posteriors.answers import AVERAGED, write_averaged
from coevo.posteriors.result import Posterior
from coevo.report import ReportTable, make_figure, write_figure
from coevo.report.figures import BLUE, GREY, ORANGE, apply_style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["draw_posterior_figure", "make_posterior_table", "write_posterior"]

HEADERS = ["from", "to", "probability", "direction", "error"]


def make_posterior_table(result: Posterior) -> ReportTable:
    """Return one row for each edge, the most probable first."""
    rows = [
        [
            edge.parent,
            edge.child,
            f"{edge.probability:.4f}",
            f"{edge.direction:.4f}",
            f"{edge.error:.4f}" if edge.error > 0 else "",
        ]
        for edge in result.edges
    ]
    caption = (
        "Edges by posterior probability. Probability: that the two variables are joined, in either "
        "direction. Direction: the share of it that the arc from the first to the second has. "
        f"Error: the standard error of the probability. {result.verdict}"
    )
    return ReportTable(HEADERS, rows, caption, n_labels=2)


def draw_posterior_figure(result: Posterior) -> Figure:
    """Draw the probabilities from highest to lowest; of chains, their trace beside it."""
    has_trace = result.trace is not None and result.trace.shape[1] > 1
    figure, panels = make_figure(2 if has_trace else 1, width=5.0, height=3.4)
    with apply_style():
        _draw_probabilities(panels[0], result)
        if has_trace:
            _draw_trace(panels[1], result)
    return figure


def _draw_probabilities(panel: Any, result: Posterior) -> None:
    numbers = np.arange(1, len(result.edges) + 1)
    values = np.array([edge.probability for edge in result.edges])
    errors = np.array([edge.error for edge in result.edges])
    is_in = values > 0.5
    for chosen, face, edge, label in (
        (is_in, BLUE, BLUE, "in the median probability graph"),
        (~is_in, "white", GREY, "not in it"),
    ):
        panel.errorbar(
            numbers[chosen],
            values[chosen],
            yerr=2 * np.nan_to_num(errors[chosen]),
            fmt="o",
            markersize=4.5,
            markerfacecolor=face,
            markeredgecolor=edge,
            ecolor=GREY,
            elinewidth=1,
            label=f"{label}: {int(chosen.sum()):,}",
            clip_on=False,
            zorder=3,
        )
    panel.axhline(0.5, color=ORANGE, linestyle="--", linewidth=1.3)
    panel.set_ylim(0, 1.02)
    panel.set_xlim(0, len(result.edges) + 1)
    panel.locator_params(axis="x", integer=True)
    panel.set_xlabel("edges, from most to least probable")
    panel.set_ylabel("posterior probability")
    panel.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, frameon=False, fontsize=9)


def _draw_trace(panel: Any, result: Posterior) -> None:
    assert result.trace is not None
    for number, values in enumerate(result.trace, start=1):
        panel.plot(values, linewidth=0.8, alpha=0.8, label=f"chain {number}")
    panel.set_xlabel("draws after the burn-in")
    panel.set_ylabel("log weight of the state")
    panel.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=4, frameon=False, fontsize=8)


def write_posterior(
    result: Posterior,
    folder: str | Path,
    *,
    figures: bool = True,
    facts: Mapping[str, Any] | None = None,
) -> dict[str, str]:
    """Write the result into a folder; return the path of each file.

    posterior.md, .tex, .csv   the edges as a table
    posterior.png, .svg        the probabilities, and the trace of the chains (needs matplotlib)
    graph.svg                  the median probability graph
    networks.npz               the sampled DAGs: `start` and `arcs` of `DagSample`
    averaged.json              up to 100 of them with their tables, if the rows are in memory
    posterior.json             everything else, with `facts`
    """
    place = Path(folder)
    make_run_folder(place)
    written = make_posterior_table(result).write(place / "posterior")
    if figures:
        written += write_figure(draw_posterior_figure(result), place / "posterior")
    files = {path.suffix.removeprefix("."): str(path) for path in written}
    files["graph"] = str(place / "graph.svg")
    result.plot().save(files["graph"])
    files["networks"] = str(place / "networks.npz")
    sample = result.sample
    arrays = {"names": np.array(result.names), "start": sample.start, "arcs": sample.arcs}
    write_arrays(place / "networks.npz", arrays)
    if result.dataset is not None:
        files["averaged"] = str(place / AVERAGED)
        write_averaged(result.averaged, place / AVERAGED)
    files["json"] = str(place / "posterior.json")
    write_json(place / "posterior.json", {**(facts or {}), **result.as_dict()})
    return files
