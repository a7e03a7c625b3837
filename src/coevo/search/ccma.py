"""CCMA: a cooperative coevolutionary memetic algorithm.

*Memetic* means evolution with local search. CCMA is a method of this package. It is not the
algorithm of the 2011 paper; that is `coevo.search.ccga`. CCMA keeps the idea of the paper: two
species, orders and connectivity masks, evolve together, and the score of each comes from its
cooperation with the other. An order with a choice of families is always a DAG, so there are no
cycles and nothing is repaired. The differences from the paper, and the reasons:

- **A mask is about pairs of variables**, not of positions: it lists candidate parents for each
  child. Moving a variable in an order no longer changes the parents of all other variables.
- **The partner of an order is computed.** Both species share an archive of scored families
  (`coevo.search.archive`). The best families for an order are looked up in it.
- **Local search improves orders.** An insertion move puts one variable into its best place, with
  the best response at each place (`coevo.search.order_kernels`). After a generation without a
  better structure, local optima are perturbed, as a whole and in small parts, and climb again
  (`coevo.search.order_kernels`). As long as new families improve the structure, the time is
  better spent on further families.
- **Masks decide which families are scored.** In a generation masks have turns. A turn extends a
  parent set of one child: it scores the set with each candidate of the mask for this child. The
  sets come from the choices of the orders, from the choices after any one move of an order, and
  from further candidates added to these (`coevo.search.breeding`). What the orders would lose
  without the new families, for each family that was scored, is the credit of the mask. Credit
  decides who has the next turns, and whose candidates are taken over. Some masks are scouts, whose
  candidates are all variables (`coevo.search.masks`). There is no limit on the number of parents
  unless the constraints set one: a family grows as long as a further parent raises its score.
- **The start is greedy.** The first generations are hill climbing, so a good structure is there
  after tens of milliseconds. Evolution begins from it.
- **A stall leads to a restart.** The best order stays. Random orders replace the others.

What CCMA takes from earlier work:

- Cooperative coevolution, with credit from the best partner and a random one, is from Potter and
  De Jong (1994, 2000). Its use for orders and connectivity is from Carvalho (2011).
- Ordering-based search is from Teyssier and Koller (2005): search over orders, look up the best
  scored parents of each variable among its predecessors, and drop parent sets that a subset
  beats.
- Insertion neighbourhoods, evaluated by swaps of neighbours, perturbation of local optima, and
  memetic search over orders with crossover and restarts are from Lee and van Beek (2017).
- Scanagatta et al. (2015) observe that one order is too strict, and relax the lookup: acyclic
  selection also takes a parent that comes later in the order if it closes no cycle. CCMA keeps
  the strict lookup. It meets the same problem in another way: before a perturbation it redraws
  the order among all topological orders of its structure.

- Wong et al. (2004) evolve parent sets, one species for each variable, below the order of one
  network and among the arcs that independence tests leave.

- Column generation (Cussens 2012) also prices parent sets when a partial solution
  needs them; there the prices are dual variables of a linear programme. Drawing sources by what
  they earned is adaptive operator selection (Fialho 2010 reviews it).

What is new in CCMA, as far as we know, is the combination: methods that search orders use a list
of parent sets that is scored beforehand. In CCMA the second species chooses, during the search,
which parent sets to score. It breeds them from the current orders and gets its credit from these
orders. The orders then choose among all families scored so far.

``benchmarks/ablation.py`` measures the effect of each part, with tests; the tables are in
``benchmarks/README.md``.

References
----------
A. Carvalho (2011). A cooperative coevolutionary genetic algorithm for learning Bayesian network
structures. GECCO 2011 (Genetic and Evolutionary Computation Conference), Dublin.

J. Cussens (2012). Column generation for exact BN learning: work in progress. ECAI workshop
CoCoMile 2012, Montpellier.

A. Fialho (2010). Adaptive operator selection for optimization. PhD thesis, Université Paris-Sud.

C. Lee, P. van Beek (2017). Metaheuristics for score-and-search Bayesian network structure
learning. Canadian Conference on Artificial Intelligence, 129-141.

M. A. Potter, K. A. De Jong (1994). A cooperative coevolutionary approach to function
optimization. PPSN III, 249-257.

M. A. Potter, K. A. De Jong (2000). Cooperative coevolution: an architecture for evolving
coadapted subcomponents. Evolutionary Computation 8, 1-29.

M. Scanagatta, C. P. de Campos, G. Corani, M. Zaffalon (2015). Learning Bayesian networks with
thousands of variables. NIPS 28, 1864-1872.

M. Teyssier, D. Koller (2005). Ordering-based search: a simple and effective algorithm for
learning Bayesian networks. UAI 21, 584-590.

M. L. Wong, S. Y. Lee, K. S. Leung (2004). Data mining of Bayesian networks using cooperative
coevolution. Decision Support Systems 38, 451-472.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from coevo.search.archive import MAX_FAMILIES_PER_CHILD, Archive, ParentSet, flatten_sets
from coevo.search.base import LEAST_GAIN, Info, Method, Problem, Search, SearchState
from coevo.search.breeding import (
    ELITE,
    SCANNED,
    SCOUTS,
    SOURCES,
    ParentSetBreeder,
    breed_orders,
)
from coevo.search.ccma_state import CCMAState, make_archive_fields, make_mask_fields
from coevo.search.encoding import encode_dag
from coevo.search.loop import Budget
from coevo.search.masks import (
    N_CANDIDATES,
    Masks,
    Turns,
    assign_credit,
    draw_turns,
    evolve_rows,
    make_first_masks,
    rank_candidates,
    spread_findings,
)
from coevo.search.operators import Orders
from coevo.search.order_climbs import ClimbDraws, find_responses, improve_orders
from coevo.search.parent_extension import Extensions, add_extensions, extend_parent_sets
from coevo.search.sparse_climb import SparseClimb
from coevo.search.species import name_credit

__all__ = ["CCMA", "CCMAState", "Work"]

FAMILIES_PER_GENERATION = 1 << 16  # limit of scored families, so that steps stay short
PLACES_PER_GENERATION = 6000  # limit of the number of orders times their length
CLIMBED_PLACES_PER_GENERATION = 18_000  # the same for all climbs, perturbations included
PLACES_PER_LOCAL = 8  # of an order, for each local perturbation of it
MIN_ORDERS = 4
ROUNDS_PER_STEP = 16  # of the hill climbing; the budget is checked between steps
MAX_PERTURBATIONS = 4
BYTES_PER_CANDIDATE = 12  # its number and its value
BYTES_PER_PAIR = 8  # of variables: the constraints and some structures, a byte each
BYTES_PER_FAMILY = 48  # in the archive: a score, an offset, up to eight parents


@dataclass(frozen=True)
class CCMA(Method):
    """Settings of CCMA.

    Parameters
    ----------
    orders, masks : int
        Number of individuals of each species. A large network gets fewer orders, see
        `CCMASearch.n_orders`.
    restart_after : int
        Restart after this number of generations without a better structure: random orders
        replace all orders but the best.
    """

    name: ClassVar[str] = "ccma"
    state_type: ClassVar[type[SearchState]] = CCMAState
    default_budget: ClassVar[Budget] = Budget(patience=25)
    least_patience: ClassVar[int | None] = 14  # a restart, after 12, has its say

    orders: int = 20
    masks: int = 8
    restart_after: int = 12

    def __post_init__(self) -> None:
        self.check_counts(orders=2, masks=2, restart_after=1)

    def estimate_memory(self, n_variables: int) -> int:
        """Return an upper estimate of the bytes that a search needs, without the scorer.

        For a moment there are two archives and two populations of masks, the old and the new.
        """
        width = min(N_CANDIDATES, n_variables)
        species = 2 * self.masks * n_variables * width * BYTES_PER_CANDIDATE
        archive = 2 * MAX_FAMILIES_PER_CHILD * BYTES_PER_FAMILY * n_variables
        return BYTES_PER_PAIR * n_variables**2 + species + archive

    def make_search(self, problem: Problem) -> CCMASearch:
        """Return the search on a problem."""
        return CCMASearch(self, problem)


class CCMASearch(Search[CCMAState]):
    """CCMA on a problem."""

    least_gain = LEAST_GAIN  # of a move of an order

    def __init__(self, method: CCMA, problem: Problem) -> None:
        self._method = method
        self._problem = problem
        self._n = problem.n_variables
        affordable = max(MIN_ORDERS, PLACES_PER_GENERATION // max(1, self._n))
        self.n_orders = min(method.orders, affordable)
        places = max(1, self._n * 2 * self.n_orders)  # of the orders and their children
        affordable = max(1, CLIMBED_PLACES_PER_GENERATION // places - 1)
        self.n_perturbations = min(MAX_PERTURBATIONS, affordable)
        self.n_local = self._n // PLACES_PER_LOCAL
        width = min(N_CANDIDATES, max(1, self._n - 1))
        self._width = width
        is_scout = np.isin(np.arange(method.masks) % len(SOURCES), SCOUTS)
        self._widths = np.where(is_scout, max(1, self._n - 1), width)
        self._max_families = min(FAMILIES_PER_GENERATION, method.masks * self._n * width)

    def start(self, rng: Generator) -> tuple[CCMAState, Info]:
        """Return the start structure, before the hill climbing."""
        n, method = self._n, self._method
        archive = Archive.from_problem(self._problem)
        ranked, gains, n_scored = rank_candidates(self._problem)
        masks = make_first_masks(rng, ranked, gains, method.masks)
        climb = SparseClimb(self._problem, masks.candidates[ELITE], self._problem.start)
        state = CCMAState(
            generation=0,
            evaluations=n_scored + climb.evaluations,
            improved=0,
            score=math.fsum(climb.local),
            adjacency=self._problem.start,
            is_climbing=True,
            gains=climb.gains,
            local=climb.local,
            orders=np.empty((0, n), dtype=np.int64),
            choice=np.empty((0, n), dtype=np.int64),
            **make_mask_fields(masks),
            **make_archive_fields(archive),
        )
        return state, _make_info(state)

    def step(self, rng: Generator, state: CCMAState) -> tuple[CCMAState, Info]:
        """Make a step of the hill climbing, or evolve both species by one generation."""
        make_step = self._make_climb_step if state.is_climbing else self._evolve
        after = make_step(rng, state)
        return after, _make_info(after)

    def is_compatible(self, state: CCMAState) -> bool:
        """Return whether the species have the sizes of the settings."""
        n, n_orders = self._n, 0 if state.is_climbing else self.n_orders
        shapes = (state.orders.shape, state.hope.shape)
        return shapes == ((n_orders, n), (self._method.masks, n))

    def iter_structures(self, state: CCMAState) -> Iterator[NDArray[np.bool_]]:
        """Return the structure of each order with the families that it has chosen.

        There are no orders during the hill climbing.
        """
        return (self._make_adjacency(state.archive, choice) for choice in state.choice)

    def rescore(self, rng: Generator, state: CCMAState) -> CCMAState:
        """Return a state of a search on other rows of the same variables, scored on these rows.

        Both species stay. Every family of the archive is scored again. Parent sets that were
        extended may be extended again. The orders determine the new best structure.
        """
        if state.is_climbing:
            climb = SparseClimb(self._problem, state.candidates[ELITE], state.adjacency)
            score = math.fsum(climb.local)
            return replace(state, score=score, gains=climb.gains, local=climb.local)
        archive = state.archive.rescore(self._problem)
        after = replace(
            state,
            evaluations=state.evaluations + archive.n_families,
            improved=state.generation,
            score=-math.inf,
            credit=np.zeros_like(state.credit),
            hope=np.ones_like(state.hope),
        )
        return self._with_orders(after, archive, *self._improve_orders(rng, state.orders, archive))

    def with_migrants(self, state: CCMAState, other: CCMAState, n_orders: int) -> CCMAState:
        """Return `state` with its worst orders replaced by the best orders of `other`.

        The migrants take along the families that they have chosen, so their scores stay at
        least the same. There is no migration during the hill climbing of either state.
        """
        if state.is_climbing or other.is_climbing:
            return state
        source, n = other.archive, min(n_orders, self.n_orders - 1)
        families = np.unique(other.choice[:n])
        sets = flatten_sets([source.parents_of(family) for family in families.tolist()])
        children, scores = source.children[families], source.score[families]
        none = np.empty(0, dtype=np.uint64)
        archive = state.archive.with_families(children, scores, *sets, none)
        orders = np.concatenate([state.orders[:-n], other.orders[:n]])
        return self._with_orders(state, archive, *find_responses(self._problem, archive, orders))

    def rank_structures(self, state: CCMAState) -> list[NDArray[np.bool_]]:
        """Return the structures of all orders, the best first.

        During the hill climbing, return its only structure.
        """
        return list(self.iter_structures(state)) or [state.adjacency]

    def _make_climb_step(self, rng: Generator, state: CCMAState) -> CCMAState:
        """Make some moves of the hill climbing; at a local optimum, start the evolution."""
        climb = SparseClimb(
            self._problem, state.candidates[ELITE], state.adjacency, state.gains, state.local
        )
        at_top = climb.climb(ROUNDS_PER_STEP)
        score = climb.compute_score()
        better = (climb.adjacency, score) if score > state.score else None
        after = state.advance(climb.evaluations, better, gains=climb.gains, local=climb.local)
        return self._start_evolution(rng, after) if at_top else after

    def _start_evolution(self, rng: Generator, state: CCMAState) -> CCMAState:
        """Return the first state of the evolution: the order of the structure and random ones."""
        n = self._n
        required = _list_parent_sets(self._problem.rules.required)
        extensions = extend_parent_sets(self._problem, required, state.candidates[ELITE])
        archive = add_extensions(state.archive, extensions)
        scores = self._problem.local_scores(state.adjacency)
        none = np.empty(0, dtype=np.uint64)
        sets = flatten_sets([parents for _, parents in _list_parent_sets(state.adjacency)])
        archive = archive.with_families(np.arange(n), scores, *sets, none)
        first = encode_dag(self._problem.make_dag(state.adjacency), self._problem.names)[0]
        drawn = [rng.permutation(n) for _ in range(self.n_orders - 1)]
        orders = np.array([first, *drawn], dtype=np.int64).reshape(self.n_orders, n)
        after = replace(
            state,
            is_climbing=False,
            evaluations=state.evaluations + extensions.n_scored + n,
            gains=np.empty((0, state.gains.shape[1])),
            local=np.empty(0),
            **make_archive_fields(archive),
        )
        return self._with_orders(after, archive, *self._improve_orders(rng, orders, archive))

    def _evolve(self, rng: Generator, state: CCMAState) -> CCMAState:
        """Return the next generation of both species."""
        order_rng, mask_rng = rng.spawn(2)
        parent_sets, turns = self._breed_parent_sets(mask_rng, state)
        works = self._extend(state, parent_sets, turns)
        archive = add_extensions(state.archive, *(work.extensions for work in works))
        orders = self._breed_orders(order_rng, state)
        is_stalled = state.improved < state.generation
        improved = self._improve_orders(order_rng, orders, archive, is_stalled)
        n_scored = sum(work.extensions.n_scored for work in works)
        after = self._with_orders(state.advance(n_scored), archive, *improved)

        # What each order would lose without the new families.
        _, without = find_responses(self._problem, state.archive, after.orders)
        losses = archive.score[after.choice] - state.archive.score[without]
        masks = state.masks
        for turns, extensions in works:
            masks = assign_credit(masks, turns, extensions, archive, after.choice, losses)
        masks = self._evolve_masks(mask_rng, masks, works, after)
        return after.with_archive(archive, **make_mask_fields(masks))

    def _breed_parent_sets(self, rng: Generator, state: CCMAState) -> tuple[list[ParentSet], Turns]:
        """Return the parent sets that this generation extends, and the rows that extend them."""
        breeder = ParentSetBreeder(
            rng,
            self._problem.rules,
            state.archive,
            state.orders,
            state.choice,
            state.candidates,
        )
        return breeder.breed(
            self._iter_turns(rng, state), self._widths.tolist(), self._max_families
        )

    def _extend(
        self, state: CCMAState, parent_sets: list[ParentSet], turns: Turns
    ) -> tuple[Work, Work]:
        """Score the work of all rows: that of scouts with all variables, and the rest before it."""
        is_scan = (self._widths > self._width)[turns[:, 0]]
        narrow, wide = np.flatnonzero(~is_scan), np.flatnonzero(is_scan)
        rows = self._get_rows(state, turns[narrow])
        sets = [parent_sets[i] for i in narrow.tolist()]
        extensions = extend_parent_sets(self._problem, sets, rows)
        everything = np.tile(np.arange(self._n, dtype=np.int32), (len(wide), 1))
        sets = [parent_sets[i] for i in wide.tolist()]
        scans = extend_parent_sets(self._problem, sets, everything)
        hashes = np.concatenate([scans.hashes, scans.hashes ^ np.uint64(SCANNED)])
        return Work(turns[narrow], extensions), Work(turns[wide], replace(scans, extended=hashes))

    def _get_rows(self, state: CCMAState, turns: Turns) -> NDArray[np.int32]:
        """Return the candidates of the rows that have a turn."""
        rows: NDArray[np.int32] = state.candidates[turns[:, 0], turns[:, 1]]
        return rows

    def _evolve_masks(
        self, rng: Generator, masks: Masks, works: tuple[Work, Work], after: CCMAState
    ) -> Masks:
        """Return the masks whose rows have learned from their turns, and from the scouts."""
        narrow, wide = works
        masks = evolve_rows(rng, masks, *narrow, after.archive, after.choice)
        return spread_findings(masks, *wide)

    def _draw_turns(self, rng: Generator, state: CCMAState) -> Turns:
        """Return the turns of all masks in their sequence; those of the elite are not used."""
        return draw_turns(rng, state.masks, self._widths)

    def _breed_orders(self, rng: Generator, state: CCMAState) -> Orders:
        """Return the orders and their children; at a restart, the best order and random ones."""
        n_stalled = state.generation - state.improved
        if n_stalled and n_stalled % self._method.restart_after == 0:
            drawn = [rng.permutation(self._n) for _ in range(len(state.orders))]
            return np.concatenate([state.orders[:1], np.array(drawn, dtype=np.int64)])
        bred = breed_orders(rng, state.orders, state.choice, state.archive, self.n_orders)
        return np.concatenate([state.orders, bred])

    def _improve_orders(
        self, rng: Generator, orders: Orders, archive: Archive, is_perturbed: bool = True
    ) -> tuple[Orders, NDArray[np.int64]]:
        """Return the orders after local search, with the families that they choose."""
        draws = self._draw(rng, len(orders), is_perturbed)
        return improve_orders(self._problem, archive, orders, draws, self.least_gain)

    def _draw(self, rng: Generator, n_orders: int, is_perturbed: bool) -> ClimbDraws:
        """Draw the random numbers of the climbs."""
        n_perturbations = (self.n_perturbations, self.n_local) if is_perturbed else (0, 0)
        return ClimbDraws.draw(rng, (n_orders, self._n), *n_perturbations)

    def _with_orders(
        self, state: CCMAState, archive: Archive, orders: Orders, choice: NDArray[np.int64]
    ) -> CCMAState:
        """Return the state with the best orders of distinct structures, and the best structure."""
        totals = archive.score[choice].sum(axis=1)
        ranked = np.argsort(-totals, kind="stable")
        _, first = np.unique(choice[ranked], axis=0, return_index=True)
        distinct = ranked[np.sort(first)]
        others = ranked[~np.isin(ranked, distinct)]
        kept = np.concatenate([distinct, others])[: self.n_orders]
        score = math.fsum(archive.score[choice[kept[0]]])
        best: dict[str, Any] = {}
        if score > state.score + LEAST_GAIN:
            adjacency = self._make_adjacency(archive, choice[kept[0]])
            best = {"adjacency": adjacency, "score": score, "improved": state.generation}
        return state.with_archive(archive, orders=orders[kept], choice=choice[kept], **best)

    def _make_adjacency(self, archive: Archive, choice: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return the adjacency matrix of the families that an order has chosen."""
        adjacency = np.zeros((self._n, self._n), dtype=np.bool_)
        child, parent = archive.list_pairs(choice)
        adjacency[parent, child] = True
        return adjacency

    def _iter_turns(self, rng: Generator, state: CCMAState) -> Iterator[tuple[int, int]]:
        """Yield (mask, child) in the order of their turns: the elite mask first.

        The elite mask has a turn where the best order has a new parent set, which costs little and
        brings the most. All other turns are drawn by credit.
        """
        first = state.generation * self._max_families // self._width
        for i in range(self._n):
            yield ELITE, (first + i) % self._n
        for mask, child in self._draw_turns(rng, state).tolist():
            if mask != ELITE:
                yield mask, child


class Work(NamedTuple):
    """Turns, and what they scored."""

    turns: Turns
    extensions: Extensions


def _list_parent_sets(adjacency: NDArray[np.bool_]) -> list[ParentSet]:
    """Return the parents of each child of a structure."""
    return [
        (child, tuple(np.flatnonzero(parents).tolist()))
        for child, parents in enumerate(adjacency.T)
    ]


def _make_info(state: CCMAState) -> Info:
    return {
        "n_families": float(len(state.family_scores)),
        "n_extended": float(len(state.extended)),
        **name_credit(state.credit),
    }
