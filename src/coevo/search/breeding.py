"""How CCMA breeds its two species: orders by crossing and shaking, masks row by row.

A row of a mask is a set of parents of one child that deserves to be extended, that is,
scored with every further variable. Where rows come from is what the mask species is about:

- *response*: the parents that a good order has chosen for the child, or all of them but one
  (the neighbourhood of what works now); the first mask asks the best order, before anyone
  else;
- *nearby*: what the child would choose after any one move of the best order, or of another
  one. A move that would pay if only the families on both sides of it were known as well as
  those of today is found from here;
- *archive*: the best family of the child that was never extended, whatever the orders say;
- *probe*: a single variable, the most promising first;
- *beside*: an order's choice, or all of it but one, with one more variable that gains
  nothing by itself, one after the other. Two parents that only work together are found from
  here;
- *cross*: the union of two rows of the mask population, or of one and a response.

A row that was extended before would teach nothing, so that the next source is asked; only
the first mask does without.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from coevo.graph import ArcRules
from coevo.search.archive import Archive, Row, mark_numbers
from coevo.search.operators import Orders, cycle_crossover
from coevo.search.order_kernels import Holders, draw_order, holders_of, nearby_responses

__all__ = ["ELITE", "RowBreeder", "breed_orders"]

Choice = NDArray[np.int64]  # (n_orders, n), the family that each order has chosen for each child
ELITE = 0  # the mask that follows the best order
VISITED = 1  # the mask that looks around the best order
ROLES = ("response", "nearby", "nearby", "archive", "probe", "beside", "response", "cross")


def breed_orders(
    rng: Generator, orders: Orders, choice: Choice, archive: Archive, n_children: int
) -> Orders:
    """Return new orders: two crossed by rank or by cycles, or one shaken.

    `orders` stand from the best to the worst; better ones are chosen more often. Before an
    order is shaken it is drawn anew among all orders of its structure: they are worth the
    same, but climbing goes other ways from each of them.
    """
    size, n = orders.shape
    places = np.argsort(orders, axis=1)
    children = np.empty((n_children, n), dtype=np.int64)
    for i in range(n_children):
        # The lesser of two draws prefers the better half.
        one, two = rng.integers(size, size=(2, 2)).min(axis=0).tolist()
        kind = rng.random()
        if kind < 0.3 and one != two:
            mixed = np.where(rng.random(n) < 0.5, places[one], places[two])
            children[i] = np.argsort(mixed + rng.random(n))
        elif kind < 0.4 and one != two:
            pair = cycle_crossover(rng, orders[one][None], orders[two][None], 1.0)
            children[i] = pair[int(rng.integers(2))][0]
        else:
            waiting = np.empty(n, dtype=np.int64)
            draw_order(choice[one], archive.families, rng.random(n), waiting, children[i])
            if kind < 0.7:
                _shuffle_family(rng, children[i], choice[one], archive)
            else:
                _move_some(rng, children[i])
    return children


def _shuffle_family(
    rng: Generator, order: NDArray[np.int64], chosen: NDArray[np.int64], archive: Archive
) -> None:
    """Let a variable, its parents and its children trade places."""
    parents = [archive.parents_of(family) for family in chosen.tolist()]
    center = int(rng.integers(len(order)))
    group = [v for v, own in enumerate(parents) if center in own or v == center]
    group = sorted({*group, *parents[center]})
    place = np.argsort(order)[group]
    order[place] = order[rng.permutation(place)]


def _move_some(rng: Generator, order: NDArray[np.int64]) -> None:
    """Put some variables anywhere."""
    n = len(order)
    keys = np.arange(n, dtype=np.float64)
    moved = rng.choice(n, size=min(n, 2 + int(rng.integers(max(1, n // 5)))), replace=False)
    keys[moved] = rng.random(len(moved)) * n
    order[:] = order[np.argsort(keys, kind="stable")]


class RowBreeder:
    """Breeds the rows of one generation.

    Parameters
    ----------
    rng : Generator
        Of the mask species in this generation.
    rules : ArcRules
        What rows must keep to.
    archive : Archive
        The families that are known, and what was extended.
    orders, choice : array
        The orders, the best first, and the families that they have chosen.
    masks : array
        The population, ``[mask, parent, child]``.
    probes : array
        For each child all others, the most promising first.
    """

    def __init__(
        self,
        rng: Generator,
        rules: ArcRules,
        archive: Archive,
        orders: Orders,
        choice: Choice,
        masks: NDArray[np.bool_],
        probes: NDArray[np.int32],
    ) -> None:
        self._rng, self._rules, self._archive = rng, rules, archive
        self._orders, self._choice = orders, choice
        self._masks, self._probes = masks, probes
        self._is_free = not rules.about_arcs
        as_child, as_parent = mark_numbers(len(rules.allowed))
        self._as_child, self._as_parent = as_child.tolist(), as_parent.tolist()
        self._known = set(archive.extended.tolist())
        self._is_open = ~np.isin(archive.marks(), archive.extended) & (archive.score > -np.inf)
        self._left: dict[int, tuple[list[int], list[int]]] = {}  # of the children asked for
        holders = holders_of(archive.families)
        another = int(rng.integers(len(orders)))
        self._nearby = [self._around(order, holders) for order in (0, another)]

    def _around(self, order: int, holders: Holders) -> NDArray[np.bool_]:
        """Return which families were never extended and are responses near an order."""
        asked = np.zeros(self._archive.n_families, dtype=np.bool_)
        families = self._archive.families
        nearby_responses(self._orders[order], self._choice[order], families, holders, asked)
        return asked & self._is_open

    def _left_of(self, child: int) -> tuple[list[int], list[int]]:
        """Return the families and the single variables of a child that were never extended.

        Both are used up from the end, where the best family and the most promising variable
        stand.
        """
        if child not in self._left:
            begin, end = self._archive.begin[child : child + 2]
            families = (begin + np.flatnonzero(self._is_open[begin:end]))[::-1].tolist()
            own, number = self._as_child[child], self._as_parent
            others = self._probes[child, ::-1].tolist()
            singles = [other for other in others if own ^ number[other] not in self._known]
            self._left[child] = families, singles
        return self._left[child]

    def rows(self, pairs: Iterable[tuple[int, int]], limit: int) -> list[Row]:
        """Return rows to extend, at most one for each pair of a mask and a child."""
        found: list[Row] = []
        for mask, child in pairs:
            if len(found) >= limit:
                break
            for parents in self._candidates(mask, child):
                row = (child, self._legal(child, parents))
                if self._is_new(row):
                    found.append(row)
                    break
        return found

    def _mark(self, row: Row) -> int:
        mark: int = self._as_child[row[0]]
        for parent in row[1]:
            mark ^= self._as_parent[parent]
        return mark

    def _is_new(self, row: Row) -> bool:
        """Return whether a row was never extended nor bred, and know it from now on."""
        mark = self._mark(row)
        if mark in self._known:
            return False
        self._known.add(mark)
        return True

    def _legal(self, child: int, parents: set[int]) -> tuple[int, ...]:
        """Return parents that the rules allow, with the required ones, ascending."""
        rules = self._rules
        if self._is_free and len(parents) <= rules.max_parents:
            return tuple(sorted(parents))
        needed = set(np.flatnonzero(rules.required[:, child]).tolist())
        free = sorted(parent for parent in parents - needed if rules.allowed[parent, child])
        room = rules.max_parents - len(needed)
        if len(free) > room:
            free = self._rng.choice(free, size=room, replace=False).tolist()
        return tuple(sorted([*needed, *free]))

    def _candidates(self, mask: int, child: int) -> Iterator[set[int]]:
        """Yield rows from the source of a mask, then from the others."""
        rng, role = self._rng, ROLES[mask % len(ROLES)]
        order = 0 if mask == ELITE else int(rng.integers(len(self._choice)))
        response = self._archive.parents_of(int(self._choice[order, child]))
        if role == "nearby":
            yield from self._nearby_of(child, mask)
        if role == "cross":
            yield self._crossed(child, response)
        if role in ("response", "cross"):
            yield set(response)
            for left_out in rng.permutation(len(response)):
                yield set(response[:left_out] + response[left_out + 1 :])
        if mask == ELITE or not len(self._probes[child]):
            return
        families, singles = self._left_of(child)
        while families and role in ("archive", "cross"):
            yield set(self._archive.parents_of(families.pop()))
        while singles and role != "beside":
            yield {singles.pop()}
        yield from self._beside(child, response)
        while singles:
            yield {singles.pop()}
        while families:
            yield set(self._archive.parents_of(families.pop()))

    def _nearby_of(self, child: int, mask: int) -> Iterator[set[int]]:
        """Yield what a child would choose after one move of an order, the best first."""
        begin, end = self._archive.begin[child : child + 2]
        asked = self._nearby[mask != VISITED]
        for family in (begin + np.flatnonzero(asked[begin:end])).tolist():
            asked[family] = False
            yield set(self._archive.parents_of(family))

    def _beside(self, child: int, parents: tuple[int, ...]) -> Iterator[set[int]]:
        """Yield parents, or all but one, with a further variable; the most promising first."""
        if parents and self._rng.random() < 0.5:
            left_out = int(self._rng.integers(len(parents)))
            parents = parents[:left_out] + parents[left_out + 1 :]
        if len(parents) >= self._rules.max_parents:
            return
        mark = self._mark((child, parents))
        for other in self._probes[child].tolist():
            if other not in parents and mark ^ self._as_parent[other] not in self._known:
                yield {*parents, other}

    def _crossed(self, child: int, response: tuple[int, ...]) -> set[int]:
        """Return the union of two rows, without a few if it is much larger than both."""
        rng, rows = self._rng, self._masks[:, :, child]
        one = set(np.flatnonzero(rows[rng.integers(len(rows))]).tolist())
        two = set(response)
        if rng.random() < 0.5:
            two = set(np.flatnonzero(rows[rng.integers(len(rows))]).tolist())
        union, limit = sorted(one | two), max(len(one), len(two)) + 2
        if len(union) > limit:
            union = rng.choice(union, size=limit, replace=False).tolist()
        return set(union)
