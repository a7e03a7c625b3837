"""The graph of a page as SVG; how it looks is said in the style sheet of the page.

The picture is complete by itself: without JavaScript, and on paper, it shows everything.
"""

from __future__ import annotations

import math

from coevo.report.layout import Box, Curve, Layout
from coevo.report.page.edges import Line
from coevo.report.page.markup import element, escaped, number

__all__ = ["MARGIN", "graph_svg"]

MARGIN = 28.0
SMALLEST_VIEW = (760.0, 430.0)  # so that a small graph is not blown up
THINNEST, THICKEST = 1.1, 3.2
HEADS = ("same", "added", "missing", "reversed", "lit")


def graph_svg(layout: Layout, lines: list[Line], curves: list[Curve], names: list[str]) -> str:
    """Return the picture.

    `curves` belong to the lines, and variables are numbered as in `names`: scripts find
    them, and the arcs, by these numbers.
    """
    most = max((line.facts.gain or 0.0 for line in lines), default=0.0)
    arcs = "".join(_arc(i, line, curves[i], most) for i, line in enumerate(lines))
    nodes = "".join(_node(i, name, layout.boxes[name]) for i, name in enumerate(names))
    heads = "".join(_head(kind) for kind in HEADS)
    world = element("g", element("g", arcs) + element("g", nodes), id="world")
    about = f"{len(names):,} variables, parents above children, {len(lines):,} arcs."
    return element(
        "svg",
        f"<title>The network</title><desc>{escaped(about)}</desc><defs>{heads}</defs>{world}",
        id="graph",
        class_="graph",
        viewBox=_view(layout),
        role="group",
        aria_label="The network. Arrow keys move, plus and minus zoom, 0 shows all.",
        tabindex=0,
    )


def _view(layout: Layout) -> str:
    """Return the part of the plane that is shown at first: all of it."""
    width = max(SMALLEST_VIEW[0], layout.width + 2 * MARGIN)
    height = max(SMALLEST_VIEW[1], layout.height + 2 * MARGIN)
    left, top = (layout.width - width) / 2, (layout.height - height) / 2
    return " ".join(map(number, (left, top, width, height)))


def _head(kind: str) -> str:
    return element(
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


def _arc(i: int, line: Line, curve: Curve, most: float) -> str:
    kinds = f"arc {line.kind} class-{line.class_kind}{'' if line.is_directed else ' undirected'}"
    share = math.sqrt(max(0.0, line.facts.gain or 0.0) / most) if most > 0 else 0.15
    width = THINNEST + share * (THICKEST - THINNEST)
    return f'<path id="a{i}" class="{kinds}" d="{_path(curve)}" stroke-width="{width:.2g}"/>'


def _path(curve: Curve) -> str:
    (x, y), *rest = curve
    steps = " ".join(f"{number(a)} {number(b)}" for a, b in rest)
    return f"M{number(x)} {number(y)}C{steps}"


def _node(i: int, name: str, box: Box) -> str:
    shape = (
        f'<rect x="{number(-box.width / 2)}" y="{number(-box.height / 2)}" '
        f'width="{number(box.width)}" height="{number(box.height)}" rx="7"/>'
    )
    label = f'<text y="4.2">{escaped(box.label)}</text>'
    return element(
        "g",
        shape + label,
        id=f"n{i}",
        class_="node",
        transform=f"translate({number(box.x)} {number(box.y)})",
        role="button",
        aria_label=name,
        tabindex=0 if i == 0 else -1,
    )
