"""A picture of a graph in layers: where each variable stands and how each arc runs.

Parts of the graph that no arc joins are laid out one by one, in the steps of Sugiyama and
others [1]_ (layers, order, places, curves), and put side by side; variables without arcs
follow in a block. Variables are taken in the order of their names, so that the same graph
has the same picture however it was written down. There is no chance in it.

Why not a library: grandalf, the one that is pure Python, is under the GPL, has had no release
since 2023 and walks through sets; Graphviz would have to be installed.

.. [1] K. Sugiyama, S. Tagawa and M. Toda, Methods for visual understanding of hierarchical
   system structures, IEEE Transactions on Systems, Man, and Cybernetics 11, 1981.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from coevo.graph.dag import Arc
from coevo.report.layout.labels import shortened, text_width
from coevo.report.layout.layering import assign_layers
from coevo.report.layout.ordering import Layered, order_layers
from coevo.report.layout.placing import place_nodes
from coevo.report.layout.routing import NODE_HEIGHT, Curve, Point, layer_heights, route_arcs

__all__ = ["Box", "Layout", "lay_out"]

FONT_SIZE = 12.0
LONGEST_LABEL = 26  # characters
PADDING = 10.0  # beside a label
SMALLEST_WIDTH = 44.0
BETWEEN_PARTS = 48.0
BETWEEN_ALONE = 14.0  # between variables without arcs
SHAPE = 1.7  # how much wider than high a picture should be


@dataclass(frozen=True, slots=True)
class Box:
    """Where a variable stands, and what is written there."""

    x: float  # of its middle
    y: float
    width: float
    label: str

    @property
    def height(self) -> float:
        """The same for all."""
        return NODE_HEIGHT


@dataclass(frozen=True, slots=True)
class Layout:
    """A picture from (0, 0), the top left corner, to (width, height)."""

    width: float
    height: float
    boxes: dict[str, Box]  # by name
    curves: dict[Arc, Curve]


def lay_out(nodes: Iterable[str], arcs: Iterable[Arc]) -> Layout:
    """Lay out a directed graph without cycles.

    Parameters
    ----------
    nodes : iterable of str
        All variables.
    arcs : iterable of (parent, child)
        Each between two of them; there must be no cycle.

    Returns
    -------
    Layout
        Every parent above its children, no two variables on the same spot.

    Examples
    --------
    >>> layout = lay_out("cba", [("a", "c"), ("b", "c")])
    >>> layout.boxes["a"].y == layout.boxes["b"].y < layout.boxes["c"].y
    True
    >>> layout == lay_out("abc", [("b", "c"), ("a", "c")])
    True
    """
    names = sorted(nodes)
    pairs = sorted(arcs)
    parts, alone = _parts(names, pairs)
    drawn = [_draw(part, inside) for part, inside in parts]
    return _packed(drawn, alone)


def _parts(
    names: list[str], arcs: list[Arc]
) -> tuple[list[tuple[list[str], list[Arc]]], list[str]]:
    """Return the connected parts, the largest first, and the variables without arcs."""
    root = {name: name for name in names}

    def find(name: str) -> str:
        while root[name] != name:
            root[name] = name = root[root[name]]
        return name

    for parent, child in arcs:
        one, two = sorted((find(parent), find(child)))
        root[two] = one
    members: dict[str, list[str]] = {}
    for name in names:
        members.setdefault(find(name), []).append(name)
    inside: dict[str, list[Arc]] = {}
    for arc in arcs:
        inside.setdefault(find(arc[0]), []).append(arc)
    parts = [(members[top], inside[top]) for top in members if top in inside]
    parts.sort(key=lambda part: -len(part[0]))
    return parts, [top for top in members if top not in inside]


def _labelled(name: str) -> tuple[str, float]:
    """Return what is written for a variable, and how wide its box is."""
    label = shortened(name, LONGEST_LABEL)
    width = math.ceil(text_width(label, FONT_SIZE) + 2 * PADDING)
    return label, max(SMALLEST_WIDTH, width)


def _draw(names: list[str], arcs: list[Arc]) -> Layout:
    """Lay out one connected part."""
    labels = [_labelled(name) for name in names]
    widths = [width for _, width in labels]
    number = {name: i for i, name in enumerate(names)}
    pairs = [(number[parent], number[child]) for parent, child in arcs]
    area = sum(width * 3 * NODE_HEIGHT for width in widths)
    widest = max(900.0, math.sqrt(SHAPE * area))
    graph = Layered(assign_layers(widths, pairs, widest), pairs)
    every_width = widths + [0.0] * (len(graph.layer) - len(widths))
    centres = place_nodes(graph, order_layers(graph), every_width)
    heights = layer_heights(graph, centres)
    boxes = {
        name: Box(centres[i], heights[graph.layer[i]], width, label)
        for i, (name, (label, width)) in enumerate(zip(names, labels, strict=True))
    }
    curves = route_arcs(graph, centres, heights, every_width)
    right = max(
        *(box.x + box.width / 2 for box in boxes.values()),
        *(x for curve in curves for x, _ in curve),
    )
    return Layout(right, heights[-1] + NODE_HEIGHT / 2, boxes, dict(zip(arcs, curves, strict=True)))


def _packed(parts: Sequence[Layout], alone: Sequence[str]) -> Layout:
    """Return all parts in one picture, in rows, and the variables without arcs below."""
    area = sum((p.width + BETWEEN_PARTS) * (p.height + BETWEEN_PARTS) for p in parts)
    widest = max([math.sqrt(SHAPE * area), *(part.width for part in parts)])
    boxes: dict[str, Box] = {}
    curves: dict[Arc, Curve] = {}
    x = y = height = width = 0.0
    for part in parts:
        if x > 0 and x + part.width > widest:
            x, y, height = 0.0, y + height + BETWEEN_PARTS, 0.0
        boxes.update({name: _moved(box, x, y) for name, box in part.boxes.items()})
        curves.update(
            {arc: tuple((a + x, b + y) for a, b in curve) for arc, curve in part.curves.items()}
        )
        x += part.width + BETWEEN_PARTS
        width, height = max(width, x - BETWEEN_PARTS), max(height, part.height)
    if alone:
        top = y + height + (BETWEEN_PARTS if parts else 0.0)
        block = _block(alone, max(width, math.sqrt(SHAPE * 4000.0 * len(alone))))
        boxes.update({name: _moved(box, 0.0, top) for name, box in block.boxes.items()})
        return Layout(max(width, block.width), top + block.height, boxes, curves)
    return Layout(width, y + height, boxes, curves)


def _block(names: Sequence[str], widest: float) -> Layout:
    """Return variables without arcs in rows and columns, by name."""
    labels = [_labelled(name) for name in names]
    column = max(width for _, width in labels) + BETWEEN_ALONE
    n_columns = max(1, min(len(names), int((widest + BETWEEN_ALONE) / column)))
    boxes = {}
    for i, (name, (label, width)) in enumerate(zip(names, labels, strict=True)):
        row, at = divmod(i, n_columns)
        middle: Point = (
            at * column + (column - BETWEEN_ALONE) / 2,
            row * (NODE_HEIGHT + BETWEEN_ALONE) + NODE_HEIGHT / 2,
        )
        boxes[name] = Box(*middle, width, label)
    n_rows = -(-len(names) // n_columns)
    height = n_rows * (NODE_HEIGHT + BETWEEN_ALONE) - BETWEEN_ALONE
    return Layout(n_columns * column - BETWEEN_ALONE, height, boxes, {})


def _moved(box: Box, x: float, y: float) -> Box:
    return Box(box.x + x, box.y + y, box.width, box.label)
