"""The horizontal position of each node: near its neighbours, with a minimum gap to the next node.

The objective is the weighted sum of the squared horizontal lengths of all segments. Segments of
long arcs have a higher weight, so long arcs are straight. The sum is minimised layer by layer:
with all other layers fixed, the best positions of one layer are an isotonic regression, which the
pool-adjacent-violators algorithm solves exactly. The constraints of the layers are independent
and the sum is convex, so sweeps over the layers approach its minimum.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from coevo.view.picture.layout.ordering import LayeredGraph, Rows

__all__ = ["place_nodes"]

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
