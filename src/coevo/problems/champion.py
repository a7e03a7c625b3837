"""The champion form: populations that climb, as CCMA does for graphs.

Tours. One species are tours, the other one are the neighbours of each city: a row a city, with the
cities that moves may join it to. Tours climb by 2-opt and or-opt moves inside the rows. Then they
are perturbed by double bridges and climb again. A row holds the nearest cities, and a few places
that evolve. A place is credited with what its edge gained in the tours. Each generation the place
with the least credit gets another city, from a tour or from the cities nearby.

In each generation the worst tour is replaced by a copy of the best one.

Orderings. Here the partner can be computed: the best mask of an order takes all forward arcs. So
only orders evolve, by a memetic algorithm as that of Schiavinotto and Stützle [1]_: two orders are
crossed, and the child climbs by insertion moves. What the parents agree on mostly stays, so a child
is a local optimum after a few moves. The best orders of different weights survive. A generation
without a survivor among its children leads to a restart: random orders that climb join the best
one, twice as many as before. A small population is better in a short time, a large one in a long
time, and nobody has to choose. On random matrices this is better than an iterated local search of
one order, and than ten of them, which it replaced (``benchmarks/README.md``).

.. [1] T. Schiavinotto, T. Stützle (2004). The linear ordering problem: instances, search space
   analysis and algorithms. Journal of Mathematical Modelling and Algorithms 3, 367-402.
"""

from __future__ import annotations

import itertools
from typing import ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from coevo.engine import Structure, array, kernel, number, read_array
from coevo.problems.problem import OrderingProblem, TourProblem
from coevo.problems.solver import Solver, SolveState
from coevo.runtime.deadline import check_deadline
from coevo.search import Budget
from coevo.search.base import PERMUTATIONS, Array, make_range
from coevo.search.operators import draw_orders

__all__ = [
    "ChampionOrderings",
    "ChampionTours",
    "OrderingTable",
    "TourTable",
    "climb_orderings",
    "climb_tours",
    "make_tour_table",
    "weigh_orderings",
]


# Kernels that weigh orderings, and let them climb by insertion moves; see engine/ordering.h.


class OrderingTable(Structure):
    """The weights of a problem."""

    weights: NDArray[np.float64] = read_array(np.float64, 2)  # [i, j]: of i before j
    net: NDArray[np.float64] = read_array(np.float64, 2)  # weights[i, j] - weights[j, i]
    least: float = number(float)  # a smaller gain is round-off


@kernel(OrderingTable, array(np.int64, 2), array(np.float64))
def climb_orderings(
    table: OrderingTable, orders: NDArray[np.int64], totals: NDArray[np.float64]
) -> None:
    """Overwrite each order with one that no insertion makes heavier, and `totals` with the weights.

    An insertion moves one item to another position.
    """


@kernel(OrderingTable, read_array(np.int64, 2), array(np.float64))
def weigh_orderings(
    table: OrderingTable, orders: NDArray[np.int64], totals: NDArray[np.float64]
) -> None:
    """Overwrite `totals` with the weight of each order: the sum over its pairs in sequence."""


# The kernel that shortens tours by 2-opt and or-opt, and by double bridges; see engine/tour.h.


TOUR_SCRATCH = 4  # rows of scratch


class TourTable(Structure):
    """What all climbs share; `make_tour_table` makes it."""

    distances: NDArray[np.float64] = read_array(np.float64, 2)
    rows: NDArray[np.int64] = read_array(np.int64, 2)  # neighbours of each city, nearest first
    credit: NDArray[np.float64] = array(np.float64, 2)  # of each neighbour in a row
    scratch: NDArray[np.int64] = array(np.int64, 2)
    least: float = number(float)  # a smaller gain is round-off


def make_tour_table(
    distances: NDArray[np.float64], rows: NDArray[np.int64], least: float
) -> TourTable:
    """Return the table for climbs in which moves join city c to cities of ``rows[c]`` only."""
    scratch = np.empty((TOUR_SCRATCH, len(distances)), dtype=np.int64)
    return TourTable(distances, rows, np.zeros(rows.shape), scratch, least)


@kernel(TourTable, array(np.int64, 2), array(np.float64), read_array(np.float64, 3))
def climb_tours(
    table: TourTable,
    tours: NDArray[np.int64],
    lengths: NDArray[np.float64],
    draws: NDArray[np.float64],
) -> None:
    """Overwrite each tour with a shorter one: climb, then perturb and climb again and again.

    Tour t is perturbed by ``draws[t]``, three numbers from [0, 1) each time; a longer tour is
    undone. The gains of all moves are added to the ``table.credit`` of the neighbours that they
    used. Needs five cities.
    """


N_TOURS = 20
N_ORDERS, MAX_ORDERS = 10, 160  # orderings at the start, and after several restarts
N_NEAREST, N_EVOLVING = 8, 2  # neighbours of each city
N_NEARBY = 30  # nearest cities that an evolving place is drawn from
MAX_PERTURBATIONS = 1000  # of each tour in a generation
ROUND_OFF = 1e-13  # of the largest number
MIN_CITIES = 5  # of the moves; fewer are enumerated

