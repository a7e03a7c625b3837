"""A posterior or a bootstrap as files, and the comparison of two such folders edge by edge.

Both write a table of edges, a figure, a graph and JSON (`_write_edges`).

Both give each edge a number from 0 to 1, and a share of it for one of the directions. The numbers
answer different questions. The posterior probability says how probable an edge is, given these
rows. The strength says in how many resamples a search finds it. Edges on which they differ are
those whose evidence is near the border: a few other rows, or a search that takes the best network
alone, would decide otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from coevo.checks import is_number
from coevo.errors import FileError, FormatError
from coevo.files.checkpoints import write_arrays
from coevo.files.user_files import UserFile, read_json
from coevo.io import make_run_folder, write_json, write_model
from coevo.posteriors.bootstrap import BootstrapResult
from coevo.posteriors.result import Posterior
from coevo.posteriors.sample import AVERAGED, write_averaged
from coevo.view.figures import (
    BLUE,
    GREY,
    ORANGE,
    ReportTable,
    apply_style,
    make_figure,
    write_figure,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["compare_edges", "draw_comparison", "read_edges", "write_posterior", "write_strength"]


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
    labels = "edges, from most to least probable", "posterior probability"
    _set_axes(panel, len(result.edges), *labels)
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
    figure = draw_posterior_figure(result) if figures else None
    files = _write_edges(place / "posterior", make_posterior_table(result), figure)
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


def _set_axes(panel: Any, n_edges: int, xlabel: str, ylabel: str) -> None:
    """Set the axes of edges in the order of their numbers, which are from 0 to 1."""
    panel.set_ylim(0, 1.02)
    panel.set_xlim(0, n_edges + 1)
    panel.locator_params(axis="x", integer=True)
    panel.set_xlabel(xlabel)
    panel.set_ylabel(ylabel)


def _write_edges(stem: Path, table: ReportTable, figure: Figure | None) -> dict[str, str]:
    """Write the table and the figure of the edges into a new or old folder; return their paths."""
    make_run_folder(stem.parent)
    written = table.write(stem) + ([] if figure is None else write_figure(figure, stem))
    return {path.suffix.removeprefix("."): str(path) for path in written}


STRENGTH_HEADERS = [
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
    headers = [name for name in STRENGTH_HEADERS if supported or name != "support"]
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
        share = f"share of {result.n_bootstraps:,} bootstrap samples"
        _set_axes(panel, len(result.arcs), "arcs, from strongest to weakest", share)
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
    figure = draw_strength_figure(result) if figures else None
    files = _write_edges(place / "strength", make_strength_table(result), figure)
    files["consensus"] = str(place / "consensus.json")
    write_model(result.consensus, files["consensus"])
    files["json"] = str(place / "strength.json")
    write_json(place / "strength.json", {**(facts or {}), **result.as_dict()})
    return files


KINDS = {  # the file of each kind of result, its list, its number, and the word for the number
    "posterior.json": ("edges", "probability", "posterior probability"),
    "strength.json": ("arcs", "strength", "bootstrap strength"),
}
NOTABLE = 0.1  # a difference that is listed


@dataclass(frozen=True)
class StoredEdges:
    """The edges of a stored result.

    Attributes
    ----------
    source : str
        The folder.
    measure : str
        What the numbers are.
    arcs : dict
        The share of each arc: the number of its edge, times the share of its direction.
    data_hash : str or None
        The table that the result belongs to.
    """

    source: str
    measure: str
    arcs: dict[tuple[str, str], float]
    data_hash: str | None

    def get_edge(self, pair: tuple[str, str]) -> float:
        """Return the number of an edge, in either direction."""
        return self.arcs.get(pair, 0.0) + self.arcs.get(pair[::-1], 0.0)


@dataclass(frozen=True)
class EdgeDifference:
    """An edge in two results; the arc is the one that has more of the sum of both."""

    parent: str
    child: str
    first: float
    second: float
    first_direction: float | None  # the share of the arc; None if the edge has the number 0
    second_direction: float | None

    @property
    def difference(self) -> float:
        """The second number minus the first."""
        return self.second - self.first

    def as_dict(self) -> dict[str, Any]:
        """Return the values by name."""
        return {
            "from": self.parent,
            "to": self.child,
            "first": self.first,
            "second": self.second,
            "difference": self.difference,
            "first_direction": self.first_direction,
            "second_direction": self.second_direction,
        }


@dataclass(frozen=True)
class EdgeComparison:
    """Two results, edge by edge: the largest difference first."""

    first: StoredEdges
    second: StoredEdges
    edges: tuple[EdgeDifference, ...]

    @cached_property
    def notable(self) -> tuple[EdgeDifference, ...]:
        """The edges that differ by more than 0.1."""
        return tuple(edge for edge in self.edges if abs(edge.difference) > NOTABLE)

    @property
    def is_same_table(self) -> bool:
        """Whether both results belong to the same table, as far as they say."""
        hashes = self.first.data_hash, self.second.data_hash
        return None in hashes or hashes[0] == hashes[1]

    def as_dict(self) -> dict[str, Any]:
        """Return the comparison as plain values."""
        sides = {
            name: {"source": side.source, "measure": side.measure}
            for name, side in (("first", self.first), ("second", self.second))
        }
        differences = [abs(edge.difference) for edge in self.edges]
        return {
            **sides,
            "is_same_table": self.is_same_table,
            "n_edges": len(self.edges),
            "n_notable": len(self.notable),
            "largest_difference": differences[0] if differences else 0.0,
            "mean_difference": float(np.mean(differences)) if differences else 0.0,
            "edges": [edge.as_dict() for edge in self.edges],
        }


def find_edges_file(folder: str) -> Path | None:
    """Return the file of the edges in the folder of a posterior or a bootstrap; None if none."""
    return next((Path(folder, name) for name in KINDS if Path(folder, name).is_file()), None)


def read_edges(folder: str) -> StoredEdges:
    """Read the edges of a posterior or a bootstrap from its folder."""
    path = find_edges_file(folder)
    if path is None:
        raise FileError(
            f"{folder!r} is not the folder of a posterior or a bootstrap. Name one that coevo "
            "posterior (RUN/posterior) or coevo strength has written."
        )
    listed, number, measure = KINDS[path.name]
    stored = read_json(UserFile(path))
    try:
        arcs = dict[tuple[str, str], float]()
        for edge in stored[listed]:
            one, other, value, share = edge["from"], edge["to"], edge[number], edge["direction"]
            if not (_is_share(value) and _is_share(share) and isinstance(one + other, str)):
                raise ValueError
            if "reverse" in edge:  # a bootstrap: an undirected edge counts half for each direction
                share = (1 + share - edge["reverse"]) / 2
            arcs[one, other], arcs[other, one] = value * share, value * (1 - share)
        data_hash = stored.get("data_hash")
    except (AttributeError, KeyError, TypeError, ValueError):
        raise FormatError(f"{str(path)!r} does not list edges. Compute them again.") from None
    return StoredEdges(folder, measure, arcs, data_hash if isinstance(data_hash, str) else None)


def _is_share(value: object) -> bool:
    return is_number(value) and 0 <= float(value) <= 1  # type: ignore[arg-type]


def compare_edges(first: StoredEdges, second: StoredEdges) -> EdgeComparison:
    """Return the edges of either result, the largest difference first; ties by name."""
    pairs = {(min(arc), max(arc)) for side in (first, second) for arc in side.arcs}
    edges = []
    for pair in pairs:
        forward = first.arcs.get(pair, 0.0) + second.arcs.get(pair, 0.0)
        arc = pair if 2 * forward >= first.get_edge(pair) + second.get_edge(pair) else pair[::-1]
        numbers = [side.get_edge(pair) for side in (first, second)]
        shares = [
            side.arcs.get(arc, 0.0) / number if number else None
            for side, number in zip((first, second), numbers, strict=True)
        ]
        edges.append(EdgeDifference(*arc, numbers[0], numbers[1], shares[0], shares[1]))
    ranked = sorted(edges, key=lambda e: (-round(abs(e.difference), 12), e.parent, e.child))
    return EdgeComparison(first, second, tuple(ranked))


def draw_comparison(found: EdgeComparison) -> Figure:
    """Draw each edge with its two numbers; those that differ by more than 0.1 stand out."""
    figure, (panel,) = make_figure(1, width=4.6, height=4.4)
    with apply_style():
        panel.plot([0, 1], [0, 1], color=GREY, linewidth=1, zorder=1)
        for shift in (-NOTABLE, NOTABLE):
            panel.plot([0, 1], [shift, 1 + shift], color=GREY, linewidth=0.8, linestyle=":")
        for is_notable, colour, label in (
            (True, ORANGE, "differ by more than 0.1"),
            (False, BLUE, "agree"),
        ):
            chosen = [e for e in found.edges if (abs(e.difference) > NOTABLE) == is_notable]
            panel.plot(
                [edge.first for edge in chosen],
                [edge.second for edge in chosen],
                "o",
                markersize=4.5,
                markerfacecolor=colour if is_notable else "white",
                markeredgecolor=colour,
                label=f"{label}: {len(chosen):,}",
                clip_on=False,
                zorder=3,
            )
        panel.set_xlim(0, 1)
        panel.set_ylim(0, 1)
        panel.set_xlabel(f"{found.first.measure}, {found.first.source}")
        panel.set_ylabel(f"{found.second.measure}, {found.second.source}")
        figure.legend(loc="outside upper center", ncols=2, frameon=False, fontsize=9)
    return figure
