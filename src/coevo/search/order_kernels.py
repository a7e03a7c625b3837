"""Kernels for orders: best responses, local search by insertion moves, and perturbations.

The families of each child are sorted by descending score. The best response to an order is, for
each child, the first family whose parents all come before the child. An insertion move takes
one variable out of the order and puts it into another place. It is a series of swaps of
neighbours. A swap changes the allowed families of two variables only. One of them is looked up
again only if it loses a parent that it has; the other only if it gains a parent of a better
family. Most variables are in no good family of most others, so most swaps cost one look into an
index: the families of each child that contain a given parent. (Teyssier and Koller 2005 search
orders by swaps; Lee and van Beek 2017 search them by insertions, see `coevo.search.ccma`.)

An order that no move improves is *perturbed*. First it is replaced by a random topological order
of its structure. Then a block of neighbours is moved to another place, reversed in half of the
cases. Then the order climbs again. The result is dropped if its score is lower. Moving single
variables at random does not help: they move back. The usual obstacle is a chain of arcs that
must be reversed together.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coevo.jit import FLOAT, array_of, inline, kernel, part, tuple_of

__all__ = [
    "PERTURBATION_DRAWS",
    "Families",
    "ParentIndex",
    "climb_orders",
    "draw_order",
    "flag_nearby_responses",
    "index_by_parent",
]

PERTURBATION_DRAWS = 4  # random numbers of a perturbation, in addition to one for each variable


class Families(NamedTuple):
    """Families by child, each child's from the best score to the worst.

    Every order allows the last family of a child: the one without parents.
    """

    begin: NDArray[np.int64]  # (n + 1,), families of child v: begin[v] to begin[v + 1]
    score: NDArray[np.float64]  # (n_families,)
    start: NDArray[np.int64]  # (n_families + 1,), where the parents of each begin
    parents: NDArray[np.int32]


class ParentIndex(NamedTuple):
    """The families of each child that contain a given parent, from the best to the worst."""

    begin: NDArray[np.int64]  # (n * n + 1,), child v and parent u begin at begin[v * n + u]
    family: NDArray[np.int32]


NUMBERS, READ_NUMBERS = array_of(np.int64), array_of(np.int64, 1, True)
ORDERS, VISITS = array_of(np.int64, 2), array_of(np.int64, 2, True)
LOTS, PERTURBATIONS = array_of(np.float64, 1, True), array_of(np.float64, 3, True)
PARENTS = array_of(np.int32)
FAMILIES = tuple_of(NUMBERS, array_of(np.float64), NUMBERS, PARENTS, kind=Families)
PARENT_INDEX = tuple_of(NUMBERS, PARENTS, kind=ParentIndex)


@inline
def _is_allowed(start, parents, place, family, at):
    """Return whether all parents of a family come before place `at`."""
    fits = True
    for i in range(start[family], start[family + 1]):
        if place[parents[i]] >= at:
            fits = False
            break
    return fits


@part
def _has_parent(start, parents, family, variable):
    """Return whether a variable is among the parents of a family."""
    found = False
    for i in range(start[family], start[family + 1]):
        if parents[i] == variable:
            found = True
            break
    return found


@part
def _find_first_allowed(start, parents, place, family, at):
    """Return the first family, from `family` on, whose parents all come before place `at`."""
    while not _is_allowed(start, parents, place, family, at):
        family += 1
    return family


@kernel((FAMILIES, NUMBERS, PARENTS))
def _fill_parent_index(families, begin, holder):
    """Fill `begin` and `holder`, the two arrays of a `ParentIndex`."""
    first, start, parents = families.begin, families.start, families.parents
    n = len(first) - 1
    for child in range(n):
        for i in range(start[first[child]], start[first[child + 1]]):
            begin[child * n + parents[i] + 1] += 1
    for pair in range(n * n):
        begin[pair + 1] += begin[pair]
    filled = begin.copy()
    for child in range(n):
        for family in range(first[child], first[child + 1]):
            for i in range(start[family], start[family + 1]):
                pair = child * n + parents[i]
                holder[filled[pair]] = family
                filled[pair] += 1


def index_by_parent(families: Families) -> ParentIndex:
    """Return the index of the families of each child that contain a given parent."""
    n = len(families.begin) - 1
    begin = np.zeros(n * n + 1, dtype=np.int64)
    holder = np.empty(len(families.parents), dtype=np.int32)
    _fill_parent_index(families, begin, holder)
    return ParentIndex(begin, holder)


@part
def _find_better_with(start, parents, place, h_begin, h_family, pair, at, current):
    """Return the best family, with the parent of `pair`, that is allowed at place `at`.

    Return the current family if none is better.
    """
    best = current
    for i in range(h_begin[pair], h_begin[pair + 1]):
        family = np.int64(h_family[i])
        if family >= current:
            break
        if _is_allowed(start, parents, place, family, at):
            best = family
            break
    return best


@inline
def _find_best_place(order, place, choice, families, parent_index, v, step):
    """Return the gain of the best move of v to one side, and its place."""
    score, start, parents = families.score, families.start, families.parents
    h_begin, h_family = parent_index.begin, parent_index.family
    n = len(order)
    home = place[v]
    current = choice[v]
    gain = 0.0
    best_gain, best_place = 0.0, home
    at = home + step
    while 0 <= at < n:
        w = order[at]
        place[w] = at - step
        place[v] = at
        # `back` loses `forth` as a possible parent; `forth` gains `back`.
        back, forth = (w, v) if step > 0 else (v, w)
        of_back = choice[w] if step > 0 else current
        of_forth = current if step > 0 else choice[w]
        lost, gained, pair = of_back, of_forth, forth * n + back
        if _has_parent(start, parents, of_back, forth):
            lost = _find_first_allowed(start, parents, place, of_back + 1, place[back])
            gain += score[lost] - score[of_back]
        if h_begin[pair] < h_begin[pair + 1]:
            gained = _find_better_with(
                start, parents, place, h_begin, h_family, pair, place[forth], of_forth
            )
            if gained != of_forth:
                gain += score[gained] - score[of_forth]
        current = gained if step > 0 else lost
        if gain > best_gain:
            best_gain, best_place = gain, at
        at += step
    at = home + step
    while 0 <= at < n:
        place[order[at]] = at
        at += step
    place[v] = home
    return best_gain, best_place


@part
def _move_variable(order, place, choice, families, parent_index, v, target):
    """Move v to a place and update the families of all variables that the move affects."""
    begin, start, parents = families.begin, families.start, families.parents
    n = len(order)
    home = place[v]
    step = 1 if target > home else -1
    at = home
    while at != target:
        order[at] = order[at + step]
        place[order[at]] = at
        at += step
    order[target] = v
    place[v] = target
    at = home
    while at != target:
        w = order[at]
        if step < 0:  # v is a new possible parent of w
            choice[w] = _find_better_with(
                start,
                parents,
                place,
                parent_index.begin,
                parent_index.family,
                w * n + v,
                at,
                choice[w],
            )
        elif _has_parent(start, parents, choice[w], v):
            choice[w] = _find_first_allowed(start, parents, place, choice[w] + 1, at)
        at += step
    choice[v] = _find_first_allowed(start, parents, place, begin[v], target)


@inline
def _climb(order, place, choice, families, parent_index, visits, least_gain):
    """Find the best response, then move variables until no move gains; return the score."""
    begin, start, parents = families.begin, families.start, families.parents
    n = len(order)
    for i in range(n):
        place[order[i]] = i
    for v in range(n):
        choice[v] = _find_first_allowed(start, parents, place, begin[v], place[v])
    idle = 0
    turn = 0
    while idle < n:
        v = visits[turn]
        turn = turn + 1 if turn + 1 < n else 0
        gain, target = least_gain, np.int64(-1)
        for side in range(2):  # a loop, so that the inlined part is compiled once
            side_gain, side_target = _find_best_place(
                order, place, choice, families, parent_index, v, 1 - 2 * side
            )
            if side_gain > gain:
                gain, target = side_gain, side_target
        if target >= 0:
            _move_variable(order, place, choice, families, parent_index, v, target)
            idle = 0
        else:
            idle += 1
    total = 0.0
    for v in range(n):
        total += families.score[choice[v]]
    return total


@inline
def _draw_order(choice, families, lots, waiting, order):
    """Overwrite `order` with a random topological order of the structure of `choice`.

    ``lots[v]`` is a random number. Of the variables whose parents are all placed, the one with
    the smallest number comes next. `waiting` is scratch.
    """
    start, parents = families.start, families.parents
    n = len(order)
    for v in range(n):
        waiting[v] = start[choice[v] + 1] - start[choice[v]]
    for at in range(n):
        first = np.int64(-1)
        for v in range(n):
            if waiting[v] == 0 and (first < 0 or lots[v] < lots[first]):
                first = v
        order[at] = first
        waiting[first] = -1
        for v in range(n):
            if waiting[v] > 0 and _has_parent(start, parents, choice[v], first):
                waiting[v] -= 1


@kernel((READ_NUMBERS, FAMILIES, LOTS, NUMBERS, NUMBERS))
def draw_order(choice, families, lots, waiting, order):
    """Overwrite `order` with a random topological order of the structure of `choice`."""
    _draw_order(choice, families, lots, waiting, order)


@inline
def _move_block(order, draws, spare):
    """Move a block of neighbours to another place, reversed in half of the cases.

    Four random numbers between 0 and 1 determine its length, its begin, its target and whether
    it is reversed.
    """
    n = len(order)
    length = 1 + int(draws[0] * max(1, n // 3))
    begin, target = int(draws[1] * (n - length + 1)), int(draws[2] * (n - length + 1))
    at = 0
    for i in range(n):  # the others, in their order
        if i < begin or i >= begin + length:
            spare[at if at < target else at + length] = order[i]
            at += 1
    for i in range(length):
        spare[target + i] = order[begin + (length - 1 - i if draws[3] < 0.5 else i)]
    for i in range(n):
        order[i] = spare[i]


@inline
def _copy_row(source, target):
    """Copy a row. The assignment of a row would take seconds to compile: it may raise."""
    for i in range(len(target)):
        target[i] = source[i]


@kernel((ORDERS, VISITS, PERTURBATIONS, FAMILIES, PARENT_INDEX, FLOAT, ORDERS))
def climb_orders(orders, visits, perturbations, families, parent_index, least_gain, choice):
    """Improve each order in place by insertion moves, until no move gains.

    ``visits[o]`` is the sequence in which the variables of order o are tried, in rounds.
    ``perturbations[o]`` has a row of random numbers for each perturbation: one for each
    variable, then `PERTURBATION_DRAWS` more. `choice` is overwritten with the best responses.
    A move must gain more than `least_gain`. If that is infinite, the orders stay unchanged and
    only their best responses are found.
    """
    n = orders.shape[1]
    place, waiting = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    order, chosen = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    for o in range(len(orders)):
        highest = -np.inf
        for trial in range(-1, perturbations.shape[1]):
            _copy_row(orders[o], order)
            if trial >= 0:
                draws = perturbations[o, trial]
                _draw_order(choice[o], families, draws, waiting, order)
                _move_block(order, draws[n:], waiting)
            score = _climb(order, place, chosen, families, parent_index, visits[o], least_gain)
            if trial < 0 or score >= highest:
                highest = score
                _copy_row(order, orders[o])
                _copy_row(chosen, choice[o])


@kernel((READ_NUMBERS, READ_NUMBERS, FAMILIES, PARENT_INDEX, array_of(np.bool_)))
def flag_nearby_responses(order, chosen, families, parent_index, asked):
    """Set ``asked[family]`` for each best response after any one move of an order.

    A move puts one variable into another place. It then has more or fewer predecessors. Every
    other variable has one more, one fewer or the same. The current best responses are left
    out.
    """
    start, parents = families.start, families.parents
    h_begin, h_family = parent_index.begin, parent_index.family
    n = len(order)
    place = np.empty(n, dtype=np.int64)
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
        for at in range(home - 1, -1, -1):  # v moves to an earlier place
            if _has_parent(start, parents, current, order[at]):
                current = _find_first_allowed(start, parents, place, current + 1, at)
                asked[current] = True
        current = now
        for at in range(home + 1, n):  # one predecessor more, or v moves to a later place
            w = order[at]
            pair = v * n + w
            place[w] = -1
            found = _find_better_with(start, parents, place, h_begin, h_family, pair, home, now)
            if found != now:
                asked[found] = True
            place[w] = at
            found = _find_better_with(
                start, parents, place, h_begin, h_family, pair, at + 1, current
            )
            if found != current:
                asked[found] = True
                current = found
