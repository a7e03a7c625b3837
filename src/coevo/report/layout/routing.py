"""The curves of arcs: smooth, from the bottom of the parent to the top of the child.

A curve goes through the dummy nodes of its arc. It never turns upwards. It is steep where it
passes a layer, so it does not touch the nodes on either side.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate, pairwise

from coevo.report.layout.ordering import LayeredGraph

__all__ = ["NODE_HEIGHT", "Curve", "Point", "compute_layer_heights", "route_arcs"]

Point = tuple[float, float]
Curve = tuple[Point, ...]  # cubic Bezier segments: a start, then three points for each

NODE_HEIGHT = 26.0
TIGHT_LAYER_STEP = 50.0  # between the centres of two layers, in a drawing that is too high
MIN_LAYER_STEP, MAX_LAYER_STEP = 60.0, 150.0  # in all other drawings
PORT_GAP = 13.0  # between two arcs at one node
MAX_SLOPE_INSIDE = 0.5  # dx / dy where an arc passes a layer
MAX_SLOPE_AT_ENDS = 1.1  # dx / dy at the ends of an arc


def compute_layer_heights(
    graph: LayeredGraph, centres: Sequence[float], max_height: float = math.inf
) -> list[float]:
    """Return the centre of each layer. Layers joined by long segments are farther apart.

    If the drawing is higher than `max_height`, its layers come closer, up to a limit.
    """
    longest = [0.0] * graph.n_layers
    for node, downs in enumerate(graph.downs):
        for other in downs:
            layer = graph.layer[node]
            longest[layer] = max(longest[layer], abs(centres[node] - centres[other]))
    steps = [min(MAX_LAYER_STEP, MIN_LAYER_STEP + length / 9) for length in longest[:-1]]
    spare = sum(steps) - TIGHT_LAYER_STEP * len(steps)
    excess = min(spare, max(0.0, sum(steps) + NODE_HEIGHT - max_height))
    if excess > 0:
        share = 1 - excess / spare
        steps = [TIGHT_LAYER_STEP + share * (step - TIGHT_LAYER_STEP) for step in steps]
    return list(accumulate(steps, initial=NODE_HEIGHT / 2))


def route_arcs(
    graph: LayeredGraph, centres: Sequence[float], heights: Sequence[float], widths: Sequence[float]
) -> list[Curve]:
    """Return the curve of each arc."""
    starts = _place_ports(graph, centres, widths, is_start=True)
    ends = _place_ports(graph, centres, widths, is_start=False)
    curves = []
    for number, chain in enumerate(graph.chains):
        parent, *passed, child = chain
        points = [
            (starts[number], heights[graph.layer[parent]] + NODE_HEIGHT / 2),
            *((centres[node], heights[graph.layer[node]]) for node in passed),
            (ends[number], heights[graph.layer[child]] - NODE_HEIGHT / 2),
        ]
        curves.append(_fit_curve(points))
    return curves


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
