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

import numpy as np

from coevo.jit import array_of, fused, inline, kernel, part
from coevo.search.allowed_kernels import (
    SCRATCH,
    find_allowed,
    find_lowest,
    mark,
    put_in_order,
    put_variable,
)
from coevo.search.family_index_kernels import FAMILIES, INDEX

__all__ = [
    "add_to_queue",
    "climb",
    "climb_from_queue",
    "flag_nearby_responses",
    "has_parent",
]

READ_NUMBERS = array_of(np.int64, 1, True)
HEAD, LENGTH = 0, 1  # of `ends`


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


@fused
def _find_first_allowed(start, parents, place, family, at):
    """Return the first family, from `family` on, whose parents all come before place `at`."""
    while not _is_allowed(start, parents, place, family, at):
        family += 1
    return family


@fused
def _find_better_with(begin, holder, start, parents, place, pair, at, current):
    """Return the best family with the parent of `pair` that is allowed at place `at`.

    Return the current family if none is better.
    """
    best = current
    for i in range(begin[pair], begin[pair + 1]):
        family = np.int64(holder[i])
        if family >= current:
            break
        if _is_allowed(start, parents, place, family, at):
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


@fused
def _find_without(start, parents, score, allowed, child_family, v, floor):
    """Return the next allowed family without v after the one of a child.

    Return -1 if its score is not above `floor`.
    """
    family = find_allowed(allowed, child_family + 1)
    while score[family] > floor and has_parent(start, parents, family, v):
        family = find_allowed(allowed, family + 1)
    return family if score[family] > floor else np.int64(-1)


@fused
def _find_allowed_at(start, parents, score, allowed, place, current, at, floor):
    """Return the next family after the current one that is allowed at the earlier place `at`.

    Return -1 if its score is not above `floor`.
    """
    family = find_allowed(allowed, current + 1)
    while score[family] > floor and not _is_allowed(start, parents, place, family, at):
        family = find_allowed(allowed, family + 1)
    return family if score[family] > floor else np.int64(-1)


@fused
def _find_better(begin, holder, missing, pair, current, n_missing):
    """Return the best family with the parent of `pair` of which so many parents are missing.

    With 0 it is allowed; with 1, while the parent itself is missing, it is if only that came first.
    Return the current family if none is better.
    """
    best = current
    for i in range(begin[pair], begin[pair + 1]):
        family = np.int64(holder[i])
        if family >= current:
            break
        if missing[family] == n_missing:
            best = family
            break
    return best


@fused
def _find_best_later_place(order, choice, families, index, scratch, v, bar):
    """Return the gain of the best move of v to a later place, if above `bar`, and the place.

    v gains possible parents, and its children lose v. All later gains are gains of v, so that the
    score of its best family limits what its children may lose.
    """
    place, marks, pair_of = scratch.place, scratch.marks, scratch.pair_of
    start, parents, score = families.start, families.parents, families.score
    begin, holder, parent_of = index.begin, index.family, index.parent
    child_of, allowed = index.child, scratch.allowed
    home, current = place[v], choice[v]
    top = score[families.begin[v]]
    best_gain, best_place = bar, np.int64(-1)
    if not top - score[current] > bar:
        return best_gain, best_place
    for pair in range(index.of_child[v], index.of_child[v + 1]):
        u = parent_of[pair]
        if place[u] > home and holder[begin[pair]] < current:
            pair_of[u] = pair
            mark(marks, place[u])
    for i in range(index.of_parent[v], index.of_parent[v + 1]):
        w = child_of[i]
        if place[w] > home and has_parent(start, parents, choice[w], v):
            mark(marks, place[w])
    gain = 0.0
    is_over = False
    for word in range(home >> 6, len(marks)):
        bits = marks[word]
        marks[word] = np.uint64(0)
        while bits != np.uint64(0):
            at = word * 64 + find_lowest(bits)
            bits &= bits - np.uint64(1)
            w = order[at]
            pair = pair_of[w]
            pair_of[w] = -1
            if is_over:
                continue
            if has_parent(start, parents, choice[w], v):
                floor = score[choice[w]] - (gain + (top - score[current]) - best_gain)
                lost = _find_without(start, parents, score, allowed, choice[w], v, floor)
                is_over = lost < 0
                if is_over:
                    continue
                gain += score[lost] - score[choice[w]]
            if pair >= 0:
                found = _find_better_with(
                    begin, holder, start, parents, place, pair, at + 1, current
                )
                gain += score[found] - score[current]
                current = found
            if gain > best_gain:
                best_gain, best_place = gain, at
            is_over = gain + (top - score[current]) <= best_gain
    return best_gain, best_place


@fused
def _mark_gains_of_others(order, choice, families, index, scratch, v):
    """Mark the earlier variables that gain when v passes them; return the sum of their gains.

    What a variable gains does not depend on how far v moves. Bits are set for the distance from
    the end, so that the last place comes first.
    """
    place, missing, gain_of, marks = scratch.place, scratch.missing, scratch.gain_of, scratch.marks
    child_of, pair_of, begin, holder = index.child, index.pair, index.begin, index.family
    score, home = families.score, place[v]
    possible = 0.0
    for i in range(index.of_parent[v], index.of_parent[v + 1]):
        w = child_of[i]
        if place[w] < home:
            found = _find_better(begin, holder, missing, pair_of[i], choice[w], 1)
            if found != choice[w]:
                gain_of[w] = score[found] - score[choice[w]]
                possible += gain_of[w]
                mark(marks, len(order) - 1 - place[w])
    return possible


