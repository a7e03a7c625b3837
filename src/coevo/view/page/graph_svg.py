"""The graph of a page as SVG. The style sheet of the page defines its appearance.

The drawing is complete without JavaScript, and in print.
"""

from __future__ import annotations

import math

from coevo.view.page.edges import DrawnEdge
from coevo.view.page.markup import escape, format_number, make_element
from coevo.view.picture.layout import Box, Curve, Layout

__all__ = ["MARGIN", "compute_view_box", "format_path", "render_graph_svg"]

MARGIN = 28.0
MIN_VIEW = (760.0, 430.0)  # keeps a small graph small
MIN_STROKE, MAX_STROKE = 1.1, 3.2
HEADS = ("same", "added", "missing", "reversed", "lit", "known")


def render_graph_svg(
    layout: Layout,
    edges: list[DrawnEdge],
    curves: list[Curve],
    names: list[str],
    is_class: bool = False,
) -> str:
    """Return the drawing; with `is_class` only arcs of a known direction have an arrowhead.

    `curves` has one curve per edge. Variables have their index in `names`. The script of the page
    finds variables and edges by these indices.
    """
    max_gain = max((edge.facts.gain or 0.0 for edge in edges), default=0.0)
    arcs = "".join(_render_edge(i, edge, curves[i], max_gain) for i, edge in enumerate(edges))
    nodes = "".join(_render_node(i, name, layout.boxes[name]) for i, name in enumerate(names))
    heads = "".join(_render_head(kind) for kind in HEADS)
    world = make_element("g", make_element("g", arcs) + make_element("g", nodes), id="world")
    about = f"{len(names):,} variables, parents above children, {len(edges):,} arcs."
    return make_element(
        "svg",
        f"<title>The network</title><desc>{escape(about)}</desc><defs>{heads}</defs>{world}",
        id="graph",
        class_="graph cpdag" if is_class else "graph",
        viewBox=" ".join(map(format_number, compute_view_box(layout))),
        role="group",
        aria_label="The network. Arrow keys move, plus and minus zoom, 0 fits the view, "
        "1 to 3 show a neighbourhood, Escape shows all.",
        tabindex=0,
    )


def compute_view_box(layout: Layout) -> tuple[float, float, float, float]:
    """Return the initial view box, which shows the complete graph: left, top, width, height."""
    width = max(MIN_VIEW[0], layout.width + 2 * MARGIN)
    height = max(MIN_VIEW[1], layout.height + 2 * MARGIN)
    return (layout.width - width) / 2, (layout.height - height) / 2, width, height


def _render_head(kind: str) -> str:
    return make_element(
        "marker",
        '<path d="M0 0L10 4.5L0 9L2.4 4.5z"/>',
        id=f"head-{kind}",
        class_=f"head {kind}",
        viewBox="0 0 10 9",
        refX="9",
        refY="4.5",
        markerWidth="10",
        markerHeight="9",
        markerUnits="userSpaceOnUse",
        orient="auto",
    )


def _render_edge(i: int, edge: DrawnEdge, curve: Curve, max_gain: float) -> str:
    direction = {"data": "", "knowledge": " known", None: " undirected"}[edge.directed_by]
    kinds = f"arc {edge.kind} class-{edge.class_kind}{direction}"
    share = math.sqrt(max(0.0, edge.facts.gain or 0.0) / max_gain) if max_gain > 0 else 0.15
    width = MIN_STROKE + share * (MAX_STROKE - MIN_STROKE)
    return f'<path id="a{i}" class="{kinds}" d="{format_path(curve)}" stroke-width="{width:.2g}"/>'


def format_path(curve: Curve) -> str:
    """Return a curve as the path of an SVG element."""
    (x, y), *rest = curve
    steps = " ".join(f"{format_number(a)} {format_number(b)}" for a, b in rest)
    return f"M{format_number(x)} {format_number(y)}C{steps}"


def _render_node(i: int, name: str, box: Box) -> str:
    shape = (
        f'<rect x="{format_number(-box.width / 2)}" y="{format_number(-box.height / 2)}" '
        f'width="{format_number(box.width)}" height="{format_number(box.height)}" rx="7"/>'
    )
    label = f'<text y="4.2">{escape(box.label)}</text>'
    return make_element(
        "g",
        shape + label,
        id=f"n{i}",
        class_="node",
        transform=f"translate({format_number(box.x)} {format_number(box.y)})",
        role="button",
        aria_label=name,
        tabindex=0 if i == 0 else -1,
    )
