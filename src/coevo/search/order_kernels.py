"""Kernels for orders: best responses and local search by insertion moves.

The families of each child are sorted by descending score. The best response to an order is, for
each child, the first family whose parents all come before the child. An insertion move takes
one variable out of the order and puts it into another place. (Teyssier and Koller 2005 search
orders by swaps of neighbours; Lee and van Beek 2017 search them by insertions, see
`coevo.search.ccma`.)

A move of v changes the score only where v passes a variable of one of its pairs
(`coevo.search.family_index_kernels`): v loses or gains a possible parent, or another variable
loses or gains v. A bit set of places sorts the few variables that matter. All other places are
skipped, and a side is left as soon as no gain is possible on it any more. The result is that of a
scan over all places.

A variable is tried again only if something near it has changed: it has moved, its parents have
changed, or it is a parent of such a variable. A full climb ends with a round over all variables in
which no move gains. `coevo.search.perturbation_kernels` perturbs an order at a local optimum.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coevo.jit import array_of, fused, inline, kernel, part, popcount, tuple_of
from coevo.search.family_index_kernels import FAMILIES, INDEX

__all__ = [
    "SCRATCH",
    "OrderScratch",
    "add_to_queue",
    "climb",
    "climb_from_queue",
    "find_first_allowed",
    "find_responses",
    "flag_nearby_responses",
    "has_parent",
    "make_scratch",
]

NUMBERS, READ_NUMBERS = array_of(np.int64), array_of(np.int64, 1, True)
HEAD, LENGTH = 0, 1  # of `ends`


class OrderScratch(NamedTuple):
    """Working memory. Between calls `marks` is 0, `pair_of` is -1 and the queue is empty."""

    place: NDArray[np.int64]  # (n,), where each variable is
    marks: NDArray[np.uint64]  # bits of places
    pair_of: NDArray[np.int64]  # (n,), the pair of a marked variable
    queue: NDArray[np.int64]  # (n,), a ring of variables to try
    is_queued: NDArray[np.bool_]  # (n,)
    ends: NDArray[np.int64]  # (2,), the head of the queue and its length


SCRATCH = tuple_of(
    NUMBERS,
    array_of(np.uint64),
    NUMBERS,
    NUMBERS,
    array_of(np.bool_),
    NUMBERS,
    kind=OrderScratch,
)


def make_scratch(n: int) -> OrderScratch:
    """Return the working memory for orders of n variables."""
    return OrderScratch(
        np.empty(n, dtype=np.int64),
        np.zeros(n // 64 + 1, dtype=np.uint64),
        np.full(n, -1, dtype=np.int64),
        np.empty(n, dtype=np.int64),
        np.zeros(n, dtype=np.bool_),
        np.zeros(2, dtype=np.int64),
    )


@inline
def _is_allowed(start, parents, place, family, at):
    """Return whether all parents of a family come before place `at`."""
    fits = True
    for i in range(start[family], start[family + 1]):
        if place[parents[i]] >= at:
            fits = False
            break
    return fits


@fused
def has_parent(start, parents, family, variable):
    """Return whether a variable is among the parents of a family."""
    found = False
    for i in range(start[family], start[family + 1]):
        if parents[i] == variable:
            found = True
            break
    return found


@part
def find_first_allowed(start, parents, place, family, at):
    """Return the first family, from `family` on, whose parents all come before place `at`."""
    while not _is_allowed(start, parents, place, family, at):
        family += 1
    return family


@part
def _find_better_with(families, index, place, pair, at, current):
    """Return the best family with the parent of `pair` that is allowed at place `at`.

    Return the current family if none is better.
    """
    best = current
    for i in range(index.begin[pair], index.begin[pair + 1]):
        family = np.int64(index.family[i])
        if family >= current:
            break
        if _is_allowed(families.start, families.parents, place, family, at):
            best = family
            break
    return best


@inline
def _find_last_parent(start, parents, place, family):
    """Return the place of the last parent of a family, -1 without parents."""
    last = np.int64(-1)
    for i in range(start[family], start[family + 1]):
        if place[parents[i]] > last:
            last = place[parents[i]]
    return last


@inline
def _mark(marks, at):
    """Set the bit of a place."""
    marks[at >> 6] |= np.uint64(1) << np.uint64(at & 63)


@inline
def _find_lowest(bits):
    """Return the number of the lowest bit that is set."""
    return popcount((bits & (~bits + np.uint64(1))) - np.uint64(1))


@part
def _find_best_later_place(order, choice, families, index, scratch, v, bar):
    """Return the gain of the best move of v to a later place, if above `bar`, and the place.

    v gains possible parents, and its children lose v. All later gains are gains of v, so that the
    score of its best family limits them.
    """
    place, marks, pair_of = scratch.place, scratch.marks, scratch.pair_of
    start, parents, score = families.start, families.parents, families.score
    n, home, current = len(order), place[v], choice[v]
    top = score[families.begin[v]]
    best_gain, best_place = bar, np.int64(-1)
    if not top - score[current] > bar:
        return best_gain, best_place
    for pair in range(index.of_child[v], index.of_child[v + 1]):
        u = index.parent[pair]
        if place[u] > home and index.family[index.begin[pair]] < current:
            pair_of[u] = pair
            _mark(marks, place[u])
    for i in range(index.of_parent[v], index.of_parent[v + 1]):
        w = index.child[i]
        if place[w] > home and has_parent(start, parents, choice[w], v):
            _mark(marks, place[w])
    gain = 0.0
    is_over = False
    place[v] = n  # nothing may have v as a parent
    for word in range(home >> 6, len(marks)):
        bits = marks[word]
        marks[word] = np.uint64(0)
        while bits != np.uint64(0):
            at = word * 64 + _find_lowest(bits)
            bits &= bits - np.uint64(1)
            w = order[at]
            pair = pair_of[w]
            pair_of[w] = -1
            if is_over:
                continue
            if has_parent(start, parents, choice[w], v):
                lost = find_first_allowed(start, parents, place, choice[w] + 1, at)
                gain += score[lost] - score[choice[w]]
            if pair >= 0:
                found = _find_better_with(families, index, place, pair, at + 1, current)
                gain += score[found] - score[current]
                current = found
            if gain > best_gain:
                best_gain, best_place = gain, at
            is_over = gain + (top - score[current]) <= best_gain
    place[v] = home
    return best_gain, best_place


@part
def _find_best_earlier_place(order, choice, families, index, scratch, v, bar):
    """Return the gain of the best move of v to an earlier place, if above `bar`, and the place.

    v loses possible parents, and others gain v as a parent. The best families with v limit what
    they can gain. Bits are set for the distance from the end, so that the last place comes first.
    """
    place, marks, pair_of = scratch.place, scratch.marks, scratch.pair_of
    start, parents, score = families.start, families.parents, families.score
    n, home, current = len(order), place[v], choice[v]
    best_gain, best_place = bar, np.int64(-1)
    possible = 0.0
    for i in range(index.of_parent[v], index.of_parent[v + 1]):
        w, pair = index.child[i], index.pair[i]
        if place[w] < home:
            family = index.family[index.begin[pair]]
            if family < choice[w]:
                possible += score[family] - score[choice[w]]
                pair_of[w] = pair
                _mark(marks, n - 1 - place[w])
    is_over = not possible > bar
    gain = 0.0
    last = _find_last_parent(start, parents, place, current)
    place[v] = -1  # everything may have v as a parent
    for word in range((n - 1 - home) >> 6, len(marks)):
        bits = marks[word]
        marks[word] = np.uint64(0)
        while bits != np.uint64(0):
            at = n - 1 - (word * 64 + _find_lowest(bits))
            bits &= bits - np.uint64(1)
            w = order[at]
            pair = pair_of[w]
            pair_of[w] = -1
            if is_over:
                continue
            while last >= at:  # v passes a parent
                lost = find_first_allowed(start, parents, place, current + 1, last)
                gain += score[lost] - score[current]
                current = lost
                last = _find_last_parent(start, parents, place, current)
            possible -= score[index.family[index.begin[pair]]] - score[choice[w]]
            found = _find_better_with(families, index, place, pair, at, choice[w])
            gain += score[found] - score[choice[w]]
            if gain > best_gain:
                best_gain, best_place = gain, at
            is_over = gain + possible <= best_gain
    place[v] = home
    return best_gain, best_place


@fused
def add_to_queue(scratch, v):
    """Add a variable to the queue unless it is there."""
    if not scratch.is_queued[v]:
        n, ends = len(scratch.queue), scratch.ends
        at = ends[HEAD] + ends[LENGTH]
        scratch.queue[at if at < n else at - n] = v
        scratch.is_queued[v] = True
        ends[LENGTH] += 1


@fused
def _add_with_parents(families, scratch, v, family):
    """Add a variable and the parents of one of its families to the queue."""
    add_to_queue(scratch, v)
    for i in range(families.start[family], families.start[family + 1]):
        add_to_queue(scratch, np.int64(families.parents[i]))


@part
def _move_variable(order, choice, families, index, scratch, v, target):
    """Move v to a place, update all families that change, and queue what is near."""
    start, parents, place = families.start, families.parents, scratch.place
    home = place[v]
    step = 1 if target > home else -1
    at = home
    while at != target:
        order[at] = order[at + step]
        place[order[at]] = at
        at += step
    order[target] = v
    place[v] = target
    low, high = (home, target) if home < target else (target, home)
    for i in range(index.of_parent[v], index.of_parent[v + 1]):
        w, pair = np.int64(index.child[i]), np.int64(index.pair[i])
        if place[w] < low or place[w] > high:
            continue
        found = choice[w]
        if step < 0:  # v is a new possible parent of w
            found = _find_better_with(families, index, place, pair, place[w], found)
        elif has_parent(start, parents, found, v):
            found = find_first_allowed(start, parents, place, found + 1, place[w])
        if found != choice[w]:
            _add_with_parents(families, scratch, w, choice[w])
            choice[w] = found
            _add_with_parents(families, scratch, w, found)
    _add_with_parents(families, scratch, v, choice[v])
    choice[v] = find_first_allowed(start, parents, place, families.begin[v], target)
    _add_with_parents(families, scratch, v, choice[v])


@part
def climb_from_queue(order, choice, families, index, scratch, least_gain):
    """Move the variables in the queue until it is empty; return whether one has moved."""
    n, ends, queue = len(order), scratch.ends, scratch.queue
    has_moved = False
    while ends[LENGTH] > 0:
        v = queue[ends[HEAD]]
        ends[HEAD] = ends[HEAD] + 1 if ends[HEAD] + 1 < n else 0
        ends[LENGTH] -= 1
        scratch.is_queued[v] = False
        gain, target = _find_best_later_place(
            order, choice, families, index, scratch, v, least_gain
        )
        _, earlier = _find_best_earlier_place(order, choice, families, index, scratch, v, gain)
        if earlier >= 0:
            target = earlier
        if target >= 0:
            _move_variable(order, choice, families, index, scratch, v, target)
            has_moved = True
    return has_moved


@fused
def find_responses(order, choice, families, place):
    """Overwrite `place` with the places of an order and `choice` with its best responses."""
    for i in range(len(order)):
        place[order[i]] = i
    for v in range(len(order)):
        choice[v] = find_first_allowed(
            families.start, families.parents, place, families.begin[v], place[v]
        )


@part
def climb(order, choice, families, index, scratch, visits, least_gain):
    """Find the best response, then move variables until no move gains.

    The variables are tried in the sequence `visits` first.
    """
    find_responses(order, choice, families, scratch.place)
    has_moved = True
    while has_moved:
        for i in range(len(visits)):
            add_to_queue(scratch, visits[i])
        has_moved = climb_from_queue(order, choice, families, index, scratch, least_gain)


@kernel((READ_NUMBERS, READ_NUMBERS, FAMILIES, INDEX, SCRATCH, array_of(np.bool_)))
def flag_nearby_responses(order, chosen, families, index, scratch, asked):
    """Set ``asked[family]`` for each best response after any one move of an order.

    A move puts one variable into another place. It then has more or fewer predecessors. Every
    other variable has one more, one fewer or the same. The current best responses are left
    out.
    """
    start, parents = families.start, families.parents
    n = len(order)
    place, marks, pair_of = scratch.place, scratch.marks, scratch.pair_of
    for i in range(n):
        place[order[i]] = i
    for v in range(n):
        home, now = place[v], chosen[v]
        for i in range(start[now], start[now + 1]):  # one predecessor fewer
            lost = parents[i]
            at = place[lost]
            place[lost] = n
            asked[find_first_allowed(start, parents, place, now + 1, home)] = True
            place[lost] = at
        current = now
        last = _find_last_parent(start, parents, place, current)
        while last >= 0:  # v moves to an earlier place
            current = find_first_allowed(start, parents, place, current + 1, last)
            asked[current] = True
            last = _find_last_parent(start, parents, place, current)
        current = now
        for pair in range(index.of_child[v], index.of_child[v + 1]):
            w = index.parent[pair]
            if place[w] > home and index.family[index.begin[pair]] < now:
                pair_of[w] = pair
                _mark(marks, place[w])
        for word in range(home >> 6, len(marks)):
            bits = marks[word]
            marks[word] = np.uint64(0)
            while bits != np.uint64(0):  # one predecessor more, or v moves to a later place
                at = word * 64 + _find_lowest(bits)
                bits &= bits - np.uint64(1)
                w = order[at]
                pair = pair_of[w]
                pair_of[w] = -1
                place[w] = -1
                found = _find_better_with(families, index, place, pair, home, now)
                if found != now:
                    asked[found] = True
                place[w] = at
                found = _find_better_with(families, index, place, pair, at + 1, current)
                if found != current:
                    asked[found] = True
                    current = found