Tours = NDArray[np.int64]  # (n_tours, n)
Rows = NDArray[np.int64]  # (n, n_neighbours), cities


class ChampionTours(Solver):
    """Tours that climb inside evolving rows of neighbours."""

    default_budget: ClassVar[Budget] = Budget(patience=25)
    sign = -1.0

    def __init__(self, problem: TourProblem) -> None:
        self._distances, self.n_places = problem.distances, problem.n_places
        self._least = ROUND_OFF * max(1.0, float(np.abs(problem.distances).max()))
        other = np.array(problem.distances)
        np.fill_diagonal(other, np.inf)
        n_nearby = min(self.n_places - 1, N_NEARBY)
        self._nearby = np.argsort(other, axis=1, kind="stable")[:, :n_nearby]

    def start(self, rng: Generator) -> SolveState:
        """Return tours that join nearest cities, after their first climb."""
        if self.n_places < MIN_CITIES:
            return self._enumerate()
        starts = rng.integers(self.n_places, size=N_TOURS)
        tours = np.array([self._join_nearest(int(city)) for city in starts])
        evolving = self._nearby[:, N_NEAREST : N_NEAREST + N_EVOLVING].copy()
        credit = np.zeros(evolving.shape)
        lengths, earned = self._climb(tours, np.empty((N_TOURS, 0, 3)), evolving)
        best = int(lengths.argmin())
        parts = (tours, evolving, credit + earned)
        return SolveState(0, N_TOURS, 0, -float(lengths[best]), tours[best].copy(), parts)

    def step(self, rng: Generator, state: SolveState) -> SolveState:
        """Return the next generation of tours and rows."""
        old_tours, old_evolving, old_credit = state.parts
        tours = old_tours.copy()
        evolving, credit = self._evolve_rows(rng, tours, old_evolving, old_credit)
        n_perturbations = min(self.n_places, MAX_PERTURBATIONS)
        draws = rng.random((N_TOURS, n_perturbations, 3))
        lengths, earned = self._climb(tours, draws, evolving)
        best = int(lengths.argmin())
        tours[lengths.argmax()] = tours[best]
        n_climbs = N_TOURS * (1 + n_perturbations)
        score = -float(lengths[best])
        return state.advance(n_climbs, score, tours[best], tours, evolving, credit / 2 + earned)

    def declare_parts(self) -> tuple[Array, ...]:
        """Return that a state holds tours, the evolving neighbours, and their credit."""
        if self.n_places < MIN_CITIES:
            return ()
        width = self._nearby[:, N_NEAREST : N_NEAREST + N_EVOLVING].shape[1]
        return (
            Array(np.int64, (N_TOURS, "n"), PERMUTATIONS),
            Array(np.int64, ("n", width), make_range(0, "n")),
            Array(np.float64, ("n", width)),
        )

    def find_flaw(self, state: SolveState) -> str:
        """Return the first flaw of a state from a file; "" if none."""
        flaw = super().find_flaw(state)
        if flaw or self.n_places < MIN_CITIES:
            return flaw
        is_own = state.parts[1] == np.arange(self.n_places)[:, None]  # a climb would never end
        return "'part.1' must not make a city its own neighbour" if is_own.any() else ""

    def is_finished(self, state: SolveState) -> bool:
        """Return whether all tours were enumerated."""
        return self.n_places < MIN_CITIES

    def _enumerate(self) -> SolveState:
        """Return the best of all tours through very few cities."""
        tours = [(0, *rest) for rest in itertools.permutations(range(1, self.n_places))]
        index = np.array(tours)
        lengths = self._distances[index, np.roll(index, -1, axis=1)].sum(axis=1)
        best = int(lengths.argmin())
        return SolveState(0, len(tours), 0, -float(lengths[best]), index[best], ())

    def _join_nearest(self, city: int) -> NDArray[np.int64]:
        """Return the tour that always goes to the nearest city that is left."""
        left = np.ones(self.n_places, dtype=np.bool_)
        tour = [city]
        for _ in range(self.n_places - 1):
            left[tour[-1]] = False
            tour.append(int(np.where(left, self._distances[tour[-1]], np.inf).argmin()))
        return np.array(tour)

    def _climb(
        self, tours: Tours, draws: NDArray[np.float64], evolving: Rows
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Overwrite the tours; return their lengths, and the gains of the evolving places."""
        rows = np.concatenate([self._nearby[:, :N_NEAREST], evolving], axis=1)
        distances = np.take_along_axis(self._distances, rows, axis=1)
        places = np.argsort(distances, axis=1, kind="stable")  # the kernel wants nearest first
        rows = np.ascontiguousarray(np.take_along_axis(rows, places, axis=1))
        table, lengths = make_tour_table(self._distances, rows, self._least), np.empty(len(tours))
        for t in range(len(tours)):
            if draws.shape[1]:  # not at the start: there must be a solution
                check_deadline()
            one = slice(t, t + 1)
            climb_tours(table, tours[one], lengths[one], draws[one])
        earned = np.empty_like(table.credit)
        np.put_along_axis(earned, places, table.credit, axis=1)
        return lengths, earned[:, rows.shape[1] - evolving.shape[1] :]

    def _evolve_rows(
        self, rng: Generator, tours: Tours, evolving: Rows, credit: NDArray[np.float64]
    ) -> tuple[Rows, NDArray[np.float64]]:
        """Put another city into the place with the least credit of each row."""
        if evolving.shape[1] < N_EVOLVING:
            return evolving, credit  # the rows hold all cities
        cities = np.arange(self.n_places)
        tour = tours[rng.integers(len(tours))]
        following = np.empty(self.n_places, dtype=np.int64)
        following[tour] = np.roll(tour, -1)
        near = self._nearby[cities, rng.integers(self._nearby.shape[1], size=self.n_places)]
        new = np.where(rng.random(self.n_places) < 0.5, following, near)
        row = np.concatenate([self._nearby[:, :N_NEAREST], evolving], axis=1)
        is_new = (row != new[:, None]).all(axis=1)
        worst = credit.argmin(axis=1)
        changed, changed_credit = evolving.copy(), credit.copy()
        changed[cities[is_new], worst[is_new]] = new[is_new]
        changed_credit[cities[is_new], worst[is_new]] = 0.0
        return changed, changed_credit


class ChampionOrderings(Solver):
    """Orders that are crossed and climb by insertion moves; the population grows at restarts."""

    default_budget: ClassVar[Budget] = Budget(patience=100)

    def __init__(self, problem: OrderingProblem) -> None:
        self.n_places = problem.n_places
        # Few items have few local optima: a larger population would only repeat them.
        largest_size = max(N_ORDERS, min(MAX_ORDERS, 2 * self.n_places))
        self._sizes = [N_ORDERS]
        while self._sizes[-1] < largest_size:
            self._sizes.append(min(2 * self._sizes[-1], largest_size))
        largest = float(np.abs(problem.weights).max())
        self._table = OrderingTable(
            weights=problem.weights,
            net=np.ascontiguousarray(problem.weights - problem.weights.T),
            least=ROUND_OFF * self.n_places * max(1.0, largest),
        )

    def start(self, rng: Generator) -> SolveState:
        """Return random orders after their climb."""
        orders = draw_orders(rng, N_ORDERS, self.n_places)
        weights = self._climb(orders, has_deadline=False)  # there must be a solution
        best = int(weights.argmax())
        return SolveState(0, N_ORDERS, 0, float(weights[best]), orders[best].copy(), (orders,))

    def step(self, rng: Generator, state: SolveState) -> SolveState:
        """Return the best of the orders and their children, or the orders of a restart."""
        orders = state.parts[0]
        size, old_weights = len(orders), np.empty(len(orders))
        weigh_orderings(self._table, orders, old_weights)
        children = self._cross(rng, orders)
        weights = np.concatenate([old_weights, self._climb(children)])
        pool = np.concatenate([orders, children])

        # One order of each weight first: equal weights are mostly equal orders, and of these the
        # old one counts.
        _, first = np.unique(-weights, return_index=True)
        others = np.setdiff1d(np.arange(2 * size), first)
        kept = np.concatenate([first, others])[:size]
        best = int(first[0])
        score, n_climbs = float(weights[best]), size
        if (first[:size] >= size).any():
            return state.advance(n_climbs, score, pool[best], pool[kept])

        # No child survived: the orders agree on what a crossing can find.
        fresh = draw_orders(rng, min(2 * size, self._sizes[-1]) - 1, self.n_places)
        fresh_weights = self._climb(fresh)
        n_climbs += len(fresh)
        population = np.concatenate([pool[best : best + 1], fresh])
        leader = int(fresh_weights.argmax())
        if fresh_weights[leader] > score:
            return state.advance(n_climbs, float(fresh_weights[leader]), fresh[leader], population)
        return state.advance(n_climbs, score, pool[best], population)

    def declare_parts(self) -> tuple[Array, ...]:
        """Return that a state holds orders."""
        return (Array(np.int64, ("orders", "n"), PERMUTATIONS),)

    def find_flaw(self, state: SolveState) -> str:
        """Return the first flaw of a state from a file; "" if none."""
        flaw = super().find_flaw(state)
        if flaw or len(state.parts[0]) in self._sizes:
            return flaw
        return f"'part.0' must hold {' or '.join(map(str, self._sizes))} orders"

    def _cross(self, rng: Generator, orders: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return as many children, by order-based crossover.

        A random half of the items of one order is put into the sequence that it has in another.
        """
        children = np.empty_like(orders)
        is_moved = rng.random(orders.shape) < 0.5  # by item
        for c in range(len(orders)):
            one, two = orders[rng.choice(len(orders), 2, replace=False)]
            children[c] = one
            children[c, is_moved[c, one]] = two[is_moved[c, two]]
        return children

    def _climb(self, orders: NDArray[np.int64], has_deadline: bool = True) -> NDArray[np.float64]:
        """Overwrite the orders; return their weights."""
        weights = np.empty(len(orders))
        for o in range(len(orders)):
            if has_deadline:
                check_deadline()
            one = slice(o, o + 1)
            climb_orderings(self._table, orders[one], weights[one])
        return weights
