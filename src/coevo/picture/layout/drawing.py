"""A layered drawing of a graph: the position of each variable and the curve of each arc.

Each connected component is laid out separately, by the steps of Sugiyama and others [1]_ (layers,
order, positions, curves). Then the components are placed side by side. Variables without arcs
follow in a block. Variables are processed in the order of their names, so the drawing does not
depend on the order of the input. The layout is deterministic.

Reasons against a library: grandalf, the pure Python one, is under the GPL, has had no release
since 2023 and iterates over sets. Graphviz would have to be installed.

.. [1] K. Sugiyama, S. Tagawa and M. Toda, Methods for visual understanding of hierarchical
   system structures, IEEE Transactions on Systems, Man, and Cybernetics 11, 1981.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from coevo.picture.layout.labels import MAX_LABEL_LENGTH, Lines, estimate_text_width, make_labels
from coevo.picture.layout.layering import assign_layers
from coevo.picture.layout.ordering import LayeredGraph, order_layers
from coevo.picture.layout.placing import place_nodes
from coevo.picture.layout.routing import (
    LINE_HEIGHT,
    NODE_HEIGHT,
    Curve,
    Point,
    compute_layer_heights,
    route_arcs,
)

__all__ = ["Arc", "Box", "Layout", "lay_out"]

Arc = tuple[str, str]  # (parent, child)
Labels = Mapping[str, Lines]  # the lines of the label of each variable

FONT_SIZE = 12.0
PADDING = 10.0  # on each side of a label
MIN_BOX_WIDTH = 44.0
COMPONENT_GAP = 48.0
ISOLATED_GAP = 14.0  # between variables without arcs
ASPECT_RATIO = 1.7  # desired width / height of the drawing


@dataclass(frozen=True, slots=True)
class Box:
    """The position and the label of a variable."""

    x: float  # of the centre
    y: float
    width: float
    lines: tuple[str, ...]  # of the label

    @property
    def label(self) -> str:
        """The label in one line."""
        return " ".join(self.lines)

    @property
    def height(self) -> float:
        """The height, which is the same for all boxes with equally many lines."""
        return NODE_HEIGHT + LINE_HEIGHT * (len(self.lines) - 1)


@dataclass(frozen=True, slots=True)
class Layout:
    """A drawing from (0, 0), the top left corner, to (width, height)."""

    width: float
    height: float
    boxes: dict[str, Box]  # by name
    curves: dict[Arc, Curve]


def lay_out(nodes: Iterable[str], arcs: Iterable[Arc], max_lines: int = 1) -> Layout:
    """Lay out a directed acyclic graph.

    Parameters
    ----------
    nodes : iterable of str
        All variables.
    arcs : iterable of (parent, child)
        The arcs. They must not form a cycle.
    max_lines : int
        The number of lines of a long label: 1 or 2. A label that is still too long loses its
        middle part.

    Returns
    -------
    Layout
        Every parent is above its children, and no two variables overlap.

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
    components, isolated = _find_components(names, pairs)
    labels = make_labels(names, MAX_LABEL_LENGTH, max_lines)
    layouts = [
        _lay_out_component({name: labels[name] for name in members}, inside)
        for members, inside in components
    ]
    return _pack(layouts, {name: labels[name] for name in isolated})


def _find_components(
    names: list[str], arcs: list[Arc]
) -> tuple[list[tuple[list[str], list[Arc]]], list[str]]:
    """Return the connected components, the largest first, and the variables without arcs."""
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
    components = [(members[top], inside[top]) for top in members if top in inside]
    components.sort(key=lambda component: -len(component[0]))
    return components, [top for top in members if top not in inside]


def _compute_width(lines: Lines) -> float:
    """Return the width of the box of a label."""
    text = max(estimate_text_width(line, FONT_SIZE) for line in lines)
    return max(MIN_BOX_WIDTH, math.ceil(text + 2 * PADDING))


