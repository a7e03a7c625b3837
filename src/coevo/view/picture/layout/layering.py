"""The layer of each node of a connected DAG: parents above children, arcs short.

The network simplex method of Gansner and others [1]_ minimises the total length of all arcs. Here
all arcs have the same weight, so the cut value of an arc of the spanning tree is the flow out of
the subtree that it cuts off: the number of arcs out minus the number of arcs in. Then nodes that
can move without cost go to narrower layers. If a layer is much wider than the drawing should be,
leaves move down and roots move up into further layers. A layer that is still much too wide is
split.

.. [1] E. R. Gansner, E. Koutsofios, S. C. North and K.-P. Vo, A technique for drawing
   directed graphs, IEEE Transactions on Software Engineering 19, 1993.
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["Arcs", "assign_layers"]

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
