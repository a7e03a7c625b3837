"""The breeding operators of CCMA: new orders, and new parent sets for the masks.

A mask lists candidate parents for each child (`coevo.search.masks`). A row of a mask that has a
turn extends one parent set of its child: it scores it with each candidate. Each mask has its own
source of parent sets:

- *response*: the parents that an order has chosen for the child, or all of them but one (the
  neighbourhood of the current structure). The first mask uses the best order and comes first.
- *nearby*: the best response of the child after any one move of the best order, or of another
  order. A move can only raise the score if good families are known for both the old and the new
  order. This source finds them.
- *archive*: the best family of the child that was never extended, whatever the orders choose.
- *probe*: a single candidate, the most promising first.
- *enlarge*: the parents that an order has chosen, or all of them but one, with one more candidate.
  The candidate need not gain by itself: this source finds parents that only work together.
- *cross*: the union of the parents that two orders have chosen, or of one of them and any scored
  family.

A parent set that was extended before brings nothing new. Then the next source is used. The first
mask has no other source. Scouts (`SCOUTS`) try all variables, not only candidates; they take parent
sets that no scout has extended, and have no other source either.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from coevo.graph import ArcRules
from coevo.search.archive import Archive, ParentSet, hash_keys
from coevo.search.masks import Turns
from coevo.search.operators import Orders, cycle_crossover
from coevo.search.order_kernels import Families, draw_order, flag_nearby_responses, list_relatives

__all__ = ["ELITE", "ParentSetBreeder", "breed_orders", "describe_masks"]

Choice = NDArray[np.int64]  # (n_orders, n), the family that each order has chosen for each child
ELITE = 0  # the mask whose source is the best order
NEARBY_ELITE = 2  # the mask whose source is the neighbourhood of the best order
SOURCES = ("response", "response", "nearby", "nearby", "archive", "probe", "enlarge", "cross")
SCOUTS = (1, 2, 4)  # the masks whose rows are all variables
NAMES = (  # one for each source: the name of the mask, as a scout, and what a turn of it does
    ("best order", "", "extends the parents that the best order has chosen"),
    ("other orders", "scout of orders", "extends the parents that an order has chosen"),
    ("moves of the best", "scout of moves", "extends the choice after one move of the best order"),
    ("moves of others", "", "extends the choice after one move of another order"),
    ("archive", "scout of the archive", "extends the best family that was never extended"),
    ("single parents", "", "extends one candidate, the most promising first"),
    ("one more parent", "", "adds a candidate to the parents of an order and extends them"),
    ("unions", "", "extends the parents of two orders together"),
)
SCANNED = 0x9E3779B97F4A7C15  # the hash of a scan differs from that of the parent set by this


def describe_masks(n_masks: int, has_scouts: bool) -> list[tuple[str, str]]:
    """Return a short name of each mask, and what a turn of it does.

    >>> [name for name, _ in describe_masks(9, has_scouts=True)][:3]
    ['best order', 'scout of orders', 'scout of moves']
    >>> describe_masks(9, has_scouts=False)[8][0]
    'other orders 2'
    """
    described: list[tuple[str, str]] = []
    n_same: dict[str, int] = {}
    for mask in range(n_masks):
        kind = mask % len(SOURCES)
        # Beyond the first masks, none is bound to the best order.
        is_free = mask != kind and kind in (ELITE, NEARBY_ELITE)
        name, _, meaning = NAMES[kind + is_free]
        if has_scouts and kind in SCOUTS:
            name, meaning = NAMES[kind][1], f"{meaning}; tries every variable"
        n_same[name] = n_same.get(name, 0) + 1
        described.append((name if n_same[name] == 1 else f"{name} {n_same[name]}", meaning))
    return described


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
    families, index = archive.families, archive.index
    with archive.lend_scratch() as scratch:
        for child in children:
            # The smaller of two draws prefers better orders.
            drawn = rng.integers(size, size=4).tolist()
            one, two = min(drawn[::2]), min(drawn[1::2])
            kind = rng.random()
            if kind < 0.3 and one != two:
                mixed = np.where(rng.random(n) < 0.5, places[one], places[two])
                child[:] = (mixed + rng.random(n)).argsort()
            elif kind < 0.4 and one != two:
                pair = cycle_crossover(rng, orders[one][None], orders[two][None], 1.0)
                child[:] = pair[int(rng.integers(2))][0]
            else:
                draw_order(choice[one], families, index, scratch, rng.random((n,)), child)
                if kind < 0.7:
                    _shuffle_family(rng, child, choice[one], families)
                else:
                    _move_some(rng, child)
    return children


def _shuffle_family(
    rng: Generator, order: NDArray[np.int64], chosen: NDArray[np.int64], families: Families
) -> None:
    """Shuffle the positions of a random variable, its parents and its children."""
    center, group = int(rng.integers(len(order))), np.empty_like(order)
    n_group = list_relatives(families, chosen, center, group)
    place = order.argsort()[group[:n_group]]
    order[place] = order[rng.permutation(place)]


def _move_some(rng: Generator, order: NDArray[np.int64]) -> None:
    """Move some variables to random positions."""
    n = len(order)
    keys = np.arange(n, dtype=np.float64)
    moved = rng.choice(n, size=min(n, 2 + int(rng.integers(max(1, n // 5)))), replace=False)
    keys[moved] = rng.random(len(moved)) * n
    order[:] = order[keys.argsort(kind="stable")]


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
    candidates : array
        The candidates of each row, ``[mask, child]``.
    """

    def __init__(
        self,
        rng: Generator,
        rules: ArcRules,
        archive: Archive,
        orders: Orders,
        choice: Choice,
        candidates: NDArray[np.int32],
    ) -> None:
        self._rng, self._rules, self._archive = rng, rules, archive
        self._orders, self._choice = orders, choice
        self._candidates = candidates
        self._is_wide = candidates.shape[2] < len(rules.allowed) - 1
        self._is_free = not rules.has_arc_constraints
        n_masks = len(candidates)
        self._sources = [SOURCES[mask % len(SOURCES)] for mask in range(n_masks)]
        # a scout scans all variables, and others do not
        self._is_scout = [
            mask % len(SOURCES) in SCOUTS and self._is_wide for mask in range(n_masks)
        ]
        as_child, as_parent = hash_keys(len(rules.allowed))
        self._as_child, self._as_parent = as_child.tolist(), as_parent.tolist()
        self._known = set(archive.extended.tolist())
        hashes, is_allowed = archive.hashes, archive.score > -np.inf
        self._is_open = ~archive.are_extended(hashes) & is_allowed
        self._is_unscanned = self._is_open
        if self._is_wide:
            self._is_unscanned = ~archive.are_extended(hashes ^ np.uint64(SCANNED)) & is_allowed
        self._unextended: dict[int, list[int]] = {}  # families by child, filled on demand
        self._singles: dict[int, list[int]] = {}  # variables by child, filled on demand
        another = int(rng.integers(len(orders)))
        self._nearby = [self._find_nearby(order) for order in (0, another)]

    def _find_nearby(self, order: int) -> NDArray[np.bool_]:
        """Return which unextended families are best responses after one move of an order."""
        asked = np.zeros(self._archive.n_families, dtype=np.bool_)
        archive, order_and_choice = self._archive, (self._orders[order], self._choice[order])
        with archive.lend_scratch() as scratch:
            flag_nearby_responses(
                *order_and_choice, archive.families, archive.index, scratch, asked
            )
        return asked

    def _list_unextended(self, child: int) -> list[int]:
        """Return the unextended families of a child, the best last. The caller removes items."""
        if child not in self._unextended:
            families = self._list_families(self._is_open, child)
            families.reverse()
            self._unextended[child] = families
        return self._unextended[child]

    def _list_singles(self, child: int) -> list[int]:
        """Return the unextended single variables of a child, the most promising one last.

        The caller removes items from the end.
        """
        if child not in self._singles:
            child_key, keys, known = self._as_child[child], self._as_parent, self._known
            self._singles[child] = [
                other
                for other in self._candidates[0, child, ::-1].tolist()
                if other != child and child_key ^ keys[other] not in known
            ]
        return self._singles[child]

    def _list_families(self, flags: NDArray[np.bool_], child: int) -> list[int]:
        """Return the families of a child that are flagged, the best first."""
        begin = self._archive.begin.item(child)
        flagged = flags[begin : self._archive.begin.item(child + 1)].nonzero()[0]
        families: list[int] = (flagged + begin).tolist()
        return families

    def breed(
        self, pairs: Iterable[tuple[int, int]], widths: Sequence[int], limit: int
    ) -> tuple[list[ParentSet], Turns]:
        """Return parent sets to extend, at most one for each pair of a mask and a child.

        `widths` has the number of candidates of a row of each mask. There are no further turns
        after `limit` families. The second answer are the pairs that these parent sets are of.
        """
        parent_sets: list[ParentSet] = []
        turns: list[tuple[int, int]] = []
        n_families = 0
        for mask, child in pairs:
            if n_families >= limit:
                break
            parents = self._find_new_parents(mask, child)
            if parents is not None:
                parent_sets.append((child, parents))
                turns.append((mask, child))
                n_families += widths[mask]
        return parent_sets, np.array(turns, dtype=np.int64).reshape(-1, 2)

    def _find_new_parents(self, mask: int, child: int) -> tuple[int, ...] | None:
        """Return and register the first parent set that was neither extended nor bred before.

        The work of a scout is registered apart: other rows have tried a few candidates only.
        """
        mark, known = SCANNED if self._is_scout[mask] else 0, self._known
        for parents in self._iter_candidates(mask, child):
            hashed = self._hash(child, parents)
            # What is known keeps the rules. Other rules than limits could change these parents.
            if self._is_free and hashed ^ mark in known:
                continue
            allowed = self._enforce_rules(child, parents)
            if allowed != parents:
                hashed = self._hash(child, allowed)
            if hashed ^ mark not in known:
                known.add(hashed)
                known.add(hashed ^ mark)
                return allowed
        return None

    def _hash(self, child: int, parents: tuple[int, ...]) -> int:
        hashed: int = self._as_child[child]
        for parent in parents:
            hashed ^= self._as_parent[parent]
        return hashed

    def _enforce_rules(self, child: int, parents: tuple[int, ...]) -> tuple[int, ...]:
        """Return the allowed ones of these parents and all required parents, ascending."""
        rules = self._rules
        if self._is_free and len(parents) <= rules.max_parents and rules.fits(child, parents):
            return parents
        needed = set(np.flatnonzero(rules.required[:, child]).tolist())
        free = [p for p in parents if p not in needed and rules.allowed[p, child]]
        room = rules.max_parents - len(needed)
        if len(free) > room:
            free = self._rng.choice(free, size=room, replace=False).tolist()
        while free and not rules.fits(child, [*needed, *free]):
            free.pop(int(self._rng.integers(len(free))))
        return tuple(sorted([*needed, *free]))

    def _iter_candidates(self, mask: int, child: int) -> Iterator[tuple[int, ...]]:
        """Yield parent sets from the source of a mask, then from the other sources."""
        rng, source, archive = self._rng, self._sources[mask], self._archive
        is_first = mask == ELITE or (self._is_scout[mask] and rng.random() < 0.5)
        order = 0 if is_first else int(rng.integers(len(self._choice)))
        response = archive.parents_of(self._choice.item(order, child))
        if source == "nearby":
            yield from self._iter_nearby(child, mask)
        if source == "cross":
            yield self._cross_sets(child, response)
        if source in ("response", "cross"):
            yield response
            for left_out in self._permute(len(response)):
                yield response[:left_out] + response[left_out + 1 :]
        if mask == ELITE or not self._candidates.shape[2]:
            return
        if self._is_scout[mask]:
            if source == "archive":  # the best first
                for family in self._list_families(self._is_unscanned, child):
                    yield archive.parents_of(family)
            return
        singles = self._list_singles(child)
        if source in ("archive", "cross"):
            yield from self._iter_unextended(child)
        while singles and source != "enlarge":
            yield (singles.pop(),)
        yield from self._iter_enlarged(mask, child, response)
        while singles:
            yield (singles.pop(),)
        yield from self._iter_unextended(child)

    def _permute(self, n: int) -> Sequence[int]:
        """Return n places in a random sequence. One place needs no draw, as in NumPy."""
        drawn: list[int] = self._rng.permutation(n).tolist() if n > 1 else list(range(n))
        return drawn

    def _iter_unextended(self, child: int) -> Iterator[tuple[int, ...]]:
        """Yield the unextended families of a child, the best first, each once a generation."""
        families = self._list_unextended(child)
        while families:
            yield self._archive.parents_of(families.pop())

    def _iter_nearby(self, child: int, mask: int) -> Iterator[tuple[int, ...]]:
        """Yield the best responses of a child after one move of an order, the best first."""
        asked = self._nearby[mask != NEARBY_ELITE]
        is_open = self._is_unscanned if self._is_scout[mask] else self._is_open
        for family in self._list_families(asked, child):
            if is_open[family]:
                asked[family] = False
                yield self._archive.parents_of(family)

    def _iter_enlarged(
        self, mask: int, child: int, parents: tuple[int, ...]
    ) -> Iterator[tuple[int, ...]]:
        """Yield parents, or all but one, with one more variable, the most promising first."""
        if parents and self._rng.random() < 0.5:
            left_out = int(self._rng.integers(len(parents)))
            parents = parents[:left_out] + parents[left_out + 1 :]
        if len(parents) >= self._rules.max_parents:
            return
        hashed, keys, known = self._hash(child, parents), self._as_parent, self._known
        for other in self._candidates[mask, child].tolist():
            if hashed ^ keys[other] not in known and other != child and other not in parents:
                yield tuple(sorted((*parents, other)))

    def _cross_sets(self, child: int, response: tuple[int, ...]) -> tuple[int, ...]:
        """Return the union of two parent sets, at most two parents larger than the larger one."""
        rng, archive = self._rng, self._archive
        one = archive.parents_of(self._choice.item(int(rng.integers(len(self._choice))), child))
        two = response
        if rng.random() < 0.5:
            begin, end = archive.begin.item(child), archive.begin.item(child + 1)
            two = archive.parents_of(int(rng.integers(begin, end)))
        union, limit = sorted({*one, *two}), max(len(one), len(two)) + 2
        if len(union) > limit:
            union = sorted(rng.choice(union, size=limit, replace=False).tolist())
        return tuple(union)
