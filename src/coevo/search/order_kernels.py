"""Orders and the families they allow: best responses, climbing by insertion, and kicks.

The families of each child stand in descending order of score, so that the best response
of connectivity to an order is, for each child, the first family whose members all come
before it. Moving one variable to another place is a series of exchanges with its
neighbours; an exchange changes what is allowed for two variables only, and each of them
has to be looked up again only if it loses a parent that it has, or gains one that a better
family needs. Most variables are in no good family of most others, so that most exchanges
cost a look into a table: the families of each child that have a given parent.

An order that no single move improves is *kicked*: it is drawn anew among the orders of its
structure, and a block of neighbours in it is moved elsewhere, every other time turned
round; then it climbs again, and stays where it came from if that was better. Single
variables that are moved at random come back; what keeps an order from a better one is
mostly a chain of arcs that would have to turn round together.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coevo.jit import inlined, kernel

__all__ = [
    "KICK_DRAWS",
    "Families",
    "Holders",
    "climb_orders",
    "draw_order",
    "holders_of",
    "nearby_responses",
]

KICK_DRAWS = 4  # numbers that a kick takes beside a lot for each variable


class Families(NamedTuple):
    """Families by child, each child's from the best to the worst; the last has no way out.

    The last family of a child (no parents, or its required ones) is allowed by every order
    that is read under the constraints.
    """

    begin: NDArray[np.int64]  # (n + 1,), families of child v: begin[v] to begin[v + 1]
    score: NDArray[np.float64]  # (n_families,)
    start: NDArray[np.int64]  # (n_families + 1,), where the parents of each begin
    parents: NDArray[np.int32]


class Holders(NamedTuple):
    """The families of each child that have a given parent, from the best to the worst."""

    begin: NDArray[np.int64]  # (n * n + 1,), of child v and parent u: begin[v * n + u] on
    family: NDArray[np.int32]


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
def _fill_holders(families, begin, holder):
    """Fill `begin` and `holder` as `Holders` has them."""
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


def holders_of(families: Families) -> Holders:
    """Return which families have which parent."""
    n = len(families.begin) - 1
    begin = np.zeros(n * n + 1, dtype=np.int64)
    holder = np.empty(len(families.parents), dtype=np.int32)
    _fill_holders(families, begin, holder)
    return Holders(begin, holder)


@kernel
def _better_with(start, parents, place, h_begin, h_family, pair, at, current):
    """Return the best family of a pair of child and parent that fits at a place.

    Or the current one if that is as good.
    """
    best = current
    for i in range(h_begin[pair], h_begin[pair + 1]):
        family = np.int64(h_family[i])
        if family >= current:
            break
        if _fits(start, parents, place, family, at):
            best = family
            break
    return best


@inlined
def _slide(order, place, choice, families, holders, v, step):
    """Return the best place for v on one side, and what moving there would gain."""
    score, start, parents = families.score, families.start, families.parents
    h_begin, h_family = holders.begin, holders.family
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
        # The one that goes back loses the other, which gains it.
        back, forth = (w, v) if step > 0 else (v, w)
        of_back = choice[w] if step > 0 else current
        of_forth = current if step > 0 else choice[w]
        lost, gained, pair = of_back, of_forth, forth * n + back
        if _has(start, parents, of_back, forth):
            lost = _first_fit(start, parents, place, of_back + 1, place[back])
            gain += score[lost] - score[of_back]
        if h_begin[pair] < h_begin[pair + 1]:
            gained = _better_with(
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


@inlined
def _move(order, place, choice, families, holders, v, target):
    """Move v to a place and look up whom that concerns."""
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
        if step < 0:  # w has gained v
            choice[w] = _better_with(
                start, parents, place, holders.begin, holders.family, w * n + v, at, choice[w]
            )
        elif _has(start, parents, choice[w], v):
            choice[w] = _first_fit(start, parents, place, choice[w] + 1, at)
        at += step
    choice[v] = _first_fit(start, parents, place, begin[v], target)


@inlined
def _climb(order, place, choice, families, holders, visits, least_gain):
    """Respond, then move one variable at a time until no move gains; return the score."""
    begin, start, parents = families.begin, families.start, families.parents
    n = len(order)
    for i in range(n):
        place[order[i]] = i
    for v in range(n):
        choice[v] = _first_fit(start, parents, place, begin[v], place[v])
    idle = 0
    turn = 0
    while idle < n:
        v = visits[turn]
        turn = turn + 1 if turn + 1 < n else 0
        gain, target = least_gain, np.int64(-1)
        for side in range(2):  # a loop, so that the part is compiled once
            side_gain, side_target = _slide(
                order, place, choice, families, holders, v, 1 - 2 * side
            )
            if side_gain > gain:
                gain, target = side_gain, side_target
        if target >= 0:
            _move(order, place, choice, families, holders, v, target)
            idle = 0
        else:
            idle += 1
    total = 0.0
    for v in range(n):
        total += families.score[choice[v]]
    return total


@kernel
def draw_order(choice, families, lots, waiting, order):
    """Overwrite an order with another one of its structure: the first by lot of those ready."""
    start, parents = families.start, families.parents
    n = len(order)
    for v in range(n):
        waiting[v] = start[choice[v] + 1] - start[choice[v]]
    for at in range(n):
        first = -1
        for v in range(n):
            if waiting[v] == 0 and (first < 0 or lots[v] < lots[first]):
                first = v
        order[at] = first
        waiting[first] = -1
        for v in range(n):
            if waiting[v] > 0 and _has(start, parents, choice[v], first):
                waiting[v] -= 1


@inlined
def _move_block(order, draws, spare):
    """Move a block of neighbours elsewhere, every other time turned round.

    Four draws between 0 and 1 say how long it is, where it begins, where it goes, and
    whether it turns.
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


