"""Compare the edges of two stored results: posteriors and bootstraps, in any pairing.

Both give each edge a number from 0 to 1, and a share of it for one of the directions. The numbers
answer different questions. The posterior probability says how probable an edge is, given these
rows. The strength says in how many resamples a search finds it. Edges on which they differ are
those whose evidence is near the border: a few other rows, or a search that takes the best network
alone, would decide otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from coevo.checks import is_number
from coevo.errors import FileError, FormatError
from coevo.report import make_figure
from coevo.report.figures import BLUE, GREY, ORANGE, apply_style
from coevo.user_files import UserFile, read_json

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = [
    "EdgeComparison",
    "EdgeDifference",
    "StoredEdges",
    "compare_edges",
    "draw_comparison",
    "find_edges_file",
    "read_edges",
]

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
        return {
            **sides,
            "is_same_table": self.is_same_table,
            "n_edges": len(self.edges),
            "n_notable": len(self.notable),
            "largest_difference": abs(self.edges[0].difference) if self.edges else 0.0,
            "mean_difference": _average([abs(edge.difference) for edge in self.edges]),
            "edges": [edge.as_dict() for edge in self.edges],
        }


def _average(values: list[float]) -> float:
    return float(np.mean(values)) if values else 0.0


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
