"""The horizontal position of each node, and the curves of arcs.

**Positions.** A node is near its neighbours, with a minimum gap to the next node. The objective is
the weighted sum of the squared horizontal lengths of all segments. Segments of long arcs have a
higher weight, so long arcs are straight. The sum is minimised layer by layer: with all other layers
fixed, the best positions of one layer are an isotonic regression, which the pool-adjacent-violators
algorithm solves exactly. The constraints of the layers are independent and the sum is convex, so
sweeps over the layers approach its minimum.

**Curves** are smooth, from the bottom of the parent to the top of the child. A curve goes through
the dummy nodes of its arc. It never turns upwards. Where it passes a layer it is steep from the top
to the bottom of the boxes, so it does not touch those on either side.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

from coevo.view.picture.layering import LayeredGraph, Rows

__all__ = [
    "LINE_HEIGHT",
    "NODE_HEIGHT",
    "Curve",
    "Point",
    "compute_layer_heights",
    "place_nodes",
    "route_arcs",
]


GAP = 22.0  # between two nodes
DUMMY_GAP = 14.0  # if at least one of the two is a dummy node
MAX_SWEEPS = 60
MAX_WORK = 300_000  # nodes placed in all sweeps together
# Of a segment between two real nodes, at an end of a long arc, and inside a long arc.
WEIGHTS = (1.0, 2.0, 6.0)
BOTH = 2  # sides


def place_nodes(graph: LayeredGraph, rows: Rows, widths: Sequence[float]) -> list[float]:
    """Return the centre of each node, from the left edge of the drawing.

    `widths` are the widths of the nodes, and 0 for dummy nodes.

    >>> place_nodes(LayeredGraph([0, 1, 1], [(0, 1), (0, 2)]), [[0], [1, 2]], [10, 20, 20])
    [31.0, 10.0, 52.0]
    """
    offsets = [_compute_offsets(graph, row, widths) for row in rows]
    centres = [0.0] * len(graph.layer)
    for row, offset in zip(rows, offsets, strict=True):
        for node, at in zip(row, offset, strict=True):
            centres[node] = at - offset[-1] / 2
    pulls = _weigh_neighbours(graph)
    sweeps = max(8, min(MAX_SWEEPS, MAX_WORK // len(graph.layer)))
    for sweep in range(sweeps):
        numbers = range(len(rows)) if sweep % 2 == 0 else range(len(rows) - 1, -1, -1)
        for number in numbers:
            # The first sweeps use only the previous layer, so changes reach far in one sweep.
            side = sweep % 2 if sweep < sweeps // 4 else BOTH
            _place_row(rows[number], offsets[number], centres, pulls, side)
    left = min(centre - width / 2 for centre, width in zip(centres, widths, strict=True))
    return [centre - left for centre in centres]


def _compute_offsets(graph: LayeredGraph, row: list[int], widths: Sequence[float]) -> list[float]:
    """Return the positions of the nodes of a layer with minimum gaps."""
    at, offsets = 0.0, [0.0]
    for one, two in pairwise(row):
        has_dummy = one >= graph.n_real or two >= graph.n_real
        at += (widths[one] + widths[two]) / 2 + (DUMMY_GAP if has_dummy else GAP)
        offsets.append(at)
    return offsets


class _Pull(NamedTuple):
    """What a node is drawn to: neighbours with the weights of their segments, and their sum."""

    total: float
    ends: list[tuple[int, float]]


Pulls = list[tuple[_Pull, _Pull, _Pull]]  # of each node: from above, from below, from both


def _weigh_neighbours(graph: LayeredGraph) -> Pulls:
    """Return the upper and lower neighbours of each node; a side without any has those of both."""

    def weigh(node: int, others: list[int]) -> list[tuple[int, float]]:
        real = graph.n_real
        return [(other, WEIGHTS[(node >= real) + (other >= real)]) for other in others]

    pulls = []
    for node in range(len(graph.layer)):
        above, below = weigh(node, graph.ups[node]), weigh(node, graph.downs[node])
        both = above + below
        sides = (above or both, below or both, both)
        up, down, all_of_them = (_Pull(sum([w for _, w in ends]), ends) for ends in sides)
        pulls.append((up, down, all_of_them))
    return pulls


def _place_row(
    row: list[int],
    offsets: list[float],
    centres: list[float],
    pulls: Pulls,
    side: int,
) -> None:
    """Move the nodes of one layer to their best positions, with all others fixed."""
    blocks: list[
        tuple[float, float, int]
    ] = []  # weight, weighted sum of positions, number of nodes
    for node, offset in zip(row, offsets, strict=True):
        weight, ends = pulls[node][side]
        pull = 0.0
        for other, w in ends:
            pull += w * (centres[other] - offset)
        block = (weight, pull, 1)
        while blocks and blocks[-1][1] * block[0] >= block[1] * blocks[-1][0]:
            last = blocks.pop()
            block = (last[0] + block[0], last[1] + block[1], last[2] + block[2])
        blocks.append(block)
    at = 0
    for weight, total, size in blocks:
        for node, offset in zip(row[at : at + size], offsets[at : at + size], strict=True):
            centres[node] = total / weight + offset
        at += size


Point = tuple[float, float]
Curve = tuple[Point, ...]  # cubic Bezier segments: a start, then three points for each

NODE_HEIGHT = 26.0  # of a label with one line
LINE_HEIGHT = 15.0  # of each further line
# Between the centres of two layers whose labels have one line.
TIGHT_LAYER_STEP = 50.0  # in a drawing that is too high
MIN_LAYER_STEP, MAX_LAYER_STEP = 60.0, 150.0  # in all other drawings
PORT_GAP = 13.0  # between two arcs at one node
MAX_SLOPE_BETWEEN_BOXES = 0.3  # dx / dy where an arc passes a layer
MAX_SHIFT_BESIDE_HIGH_BOX = 2.5  # dx from the centre to the top of a box with more than a label
MAX_SLOPE_INSIDE = 0.5  # dx / dy above and below such a layer
MAX_SLOPE_AT_ENDS = 1.1  # dx / dy at the ends of an arc


def compute_layer_heights(
    graph: LayeredGraph,
    centres: Sequence[float],
    box_heights: Sequence[float],
    max_height: float = math.inf,
) -> list[float]:
    """Return the centre of each layer. Layers joined by long segments are farther apart.

    If the drawing is higher than `max_height`, its layers come closer, up to a limit.
    """
    tallest = _find_tallest(graph, box_heights)
    longest = [0.0] * graph.n_layers
    for node, downs in enumerate(graph.downs):
        for other in downs:
            layer = graph.layer[node]
            longest[layer] = max(longest[layer], abs(centres[node] - centres[other]))
    wide = [min(MAX_LAYER_STEP, MIN_LAYER_STEP + length / 9) for length in longest[:-1]]
    tight = [  # an arc beside a taller box needs all the room
        TIGHT_LAYER_STEP if max(pair) == NODE_HEIGHT else step
        for step, pair in zip(wide, pairwise(tallest), strict=True)
    ]
    spare = sum(wide) - sum(tight)
    height = sum(wide) + sum(tallest) - NODE_HEIGHT * (graph.n_layers - 1)
    excess = min(spare, max(0.0, height - max_height))
    share = 1 - excess / spare if spare > 0 else 1.0  # of the room between layers that is left
    steps = [
        least + share * (most - least) + (one + two) / 2 - NODE_HEIGHT
        for least, most, (one, two) in zip(tight, wide, pairwise(tallest), strict=True)
    ]
    return list(accumulate(steps, initial=tallest[0] / 2))


def _find_tallest(graph: LayeredGraph, box_heights: Sequence[float]) -> list[float]:
    """Return the height of the tallest box of each layer."""
    tallest = [NODE_HEIGHT] * graph.n_layers
    for layer, box_height in zip(graph.layer, box_heights, strict=False):
        tallest[layer] = max(tallest[layer], box_height)
    return tallest


def route_arcs(
    graph: LayeredGraph,
    centres: Sequence[float],
    heights: Sequence[float],
    widths: Sequence[float],
    box_heights: Sequence[float],
) -> list[Curve]:
    """Return the curve of each arc."""
    starts = _place_ports(graph, centres, widths, is_start=True)
    ends = _place_ports(graph, centres, widths, is_start=False)
    tallest = _find_tallest(graph, box_heights)
    curves = []
    for number, chain in enumerate(graph.chains):
        parent, *passed, child = chain
        points = [
            (starts[number], heights[graph.layer[parent]] + box_heights[parent] / 2),
            *((centres[node], heights[graph.layer[node]]) for node in passed),
            (ends[number], heights[graph.layer[child]] - box_heights[child] / 2),
        ]
        halves = [tallest[graph.layer[node]] / 2 for node in passed]
        spare = [
            _measure_spare(box_heights[node], tallest[graph.layer[node]])
            for node in (parent, child)
        ]
        curves.append(_fit_curve(_leave_straight(_widen_passages(points, halves), *spare)))
    return curves


def _measure_spare(height: float, tallest: float) -> float:
    """Return how far a box ends before the tallest of its layer, if that is more than a line."""
    return (tallest - height) / 2 if tallest - height > LINE_HEIGHT else 0.0


def _leave_straight(points: Sequence[Point], first: float, last: float) -> list[Point]:
    """Return the points of a curve that goes straight down beside taller boxes at its ends.

    >>> _leave_straight([(0, 0), (50, 100)], 20, 0)
    [(0, 0), (0, 20), (50, 100)]
    """
    (x1, y1), (x2, y2) = points[0], points[-1]
    start = [(x1, y1 + first)] if first else []
    end = [(x2, y2 - last)] if last else []
    return [points[0], *start, *points[1:-1], *end, points[-1]]


def _widen_passages(points: Sequence[Point], halves: Sequence[float]) -> list[Point]:
    """Return the points of a curve with two points for each layer that it passes.

    They are at the top and at the bottom of the boxes of the layer; `halves` are half the heights
    of these boxes.

    >>> _widen_passages([(0, 0), (100, 50), (100, 100)], [13])
    [(0, 0), (100.0, 37), (100.0, 63), (100, 100)]
    """
    widened = [points[0]]
    for i, half in enumerate(halves, start=1):
        (x1, y1), (x, y), (x2, y2) = points[i - 1 : i + 2]
        before, after = (x - x1) / (y - y1), (x2 - x) / (y2 - y)
        nearer = min(before, after, key=abs) if before * after > 0 else 0.0
        is_high = half > (NODE_HEIGHT + LINE_HEIGHT) / 2
        limit = MAX_SHIFT_BESIDE_HIGH_BOX / half if is_high else MAX_SLOPE_BETWEEN_BOXES
        slope = _clamp(nearer, limit)
        widened += [(x - slope * half, y - half), (x + slope * half, y + half)]
    return [*widened, points[-1]]


def _place_ports(
    graph: LayeredGraph, centres: Sequence[float], widths: Sequence[float], is_start: bool
) -> list[float]:
    """Return the position where each arc leaves its parent or reaches its child."""
    at_node: list[list[tuple[float, int]]] = [[] for _ in range(graph.n_real)]
    for number, chain in enumerate(graph.chains):
        node, other = (chain[0], chain[1]) if is_start else (chain[-1], chain[-2])
        at_node[node].append((centres[other], number))
    ports = [0.0] * len(graph.chains)
    for node, arcs in enumerate(at_node):
        step = min(PORT_GAP, 0.8 * widths[node] / max(1, len(arcs)))
        for i, (_, number) in enumerate(sorted(arcs)):
            ports[number] = centres[node] + (i - (len(arcs) - 1) / 2) * step
    return ports


def _fit_curve(points: Sequence[Point]) -> Curve:
    """Return a monotone curve through points, each of which is below the previous one.

    >>> _fit_curve([(0, 0), (0, 30)])
    ((0, 0), (0.0, 10.0), (0.0, 20.0), (0, 30))
    """
    secants = [(x2 - x1) / (y2 - y1) for (x1, y1), (x2, y2) in pairwise(points)]
    slopes = [_clamp(secants[0], MAX_SLOPE_AT_ENDS)]
    for one, two in pairwise(secants):
        # No overshoot: slope 0 at a turn, and at most three times the smaller secant.
        middle = (one + two) / 2 if one * two > 0 else 0.0
        slopes.append(_clamp(middle, min(MAX_SLOPE_INSIDE, 3 * abs(one), 3 * abs(two))))
    slopes.append(_clamp(secants[-1], MAX_SLOPE_AT_ENDS))
    curve: list[Point] = [points[0]]
    for (x1, y1), (x2, y2), s1, s2 in zip(points, points[1:], slopes, slopes[1:], strict=False):
        third = (y2 - y1) / 3
        curve += [(x1 + s1 * third, y1 + third), (x2 - s2 * third, y2 - third), (x2, y2)]
    return tuple(curve)


def _clamp(value: float, limit: float) -> float:
    return max(-limit, min(limit, value))
