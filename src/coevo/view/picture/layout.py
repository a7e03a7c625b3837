"""A layered drawing of a graph: the position of each variable and the curve of each arc.

Each connected component is laid out separately, by the steps of Sugiyama and others [1]_ (layers,
order, positions, curves). A component of moderate size is laid out with layers of several widths,
and the drawing with the largest text on the canvas is kept. Then the components are placed side by
side, with the variables without arcs in a block. Variables are processed in the order of their
names, so the drawing does not depend on the order of the input. The layout is deterministic.

Reasons against a library: grandalf, the pure Python one, is under the GPL, has had no release
since 2023 and iterates over sets. Graphviz would have to be installed.

**The canvas** that a drawing is made for is a browser window of 1280 by 800 pixels. A drawing is
scaled to fit the canvas, and its text with it. The layout therefore uses the shape of the canvas:
of several drawings of a graph, the one with the largest text is the best.

**Packing.** Components stand in rows, the largest first, and variables without arcs in a block
below them. If the text is larger then, rows have another width, the block is on the right, or all
others stand on the right of the largest component.

.. [1] K. Sugiyama, S. Tagawa and M. Toda, Methods for visual understanding of hierarchical
   system structures, IEEE Transactions on Systems, Man, and Cybernetics 11, 1981.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from coevo.view.picture.labels import (
    MAX_LABEL_LENGTH,
    Lines,
    estimate_text_width,
    make_labels,
)
from coevo.view.picture.layering import LayeredGraph, assign_layers, order_layers
from coevo.view.picture.routing import (
    LINE_HEIGHT,
    NODE_HEIGHT,
    Curve,
    compute_layer_heights,
    place_nodes,
    route_arcs,
)

__all__ = [
    "CANVAS",
    "COMFORTABLE_SCALE",
    "Arc",
    "Box",
    "Layout",
    "compute_scale",
    "lay_out",
    "limit_height",
    "pack_components",
]


CANVAS = (1190.0, 560.0)  # width and height in pixels, without the margins of the page
COMFORTABLE_SCALE = 0.9  # text of 11 pixels; larger text is not worth a denser drawing


def compute_scale(width: float, height: float) -> float:
    """Return the scale at which a drawing fits the canvas.

    >>> compute_scale(2380, 280), compute_scale(100, 1120)
    (0.5, 0.5)
    """
    return min(CANVAS[0] / max(1.0, width), CANVAS[1] / max(1.0, height))


def limit_height(width: float) -> float:
    """Return the height from which a drawing of this width has smaller text than it could have.

    >>> round(limit_height(100)), round(limit_height(2380))
    (622, 1120)
    """
    return max(CANVAS[1] / COMFORTABLE_SCALE, CANVAS[1] * width / CANVAS[0])


Arc = tuple[str, str]  # (parent, child)


@dataclass(frozen=True, slots=True)
class Box:
    """The position and the label of a variable."""

    x: float  # of the centre
    y: float
    width: float
    lines: tuple[str, ...]  # of the label
    extra: float = 0.0  # height below the label, for what else the box shows

    @property
    def label(self) -> str:
        """The label in one line."""
        return " ".join(self.lines)

    @property
    def height(self) -> float:
        """The height, which is the same for all boxes with equally many lines and nothing else."""
        return NODE_HEIGHT + LINE_HEIGHT * (len(self.lines) - 1) + self.extra


@dataclass(frozen=True, slots=True)
class Layout:
    """A drawing from (0, 0), the top left corner, to (width, height)."""

    width: float
    height: float
    boxes: dict[str, Box]  # by name
    curves: dict[Arc, Curve]


COMPONENT_GAP = 48.0
ISOLATED_GAP = 14.0  # between variables without arcs
ROW_WIDTHS = (1.0, 0.5, 0.8, 1.25, 1.6)  # that are tried, relative to the expected one


def pack_components(parts: Sequence[Layout], isolated: Mapping[str, Box]) -> Layout:
    """Return one drawing of all components, and of the variables without arcs."""
    packed = _list_packings(parts, isolated)
    if len(parts) > 1:
        first, *rest = parts
        x = first.width + COMPONENT_GAP
        packed += [_join([first, _move(side, x, 0.0)]) for side in _list_packings(rest, isolated)]

    def rate(layout: Layout) -> float:
        return min(COMFORTABLE_SCALE, compute_scale(layout.width, layout.height))

    return max(packed, key=rate)  # the first of several


def _list_packings(parts: Sequence[Layout], isolated: Mapping[str, Box]) -> list[Layout]:
    """Return drawings with rows of several widths, the isolated variables below or beside."""
    area = sum((p.width + COMPONENT_GAP) * (p.height + COMPONENT_GAP) for p in parts)
    expected = math.sqrt(CANVAS[0] / CANVAS[1] * area)
    widest = max((part.width for part in parts), default=0.0)
    packed = [_pack_rows(parts, max(widest, share * expected)) for share in ROW_WIDTHS]
    if not isolated:
        return packed
    return [each for joined in packed for each in _add_isolated(joined, isolated)]


def _pack_rows(parts: Sequence[Layout], max_width: float) -> Layout:
    """Return the components in rows of at most this width."""
    moved = []
    x = y = height = 0.0
    for part in parts:
        if x > 0 and x + part.width > max_width:
            x, y, height = 0.0, y + height + COMPONENT_GAP, 0.0
        moved.append(_move(part, x, y))
        x += part.width + COMPONENT_GAP
        height = max(height, part.height)
    return _join(moved)


def _add_isolated(joined: Layout, isolated: Mapping[str, Box]) -> list[Layout]:
    """Return the drawing with the isolated variables below it, and with them on its right."""
    usual = math.sqrt(CANVAS[0] / CANVAS[1] * 4000.0 * len(isolated))
    below = _lay_out_isolated(isolated, max(joined.width, usual))
    if not joined.boxes:
        return [below]
    column, row = _measure_cell(isolated)
    n_rows = max(1, int((joined.height + ISOLATED_GAP) / row))
    beside = _lay_out_isolated(isolated, column * -(-len(isolated) // n_rows))
    return [
        _join([joined, _move(below, 0.0, joined.height + COMPONENT_GAP)]),
        _join([joined, _move(beside, joined.width + COMPONENT_GAP, 0.0)]),
    ]


def _measure_cell(isolated: Mapping[str, Box]) -> tuple[float, float]:
    """Return the width and the height that one isolated variable takes, with its gap."""
    width = max(box.width for box in isolated.values())
    height = max(box.height for box in isolated.values())
    return width + ISOLATED_GAP, height + ISOLATED_GAP


def _lay_out_isolated(isolated: Mapping[str, Box], max_width: float) -> Layout:
    """Return variables without arcs in rows and columns, in their order."""
    width, height = _measure_cell(isolated)
    n_columns = max(1, min(len(isolated), int((max_width + ISOLATED_GAP) / width)))
    boxes = {}
    for i, (name, box) in enumerate(isolated.items()):
        row, column = divmod(i, n_columns)
        x = column * width + (width - ISOLATED_GAP) / 2
        y = row * height + (height - ISOLATED_GAP) / 2
        boxes[name] = replace(box, x=x, y=y)
    n_rows = -(-len(isolated) // n_columns)
    return Layout(n_columns * width - ISOLATED_GAP, n_rows * height - ISOLATED_GAP, boxes, {})


def _move(layout: Layout, x: float, y: float) -> Layout:
    """Return a layout whose top left corner is at (x, y)."""
    return Layout(
        x + layout.width,
        y + layout.height,
        {name: replace(box, x=box.x + x, y=box.y + y) for name, box in layout.boxes.items()},
        {arc: tuple((a + x, b + y) for a, b in curve) for arc, curve in layout.curves.items()},
    )


def _join(parts: Iterable[Layout]) -> Layout:
    """Return one layout with all parts, each at its place."""
    joined = Layout(0.0, 0.0, {}, {})
    for part in parts:
        joined = Layout(
            max(joined.width, part.width),
            max(joined.height, part.height),
            joined.boxes | part.boxes,
            joined.curves | part.curves,
        )
    return joined


FONT_SIZE = 12.0
PADDING = 10.0  # on each side of a label
MIN_BOX_WIDTH = 44.0
ASPECT_RATIO = 1.7  # width / height of a component, of which its layers get their width
MIN_LAYER_WIDTH = 900.0
LAYER_WIDTHS = (1.0, 0.75, 0.6, 0.45)  # that are tried, relative to the expected one
MAX_TRIED = 150  # variables of a component for which more than one width is tried
MAX_HIGH_TRIED = 50  # the same if boxes have more than a label: most of these are read in parts
MIN_TIGHT_SCALE = 0.6  # a drawing that needs a smaller scale is read in parts: it need not be tight


def lay_out(
    nodes: Iterable[str],
    arcs: Iterable[Arc],
    max_lines: int = 1,
    sizes: Mapping[str, tuple[float, float]] | None = None,
) -> Layout:
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
    sizes : mapping of str to pair of numbers, optional
        The least width of the box of a variable, and the height that it needs below its label.

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
    least = sizes or {}
    boxes = {
        name: _make_box(lines, *least.get(name, (MIN_BOX_WIDTH, 0.0)))
        for name, lines in labels.items()
    }
    layouts = [
        _lay_out_component({name: boxes[name] for name in members}, inside)
        for members, inside in components
    ]
    return pack_components(layouts, {name: boxes[name] for name in isolated})


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


def _make_box(lines: Lines, min_width: float, extra: float) -> Box:
    """Return the box of a label, at (0, 0)."""
    text = max(estimate_text_width(line, FONT_SIZE) for line in lines)
    return Box(0.0, 0.0, max(min_width, math.ceil(text + 2 * PADDING)), lines, extra)


def _lay_out_component(boxes: dict[str, Box], arcs: list[Arc]) -> Layout:
    """Lay out one connected component, so that its text is large on the canvas."""
    area = sum(box.width * (3 * NODE_HEIGHT + box.extra) for box in boxes.values())
    width = max(MIN_LAYER_WIDTH, math.sqrt(ASPECT_RATIO * area))
    best, largest = None, 0.0
    has_high = any(box.extra for box in boxes.values())
    is_tried = len(boxes) <= (MAX_HIGH_TRIED if has_high else MAX_TRIED)
    for share in LAYER_WIDTHS if is_tried else LAYER_WIDTHS[:1]:
        layout = _lay_out_layers(boxes, arcs, share * width)
        scale = compute_scale(layout.width, layout.height)
        if best is None or scale > largest:
            best, largest = layout, scale
        if largest >= COMFORTABLE_SCALE:
            break
    assert best is not None
    return best


def _lay_out_layers(boxes: dict[str, Box], arcs: list[Arc], max_width: float) -> Layout:
    """Lay out one connected component, with layers that should not be wider than `max_width`."""
    index = {name: i for i, name in enumerate(boxes)}
    widths = [box.width for box in boxes.values()]
    pairs = [(index[parent], index[child]) for parent, child in arcs]
    graph = LayeredGraph(assign_layers(widths, pairs, max_width), pairs)
    all_widths = widths + [0.0] * (len(graph.layer) - len(widths))
    centres = place_nodes(graph, order_layers(graph), all_widths)
    width = max(centre + width / 2 for centre, width in zip(centres, all_widths, strict=True))
    box_heights = [box.height for box in boxes.values()]
    heights = compute_layer_heights(graph, centres, box_heights, limit_height(width))
    if compute_scale(width, heights[-1]) < MIN_TIGHT_SCALE:
        heights = compute_layer_heights(graph, centres, box_heights)
    curves = route_arcs(graph, centres, heights, all_widths, box_heights)
    right = max(width, *(x for curve in curves for x, _ in curve))
    placed = {
        name: replace(box, x=centres[i], y=heights[graph.layer[i]])
        for i, (name, box) in enumerate(boxes.items())
    }
    bottom = max(box.y + box.height / 2 for box in placed.values())
    return Layout(right, bottom, placed, dict(zip(arcs, curves, strict=True)))
