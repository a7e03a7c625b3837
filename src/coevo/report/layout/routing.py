"""How arcs run: smooth curves from the foot of a parent to the head of a child.

A curve goes through the places where its arc passes layers. It never turns back upwards, and
it is steep where it passes a layer, so that it does not touch the nodes at either side.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from coevo.report.layout.ordering import Layered

__all__ = ["NODE_HEIGHT", "Curve", "Point", "layer_heights", "route_arcs"]

Point = tuple[float, float]
Curve = tuple[Point, ...]  # Bezier curves of degree 3: a start, then three points for each

NODE_HEIGHT = 26.0
SMALLEST_STEP, LARGEST_STEP = 60.0, 150.0  # between the middles of two layers
PORT = 13.0  # between two arcs at one node
STEEPEST = 0.5  # dx / dy where a layer is passed
AT_ENDS = 1.1  # dx / dy where an arc ends


def layer_heights(graph: Layered, centres: Sequence[float]) -> list[float]:
    """Return the middle of each layer; those with long ways between them are farther apart."""
    widest = [0.0] * graph.n_layers
    for node, downs in enumerate(graph.downs):
        for other in downs:
            layer = graph.layer[node]
            widest[layer] = max(widest[layer], abs(centres[node] - centres[other]))
    heights = [NODE_HEIGHT / 2]
    for way in widest[:-1]:
        heights.append(heights[-1] + min(LARGEST_STEP, SMALLEST_STEP + way / 9))
    return heights


def route_arcs(
    graph: Layered, centres: Sequence[float], heights: Sequence[float], widths: Sequence[float]
) -> list[Curve]:
    """Return the curve of each arc."""
    feet = _ports(graph, centres, widths, is_foot=True)
    heads = _ports(graph, centres, widths, is_foot=False)
    curves = []
    for number, chain in enumerate(graph.chains):
        parent, *passed, child = chain
        points = [
            (feet[number], heights[graph.layer[parent]] + NODE_HEIGHT / 2),
            *((centres[node], heights[graph.layer[node]]) for node in passed),
            (heads[number], heights[graph.layer[child]] - NODE_HEIGHT / 2),
        ]
        curves.append(_smooth(points))
    return curves


def _ports(
    graph: Layered, centres: Sequence[float], widths: Sequence[float], is_foot: bool
) -> list[float]:
    """Return where each arc leaves its parent, or reaches its child, by where it goes."""
    at_node: list[list[tuple[float, int]]] = [[] for _ in range(graph.n_real)]
    for number, chain in enumerate(graph.chains):
        node, other = (chain[0], chain[1]) if is_foot else (chain[-1], chain[-2])
        at_node[node].append((centres[other], number))
    ports = [0.0] * len(graph.chains)
    for node, arcs in enumerate(at_node):
        step = min(PORT, 0.8 * widths[node] / max(1, len(arcs)))
        for i, (_, number) in enumerate(sorted(arcs)):
            ports[number] = centres[node] + (i - (len(arcs) - 1) / 2) * step
    return ports


def _smooth(points: Sequence[Point]) -> Curve:
    """Return a curve through points, each below the one before, whose height only grows.

    >>> _smooth([(0, 0), (0, 30)])
    ((0, 0), (0.0, 10.0), (0.0, 20.0), (0, 30))
    """
    ways = [(x2 - x1) / (y2 - y1) for (x1, y1), (x2, y2) in pairwise(points)]
    slopes = [_within(ways[0], AT_ENDS)]
    for one, two in pairwise(ways):
        # No overshoot: flat where the ways turn back, never steeper than thrice the lesser.
        middle = (one + two) / 2 if one * two > 0 else 0.0
        slopes.append(_within(middle, min(STEEPEST, 3 * abs(one), 3 * abs(two))))
    slopes.append(_within(ways[-1], AT_ENDS))
    curve: list[Point] = [points[0]]
    for (x1, y1), (x2, y2), s1, s2 in zip(points, points[1:], slopes, slopes[1:], strict=False):
        third = (y2 - y1) / 3
        curve += [(x1 + s1 * third, y1 + third), (x2 - s2 * third, y2 - third), (x2, y2)]
    return tuple(curve)


def _within(value: float, most: float) -> float:
    return max(-most, min(most, value))