@kernel
def _copy(source, target):
    """Copy a row; compiling an assignment of rows takes seconds, as it could fail in words."""
    for i in range(len(target)):
        target[i] = source[i]


@kernel
def climb_orders(orders, visits, kicks, families, holders, least_gain, choice):
    """Improve each order in place by moving one variable at a time, until no move gains.

    ``visits[o]`` is the order in which the variables of order o are tried, round after
    round. ``kicks[o]`` has a row for each kick: a lot for each variable, then `KICK_DRAWS`
    draws. `choice` is overwritten with the best responses. A move must gain more than
    `least_gain`; where that is infinite, orders stay and only respond.
    """
    n = orders.shape[1]
    place, waiting = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    order, chosen = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    for o in range(len(orders)):
        highest = -np.inf
        for kick in range(-1, kicks.shape[1]):
            _copy(orders[o], order)
            if kick >= 0:
                draws = kicks[o, kick]
                draw_order(choice[o], families, draws, waiting, order)
                _move_block(order, draws[n:], waiting)
            score = _climb(order, place, chosen, families, holders, visits[o], least_gain)
            if kick < 0 or score >= highest:
                highest = score
                _copy(order, orders[o])
                _copy(chosen, choice[o])


@kernel
def nearby_responses(order, chosen, families, holders, asked):
    """Mark in `asked` the families that a variable would have after one move of an order.

    A move puts one variable to another place, so that it has more or fewer predecessors,
    and every other variable has one more, one fewer or the same. Of each family that would
    be the best response then, ``asked[family]`` is set; those that are the response now are
    left out.
    """
    start, parents = families.start, families.parents
    h_begin, h_family = holders.begin, holders.family
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
            pair = v * n + w
            place[w] = -1
            found = _better_with(start, parents, place, h_begin, h_family, pair, home, now)
            if found != now:
                asked[found] = True
            place[w] = at
            found = _better_with(start, parents, place, h_begin, h_family, pair, at + 1, current)
            if found != current:
                asked[found] = True
                current = found
