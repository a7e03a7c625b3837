"""The order of the nodes in each layer, with few crossings of arcs.

Sweeps down and up sort each layer by the medians of its neighbours in the previous layer. Then
adjacent nodes are swapped if that saves crossings [1]_. The best order is kept. The two initial
orders, one from the roots down and one from the leaves up, start from the names, so the result
does not depend on the order of the input.

.. [1] E. R. Gansner, E. Koutsofios, S. C. North and K.-P. Vo, A technique for drawing
   directed graphs, IEEE Transactions on Software Engineering 19, 1993.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

__all__ = ["LayeredGraph", "Rows", "count_crossings", "order_layers"]

MAX_SWEEPS = 24
MAX_WORK = 100_000  # segments visited in all sweeps together; a few seconds


class LayeredGraph:
    """A graph in layers whose segments join adjacent layers only.

    Nodes 0 to `n_real` - 1 are the nodes of the drawing. The others are dummy nodes, where long
    arcs pass a layer. `ups` and `downs` are the neighbours in the layer above and below.
    """

    def __init__(self, layers: Sequence[int], arcs: Sequence[tuple[int, int]]) -> None:
        self.n_real = len(layers)
        self.layer = list(layers)
        self.chains: list[list[int]] = []  # for each arc: parent, dummy nodes, child
        for parent, child in arcs:
            first = len(self.layer)
            self.layer.extend(range(layers[parent] + 1, layers[child]))
            self.chains.append([parent, *range(first, len(self.layer)), child])
        self.ups: list[list[int]] = [[] for _ in self.layer]
        self.downs: list[list[int]] = [[] for _ in self.layer]
        for chain in self.chains:
            for one, two in pairwise(chain):
                self.downs[one].append(two)
                self.ups[two].append(one)
        self.n_layers = max(self.layer) + 1
        self.n_segments = sum(map(len, self.downs))


Rows = list[list[int]]  # the nodes of each layer from left to right


def order_layers(graph: LayeredGraph) -> Rows:
    """Return the nodes of each layer from left to right.

    >>> graph = LayeredGraph([0, 0, 1, 1], [(0, 3), (1, 2)])
    >>> order_layers(graph)
    [[0, 1], [3, 2]]
    """
    sweeps = max(2, min(MAX_SWEEPS, MAX_WORK // (graph.n_segments + 1)))
    best: Rows = []
    fewest = -1
    for downwards in (True, False):
        rows = _make_initial_rows(graph, downwards)
        for sweep in range(sweeps):
            _sort_by_medians(graph, rows, down=(sweep % 2 == 0) == downwards)
            _transpose(graph, rows, swap_equals=sweep % 4 == 3)
            crossings = count_crossings(graph, rows)
            if fewest < 0 or crossings < fewest:
                best, fewest = [list(row) for row in rows], crossings
            if fewest == 0:
                return best
    return best


def _make_initial_rows(graph: LayeredGraph, downwards: bool) -> Rows:
    """Return an order in which connected nodes are close together."""
    rows: Rows = [[] for _ in range(graph.n_layers)]
    onward = graph.downs if downwards else graph.ups
    seen = [False] * len(graph.layer)
    ends = graph.ups if downwards else graph.downs
    starts = [node for node in range(graph.n_real) if not ends[node]]
    for start in starts:
        waiting = [start]
        while waiting:
            node = waiting.pop()
            if seen[node]:
                continue
            seen[node] = True
            rows[graph.layer[node]].append(node)
            waiting.extend(reversed(onward[node]))
    return rows


def count_crossings(graph: LayeredGraph, rows: Rows) -> int:
    """Return the number of pairs of segments that cross.

    >>> graph = LayeredGraph([0, 0, 1, 1], [(0, 3), (1, 2)])
    >>> count_crossings(graph, [[0, 1], [2, 3]])
    1
    """
    total = 0
    for upper, lower in pairwise(rows):
        place = {node: i for i, node in enumerate(lower)}
        ends = [end for node in upper for end in _list_places(graph.downs[node], place)]
        total += _count_inversions(ends, len(lower))
    return total


def _count_inversions(ends: Sequence[int], n: int) -> int:
    """Return the number of inversions of a sequence, by a Fenwick tree."""
    tree = [0] * (n + 1)
    inversions = 0
    for seen, end in enumerate(ends):
        not_above, at = 0, end + 1
        while at > 0:
            not_above += tree[at]
            at -= at & -at
        inversions += seen - not_above
        at = end + 1
        while at <= n:
            tree[at] += 1
            at += at & -at
    return inversions


def _sort_by_medians(graph: LayeredGraph, rows: Rows, down: bool) -> None:
    """Sort each layer by the medians of its neighbours in the previous layer.

    A node without neighbours there keeps its position.
    """
    neighbours = graph.ups if down else graph.downs
    numbers = range(1, len(rows)) if down else range(len(rows) - 2, -1, -1)
    for number in numbers:
        before = rows[number - 1 if down else number + 1]
        place = {node: i for i, node in enumerate(before)}
        row = rows[number]
        medians = {node: _compute_median(_list_places(neighbours[node], place)) for node in row}
        moving = iter(sorted((n for n in row if neighbours[n]), key=medians.__getitem__))
        rows[number] = [next(moving) if neighbours[node] else node for node in row]


def _compute_median(places: Sequence[int]) -> float:
    """Return the median; for an even number, a weighted mean of the two middle values."""
    n = len(places)
    if n == 0:
        return -1.0
    middle = n // 2
    if n % 2:
        return float(places[middle])
    if n == 2:
        return (places[0] + places[1]) / 2
    left, right = places[middle - 1] - places[0], places[-1] - places[middle]
    if left + right == 0:
        return (places[middle - 1] + places[middle]) / 2
    return (places[middle - 1] * right + places[middle] * left) / (left + right)


def _transpose(graph: LayeredGraph, rows: Rows, swap_equals: bool) -> None:
    """Swap adjacent nodes while that saves crossings."""
    place = [0] * len(graph.layer)
    for row in rows:
        for i, node in enumerate(row):
            place[node] = i
    active = [True] * len(rows)
    for turn in range(8):
        for number, row in enumerate(rows):
            if not active[number]:
                continue
            active[number] = False
            if _transpose_row(graph, row, place, swap_equals and turn == 0):
                for near in (number - 1, number, number + 1):
                    if 0 <= near < len(rows):
                        active[near] = True
        if not any(active):
            return


def _transpose_row(
    graph: LayeredGraph, row: list[int], place: list[int], swap_equals: bool
) -> bool:
    """Swap adjacent nodes of one layer; return whether that saved crossings."""
    saved = False
    ups, downs, n_real = graph.ups, graph.downs, graph.n_real
    # Most nodes are dummy nodes, with one neighbour above and one below.
    ends = [(place[ups[n][0]], place[downs[n][0]]) if n >= n_real else None for n in row]
    for i in range(len(row) - 1):
        one, two = ends[i], ends[i + 1]
        if one is not None and two is not None:
            now = (one[0] > two[0]) + (one[1] > two[1])
            turned = (one[0] < two[0]) + (one[1] < two[1])
        else:
            now, turned = _count_both_ways(graph, row[i], row[i + 1], place)
        if turned < now or (swap_equals and turned == now):
            row[i], row[i + 1] = row[i + 1], row[i]
            ends[i], ends[i + 1] = two, one
            place[row[i]], place[row[i + 1]] = i, i + 1
            saved = saved or turned < now
    return saved


def _count_both_ways(graph: LayeredGraph, one: int, two: int, place: list[int]) -> tuple[int, int]:
    """Return the crossings between the segments of two adjacent nodes, as they are and swapped."""
    now = turned = 0
    for near in (graph.ups, graph.downs):
        left, right = _list_places(near[one], place), _list_places(near[two], place)
        if not left or not right:
            continue
        if left[-1] > right[0]:  # the spans overlap
            now += _count_pair_crossings(left, right)
        if right[-1] > left[0]:
            turned += _count_pair_crossings(right, left)
    return now, turned


def _list_places(nodes: Sequence[int], place: Sequence[int] | dict[int, int]) -> list[int]:
    """Return the positions of some nodes in ascending order; most nodes have one neighbour."""
    if len(nodes) == 1:
        return [place[nodes[0]]]
    return sorted([place[node] for node in nodes])


def _count_pair_crossings(left: Sequence[int], right: Sequence[int]) -> int:
    """Return the number of crossings between the segments of a left and a right node.

    Both arguments are the sorted positions of the ends of the segments.
    """
    crossings, at, n = 0, 0, len(right)
    for end in left:
        while at < n and right[at] < end:
            at += 1
        crossings += at
    return crossings
