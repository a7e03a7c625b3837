"""From variables and links to the shapes of a picture, independent of the format of the file.

The writers of SVG, PNG and PDF draw the same scene, so the three look the same. One unit is one
CSS pixel: 96 units are an inch. The origin is the top left corner.

Parents are above their children. An edge without direction has no head. The layout needs a
direction for each link. Edges get one from a search by maximum cardinality [1]_, which makes no
new v-structure in a CPDAG. The links of a second structure follow the order of the first.

The line width of a link can show a number, such as the gain or the strength of its arc.

.. [1] R. E. Tarjan and M. Yannakakis, Simple linear-time algorithms to test chordality of graphs,
   SIAM Journal on Computing 13, 1984.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from coevo.errors import ParameterError, bad_parameter, format_count
from coevo.view.picture.labels import clean_text, estimate_text_width
from coevo.view.picture.layout import FONT_SIZE, PADDING, Arc, Box, Layout, lay_out
from coevo.view.picture.routing import LINE_HEIGHT, Curve, Point

__all__ = [
    "Group",
    "Line",
    "Link",
    "LinkKind",
    "Polygon",
    "RoundedBox",
    "Scene",
    "Shape",
    "Text",
    "list_links",
    "make_scene",
]


@dataclass(frozen=True, slots=True)
class Line:
    """A curve of cubic Bezier segments."""

    curve: Curve
    colour: str
    width: float
    dashes: tuple[float, ...] = ()  # lengths of lines and gaps; empty for a solid line


@dataclass(frozen=True, slots=True)
class Polygon:
    """A filled polygon, such as the head of an arc."""

    points: tuple[Point, ...]
    colour: str


@dataclass(frozen=True, slots=True)
class RoundedBox:
    """A box with round corners; x and y are its top left corner."""

    x: float
    y: float
    width: float
    height: float
    radius: float
    fill: str
    stroke: str
    stroke_width: float


@dataclass(frozen=True, slots=True)
class Text:
    """One line of text; y is its baseline."""

    x: float
    y: float
    text: str
    size: float
    colour: str
    max_width: float  # the space that it has
    is_centred: bool = True  # around x; else it starts there


Shape: TypeAlias = Line | Polygon | RoundedBox | Text


@dataclass(frozen=True, slots=True)
class Group:
    """Shapes that belong together: a variable, an arc or the legend."""

    shapes: tuple[Shape, ...]
    note: str = ""  # shown while the pointer is on the shapes
    data: dict[str, str] = field(default_factory=dict)  # what it stands for, for programs


@dataclass(frozen=True, slots=True)
class Scene:
    """All groups, the lowest first, on a white background."""

    width: float
    height: float
    groups: tuple[Group, ...]
    about: str  # what it shows, for readers that cannot see it


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
    # by name; those that differ come last, so that they are drawn above the others
    ordered = sorted(links, key=lambda link: (link.kind != "same", link.parent, link.child))
    groups = [_draw_link(link, _get_curve(link, order, layout)) for link in ordered]
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


def list_links(
    arcs: Sequence[Arc], edges: Sequence[Arc] = (), arc_values: Mapping[Arc, float] | None = None
) -> list[Link]:
    """Return the links of arcs and of edges without direction.

    A line is as wide as its value is in proportion to the largest one. A value of 0 or below, and
    an arc without a value, have the thinnest line.

    >>> [link.share for link in list_links([("a", "b"), ("b", "c")], (), {("a", "b"): 12.5})]
    [1.0, 0.0]
    """
    values = {} if arc_values is None else _check_values(arcs, edges, arc_values)
    largest = max(values.values(), default=0.0)

    def make_link(pair: Arc, is_directed: bool) -> Link:
        if arc_values is None:
            return Link(*pair, is_directed)
        value = values.get(pair, 0.0)
        share = max(0.0, value) / largest if largest > 0 else 0.0
        return Link(*pair, is_directed, share=share, note=f"{value:z.4g}" if pair in values else "")

    return [make_link(arc, True) for arc in arcs] + [make_link(edge, False) for edge in edges]


def _check_values(arcs: Sequence[Arc], edges: Sequence[Arc], given: Any) -> dict[Arc, float]:
    """Return the value of each arc and of each edge, whose two names may be in any order."""
    if not isinstance(given, Mapping):
        raise bad_parameter("arc_values", "plot", "a mapping of (parent, child) to number", given)
    pairs = {arc: arc for arc in arcs}
    pairs |= {edge: edge for edge in edges} | {edge[::-1]: edge for edge in edges}
    values: dict[Arc, float] = {}
    for pair, value in given.items():
        if pair not in pairs:
            raise ParameterError(f"'arc_values' of plot has {pair!r}, which is not an arc.")
        if not isinstance(value, int | float) or not math.isfinite(value):
            raise ParameterError(
                f"'arc_values' of plot must have finite numbers; {pair!r} has {value!r}."
            )
        values[pairs[pair]] = float(value)
    return values
