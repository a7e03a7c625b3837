"""What a result of `learn` shows: its graph, and a table of its arcs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal

from coevo.checks import is_choice
from coevo.errors import ParameterError, bad_choice
from coevo.picture import Link, Picture, draw_graph
from coevo.picture.notebook import Table, render_block, render_graph_and_table

__all__ = ["LineWidths", "draw_result", "render_result"]

LineWidths = Literal["gain", "strength", "none"]
WIDTHS = ("gain", "strength", "none")

ArcFacts = dict[str, Any]  # an arc as `LearnResult.as_dict` describes it


def draw_result(
    nodes: Sequence[str], arcs: Sequence[ArcFacts], widths: LineWidths, cpdag: bool
) -> Picture:
    """Draw the structure of a result, or its equivalence class."""
    if not is_choice(widths, WIDTHS):
        raise bad_choice("widths", "plot", WIDTHS, widths)
    if widths == "strength" and any("strength" not in arc for arc in arcs):
        raise ParameterError(
            "'widths' of plot is 'strength', but this result has no bootstrap. Call learn with "
            "bootstraps=100, or use widths='gain'."
        )
    largest = max((arc["gain"] for arc in arcs), default=0.0)
    links = [
        Link(
            arc["from"],
            arc["to"],
            is_directed=arc["directed"] or not cpdag,
            share=_compute_share(arc, widths, largest),
            note=_describe_arc(arc),
        )
        for arc in arcs
    ]
    return draw_graph(nodes, links)


def _compute_share(arc: ArcFacts, widths: LineWidths, largest: float) -> float | None:
    """Return the width of the line of an arc, as a share of the largest width."""
    if widths == "strength":
        return float(arc["strength"])
    if widths == "gain":  # the root, because a few gains are much larger than the others
        return math.sqrt(max(0.0, arc["gain"]) / largest) if largest > 0 else 0.0
    return None


def _describe_arc(arc: ArcFacts) -> str:
    parts = [f"gain {arc['gain']:z.2f} ({arc['word']})"]
    if "strength" in arc:
        parts.append(f"strength {arc['strength']:.2f}")
    says = f". {arc['says']}" if arc["says"] else ""
    return f"{', '.join(parts)}{says}"


def render_result(caption: str, nodes: Sequence[str], arcs: Sequence[ArcFacts]) -> str:
    """Return the graph of a result and the table of its arcs as HTML for a notebook."""
    has_strength = any("strength" in arc for arc in arcs)
    headers = ["parent", "child", "gain", "", *(["strength"] if has_strength else []), "says"]
    rows = [
        [
            *(arc["from"], arc["to"], f"{arc['gain']:z.2f}", arc["word"]),
            *([f"{arc['strength']:.2f}"] if has_strength else []),
            arc["says"] or "",
        ]
        for arc in arcs
    ]
    table = Table(headers, rows, numbers={2, 4} if has_strength else {2})
    graph = render_graph_and_table(
        len(nodes),
        lambda: draw_result(nodes, arcs, "gain", cpdag=False),
        table,
        "Wider lines have higher gains.",
        "Arcs, the largest gain first",
    )
    return render_block(caption, graph)
