"""A layered drawing of a graph: the position of each variable and the curve of each arc.

Each connected component is laid out separately, by the steps of Sugiyama and others [1]_ (layers,
order, positions, curves). A component of moderate size is laid out with layers of several widths,
and the drawing with the largest text on the canvas is kept. Then the components are placed side by
side, with the variables without arcs in a block. Variables are processed in the order of their
names, so the drawing does not depend on the order of the input. The layout is deterministic.

Reasons against a library: grandalf, the pure Python one, is under the GPL, has had no release
since 2023 and iterates over sets. Graphviz would have to be installed.

.. [1] K. Sugiyama, S. Tagawa and M. Toda, Methods for visual understanding of hierarchical
   system structures, IEEE Transactions on Systems, Man, and Cybernetics 11, 1981.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace

from coevo.view.picture.layout.boxes import Arc, Box, Layout
from coevo.view.picture.layout.canvas import COMFORTABLE_SCALE, compute_scale, limit_height
from coevo.view.picture.layout.labels import (
    MAX_LABEL_LENGTH,
    Lines,
    estimate_text_width,
    make_labels,
)
from coevo.view.picture.layout.layering import assign_layers
from coevo.view.picture.layout.ordering import LayeredGraph, order_layers
from coevo.view.picture.layout.packing import pack_components
from coevo.view.picture.layout.placing import place_nodes
from coevo.view.picture.layout.routing import NODE_HEIGHT, compute_layer_heights, route_arcs

__all__ = ["lay_out"]

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
