"""The breeding operators of CCMA: new orders, and new parent sets for the masks.

A mask holds one parent set for each child. The search extends the parent sets of the
masks: it scores them with every further variable. Each mask has a source of new parent sets:

- *response*: the parents that an order has chosen for the child, or all of them but one (the
  neighbourhood of the current structure). The first mask uses the best order and comes first.
- *nearby*: the best response of the child after any one move of the best order, or of another
  order. A move can only raise the score if good families are known for both the old and the new
  order. This source finds them.
- *archive*: the best family of the child that was never extended, whatever the orders choose.
- *probe*: a single variable, the most promising first.
- *enlarge*: the parents that an order has chosen, or all of them but one, with one more variable.
  The variable need not gain by itself: this source finds parents that only work together.
- *cross*: the union of two parent sets of the mask population, or of one of them and a response.

A parent set that was extended before brings nothing new. Then the next source is used. Only the
first mask has no other source.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from coevo.graph import ArcRules
from coevo.search.allowed_kernels import make_scratch
from coevo.search.archive import Archive, ParentSet, hash_keys
from coevo.search.operators import Orders, cycle_crossover
from coevo.search.order_kernels import flag_nearby_responses
from coevo.search.perturbation_kernels import draw_order

__all__ = ["ELITE", "ParentSetBreeder", "breed_orders"]

Choice = NDArray[np.int64]  # (n_orders, n), the family that each order has chosen for each child
ELITE = 0  # the mask whose source is the best order
NEARBY_ELITE = 1  # the mask whose source is the neighbourhood of the best order
SOURCES = ("response", "nearby", "nearby", "archive", "probe", "enlarge", "response", "cross")


def breed_orders(
    rng: Generator, orders: Orders, choice: Choice, archive: Archive, n_children: int
) -> Orders:
    """Return new orders: crossed from two parents, or mutated from one.

    `orders` are sorted from the best to the worst. Better ones are chosen more often. In a
    crossing by position each variable takes its position from one of the two orders; the other
    crossing is cycle crossover. Before a mutation the order is replaced by a random topological
    order of its structure. All these orders have the same score, but local search finds other
    moves from each of them.
    """
    size, n = orders.shape
    places = np.argsort(orders, axis=1)
    children = np.empty((n_children, n), dtype=np.int64)
    for i in range(n_children):
        # The smaller of two draws prefers better orders.
        one, two = rng.integers(size, size=(2, 2)).min(axis=0).tolist()
        kind = rng.random()
        if kind < 0.3 and one != two:
            mixed = np.where(rng.random(n) < 0.5, places[one], places[two])
            children[i] = np.argsort(mixed + rng.random(n))
        elif kind < 0.4 and one != two:
            pair = cycle_crossover(rng, orders[one][None], orders[two][None], 1.0)
            children[i] = pair[int(rng.integers(2))][0]
        else:
            draw_order(choice[one], archive.families, archive.index, rng.random(n), children[i])
            if kind < 0.7:
                _shuffle_family(rng, children[i], choice[one], archive)
            else:
                _move_some(rng, children[i])
    return children


def _shuffle_family(
    rng: Generator, order: NDArray[np.int64], chosen: NDArray[np.int64], archive: Archive
) -> None:
    """Shuffle the positions of a random variable, its parents and its children."""
    parents = [archive.parents_of(family) for family in chosen.tolist()]
    center = int(rng.integers(len(order)))
    group = [v for v, parents_of_v in enumerate(parents) if center in parents_of_v or v == center]
    group = sorted({*group, *parents[center]})
    place = np.argsort(order)[group]
    order[place] = order[rng.permutation(place)]


def _move_some(rng: Generator, order: NDArray[np.int64]) -> None:
    """Move some variables to random positions."""
    n = len(order)
    keys = np.arange(n, dtype=np.float64)
    moved = rng.choice(n, size=min(n, 2 + int(rng.integers(max(1, n // 5)))), replace=False)
    keys[moved] = rng.random(len(moved)) * n
    order[:] = order[np.argsort(keys, kind="stable")]


class ParentSetBreeder:
    """Breeds the parent sets of one generation.

    Parameters
    ----------
    rng : Generator
        The generator of the mask species in this generation.
    rules : ArcRules
        The constraints on parent sets.
    archive : Archive
        The scored families, and which parent sets were extended.
    orders, choice : array
        The orders, the best first, and the families that they have chosen.
    masks : array
        The population, ``[mask, parent, child]``.
    probes : array
        For each child all other variables, the most promising first.
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
        self._is_free = not rules.has_arc_constraints
        as_child, as_parent = hash_keys(len(rules.allowed))
        self._as_child, self._as_parent = as_child.tolist(), as_parent.tolist()
        self._known = set(archive.extended.tolist())
        self._is_open = ~np.isin(archive.hash_families(), archive.extended) & (
            archive.score > -np.inf
        )
        self._unextended: dict[int, tuple[list[int], list[int]]] = {}  # by child, filled on demand
        another = int(rng.integers(len(orders)))
        self._nearby = [self._find_nearby(order) for order in (0, another)]

    def _find_nearby(self, order: int) -> NDArray[np.bool_]:
        """Return which unextended families are best responses after one move of an order."""
        asked = np.zeros(self._archive.n_families, dtype=np.bool_)
        archive, scratch = self._archive, make_scratch(self._archive.families)
        order_and_choice = self._orders[order], self._choice[order]
        flag_nearby_responses(*order_and_choice, archive.families, archive.index, scratch, asked)
        return asked & self._is_open

    def _list_unextended(self, child: int) -> tuple[list[int], list[int]]:
        """Return the unextended families and the unextended single variables of a child.

        The caller removes items from the end. The best family and the most promising variable
        are last.
        """
        if child not in self._unextended:
            begin, end = self._archive.begin[child : child + 2]
            families = (begin + np.flatnonzero(self._is_open[begin:end]))[::-1].tolist()
            child_key, keys = self._as_child[child], self._as_parent
            others = self._probes[child, ::-1].tolist()
            singles = [other for other in others if child_key ^ keys[other] not in self._known]
            self._unextended[child] = families, singles
        return self._unextended[child]

    def breed(self, pairs: Iterable[tuple[int, int]], limit: int) -> list[ParentSet]:
        """Return parent sets to extend, at most one for each pair of a mask and a child."""
        parent_sets: list[ParentSet] = []
        for mask, child in pairs:
            if len(parent_sets) >= limit:
                break
            for parents in self._iter_candidates(mask, child):
                parent_set = (child, self._enforce_rules(child, parents))
                if self._register_if_new(parent_set):
                    parent_sets.append(parent_set)
                    break
        return parent_sets

    def _hash(self, parent_set: ParentSet) -> int:
        hashed: int = self._as_child[parent_set[0]]
        for parent in parent_set[1]:
            hashed ^= self._as_parent[parent]
        return hashed

    def _register_if_new(self, parent_set: ParentSet) -> bool:
        """Register a parent set; return whether it was neither extended nor bred before."""
        hashed = self._hash(parent_set)
        if hashed in self._known:
            return False
        self._known.add(hashed)
        return True

    def _enforce_rules(self, child: int, parents: set[int]) -> tuple[int, ...]:
        """Return the allowed ones of these parents and all required parents, ascending."""
        rules = self._rules
        if self._is_free and len(parents) <= rules.max_parents and rules.fits(child, parents):
            return tuple(sorted(parents))
        needed = set(np.flatnonzero(rules.required[:, child]).tolist())
        free = sorted(parent for parent in parents - needed if rules.allowed[parent, child])
        room = rules.max_parents - len(needed)
        if len(free) > room:
            free = self._rng.choice(free, size=room, replace=False).tolist()
        while free and not rules.fits(child, [*needed, *free]):
            free.pop(int(self._rng.integers(len(free))))
        return tuple(sorted([*needed, *free]))

    def _iter_candidates(self, mask: int, child: int) -> Iterator[set[int]]:
        """Yield parent sets from the source of a mask, then from the other sources."""
        rng, source = self._rng, SOURCES[mask % len(SOURCES)]
        order = 0 if mask == ELITE else int(rng.integers(len(self._choice)))
        response = self._archive.parents_of(int(self._choice[order, child]))
        if source == "nearby":
            yield from self._iter_nearby(child, mask)
        if source == "cross":
            yield self._cross_sets(child, response)
        if source in ("response", "cross"):
            yield set(response)
            for left_out in rng.permutation(len(response)):
                yield set(response[:left_out] + response[left_out + 1 :])
        if mask == ELITE or not len(self._probes[child]):
            return
        families, singles = self._list_unextended(child)
        while families and source in ("archive", "cross"):
            yield set(self._archive.parents_of(families.pop()))
        while singles and source != "enlarge":
            yield {singles.pop()}
        yield from self._iter_enlarged(child, response)
        while singles:
            yield {singles.pop()}
        while families:
            yield set(self._archive.parents_of(families.pop()))

    def _iter_nearby(self, child: int, mask: int) -> Iterator[set[int]]:
        """Yield the best responses of a child after one move of an order, the best first."""
        begin, end = self._archive.begin[child : child + 2]
        asked = self._nearby[mask != NEARBY_ELITE]
        for family in (begin + np.flatnonzero(asked[begin:end])).tolist():
            asked[family] = False
            yield set(self._archive.parents_of(family))

    def _iter_enlarged(self, child: int, parents: tuple[int, ...]) -> Iterator[set[int]]:
        """Yield parents, or all but one, with one more variable, the most promising first."""
        if parents and self._rng.random() < 0.5:
            left_out = int(self._rng.integers(len(parents)))
            parents = parents[:left_out] + parents[left_out + 1 :]
        if len(parents) >= self._rules.max_parents:
            return
        hashed = self._hash((child, parents))
        for other in self._probes[child].tolist():
            if other not in parents and hashed ^ self._as_parent[other] not in self._known:
                yield {*parents, other}

    def _cross_sets(self, child: int, response: tuple[int, ...]) -> set[int]:
        """Return the union of two parent sets, at most two parents larger than the larger one."""
        rng, sets = self._rng, self._masks[:, :, child]
        one = set(np.flatnonzero(sets[rng.integers(len(sets))]).tolist())
        two = set(response)
        if rng.random() < 0.5:
            two = set(np.flatnonzero(sets[rng.integers(len(sets))]).tolist())
        union, limit = sorted(one | two), max(len(one), len(two)) + 2
        if len(union) > limit:
            union = rng.choice(union, size=limit, replace=False).tolist()
        return set(union)
