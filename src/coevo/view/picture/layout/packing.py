"""The places of the connected components in one drawing, and of the variables without arcs.

Components stand in rows, the largest first, and variables without arcs in a block below them. If
the text is larger then, rows have another width, the block is on the right, or all others stand on
the right of the largest component.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from coevo.view.picture.layout.boxes import Box, Layout
from coevo.view.picture.layout.canvas import CANVAS, COMFORTABLE_SCALE, compute_scale

__all__ = ["pack_components"]

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
