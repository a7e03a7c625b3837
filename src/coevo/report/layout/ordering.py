"""In which order the nodes of each layer stand, so that few arcs cross.

Sweeps down and up sort each layer by the medians of its neighbours in the layer before, and
neighbours change places where that saves crossings [1]_. The best order seen is kept. Both
first orders, one from the roots down and one from the leaves up, start from the names, so
that nothing depends on how a graph was written down.

.. [1] E. R. Gansner, E. Koutsofios, S. C. North and K.-P. Vo, A technique for drawing
   directed graphs, IEEE Transactions on Software Engineering 19, 1993.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

__all__ = ["Layered", "Rows", "count_crossings", "order_layers"]

MOST_SWEEPS = 24
WORK = 100_000  # segments looked at in all sweeps together; some seconds


class Layered:
    """A graph in layers whose segments join neighbouring layers only.

    Nodes 0 to `n_real` - 1 are those of the picture; the others are where long arcs pass
    a layer. `ups` and `downs` are the neighbours in the layer above and below.
    """

    def __init__(self, layers: Sequence[int], arcs: Sequence[tuple[int, int]]) -> None:
        self.n_real = len(layers)
        self.layer = list(layers)
        self.chains: list[list[int]] = []  # of each arc: parent, the places it passes, child
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


def order_layers(graph: Layered) -> Rows:
    """Return the nodes of each layer from left to right.

    >>> graph = Layered([0, 0, 1, 1], [(0, 3), (1, 2)])
    >>> order_layers(graph)
    [[0, 1], [3, 2]]
    """
    sweeps = max(2, min(MOST_SWEEPS, WORK // (graph.n_segments + 1)))
    best: Rows = []
    fewest = -1
    for downwards in (True, False):
        rows = _first_rows(graph, downwards)
        for sweep in range(sweeps):
            _sort_by_medians(graph, rows, down=(sweep % 2 == 0) == downwards)
            _transpose(graph, rows, swap_equals=sweep % 4 == 3)
            crossings = count_crossings(graph, rows)
            if fewest < 0 or crossings < fewest:
                best, fewest = [list(row) for row in rows], crossings
            if fewest == 0:
                return best
    return best


def _first_rows(graph: Layered, downwards: bool) -> Rows:
    """Return an order in which nodes that hang together stand together."""
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


def count_crossings(graph: Layered, rows: Rows) -> int:
    """Return how many pairs of segments cross.

    >>> graph = Layered([0, 0, 1, 1], [(0, 3), (1, 2)])
    >>> count_crossings(graph, [[0, 1], [2, 3]])
    1
    """
    total = 0
    for upper, lower in pairwise(rows):
        place = {node: i for i, node in enumerate(lower)}
        ends = [end for node in upper for end in sorted(place[down] for down in graph.downs[node])]
        total += _inversions(ends, len(lower))
    return total


def _inversions(ends: Sequence[int], n: int) -> int:
    """Return how many pairs of a sequence are in falling order, by a tree of sums."""
    tree = [0] * (n + 1)
    found = 0
    for seen, end in enumerate(ends):
        not_above, at = 0, end + 1
        while at > 0:
            not_above += tree[at]
            at -= at & -at
        found += seen - not_above
        at = end + 1
        while at <= n:
            tree[at] += 1
            at += at & -at
    return found


def _sort_by_medians(graph: Layered, rows: Rows, down: bool) -> None:
    """Sort each layer by the medians of its neighbours in the layer before.

    A node without neighbours there keeps its place.
    """
    neighbours = graph.ups if down else graph.downs
    numbers = range(1, len(rows)) if down else range(len(rows) - 2, -1, -1)
    for number in numbers:
        before = rows[number - 1 if down else number + 1]
        place = {node: i for i, node in enumerate(before)}
        row = rows[number]
        medians = {node: _median(sorted(place[o] for o in neighbours[node])) for node in row}
        moving = iter(sorted((n for n in row if neighbours[n]), key=medians.__getitem__))
        rows[number] = [next(moving) if neighbours[node] else node for node in row]


def _median(places: Sequence[int]) -> float:
    """Return the median; of two in the middle, a point nearer to where the others crowd."""
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


def _transpose(graph: Layered, rows: Rows, swap_equals: bool) -> None:
    """Let neighbours change places while that saves crossings."""
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


def _transpose_row(graph: Layered, row: list[int], place: list[int], swap_equals: bool) -> bool:
    """Let neighbours of one layer change places; return whether that saved crossings."""
    saved = False
    near = [
        (sorted(place[o] for o in graph.ups[node]), sorted(place[o] for o in graph.downs[node]))
        for node in row
    ]
    for i in range(len(row) - 1):
        (ups, downs), (other_ups, other_downs) = near[i], near[i + 1]
        now = _crossings(ups, other_ups) + _crossings(downs, other_downs)
        if now == 0 and not swap_equals:
            continue
        turned = _crossings(other_ups, ups) + _crossings(other_downs, downs)
        if turned < now or (swap_equals and turned == now):
            row[i], row[i + 1] = row[i + 1], row[i]
            near[i], near[i + 1] = near[i + 1], near[i]
            place[row[i]], place[row[i + 1]] = i, i + 1
            saved = saved or turned < now
    return saved


def _crossings(left: Sequence[int], right: Sequence[int]) -> int:
    """Return how many segments of a left node cross those of a right one.

    Both are the sorted places of their ends.
    """
    found, at = 0, 0
    for end in left:
        while at < len(right) and right[at] < end:
            at += 1
        found += at
    return found
