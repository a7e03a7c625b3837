"""Kernels that improve orders: climbs, each followed by perturbations and further climbs.

An order that no move improves is *perturbed*, and climbs again. The result is dropped if its score
is lower. Moving single variables at random does not help: they move back. The usual obstacle is a
chain of arcs that must be reversed together. There are two kinds of perturbation:

- *global*: the order is replaced by a random topological order of its structure. Then a block of
  neighbours is moved to another place, reversed in half of the cases, and all variables are tried.
- *local*: a few variables that arcs connect exchange their places, and only what is near them is
  tried. It takes microseconds, whatever the number of variables. In a wide table, where a global
  perturbation disturbs a hundred parts of the structure at once, a local one disturbs one part, and
  is judged by it.
"""

from __future__ import annotations

import numpy as np

from coevo.jit import FLOAT, array_of, fused, inline, kernel, part
from coevo.search.allowed_kernels import (
    SCRATCH,
    find_allowed,
    put_in_order,
    put_variable,
    restore_order,
)
from coevo.search.family_index_kernels import FAMILIES, INDEX
from coevo.search.order_kernels import add_to_queue, climb, climb_from_queue, has_parent

__all__ = ["GLOBAL_DRAWS", "LARGEST_GROUP", "LOCAL_DRAWS", "climb_orders", "draw_order"]

GLOBAL_DRAWS = 4  # random numbers of a global perturbation, in addition to one for each variable
LARGEST_GROUP = 8  # variables of a local perturbation
LOCAL_DRAWS = 2 + 2 * LARGEST_GROUP  # a size, a first variable, and two for each variable

NUMBERS, READ_NUMBERS = array_of(np.int64), array_of(np.int64, 1, True)
ORDERS, VISITS = array_of(np.int64, 2), array_of(np.int64, 2, True)
LOTS, PERTURBATIONS = array_of(np.float64, 1, True), array_of(np.float64, 3, True)


