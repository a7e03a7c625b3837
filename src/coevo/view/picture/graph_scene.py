"""From variables and links to the shapes of a picture.

Parents are above their children. An edge without direction has no head. The layout needs a
direction for each link. Edges get one from a search by maximum cardinality [1]_, which makes no
new v-structure in a CPDAG. The links of a second structure follow the order of the first.

.. [1] R. E. Tarjan and M. Yannakakis, Simple linear-time algorithms to test chordality of graphs,
   SIAM Journal on Computing 13, 1984.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from coevo.errors import format_count
from coevo.view.picture.layout import (
    Arc,
    Box,
    Curve,
    Layout,
    clean_text,
    estimate_text_width,
    lay_out,
)
from coevo.view.picture.layout.drawing import FONT_SIZE, PADDING
from coevo.view.picture.layout.routing import LINE_HEIGHT
from coevo.view.picture.scene import Group, Line, Polygon, RoundedBox, Scene, Shape, Text

__all__ = ["Link", "LinkKind", "make_scene"]

LinkKind = Literal["same", "added", "missing", "reversed"]

MARGIN = 16.0
RADIUS = 7.0
BASELINE = 0.35  # from the middle of a line of text down to its baseline, relative to its size
MIN_STROKE, USUAL_STROKE, MAX_STROKE = 1.0, 1.4, 4.0
NODE_FILL, NODE_STROKE, INK = "#eef3fb", "#6d83a8", "#14213a"
# Distinguishable in black and white, and by colour-blind readers (Okabe and Ito).
COLOURS: dict[LinkKind, str] = {
    "same": "#66728a",
    "added": "#0072b2",
    "missing": "#d55e00",
    "reversed": "#b0578c",
}
DASHES: dict[LinkKind, tuple[float, ...]] = {
    "same": (),
    "added": (),
    "missing": (7, 4),
    "reversed": (10, 3, 2, 3),
}
LEGEND_SIZE, LEGEND_ROW, LEGEND_SAMPLE, LEGEND_GAP = 11.0, 20.0, 34.0, 18.0
MIN_LEGEND_WIDTH = 320.0


@dataclass(frozen=True, slots=True)
class Link:
    """An arc, or an edge without direction, as it is drawn."""

    parent: str
    child: str
    is_directed: bool = True
    kind: LinkKind = "same"
    share: float | None = None  # of the largest line width, from 0 to 1; None: the usual width
    note: str = ""  # a sentence about it


def make_scene(
    nodes: Sequence[str],
    links: Sequence[Link],
    node_notes: Mapping[str, str] | None = None,
    legend: Mapping[LinkKind, str] | None = None,
) -> Scene:
    """Return the picture of a graph. Links of kind 'same' must not form a directed cycle."""
    order = {name: i for i, name in enumerate(_order_nodes(nodes, links))}
    laid_out = {_orient(link, order) for link in links}
    layout = lay_out(nodes, sorted(laid_out), max_lines=2)
    groups = [_draw_link(link, _get_curve(link, order, layout)) for link in _sort_links(links)]
    notes = node_notes or {}
    groups += [_draw_node(name, layout.boxes[name], notes.get(name, "")) for name in sorted(nodes)]
    width, height = layout.width + 2 * MARGIN, layout.height + 2 * MARGIN
    if legend:
        items = _draw_legend(legend, max(width, MIN_LEGEND_WIDTH), height)
        groups.append(items)
        texts = [shape for shape in items.shapes if isinstance(shape, Text)]
        width = max(width, *(text.x + text.max_width + MARGIN for text in texts))
        height = texts[-1].y + LEGEND_ROW
    n_arcs = sum(link.is_directed for link in links)
    n_edges = len(links) - n_arcs
    about = f"{format_count(len(nodes), 'variable')}, {format_count(n_arcs, 'arc')}"
    about += f", {format_count(n_edges, 'edge')}" if n_edges else ""
    return Scene(math.ceil(width), math.ceil(height), tuple(groups), about)


def _sort_links(links: Iterable[Link]) -> list[Link]:
    """Return the links by name, those that differ last: they are drawn above the others."""
    return sorted(links, key=lambda link: (link.kind != "same", link.parent, link.child))


def _order_nodes(nodes: Iterable[str], links: Iterable[Link]) -> list[str]:
    """Return an order in which the parents of a variable come before it.

    Among the variables that can be next, the one with the most edges to those before it is taken.

    >>> _order_nodes("abc", [Link("c", "b"), Link("a", "c", is_directed=False)])
    ['a', 'c', 'b']
    """
    n_waiting = dict.fromkeys(sorted(nodes), 0)
    children: dict[str, list[str]] = {name: [] for name in n_waiting}
    neighbours: dict[str, list[str]] = {name: [] for name in n_waiting}
    for link in links:
        if not link.is_directed:
            neighbours[link.parent].append(link.child)
            neighbours[link.child].append(link.parent)
        elif link.kind != "missing":
            children[link.parent].append(link.child)
            n_waiting[link.child] += 1
    n_joined = dict.fromkeys(n_waiting, 0)
    order: list[str] = []
    while n_waiting:
        ready = (name for name, count in n_waiting.items() if count == 0)
        node = max(ready, key=lambda name: (n_joined[name], len(neighbours[name])))
        del n_waiting[node]
        order.append(node)
        for child in children[node]:
            n_waiting[child] -= 1
        for other in neighbours[node]:
            n_joined[other] += 1
    return order


def _orient(link: Link, order: Mapping[str, int]) -> Arc:
    """Return the arc that is laid out for a link."""
    one, two = link.parent, link.child
    return (one, two) if order[one] < order[two] else (two, one)


def _get_curve(link: Link, order: Mapping[str, int], layout: Layout) -> Curve:
    """Return the curve of a link from its parent to its child."""
    arc = _orient(link, order)
    curve = layout.curves[arc] if arc[0] == link.parent else layout.curves[arc][::-1]
    return tuple((x + MARGIN, y + MARGIN) for x, y in curve)


def _draw_link(link: Link, curve: Curve) -> Group:
    colour, dashes = COLOURS[link.kind], DASHES[link.kind]
    width = USUAL_STROKE
    if link.share is not None:
        width = MIN_STROKE + min(1.0, max(0.0, link.share)) * (MAX_STROKE - MIN_STROKE)
    shapes = _draw_arrow(curve, colour, width, dashes, link.is_directed)
    sign = "→" if link.is_directed else "—"
    note = clean_text(f"{link.parent} {sign} {link.child}{f': {link.note}' if link.note else ''}")
    ends = {"from": link.parent, "to": link.child} if link.is_directed else {}
    ends = ends or {"between": link.parent, "and": link.child}
    return Group(shapes, note, ends)


def _draw_arrow(
    curve: Curve, colour: str, width: float, dashes: tuple[float, ...], has_head: bool
) -> tuple[Shape, ...]:
    """Return a line, which ends inside its head if it has one.

    The head is a polygon, not an SVG marker: markers have names, which would clash between two
    pictures on one page.
    """
    if not has_head:
        return (Line(curve, colour, width, dashes),)
    (x2, y2), (x, y) = curve[-2:]
    distance = math.hypot(x - x2, y - y2)
    dx, dy = (x - x2) / distance, (y - y2) / distance
    length, half = 8.0 + 1.2 * width, 3.0 + 0.8 * width
    back_x, back_y = x - length * dx, y - length * dy
    notch = (x - 0.75 * length * dx, y - 0.75 * length * dy)
    corners = (
        (x, y),
        (back_x - half * dy, back_y + half * dx),
        notch,
        (back_x + half * dy, back_y - half * dx),
    )
    shift = 0.7 * length
    ends = tuple((a - shift * dx, b - shift * dy) for a, b in curve[-2:])
    return (Line(curve[:-2] + ends, colour, width, dashes), Polygon(corners, colour))


def _draw_node(name: str, box: Box, note: str) -> Group:
    x, y = box.x + MARGIN, box.y + MARGIN
    shape = RoundedBox(
        x - box.width / 2, y - box.height / 2, box.width, box.height, RADIUS,
        NODE_FILL, NODE_STROKE, 1.1,
    )  # fmt: skip
    top = y - LINE_HEIGHT * (len(box.lines) - 1) / 2 + BASELINE * FONT_SIZE
    room = box.width - PADDING
    lines = (
        Text(x, top + LINE_HEIGHT * i, line, FONT_SIZE, INK, room)
        for i, line in enumerate(box.lines)
    )
    return Group((shape, *lines), clean_text(f"{name}: {note}" if note else name), {"node": name})


def _draw_legend(legend: Mapping[LinkKind, str], width: float, top: float) -> Group:
    """Return a sample of each kind of line with its text, in rows."""
    shapes: list[Shape] = []
    x, y = MARGIN, top + LEGEND_SIZE / 2
    for kind, text in legend.items():
        room = estimate_text_width(text, LEGEND_SIZE)
        if x > MARGIN and x + LEGEND_SAMPLE + room + MARGIN > width:
            x, y = MARGIN, y + LEGEND_ROW
        third = LEGEND_SAMPLE / 3
        sample: Curve = ((x, y), (x + third, y), (x + 2 * third, y), (x + LEGEND_SAMPLE, y))
        shapes += _draw_arrow(sample, COLOURS[kind], USUAL_STROKE, DASHES[kind], has_head=True)
        x += LEGEND_SAMPLE + 6
        shapes.append(
            Text(x, y + BASELINE * LEGEND_SIZE, text, LEGEND_SIZE, INK, room, is_centred=False)
        )
        x += room + LEGEND_GAP
    return Group(tuple(shapes))
