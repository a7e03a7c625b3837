"""Which layer each node of a connected DAG stands in: parents above children, arcs short.

The sum of the lengths of all arcs is made as small as it can be by the network simplex of
Gansner and others [1]_. Here all arcs weigh the same, so that the cut value of an arc of the
spanning tree is what flows out of the subtree that it cuts off: arcs out minus arcs in. Then
nodes that can move at no cost go where there is room, and where a layer is far wider than
the picture wants, leaves go down and roots go up into further layers; what is still far too
wide is split into several.

.. [1] E. R. Gansner, E. Koutsofios, S. C. North and K.-P. Vo, A technique for drawing
   directed graphs, IEEE Transactions on Software Engineering 19, 1993.
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["Arcs", "assign_layers"]

Arcs = Sequence[tuple[int, int]]  # (parent, child), nodes are numbered by name
MOST_PIVOTS = 2000  # munin needs some hundreds
ROOM_FOR_A_LINE = 16.0  # what an arc that passes takes of a layer's width
FAR_TOO_WIDE = 1.5
MOST_PIECES = 6  # of a layer; with more, the arcs that pass take the room that is won


def assign_layers(widths: Sequence[float], arcs: Arcs, widest: float) -> list[int]:
    """Return the layer of each node, the top one 0; the graph is connected.

    `widths` are those of the nodes, and `widest` is what a layer should not pass where
    that can be helped.

    >>> assign_layers([1, 1, 1, 1], [(0, 1), (1, 2), (3, 2)], 100)
    [0, 1, 2, 1]
    """
    layers = _longest_paths(len(widths), arcs)
    if len(widths) > 1:
        _shorten(layers, arcs)
        _balance(layers, arcs, widths)
        _spread(layers, arcs, widths, widest)
        layers = _split(layers, widths, FAR_TOO_WIDE * widest)
    used = {layer: i for i, layer in enumerate(sorted(set(layers)))}
    return [used[layer] for layer in layers]


def _longest_paths(n: int, arcs: Arcs) -> list[int]:
    """Return for each node the length of the longest path that ends in it."""
    children: list[list[int]] = [[] for _ in range(n)]
    waiting = [0] * n
    for parent, child in arcs:
        children[parent].append(child)
        waiting[child] += 1
    layers = [0] * n
    ready = [node for node in range(n) if not waiting[node]]
    for node in ready:  # it grows while it is walked
        for child in children[node]:
            layers[child] = max(layers[child], layers[node] + 1)
            waiting[child] -= 1
            if not waiting[child]:
                ready.append(child)
    return layers


def _shorten(layers: list[int], arcs: Arcs) -> None:
    """Change the layers to some whose arcs have the least total length."""
    n = len(layers)
    flow = [0] * n  # arcs out minus arcs in
    for parent, child in arcs:
        flow[parent] += 1
        flow[child] -= 1
    tree = _tight_tree(layers, arcs)
    for _ in range(MOST_PIVOTS):
        below, entering = _walk(n, arcs, tree)
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


def _tight_tree(layers: list[int], arcs: Arcs) -> list[int]:
    """Return arcs of length 1 that span all nodes, after moving nodes until there are some."""
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


def _walk(n: int, arcs: Arcs, tree: list[int]) -> tuple[list[tuple[int, int, int]], list[int]]:
    """Walk the tree from node 0.

    Returns the nodes in the order of the walk, each with the place of the last node below
    it and with the node above it; and for each node the tree's arc that leads to it.
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
    """Replace an arc of the tree by the shortest that points the other way across the cut."""
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
    """Move each node whose place costs nothing to the narrowest layer that it can be in."""
    parents, children = _neighbours(len(layers), arcs)
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


def _spread(layers: list[int], arcs: Arcs, widths: Sequence[float], widest: float) -> None:
    """Move leaves down, and roots with one child up, out of layers that are too wide."""
    parents, children = _neighbours(len(layers), arcs)
    for ends, others, step in ((children, parents, 1), (parents, children, -1)):
        at = min(layers) if step > 0 else max(layers)
        while (min(layers) <= at <= max(layers)) and abs(at) < 10 * len(layers):
            here = [node for node, layer in enumerate(layers) if layer == at]
            excess = sum(widths[node] for node in here) - widest
            loose = [node for node in here if not ends[node] and len(others[node]) == 1]
            for node in loose[::-1]:
                if excess <= 0 or len(here) == 1:
                    break
                layers[node] += step
                excess -= widths[node] - ROOM_FOR_A_LINE
            at += step


def _split(layers: list[int], widths: Sequence[float], widest: float) -> list[int]:
    """Return layers of which those that are too wide are several, their nodes in turns."""
    new, at = list(layers), 0
    for layer in sorted(set(layers)):
        here = [node for node, own in enumerate(layers) if own == layer]
        pieces = int(sum(widths[node] for node in here) / widest) + 1
        pieces = min(pieces, MOST_PIECES, len(here))
        for i, node in enumerate(here):
            new[node] = at + i % pieces
        at += pieces
    return new


def _neighbours(n: int, arcs: Arcs) -> tuple[list[list[int]], list[list[int]]]:
    """Return the parents and the children of each node."""
    parents: list[list[int]] = [[] for _ in range(n)]
    children: list[list[int]] = [[] for _ in range(n)]
    for parent, child in arcs:
        parents[child].append(parent)
        children[parent].append(child)
    return parents, children