@inline
def _add_to_heap(heap, size, lots, v):
    """Add v to a heap of `size` variables; the one with the smallest lot is at the top."""
    at = size
    while at > 0 and lots[v] < lots[heap[(at - 1) // 2]]:
        heap[at] = heap[(at - 1) // 2]
        at = (at - 1) // 2
    heap[at] = v


@inline
def _remove_first(heap, size, lots):
    """Remove the top of a heap of `size` variables and return it."""
    first, v, at = heap[0], heap[size - 1], 0
    below = 1
    while below < size - 1:
        if below + 1 < size - 1 and lots[heap[below + 1]] < lots[heap[below]]:
            below += 1
        if lots[v] <= lots[heap[below]]:
            break
        heap[at] = heap[below]
        at, below = below, 2 * below + 1
    heap[at] = v
    return first


@part
def _draw_order(choice, families, index, lots, waiting, heap, order):
    """Overwrite `order` with a random topological order of the structure of `choice`.

    ``lots[v]`` is a random number. Of the variables whose parents are all placed, the one with
    the smallest number comes next. `waiting` and `heap` are scratch.
    """
    start, parents = families.start, families.parents
    n, n_ready = len(order), 0
    for v in range(n):
        waiting[v] = start[choice[v] + 1] - start[choice[v]]
        if waiting[v] == 0:
            _add_to_heap(heap, n_ready, lots, v)
            n_ready += 1
    for at in range(n):
        first = _remove_first(heap, n_ready, lots)
        n_ready -= 1
        order[at] = first
        for i in range(index.of_parent[first], index.of_parent[first + 1]):
            w = index.child[i]
            if has_parent(start, parents, choice[w], first):
                waiting[w] -= 1
                if waiting[w] == 0:
                    _add_to_heap(heap, n_ready, lots, w)
                    n_ready += 1


@kernel((READ_NUMBERS, FAMILIES, INDEX, LOTS, NUMBERS))
def draw_order(choice, families, index, lots, order):
    """Overwrite `order` with a random topological order of the structure of `choice`."""
    n = len(order)
    waiting, heap = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    chosen = np.empty(n, dtype=np.int64)  # numba would compile the part again for a read-only array
    for v in range(n):
        chosen[v] = choice[v]
    _draw_order(chosen, families, index, lots, waiting, heap, order)


@inline
def _move_block(order, draws, first, spare):
    """Move a block of neighbours to another place, reversed in half of the cases.

    The random numbers from `first` on determine its length, its begin, its target and whether it
    is reversed.
    """
    n = len(order)
    length = 1 + np.int64(draws[first] * (n // 3 if n >= 3 else 1))
    begin = np.int64(draws[first + 1] * (n - length + 1))
    target = np.int64(draws[first + 2] * (n - length + 1))
    at = 0
    for i in range(n):  # the others, in their order
        if i < begin or i >= begin + length:
            spare[at if at < target else at + length] = order[i]
            at += 1
    for i in range(length):
        spare[target + i] = order[begin + (length - 1 - i if draws[first + 3] < 0.5 else i)]
    for i in range(n):
        order[i] = spare[i]


@part
def _copy_solution(order, choice, to_order, to_choice):
    """Copy an order and its families. The assignment of a row would take seconds to compile."""
    for i in range(len(order)):
        to_order[i], to_choice[i] = order[i], choice[i]


@fused
def _choose_neighbour(choice, families, index, v, draw):
    """Return a parent or a child of v in the structure of `choice`; -1 if it has none."""
    start, parents = families.start, families.parents
    n_parents = start[choice[v] + 1] - start[choice[v]]
    n_children = 0
    for i in range(index.of_parent[v], index.of_parent[v + 1]):
        n_children += has_parent(start, parents, choice[index.child[i]], v)
    number = np.int64(draw * (n_parents + n_children))
    if number < n_parents:
        return np.int64(parents[start[choice[v]] + number])
    number -= n_parents
    for i in range(index.of_parent[v], index.of_parent[v + 1]):
        w = index.child[i]
        if has_parent(start, parents, choice[w], v):
            if number == 0:
                return np.int64(w)
            number -= 1
    return np.int64(-1)


@part
def _choose_group(choice, families, index, draws, group):
    """Overwrite `group` with variables that arcs connect; return their number."""
    n = len(choice)
    size = 2 + np.int64(draws[0] * (LARGEST_GROUP - 1))
    group[0] = np.int64(draws[1] * n)
    n_group = 1
    for i in range(1, size):
        draw = draws[1 + i] * n_group
        base = np.int64(draw)
        v = _choose_neighbour(choice, families, index, group[base], draw - base)
        is_new = v >= 0
        for j in range(n_group):
            is_new = is_new and group[j] != v
        if is_new:
            group[n_group] = v
            n_group += 1
    return n_group


@fused
def _shuffle_group(order, index, scratch, group, n_group, draws, slots):
    """Let the variables of a group exchange their places at random.

    The first half of `slots` is overwritten with the places of the group in its new sequence, the
    second half with the places where its variables were before.
    """
    place = scratch.place
    for i in range(n_group):
        slots[i] = place[group[i]]
    for i in range(n_group - 1, 0, -1):
        j = np.int64(draws[1 + LARGEST_GROUP + i] * (i + 1))
        group[i], group[j] = group[j], group[i]
    for i in range(n_group):
        slots[LARGEST_GROUP + i] = place[group[i]]
    for i in range(n_group):
        home, other = place[group[i]], order[slots[i]]
        if home != slots[i]:
            put_variable(order, index, scratch, group[i], slots[i])
            put_variable(order, index, scratch, other, home)


@fused
def _queue_changed(choice, families, index, scratch, group, n_group, slots):
    """Look up the families that the exchange of places changes, and queue their children."""
    place, allowed = scratch.place, scratch.allowed
    for i in range(n_group):
        v, was = group[i], slots[LARGEST_GROUP + i]
        choice[v] = find_allowed(allowed, families.begin[v])
        add_to_queue(scratch, v)
        low, high = (was, place[v]) if was < place[v] else (place[v], was)
        for j in range(index.of_parent[v], index.of_parent[v + 1]):
            w = np.int64(index.child[j])
            if low < place[w] < high:  # v has passed w
                found = find_allowed(allowed, families.begin[w])
                if found != choice[w]:
                    choice[w] = found
                    add_to_queue(scratch, w)


@inline
def _sum_scores(score, choice):
    """Return the score of the structure of `choice`."""
    total = 0.0
    for v in range(len(choice)):
        total += score[choice[v]]
    return total


@part
def _perturb_locally(order, choice, families, index, scratch, draws, least_gain, spare):
    """Perturb small parts of an order, one after another; keep what does not lower the score.

    ``draws[t]`` has the random numbers of perturbation t. `spare` is room for an order, its
    families, its places, and a group with its slots.
    """
    old_order, old_choice, old_place, group, slots = spare
    _copy_solution(order, choice, old_order, old_choice)
    highest = _sum_scores(families.score, choice)
    put_in_order(order, index, scratch)
    for t in range(draws.shape[0]):
        n_group = _choose_group(choice, families, index, draws[t], group)
        if n_group < 2:
            continue
        for v in range(len(order)):
            scratch.moved[v] = False
        _shuffle_group(order, index, scratch, group, n_group, draws[t], slots)
        _queue_changed(choice, families, index, scratch, group, n_group, slots)
        climb_from_queue(order, choice, families, index, scratch, least_gain)
        score = _sum_scores(families.score, choice)
        if score >= highest - least_gain:
            if score > highest:
                highest = score
            _copy_solution(order, choice, old_order, old_choice)
        else:
            restore_order(order, old_order, index, scratch, old_place)
            _copy_solution(old_order, old_choice, order, choice)


@kernel((ORDERS, VISITS, PERTURBATIONS, PERTURBATIONS, FAMILIES, INDEX, SCRATCH, FLOAT, ORDERS))
def climb_orders(
    orders, visits, perturbations, local_draws, families, index, scratch, least_gain, choice
):
    """Improve each order in place by insertion moves, until no move gains.

    ``visits[o]`` is the sequence in which the variables of order o are tried first.
    ``perturbations[o]`` has a row of random numbers for each global perturbation: one for each
    variable, then `GLOBAL_DRAWS` more. ``local_draws[o]`` has a row of `LOCAL_DRAWS` for each local
    one. `choice` is overwritten with the best responses. A move must gain more than `least_gain`.
    If that is infinite, the orders stay unchanged and only their best responses are found.
    """
    n = orders.shape[1]
    order, chosen = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    waiting, heap = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    group = np.empty(LARGEST_GROUP, dtype=np.int64)
    slots = np.empty(2 * LARGEST_GROUP, dtype=np.int64)
    for o in range(len(orders)):
        highest = -np.inf
        for trial in range(-1, perturbations.shape[1]):
            for i in range(n):
                order[i] = orders[o, i]
            if trial >= 0:
                draws = perturbations[o, trial]
                _draw_order(choice[o], families, index, draws, waiting, heap, order)
                _move_block(order, draws, n, waiting)
            climb(order, chosen, families, index, scratch, visits[o], least_gain)
            score = _sum_scores(families.score, chosen)
            if trial < 0 or score >= highest:
                highest = score
                _copy_solution(order, chosen, orders[o], choice[o])
        if local_draws.shape[1] > 0 and n > 1:
            spare = (order, chosen, waiting, group, slots)
            _perturb_locally(
                orders[o], choice[o], families, index, scratch, local_draws[o], least_gain, spare
            )
