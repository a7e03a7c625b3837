"""What a result of `learn` shows: its graph, and a table of its arcs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal

from coevo.checks import is_choice
from coevo.errors import ParameterError, bad_choice
from coevo.view.picture import Link, Picture, draw_graph
from coevo.view.picture.notebook import Table, render_block, render_graph_and_table

__all__ = ["LineWidths", "draw_result", "render_result"]

SHARES = ("strength", "direction", "reverse")  # of bootstrap samples
LineWidths = Literal["gain", "strength", "none"]
WIDTHS = ("gain", "strength", "none")

DIRECTED_BY = {
    "data": "directed by the data",
    "knowledge": "directed by the constraints",
    None: "direction unknown",
}

ArcFacts = dict[str, Any]  # an arc as `LearnResult.as_dict` describes it


def draw_result(
    nodes: Sequence[str], arcs: Sequence[ArcFacts], widths: LineWidths, cpdag: bool
) -> Picture:
    """Draw the structure of a result, or what is known about its directions."""
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
    parts += [f"{name} {arc[name]:.2f}" for name in SHARES if name in arc]
    parts.append(DIRECTED_BY[arc["directed_by"]])
    says = f". {arc['says']}" if arc["says"] else ""
    return f"{', '.join(parts)}{says}"


def render_result(
    caption: str, nodes: Sequence[str], arcs: Sequence[ArcFacts], notes: Sequence[str] = ()
) -> str:
    """Return the graph of a result and the table of its arcs as HTML for a notebook."""
    numbers = [name for name in SHARES if any(name in arc for arc in arcs)]
    headers = ["parent", "child", "gain", "", *numbers, "directed by", "says"]
    rows = [
        [
            *(arc["from"], arc["to"], f"{arc['gain']:z.2f}", arc["word"]),
            *(f"{arc[name]:.2f}" if name in arc else "" for name in numbers),
            {"data": "data", "knowledge": "constraints", None: "nothing"}[arc["directed_by"]],
            arc["says"] or "",
        ]
        for arc in arcs
    ]
    table = Table(headers, rows, numbers={2, *range(4, 4 + len(numbers))})
    legend = (
        "An arc with an arrowhead is directed by the data or by the constraints; a line without "
        "one has no known direction. Wider lines have higher gains."
    )
    graph = render_graph_and_table(
        len(nodes),
        lambda: draw_result(nodes, arcs, "gain", cpdag=True),
        table,
        " ".join([legend, *notes]),
        "Arcs, the largest gain first",
    )
    return render_block(caption, graph)
