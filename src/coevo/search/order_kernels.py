"""Orders and the families they allow: best responses, and climbing by insertion.

The families of each child stand in descending order of score, so that the best response
of connectivity to an order is, for each child, the first family whose members all come
before it. Moving one variable to another place is a series of exchanges with its
neighbours; an exchange changes what is allowed for two variables only, and each of them
has to be looked up again only if it loses a parent that it has, or gains one that a better
family needs. Most variables are in no good family of most others, so that most exchanges
cost a look into a table: the first family of each child that has a given parent.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coevo.jit import inlined, kernel

__all__ = ["Families", "climb_orders", "first_with", "nearby_responses"]


class Families(NamedTuple):
    """Families by child, each child's from the best to the worst; the last has no way out.

    The last family of a child (no parents, or its required ones) is allowed by every order
    that is read under the constraints.
    """

    begin: NDArray[np.int64]  # (n + 1,), families of child v: begin[v] to begin[v + 1]
    score: NDArray[np.float64]  # (n_families,)
    start: NDArray[np.int64]  # (n_families + 1,), where the parents of each begin
    parents: NDArray[np.int32]


@kernel
def _fits(start, parents, place, family, at):
    """Return whether all parents of a family come before place `at`."""
    fits = True
    for i in range(start[family], start[family + 1]):
        if place[parents[i]] >= at:
            fits = False
            break
    return fits


@kernel
def _has(start, parents, family, variable):
    """Return whether a variable is among the parents of a family."""
    found = False
    for i in range(start[family], start[family + 1]):
        if parents[i] == variable:
            found = True
            break
    return found


@kernel
def _first_fit(start, parents, place, family, at):
    """Return the first family from `family` on that fits at a place."""
    while not _fits(start, parents, place, family, at):
        family += 1
    return family


@kernel
def first_with(families):
    """Return for each child and parent the child's first family with it, or a large number."""
    begin, start, parents = families.begin, families.start, families.parents
    n = len(begin) - 1
    first = np.full((n, n), np.int32(0x7FFFFFFF), dtype=np.int32)
    for child in range(n):
        for family in range(begin[child + 1] - 1, begin[child] - 1, -1):
            for i in range(start[family], start[family + 1]):
                first[child, parents[i]] = family
    return first


@inlined
def _slide(order, place, choice, families, first, v, step):
    """Return the best place for v on one side, and what moving there would gain."""
    score, start, parents = families.score, families.start, families.parents
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
        if step > 0:  # w loses v, v gains w
            if _has(start, parents, choice[w], v):
                found = _first_fit(start, parents, place, choice[w] + 1, place[w])
                gain += score[found] - score[choice[w]]
            for family in range(first[v, w], current):
                if _has(start, parents, family, w) and _fits(start, parents, place, family, at):
                    gain += score[family] - score[current]
                    current = family
                    break
        else:  # v loses w, w gains v
            if _has(start, parents, current, w):
                found = _first_fit(start, parents, place, current + 1, at)
                gain += score[found] - score[current]
                current = found
            for family in range(first[w, v], choice[w]):
                if _has(start, parents, family, v) and _fits(
                    start, parents, place, family, place[w]
                ):
                    gain += score[family] - score[choice[w]]
                    break
        if gain > best_gain:
            best_gain, best_place = gain, at
        at += step
    at = home + step
    while 0 <= at < n:
        place[order[at]] = at
        at += step
    place[v] = home
    return best_gain, best_place


@inlined
def _move(order, place, choice, families, v, target):
    """Move v to a place and look up whom that concerns."""
    begin, start, parents = families.begin, families.start, families.parents
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
    while True:
        w = order[at]
        choice[w] = _first_fit(start, parents, place, begin[w], at)
        if at == target:
            break
        at += step


@kernel
def climb_orders(orders, visits, families, first, least_gain, choice):
    """Improve each order in place by moving one variable at a time, until no move gains.

    ``visits[o]`` is the order in which the variables of order o are tried, round after
    round; `first` is what `first_with` says of the families. `choice` is overwritten with
    the best responses. A move must gain more than `least_gain`; where that is infinite,
    orders stay and only respond.
    """
    begin, start, parents = families.begin, families.start, families.parents
    n = orders.shape[1]
    place = np.empty(n, dtype=np.int64)
    for o in range(len(orders)):
        order, chosen = orders[o], choice[o]
        for i in range(n):
            place[order[i]] = i
        for v in range(n):
            chosen[v] = _first_fit(start, parents, place, begin[v], place[v])
        idle = 0
        turn = 0
        while idle < n:
            v = visits[o, turn]
            turn = turn + 1 if turn + 1 < n else 0
            gain, target = least_gain, np.int64(-1)
            for side in range(2):  # a loop, so that the part is compiled once
                side_gain, side_target = _slide(
                    order, place, chosen, families, first, v, 1 - 2 * side
                )
                if side_gain > gain:
                    gain, target = side_gain, side_target
            if target >= 0:
                _move(order, place, chosen, families, v, target)
                idle = 0
            else:
                idle += 1


@kernel
def nearby_responses(order, chosen, families, first, asked):
    """Mark in `asked` the families that a variable would have after one move of an order.

    A move puts one variable to another place, so that it has more or fewer predecessors,
    and every other variable has one more, one fewer or the same. Of each family that would
    be the best response then, ``asked[family]`` is set; those that are the response now are
    left out.
    """
    start, parents = families.start, families.parents
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
            asked[_first_fit(start, parents, place, now + 1, home)] = True
            place[lost] = at
        current = now
        for at in range(home - 1, -1, -1):  # v is put to an earlier place
            if _has(start, parents, current, order[at]):
                current = _first_fit(start, parents, place, current + 1, at)
                asked[current] = True
        current = now
        for at in range(home + 1, n):  # one predecessor more, or v is put to a later place
            w = order[at]
            for later in range(2):
                before = at + 1 if later else home
                best = current if later else now
                place[w] = at if later else -1
                for family in range(first[v, w], best):
                    if _has(start, parents, family, w) and _fits(
                        start, parents, place, family, before
                    ):
                        asked[family] = True
                        if later:
                            current = family
                        break
            place[w] = at
