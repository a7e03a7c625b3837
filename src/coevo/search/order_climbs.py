"""Local search on a population of orders: the random numbers that it needs, and the threads.

Kernels never draw. `ClimbDraws` holds all random numbers of a generation, drawn before the orders
are divided among threads. The result therefore does not depend on the number of threads.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from coevo.search.archive import Archive
from coevo.search.base import Problem
from coevo.search.graph_kernels import put_required_first
from coevo.search.operators import Orders
from coevo.search.order_kernels import GLOBAL_DRAWS, LOCAL_DRAWS, climb_orders

__all__ = ["ClimbDraws", "find_responses", "improve_orders"]

# A part of a generation for a thread has at least so many places of orders that climb: some 0.3 ms
# of work. Less costs more than it saves.
SMALLEST_PART = 1024

Choice = NDArray[np.int64]  # (n_orders, n), the family that each order has chosen for each child


@dataclass(frozen=True, eq=False)
class ClimbDraws:
    """The random numbers of the climbs of some orders."""

    visits: NDArray[np.int64]  # (n_orders, n), in which sequence variables are tried first
    perturbations: NDArray[np.float64]  # (n_orders, n_perturbations, n + GLOBAL_DRAWS)
    local: NDArray[np.float64]  # (n_orders, n_local, LOCAL_DRAWS)

    @classmethod
    def draw(
        cls, rng: Generator, shape: tuple[int, int], n_perturbations: int, n_local: int
    ) -> ClimbDraws:
        """Draw the numbers for orders of this shape."""
        n_orders, n = shape
        visits = rng.permuted(np.tile(np.arange(n), (n_orders, 1)), axis=1)
        perturbations = rng.random((n_orders, n_perturbations, n + GLOBAL_DRAWS))
        return cls(visits, perturbations, rng.random((n_orders, n_local, LOCAL_DRAWS)))

    @classmethod
    def make_empty(cls, shape: tuple[int, int]) -> ClimbDraws:
        """Return the numbers for climbs without perturbations, variables in their sequence."""
        n_orders, n = shape
        visits = np.tile(np.arange(n), (n_orders, 1))
        perturbations = np.empty((n_orders, 0, n + GLOBAL_DRAWS))
        return cls(visits, perturbations, np.empty((n_orders, 0, LOCAL_DRAWS)))


def improve_orders(
    problem: Problem, archive: Archive, orders: Orders, draws: ClimbDraws, least_gain: float
) -> tuple[Orders, Choice]:
    """Return the orders after all moves above `least_gain`, and the families they choose."""
    moved = _put_required_first(problem, orders)
    choice = np.empty(orders.shape, dtype=np.int64)
    families, index = archive.families, archive.index

    def climb(begin: int, end: int, part: int) -> None:
        rows = slice(begin, end)
        with archive.lend_scratch() as scratch:
            climb_orders(
                moved[rows],
                draws.visits[rows],
                draws.perturbations[rows],
                draws.local[rows],
                families,
                index,
                scratch,
                least_gain,
                choice[rows],
            )

    n_climbs = 1 + draws.perturbations.shape[1]  # of an order
    least = max(1, SMALLEST_PART // max(1, orders.shape[1] * n_climbs))
    problem.scorer.threads.run_in_parts(climb, len(orders), least, is_uneven=True)
    return moved, choice


def find_responses(problem: Problem, archive: Archive, orders: Orders) -> tuple[Orders, Choice]:
    """Return the unchanged orders, with the families that they choose."""
    draws = ClimbDraws.make_empty(orders.shape)
    return improve_orders(problem, archive, orders, draws, math.inf)


def _put_required_first(problem: Problem, orders: Orders) -> Orders:
    """Return a copy of the orders in which required parents come first."""
    required = problem.rules.required
    return put_required_first(orders, required) if required.any() else orders.copy()
