"""Where each node of a layer stands: near its neighbours, far enough from the next.

The squares of the horizontal lengths of all segments are added up, those of long arcs with
more weight so that these run straight, and the sum is made small layer by layer: with all
other layers fixed, the best places of one layer are an isotonic regression, which pooling
neighbours that push against each other solves exactly. The constraints of layers are
independent and the sum is convex, so that sweeps over the layers approach its minimum.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from coevo.report.layout.ordering import Layered, Rows

__all__ = ["place_nodes"]

GAP = 22.0  # between two nodes
GAP_OF_LINES = 14.0  # where one of the two, or both, is an arc that passes
MOST_SWEEPS = 60
WORK = 300_000  # nodes placed in all sweeps together
# Of a segment between two nodes, of one at an end of a long arc, of one inside it.
WEIGHTS = (1.0, 2.0, 6.0)


def place_nodes(graph: Layered, rows: Rows, widths: Sequence[float]) -> list[float]:
    """Return the centre of each node from the left edge of the picture on.

    `widths` are those of the nodes, and 0 of the places that arcs pass.

    >>> place_nodes(Layered([0, 1, 1], [(0, 1), (0, 2)]), [[0], [1, 2]], [10, 20, 20])
    [31.0, 10.0, 52.0]
    """
    offsets = [_offsets(graph, row, widths) for row in rows]
    centres = [0.0] * len(graph.layer)
    for row, offset in zip(rows, offsets, strict=True):
        for node, at in zip(row, offset, strict=True):
            centres[node] = at - offset[-1] / 2
    near = _weighted_neighbours(graph)
    sweeps = max(8, min(MOST_SWEEPS, WORK // len(graph.layer)))
    for sweep in range(sweeps):
        numbers = range(len(rows)) if sweep % 2 == 0 else range(len(rows) - 1, -1, -1)
        for number in numbers:
            # At first a layer follows the one before alone: news travels far in one sweep.
            side = sweep % 2 if sweep < sweeps // 4 else None
            _place_row(rows[number], offsets[number], centres, near, side)
    left = min(centre - width / 2 for centre, width in zip(centres, widths, strict=True))
    return [centre - left for centre in centres]


def _offsets(graph: Layered, row: list[int], widths: Sequence[float]) -> list[float]:
    """Return where the nodes of a layer stand when they are as close as they may be."""
    at, offsets = 0.0, [0.0]
    for one, two in pairwise(row):
        lines = one >= graph.n_real or two >= graph.n_real
        at += (widths[one] + widths[two]) / 2 + (GAP_OF_LINES if lines else GAP)
        offsets.append(at)
    return offsets


Near = list[tuple[list[tuple[int, float]], list[tuple[int, float]]]]


def _weighted_neighbours(graph: Layered) -> Near:
    """Return the neighbours of each node above and below, with the weights of the segments."""

    def weigh(node: int, others: list[int]) -> list[tuple[int, float]]:
        real = graph.n_real
        return [(other, WEIGHTS[(node >= real) + (other >= real)]) for other in others]

    return [
        (weigh(node, graph.ups[node]), weigh(node, graph.downs[node]))
        for node in range(len(graph.layer))
    ]


def _place_row(
    row: list[int], offsets: list[float], centres: list[float], near: Near, side: int | None
) -> None:
    """Put the nodes of one layer where they are best, given where all others are."""
    blocks: list[tuple[float, float, int]] = []  # weight, weighted sum of places, nodes
    for node, offset in zip(row, offsets, strict=True):
        above, below = near[node]
        wanted = above + below if side is None else (above, below)[side] or above + below
        weight = sum(w for _, w in wanted)
        block = (weight, sum(w * (centres[o] - offset) for o, w in wanted), 1)
        while blocks and blocks[-1][1] * block[0] >= block[1] * blocks[-1][0]:
            last = blocks.pop()
            block = (last[0] + block[0], last[1] + block[1], last[2] + block[2])
        blocks.append(block)
    at = 0
    for weight, total, size in blocks:
        for node, offset in zip(row[at : at + size], offsets[at : at + size], strict=True):
            centres[node] = total / weight + offset
        at += size