def _lay_out_component(labels: Labels, arcs: list[Arc]) -> Layout:
    """Lay out one connected component."""
    names = list(labels)
    widths = [_compute_width(lines) for lines in labels.values()]
    index = {name: i for i, name in enumerate(names)}
    pairs = [(index[parent], index[child]) for parent, child in arcs]
    area = sum(width * 3 * NODE_HEIGHT for width in widths)
    max_width = max(900.0, math.sqrt(ASPECT_RATIO * area))
    graph = LayeredGraph(assign_layers(widths, pairs, max_width), pairs)
    all_widths = widths + [0.0] * (len(graph.layer) - len(widths))
    centres = place_nodes(graph, order_layers(graph), all_widths)
    box_heights = [Box(0, 0, 0, lines).height for lines in labels.values()]
    heights = compute_layer_heights(graph, centres, box_heights)
    boxes = {
        name: Box(centres[i], heights[graph.layer[i]], widths[i], labels[name])
        for i, name in enumerate(names)
    }
    curves = route_arcs(graph, centres, heights, all_widths, box_heights)
    right = max(
        *(box.x + box.width / 2 for box in boxes.values()),
        *(x for curve in curves for x, _ in curve),
    )
    bottom = max(box.y + box.height / 2 for box in boxes.values())
    return Layout(right, bottom, boxes, dict(zip(arcs, curves, strict=True)))


def _pack(parts: Sequence[Layout], isolated: Labels) -> Layout:
    """Return all components in one drawing, in rows, with the isolated variables below."""
    area = sum((p.width + COMPONENT_GAP) * (p.height + COMPONENT_GAP) for p in parts)
    max_width = max([math.sqrt(ASPECT_RATIO * area), *(part.width for part in parts)])
    boxes: dict[str, Box] = {}
    curves: dict[Arc, Curve] = {}
    x = y = height = width = 0.0
    for part in parts:
        if x > 0 and x + part.width > max_width:
            x, y, height = 0.0, y + height + COMPONENT_GAP, 0.0
        boxes.update({name: _move(box, x, y) for name, box in part.boxes.items()})
        curves.update(
            {arc: tuple((a + x, b + y) for a, b in curve) for arc, curve in part.curves.items()}
        )
        x += part.width + COMPONENT_GAP
        width, height = max(width, x - COMPONENT_GAP), max(height, part.height)
    if isolated:
        top = y + height + (COMPONENT_GAP if parts else 0.0)
        block = _lay_out_isolated(
            isolated, max(width, math.sqrt(ASPECT_RATIO * 4000.0 * len(isolated)))
        )
        boxes.update({name: _move(box, 0.0, top) for name, box in block.boxes.items()})
        return Layout(max(width, block.width), top + block.height, boxes, curves)
    return Layout(width, y + height, boxes, curves)


def _lay_out_isolated(labels: Labels, max_width: float) -> Layout:
    """Lay out variables without arcs in rows and columns, by name."""
    widths = {name: _compute_width(lines) for name, lines in labels.items()}
    column = max(widths.values()) + ISOLATED_GAP
    row_height = max(Box(0, 0, 0, lines).height for lines in labels.values()) + ISOLATED_GAP
    n_columns = max(1, min(len(labels), int((max_width + ISOLATED_GAP) / column)))
    boxes = {}
    for i, (name, lines) in enumerate(labels.items()):
        row, at = divmod(i, n_columns)
        centre: Point = (
            at * column + (column - ISOLATED_GAP) / 2,
            row * row_height + (row_height - ISOLATED_GAP) / 2,
        )
        boxes[name] = Box(*centre, widths[name], lines)
    n_rows = -(-len(labels) // n_columns)
    return Layout(n_columns * column - ISOLATED_GAP, n_rows * row_height - ISOLATED_GAP, boxes, {})


def _move(box: Box, x: float, y: float) -> Box:
    return Box(box.x + x, box.y + y, box.width, box.lines)
