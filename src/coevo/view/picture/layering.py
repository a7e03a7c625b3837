"""The layer of each node of a connected DAG, and the order of the nodes in each layer.

**Layers.** Parents stand above children, and arcs are short. The network simplex method of Gansner
and others [1]_ minimises the total length of all arcs. Here all arcs have the same weight, so the
cut value of an arc of the spanning tree is the flow out of the subtree that it cuts off: the number
of arcs out minus the number of arcs in. Then nodes that can move without cost go to narrower
layers. If a layer is much wider than the drawing should be, leaves move down and roots move up into
further layers. A layer that is still much too wide is split.

**Orders.** They have few crossings of arcs. Sweeps down and up sort each layer by the medians of
its neighbours in the previous layer. Then adjacent nodes are swapped if that saves crossings [1]_.
The best order is kept. The two initial orders, one from the roots down and one from the leaves up,
start from the names, so the result does not depend on the order of the input.

.. [1] E. R. Gansner, E. Koutsofios, S. C. North and K.-P. Vo, A technique for drawing
   directed graphs, IEEE Transactions on Software Engineering 19, 1993.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

__all__ = ["Arcs", "LayeredGraph", "Rows", "assign_layers", "count_crossings", "order_layers"]


Arcs = Sequence[tuple[int, int]]  # (parent, child); nodes are numbered in the order of their names
MAX_PIVOTS = 2000  # munin needs a few hundred
PASSING_ARC_WIDTH = 16.0  # width that a passing arc takes in a layer
SPLIT_FACTOR = 1.5  # a layer this many times too wide is split
MAX_PIECES = 6  # of a split layer; with more, passing arcs use up the gained width


def assign_layers(widths: Sequence[float], arcs: Arcs, max_width: float) -> list[int]:
    """Return the layer of each node of a connected graph. The top layer is 0.

    `widths` are the widths of the nodes. `max_width` is the desired limit for the width of a
    layer; it is not always met.

    >>> assign_layers([1, 1, 1, 1], [(0, 1), (1, 2), (3, 2)], 100)
    [0, 1, 2, 1]
    """
    layers = _find_longest_paths(len(widths), arcs)
    if len(widths) > 1:
        _minimise_lengths(layers, arcs)
        _balance(layers, arcs, widths)
        _move_ends(layers, arcs, widths, max_width)
        layers = _split_layers(layers, widths, SPLIT_FACTOR * max_width)
    used = {layer: i for i, layer in enumerate(sorted(set(layers)))}
    return [used[layer] for layer in layers]


def _find_longest_paths(n: int, arcs: Arcs) -> list[int]:
    """Return for each node the length of the longest path that ends in it."""
    children: list[list[int]] = [[] for _ in range(n)]
    waiting = [0] * n
    for parent, child in arcs:
        children[parent].append(child)
        waiting[child] += 1
    layers = [0] * n
    ready = [node for node in range(n) if not waiting[node]]
    for node in ready:  # it grows during the loop
        for child in children[node]:
            layers[child] = max(layers[child], layers[node] + 1)
            waiting[child] -= 1
            if not waiting[child]:
                ready.append(child)
    return layers


def _minimise_lengths(layers: list[int], arcs: Arcs) -> None:
    """Change the layers so that the total length of the arcs is minimal."""
    n = len(layers)
    flow = [0] * n  # arcs out minus arcs in
    for parent, child in arcs:
        flow[parent] += 1
        flow[child] -= 1
    tree = _find_tight_tree(layers, arcs)
    for _ in range(MAX_PIVOTS):
        below, entering = _walk_tree(n, arcs, tree)
        total = list(flow)
        for node, _, up in reversed(below[1:]):
            total[up] += total[node]
        worst, leaving, last = 0, -1, 0
        for node, last_inside, _ in below[1:]:
            arc = entering[node]
            cut = total[node] if arcs[arc][0] == node else -total[node]
            if cut < worst:
                worst, leaving, last = cut, node, last_inside
        if leaving < 0:
            return
        place = {node: i for i, (node, _, _) in enumerate(below)}
        inside = [place[leaving] <= place[node] <= last for node in range(n)]
        _pivot(layers, arcs, tree, entering[leaving], inside)


def _find_tight_tree(layers: list[int], arcs: Arcs) -> list[int]:
    """Return a spanning tree of arcs of length 1; move nodes until there is one."""
    n = len(layers)
    touching: list[list[int]] = [[] for _ in range(n)]
    for number, (parent, child) in enumerate(arcs):
        touching[parent].append(number)
        touching[child].append(number)
    tree: list[int] = []
    inside = [False] * n
    inside[0] = True
    waiting, members = [0], 1
    while True:
        while waiting:
            node = waiting.pop()
            for number in touching[node]:
                parent, child = arcs[number]
                other = child if parent == node else parent
                if not inside[other] and layers[child] - layers[parent] == 1:
                    inside[other] = True
                    members += 1
                    tree.append(number)
                    waiting.append(other)
        if members == n:
            return tree
        # The shortest arc between the tree and the rest becomes tight when the tree moves.
        number = min(
            (i for i, (parent, child) in enumerate(arcs) if inside[parent] != inside[child]),
            key=lambda i: (layers[arcs[i][1]] - layers[arcs[i][0]], i),
        )
        parent, child = arcs[number]
        slack = layers[child] - layers[parent] - 1
        step = slack if inside[parent] else -slack
        for node in range(n):
            if inside[node]:
                layers[node] += step
        waiting = [node for node in range(n) if inside[node]]


def _walk_tree(n: int, arcs: Arcs, tree: list[int]) -> tuple[list[tuple[int, int, int]], list[int]]:
    """Walk the tree from node 0, depth first.

    Returns the nodes in the order of the walk, each with the position of the last node of its
    subtree and with the node above it; and for each node the tree arc that leads to it.
    """
    touching: list[list[int]] = [[] for _ in range(n)]
    for number in tree:
        parent, child = arcs[number]
        touching[parent].append(number)
        touching[child].append(number)
    above, entering, order = [-1] * n, [-1] * n, []
    waiting = [0]
    while waiting:
        node = waiting.pop()
        order.append(node)
        for number in touching[node]:
            if number != entering[node]:
                parent, child = arcs[number]
                other = child if parent == node else parent
                above[other], entering[other] = node, number
                waiting.append(other)
    size = [1] * n
    for node in reversed(order[1:]):
        size[above[node]] += size[node]
    walk = [(node, i + size[node] - 1, above[node]) for i, node in enumerate(order)]
    return walk, entering


def _pivot(
    layers: list[int], arcs: Arcs, tree: list[int], leaving: int, inside: list[bool]
) -> None:
    """Replace an arc of the tree by the shortest arc in the other direction across the cut."""
    tail_inside = inside[arcs[leaving][0]]
    slack, number = min(
        (layers[child] - layers[parent] - 1, i)
        for i, (parent, child) in enumerate(arcs)
        if inside[parent] != inside[child] and inside[parent] != tail_inside
    )
    step = -slack if tail_inside else slack
    for node, moves in enumerate(inside):
        if moves:
            layers[node] += step
    tree[tree.index(leaving)] = number


def _balance(layers: list[int], arcs: Arcs, widths: Sequence[float]) -> None:
    """Move each node that can move without cost to the narrowest possible layer."""
    parents, children = _list_neighbours(len(layers), arcs)
    room: dict[int, float] = {}
    for node, layer in enumerate(layers):
        room[layer] = room.get(layer, 0.0) + widths[node]
    for node, layer in enumerate(layers):
        if len(parents[node]) == len(children[node]):
            first = max(layers[p] for p in parents[node]) + 1
            last = min(layers[c] for c in children[node]) - 1
            best = min(range(first, last + 1), key=lambda at: (room.get(at, 0.0), at))
            if room.get(best, 0.0) + widths[node] < room[layer]:
                room[layer] -= widths[node]
                room[best] = room.get(best, 0.0) + widths[node]
                layers[node] = best


def _move_ends(layers: list[int], arcs: Arcs, widths: Sequence[float], max_width: float) -> None:
    """Move leaves down, and roots with one child up, out of layers that are too wide."""
    parents, children = _list_neighbours(len(layers), arcs)
    for ends, others, step in ((children, parents, 1), (parents, children, -1)):
        at = min(layers) if step > 0 else max(layers)
        while (min(layers) <= at <= max(layers)) and abs(at) < 10 * len(layers):
            here = [node for node, layer in enumerate(layers) if layer == at]
            excess = sum(widths[node] for node in here) - max_width
            loose = [node for node in here if not ends[node] and len(others[node]) == 1]
            for node in loose[::-1]:
                if excess <= 0 or len(here) == 1:
                    break
                layers[node] += step
                excess -= widths[node] - PASSING_ARC_WIDTH
            at += step


def _split_layers(layers: list[int], widths: Sequence[float], max_width: float) -> list[int]:
    """Return the layers after a split of those that are too wide."""
    new, at = list(layers), 0
    for layer in sorted(set(layers)):
        here = [node for node, node_layer in enumerate(layers) if node_layer == layer]
        pieces = int(sum(widths[node] for node in here) / max_width) + 1
        pieces = min(pieces, MAX_PIECES, len(here))
        for i, node in enumerate(here):
            new[node] = at + i % pieces
        at += pieces
    return new


def _list_neighbours(n: int, arcs: Arcs) -> tuple[list[list[int]], list[list[int]]]:
    """Return the parents and the children of each node."""
    parents: list[list[int]] = [[] for _ in range(n)]
    children: list[list[int]] = [[] for _ in range(n)]
    for parent, child in arcs:
        parents[child].append(parent)
        children[parent].append(child)
    return parents, children


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
