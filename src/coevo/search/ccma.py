"""CCMA: cooperative coevolution with local search, an archive and computed partners.

What stays of the 2011 paper: two species, orders and connectivity masks, each judged by its
cooperation with the other; an order and a set of families are always a DAG, so that there
are no cycles and nothing is repaired. What is different, and why:

- **A mask is about pairs of variables**, not of positions: a row a child, the parents that
  deserve a closer look. Moving a variable in an order no longer scrambles everyone's
  parents.
- **The partner of an order is computed.** Both species share an archive of scored families
  (`coevo.search.archive`); the best connectivity for an order is looked up in it.
- **Orders climb** by moving one variable at a time to its best place, with the best
  response at each place; at the top they are kicked, and climb again
  (`coevo.search.order_kernels`).
- **Masks decide which families are scored at all.** Each generation extends their rows: a
  row is scored with every further variable, all in one batch. There is no limit on parents
  and no list of candidates: families grow as long as a further parent gains something. Rows
  come from what the orders choose, from what variables would choose after any one move of
  an order, and from variables put beside that (`coevo.search.breeding`). A row is credited
  with what its families would gain for the partner orders, child by child, and the rows
  with the highest credit survive, whichever mask they came from.
- **The start is greedy**: the first generations are hill climbing, so that there is a good
  structure after tens of milliseconds; evolution begins from it.
- **Stalls end in a refill**: the best orders stay, the others are drawn anew.

What each part buys: mean nats below the best structure that any run found (1,000 rows, K2,
five seeds, 2 seconds a run on one thread; ``python benchmarks/ablation.py --seeds 5 --max-time
2``, with intervals in ``benchmarks/README.md``).

                                  alarm  insurance  child  hailfinder   hepar2  win95pts
    ccga: masks of positions      407.4      301.9  186.1     1,111.8    307.8   1,667.2
    ccga, masks of pairs          202.2      109.8    2.1     2,567.4  1,027.0   4,752.4
    ccma, random partners only    121.4       60.8    1.5        69.1     68.3      13.2
    ccma without local search      14.9       30.8    1.8        45.1     27.3      11.0
    ccma without the archive        0.2        0.0    0.0         1.2     37.0       4.0
    ccma, masks alone             123.7      122.5    3.3        64.6     53.5      12.1
    ccma, orders alone              0.0        0.0    0.0        23.7     41.4      12.4
    ccma                            0.0        0.0    0.0         1.5      5.1       0.7

Masks of pairs help small networks; on larger ones both forms of the paper's algorithm have
hardly begun in two seconds. Orders alone (all families of three parents out of twenty
candidates a child, scored beforehand) are as good as the whole where that list is good
enough, on the three small networks; on the others what the masks find is all the
difference. Masks alone stay at the order of the hill climber. The archive matters where
many families are in play.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from coevo.search.archive import FAMILIES_A_CHILD, Archive, Row, flat_sets
from coevo.search.base import LEAST_GAIN, Info, Method, Problem, Search, SearchState
from coevo.search.breeding import ELITE, RowBreeder, breed_orders
from coevo.search.budget import Budget
from coevo.search.climbing import Climb, climb_up
from coevo.search.decode_kernels import read_order
from coevo.search.encoding import pair_of
from coevo.search.operators import Orders
from coevo.search.order_kernels import KICK_DRAWS, climb_orders, holders_of
from coevo.search.parent_extension import Extensions, extend, learned

__all__ = ["CCMA", "CCMAState"]

FAMILIES_A_GENERATION = 1 << 16  # that are scored at most, so that steps stay short
VARIABLES_A_GENERATION = 6000  # places that orders have, over all orders
CLIMBED_A_GENERATION = 18_000  # places of all orders that climb, over all kicks
FEWEST_ORDERS = 4
MOST_KICKS = 4
BYTES_A_FAMILY = 48  # of the archive: a score, a place, up to eight parents


@dataclass(frozen=True)
class CCMAState(SearchState):
    """Both species and the archive; before evolution begins, the climb that it starts from."""

    is_climbing: bool
    gains: NDArray[np.float64]  # (n, n), of the climb; empty once it has ended
    local: NDArray[np.float64]  # (n,), of the climb
    orders: Orders  # (n_orders, n), best first
    choice: NDArray[np.int64]  # (n_orders, n), the family of each child under each order
    masks: NDArray[np.bool_]  # (n_masks, n, n), [mask, parent, child]
    credit: NDArray[np.float64]  # (n_masks, n), of each row
    probes: NDArray[np.int32]  # (n, n - 1), for each child all others, most promising first
    begin: NDArray[np.int64]  # the archive, see `Archive`
    family_scores: NDArray[np.float64]
    start: NDArray[np.int64]
    parents: NDArray[np.int32]
    extended: NDArray[np.uint64]

    @property
    def archive(self) -> Archive:
        """The families that are known."""
        return Archive(self.begin, self.family_scores, self.start, self.parents, self.extended)


@dataclass(frozen=True)
class CCMA(Method):
    """Settings of CCMA.

    Parameters
    ----------
    orders, masks : int
        Individuals of each species. Large networks get fewer orders, see
        `CCMASearch.n_orders`.
    refill : int
        After so many generations without anything better, all orders but the best are
        drawn anew.
    """

    name: ClassVar[str] = "ccma"
    state_type: ClassVar[type[SearchState]] = CCMAState
    default_budget: ClassVar[Budget] = Budget(patience=25)

    orders: int = 20
    masks: int = 8
    refill: int = 12

    def __post_init__(self) -> None:
        self.check_counts(orders=2, masks=2, refill=1)

    def memory(self, n_variables: int) -> int:
        """Return how many bytes a search takes at most, about, besides the scorer's.

        The archive and what is left of it are both there for a moment; so are masks.
        """
        species = 2 * self.masks * n_variables**2
        archive = 2 * FAMILIES_A_CHILD * BYTES_A_FAMILY * n_variables
        return super().memory(n_variables) + species + archive

    def on(self, problem: Problem) -> CCMASearch:
        """Return the search on a problem."""
        return CCMASearch(self, problem)


class CCMASearch(Search[CCMAState]):
    """CCMA on a problem."""

    least_gain = LEAST_GAIN  # of a move of an order

    def __init__(self, method: CCMA, problem: Problem) -> None:
        self._method = method
        self._problem = problem
        self._n = problem.n_variables
        affordable = max(FEWEST_ORDERS, VARIABLES_A_GENERATION // max(1, self._n))
        self.n_orders = min(method.orders, affordable)
        places = max(1, self._n * 2 * self.n_orders)  # of the orders and their children
        self.n_kicks = min(MOST_KICKS, max(1, CLIMBED_A_GENERATION // places - 1))
        every = method.masks * self._n
        self._rows_a_generation = max(1, min(every, FAMILIES_A_GENERATION // max(1, self._n)))

    def start(self, rng: Generator) -> tuple[CCMAState, Info]:
        """Return the structure to start from, about to climb."""
        n, method = self._n, self._method
        climb = Climb.at_start(self._problem)
        archive = Archive.empty(self._problem)
        state = CCMAState(
            **climb.first_fields(),
            is_climbing=True,
            gains=climb.gains,
            local=climb.local,
            orders=np.empty((0, n), dtype=np.int64),
            choice=np.empty((0, n), dtype=np.int64),
            masks=np.zeros((method.masks, n, n), dtype=np.bool_),
            credit=np.full((method.masks, n), -np.inf),
            probes=_ranked(climb.gains),
            **_fields(archive),
        )
        return state, _info(state)

    def step(self, rng: Generator, state: CCMAState) -> tuple[CCMAState, Info]:
        """Climb on, or evolve both species by one generation."""
        after = self._climbed(rng, state) if state.is_climbing else self._evolved(rng, state)
        return after, _info(after)

    def fits(self, state: CCMAState) -> bool:
        """Return whether the species have the size that is set."""
        n, n_orders = self._n, 0 if state.is_climbing else self.n_orders
        shapes = (state.orders.shape, state.masks.shape)
        return shapes == ((n_orders, n), (self._method.masks, n, n))

    def structures(self, state: CCMAState) -> Iterator[NDArray[np.bool_]]:
        """Yield the structure of each order with the families that it has chosen.

        While the search still climbs there are no orders.
        """
        return (self._structure(state.archive, choice) for choice in state.choice)

    def rescored(self, rng: Generator, state: CCMAState) -> CCMAState:
        """Return a state that was reached on other rows of the same variables, on these.

        Both species stay. Every family of the archive is scored anew, and what was extended
        may be extended again; the best structure is the one that the orders now find.
        """
        if state.is_climbing:
            climb = Climb(self._problem, state.adjacency)
            score = math.fsum(climb.local)
            return replace(state, score=score, gains=climb.gains, local=climb.local)
        archive = state.archive.rescored(self._problem)
        after = replace(
            state,
            evaluations=state.evaluations + archive.n_families,
            improved=state.generation,
            score=-math.inf,
            credit=np.full_like(state.credit, -np.inf),
        )
        return self._with_orders(after, archive, *self._improved(rng, state.orders, archive))

    def visited(self, state: CCMAState, other: CCMAState, n_orders: int) -> CCMAState:
        """Return a state whose worst orders the best ones of another have replaced.

        These bring the families that they have chosen, so that they are worth here what they
        were there. A state that still climbs has no orders to give, and none to replace.
        """
        if state.is_climbing or other.is_climbing:
            return state
        there, n = other.archive, min(n_orders, self.n_orders - 1)
        brought = np.unique(other.choice[:n])
        sets = flat_sets([there.parents_of(family) for family in brought.tolist()])
        children, scores = there.children()[brought], there.score[brought]
        none = np.empty(0, dtype=np.uint64)
        archive = state.archive.with_families(children, scores, *sets, none)
        orders = np.concatenate([state.orders[:-n], other.orders[:n]])
        return self._with_orders(state, archive, *self._responding(orders, archive))

    def elite(self, state: CCMAState) -> list[NDArray[np.bool_]]:
        """Return the structures of all orders, the best first; while climbing, the only one."""
        return list(self.structures(state)) or [state.adjacency]

    def _climbed(self, rng: Generator, state: CCMAState) -> CCMAState:
        """Make some moves of the climb; at its top, draw the first orders."""
        climb = Climb(self._problem, state.adjacency, state.gains, state.local)
        at_top = climb_up(climb)
        score = self._problem.score(climb.adjacency)
        better = (climb.adjacency, score) if score > state.score else None
        after = state.after(climb.evaluations, better, gains=climb.gains, local=climb.local)
        return self._settled(rng, after) if at_top else after

    def _settled(self, rng: Generator, state: CCMAState) -> CCMAState:
        """Return the state in which evolution begins: the climber's order and random ones."""
        n = self._n
        found = extend(self._problem, _rows(self._problem.rules.required))
        archive = learned(state.archive, found)
        scores = self._problem.local_scores(state.adjacency)
        none = np.empty(0, dtype=np.uint64)
        sets = flat_sets([parents for _, parents in _rows(state.adjacency)])
        archive = archive.with_families(np.arange(n), scores, *sets, none)
        first = pair_of(self._problem.dag(state.adjacency), self._problem.names)[0]
        drawn = [rng.permutation(n) for _ in range(self.n_orders - 1)]
        orders = np.array([first, *drawn], dtype=np.int64).reshape(self.n_orders, n)
        after = replace(
            state,
            is_climbing=False,
            evaluations=state.evaluations + found.n_scored + n,
            gains=np.empty((0, 0)),
            local=np.empty(0),
            **_fields(archive),
        )
        return self._with_orders(after, archive, *self._improved(rng, orders, archive))

    def _evolved(self, rng: Generator, state: CCMAState) -> CCMAState:
        """Return the next generation of both species."""
        order_rng, mask_rng = rng.spawn(2)
        found = extend(self._problem, self._new_rows(mask_rng, state))
        masks, credit = self._credited(mask_rng, state, found)
        archive = learned(state.archive, found)
        orders = self._new_orders(order_rng, state)
        after = state.after(found.n_scored, masks=masks, credit=credit)
        return self._with_orders(after, archive, *self._improved(order_rng, orders, archive))

    def _new_rows(self, rng: Generator, state: CCMAState) -> list[Row]:
        """Breed what this generation extends."""
        breeder = RowBreeder(
            rng,
            self._problem.rules,
            state.archive,
            state.orders,
            state.choice,
            state.masks,
            state.probes,
        )
        return breeder.rows(self._pairs(state), self._rows_a_generation)

    def _new_orders(self, rng: Generator, state: CCMAState) -> Orders:
        """Return the orders and their children; after a stall, the best and random ones."""
        stalled = state.generation - state.improved
        if stalled and stalled % self._method.refill == 0:
            drawn = [rng.permutation(self._n) for _ in range(len(state.orders))]
            return np.concatenate([state.orders[:1], np.array(drawn, dtype=np.int64)])
        bred = breed_orders(rng, state.orders, state.choice, state.archive, self.n_orders)
        return np.concatenate([state.orders, bred])

    def _improved(
        self, rng: Generator, orders: Orders, archive: Archive
    ) -> tuple[Orders, NDArray[np.int64]]:
        """Return the orders after climbing, with the families that they choose."""
        visits = rng.permuted(np.tile(np.arange(self._n), (len(orders), 1)), axis=1)
        kicks = rng.random((len(orders), self.n_kicks, self._n + KICK_DRAWS))
        return self._moved(orders, archive, visits, kicks, self.least_gain)

    def _responding(self, orders: Orders, archive: Archive) -> tuple[Orders, NDArray[np.int64]]:
        """Return the orders as they are, with the families that they choose."""
        visits = np.tile(np.arange(self._n), (len(orders), 1))
        kicks = np.empty((len(orders), 0, self._n + KICK_DRAWS))
        return self._moved(orders, archive, visits, kicks, math.inf)

    def _moved(
        self,
        orders: Orders,
        archive: Archive,
        visits: NDArray[np.int64],
        kicks: NDArray[np.float64],
        least_gain: float,
    ) -> tuple[Orders, NDArray[np.int64]]:
        """Return the orders after all moves that gain enough, and the families they choose."""
        moved = self._readable(orders)
        choice = np.empty(orders.shape, dtype=np.int64)
        families = archive.families
        holders = holders_of(families)

        def climb(begin: int, end: int, part: int) -> None:
            own = slice(begin, end)
            climb_orders(
                moved[own], visits[own], kicks[own], families, holders, least_gain, choice[own]
            )

        self._problem.scorer.threads.in_parts(climb, len(orders), 1, many=True)
        return moved, choice

    def _readable(self, orders: Orders) -> Orders:
        """Return a copy of the orders in which required parents come first."""
        required = self._problem.rules.required
        if not required.any():
            return orders.copy()
        read = np.empty_like(orders)
        waiting = np.empty(self._n, dtype=np.int64)
        for i, order in enumerate(orders):
            read_order(order, required, waiting, read[i])
        return read

    def _with_orders(
        self, state: CCMAState, archive: Archive, orders: Orders, choice: NDArray[np.int64]
    ) -> CCMAState:
        """Keep the best orders with distinct structures; note the best structure."""
        totals = archive.score[choice].sum(axis=1)
        ranked = np.argsort(-totals, kind="stable")
        _, first = np.unique(choice[ranked], axis=0, return_index=True)
        distinct = ranked[np.sort(first)]
        others = ranked[~np.isin(ranked, distinct)]
        kept = np.concatenate([distinct, others])[: self.n_orders]
        score = math.fsum(archive.score[choice[kept[0]]])
        is_better = score > state.score + LEAST_GAIN
        return replace(
            state,
            improved=state.generation if is_better else state.improved,
            score=score if is_better else state.score,
            adjacency=self._structure(archive, choice[kept[0]]) if is_better else state.adjacency,
            orders=orders[kept],
            choice=choice[kept],
            **_fields(archive),
        )

    def _structure(self, archive: Archive, choice: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return the adjacency matrix of the families that an order has chosen."""
        adjacency = np.zeros((self._n, self._n), dtype=np.bool_)
        for child, family in enumerate(choice):
            adjacency[list(archive.parents_of(int(family))), child] = True
        return adjacency

    def _pairs(self, state: CCMAState) -> Iterator[tuple[int, int]]:
        """Yield (mask, child) in the order of their turns: the elite first, then the others.

        Where not all of them fit into a generation, the next one begins where this one ends.
        """
        n = self._n
        first = state.generation * self._rows_a_generation
        for i in range(n):
            yield ELITE, (first + i) % n
        others = (self._method.masks - 1) * n
        for i in range(others):
            mask, child = divmod((first + i) % others, n)
            yield 1 + mask, child

    def _credited(
        self, rng: Generator, state: CCMAState, found: Extensions
    ) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
        """Judge the new rows by their partners; keep the best rows of each child.

        A row is worth what its best family, with one more parent or without, would gain for
        the best order or for a random one, whichever is more.
        """
        partners = [0, int(rng.integers(len(state.orders)))]
        worth = np.full(len(found.rows), -np.inf)
        children = np.array([child for child, _ in found.rows], dtype=np.int64)
        for partner in partners:
            place = np.argsort(state.orders[partner])
            held = state.archive.score[state.choice[partner]]
            before = place[None, :] < place[children][:, None]
            best = np.where(before, found.wider, -np.inf).max(axis=1, initial=-np.inf)
            best = np.maximum(best, found.scores)
            for r, (child, parents) in enumerate(found.rows):
                if all(place[parent] < place[child] for parent in parents):
                    worth[r] = max(worth[r], best[r] - held[child])
        return _survivors(state, found.rows, worth)


def _survivors(
    state: CCMAState, rows: tuple[Row, ...], worth: NDArray[np.float64]
) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """Return the masks in which better new rows have taken the place of the worst ones."""
    # What was good once counts less; after a thousand generations, nothing at all.
    with np.errstate(over="ignore"):
        credit = np.where(state.credit < 0, state.credit * 2, state.credit / 2)
    masks = state.masks.copy()
    for r in np.argsort(-worth, kind="stable"):
        child, parents = rows[r]
        worst = int(credit[:, child].argmin())
        if worth[r] > credit[worst, child]:
            masks[worst, :, child] = False
            masks[worst, list(parents), child] = True
            credit[worst, child] = worth[r]
    return masks, credit


def _rows(adjacency: NDArray[np.bool_]) -> list[Row]:
    """Return the parents of each child of a structure."""
    return [
        (child, tuple(np.flatnonzero(parents).tolist()))
        for child, parents in enumerate(adjacency.T)
    ]


def _fields(archive: Archive) -> dict[str, Any]:
    """Return the archive as fields of a state."""
    return {
        "begin": archive.begin,
        "family_scores": archive.score,
        "start": archive.start,
        "parents": archive.parents,
        "extended": archive.extended,
    }


def _ranked(gains: NDArray[np.float64]) -> NDArray[np.int32]:
    """Return for each child all other variables, from the one that gains most by itself."""
    n = len(gains)
    order = np.argsort(-gains.T, axis=1, kind="stable")
    others = order[order != np.arange(n)[:, None]].reshape(n, max(0, n - 1))
    ranked: NDArray[np.int32] = others.astype(np.int32)
    return ranked


def _info(state: CCMAState) -> Info:
    return {"n_families": float(len(state.family_scores)), "n_extended": float(len(state.extended))}