@fused
def _find_best_earlier_place(order, choice, families, index, scratch, v, bar):
    """Return the gain of the best move of v to an earlier place, if above `bar`, and the place.

    v loses possible parents, and others gain v as a parent. Their gains limit what v may lose.
    """
    start, parents, score = families.start, families.parents, families.score
    place, allowed, marks, gain_of = scratch.place, scratch.allowed, scratch.marks, scratch.gain_of
    n, home, current = len(order), place[v], choice[v]
    best_gain, best_place = bar, np.int64(-1)
    possible = _mark_gains_of_others(order, choice, families, index, scratch, v)
    is_over = not possible > bar
    gain = 0.0
    last = _find_last_parent(start, parents, place, current)
    for word in range((n - 1 - home) >> 6, len(marks)):
        bits = marks[word]
        marks[word] = np.uint64(0)
        while bits != np.uint64(0) and not is_over:
            at = n - 1 - (word * 64 + find_lowest(bits))
            bits &= bits - np.uint64(1)
            while last >= at and not is_over:  # v passes a parent
                floor = score[current] - (gain + possible - best_gain)
                lost = _find_allowed_at(start, parents, score, allowed, place, current, last, floor)
                is_over = lost < 0
                if not is_over:
                    gain += score[lost] - score[current]
                    current = lost
                    last = _find_last_parent(start, parents, place, current)
            if not is_over:
                possible -= gain_of[order[at]]
                gain += gain_of[order[at]]
                if gain > best_gain:
                    best_gain, best_place = gain, at
                is_over = gain + possible <= best_gain
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
    place, missing, allowed = scratch.place, scratch.missing, scratch.allowed
    child_of, pair_of, begin, holder = index.child, index.pair, index.begin, index.family
    home = place[v]
    put_variable(order, index, scratch, v, target)
    low, high = (home, target) if home < target else (target, home)
    for i in range(index.of_parent[v], index.of_parent[v + 1]):
        w, pair = np.int64(child_of[i]), pair_of[i]
        if place[w] < low or place[w] > high:
            continue
        found = choice[w]
        if target < home:  # v is a new possible parent of w
            found = _find_better(begin, holder, missing, pair, found, 0)
        elif missing[found] > 0:
            found = find_allowed(allowed, found + 1)
        if found != choice[w]:
            _add_with_parents(families, scratch, w, choice[w])
            choice[w] = found
            _add_with_parents(families, scratch, w, found)
    _add_with_parents(families, scratch, v, choice[v])
    choice[v] = find_allowed(allowed, families.begin[v])
    _add_with_parents(families, scratch, v, choice[v])


@part
def climb_from_queue(order, choice, families, index, scratch, least_gain):
    """Move the variables in the queue until it is empty; return whether one has moved."""
    n, ends, queue, is_queued = len(order), scratch.ends, scratch.queue, scratch.is_queued
    has_moved = False
    while ends[LENGTH] > 0:
        v = queue[ends[HEAD]]
        ends[HEAD] = ends[HEAD] + 1 if ends[HEAD] + 1 < n else 0
        ends[LENGTH] -= 1
        is_queued[v] = False
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


@part
def climb(order, choice, families, index, scratch, visits, least_gain):
    """Find the best response, then move variables until no move gains.

    The variables are tried in the sequence `visits` first.
    """
    put_in_order(order, index, scratch)
    for v in range(len(order)):
        choice[v] = find_allowed(scratch.allowed, families.begin[v])
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
    begin, holder, parent_of = index.begin, index.family, index.parent
    for i in range(n):
        place[order[i]] = i
    for v in range(n):
        home, now = place[v], chosen[v]
        for i in range(start[now], start[now + 1]):  # one predecessor fewer
            lost = parents[i]
            at = place[lost]
            place[lost] = n
            asked[_find_first_allowed(start, parents, place, now + 1, home)] = True
            place[lost] = at
        current = now
        last = _find_last_parent(start, parents, place, current)
        while last >= 0:  # v moves to an earlier place
            current = _find_first_allowed(start, parents, place, current + 1, last)
            asked[current] = True
            last = _find_last_parent(start, parents, place, current)
        current = now
        for pair in range(index.of_child[v], index.of_child[v + 1]):
            w = parent_of[pair]
            if place[w] > home and holder[begin[pair]] < now:
                pair_of[w] = pair
                mark(marks, place[w])
        for word in range(home >> 6, len(marks)):
            bits = marks[word]
            marks[word] = np.uint64(0)
            while bits != np.uint64(0):  # one predecessor more, or v moves to a later place
                at = word * 64 + find_lowest(bits)
                bits &= bits - np.uint64(1)
                w = order[at]
                pair = pair_of[w]
                pair_of[w] = -1
                place[w] = -1
                found = _find_better_with(begin, holder, start, parents, place, pair, home, now)
                if found != now:
                    asked[found] = True
                place[w] = at
                found = _find_better_with(
                    begin, holder, start, parents, place, pair, at + 1, current
                )
                if found != current:
                    asked[found] = True
                    current = found
