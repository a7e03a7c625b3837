"""The literal form: the two species of the 2011 paper on any problem about permutations.

The species are the orders and the masks of `coevo.search.ccga`, with the same operators and the
same settings. A mask is a programme of moves on an order. Its bits are read row by row: bit
(i, j) of a tour reverses the positions i + 1 to j, which is a 2-opt move. Bit (i, j) of an
ordering moves the item at position i to position j. Every order with every mask is a solution,
and nothing is repaired. A mask without bits is the order itself, so every solution can be
reached.

The masks start without bits. The paper starts with one parent for each variable, so that the first
structures are sparse. Here as many bits would be as many random moves: they would hide from the
selection which orders are good. Over 20 seeds, tours of berlin52 are 38% above the optimum with
empty masks at the start, and 47% with one bit for each position.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from coevo.engine import INT, array, kernel, read_array
from coevo.problems.problem import Problem, TourProblem
from coevo.problems.solver import Solver, SolveState
from coevo.search import Budget, Cooperation, Generation, Species, n_bits
from coevo.search.base import PERMUTATIONS, Array
from coevo.search.graph_kernels import Solutions
from coevo.search.operators import (
    cycle_crossover,
    draw_orders,
    flip_bits,
    swap_two,
    two_point_crossover,
)

__all__ = ["LiteralSolver", "measure_programmes", "reverse_positions", "run_programme"]


# The kernel of the literal form: decode orders and masks, and measure the solutions.
#
# One kernel serves tours and orderings, because both decode a mask in the same way: its bits act
# row by row on the order.


@kernel(INT, read_array(np.float64, 2), Solutions, array(np.int64), array(np.float64))
def measure_programmes(
    is_tour: bool,
    matrix: NDArray[np.float64],
    solutions: Solutions,
    order: NDArray[np.int64],
    values: NDArray[np.float64],
) -> None:
    """Overwrite ``values[s]`` with the value of solution s, a length or a weight.

    Bit (i, j) of a mask reverses the positions i + 1 to j of a tour, and moves the item at
    position i of an ordering to position j. `matrix` holds the distances or the weights. `order`
    is scratch.
    """


POPULATION, P_SWAP, P_CROSSOVER = 100, 0.5, 0.6  # table 2 of the paper
Order = NDArray[np.int64]
Mask = NDArray[np.bool_]


def reverse_positions(order: Order, i: int, j: int) -> None:
    """Reverse the positions i + 1 to j in place: a 2-opt move."""
    order[i + 1 : j + 1] = order[i + 1 : j + 1][::-1].copy()


def move_item(order: Order, i: int, j: int) -> None:
    """Move the item at position i to the later position j in place."""
    order[i : j + 1] = np.roll(order[i : j + 1], -1)


def run_programme(order: Order, mask: Mask, move: Callable[[Order, int, int], None]) -> Order:
    """Return the solution of an order and a mask."""
    made = order.copy()
    rows, columns = np.triu_indices(len(order), k=1)
    for bit in np.flatnonzero(mask):
        move(made, int(rows[bit]), int(columns[bit]))
    return made


class LiteralSolver(Solver):
    """CCGA-2 with orders and masks, on a tour or an ordering."""

    default_budget: ClassVar[Budget] = Budget(max_generations=250)

    def __init__(self, problem: Problem) -> None:
        n = self.n_places = problem.n_places
        self._problem = problem
        is_tour = isinstance(problem, TourProblem)
        self.sign = -1.0 if is_tour else 1.0
        self._move = reverse_positions if is_tour else move_item
        orders = Species(
            draw=lambda rng, size: draw_orders(rng, size, n),
            cross=lambda rng, one, two: cycle_crossover(rng, one, two, P_CROSSOVER),
            mutate=lambda rng, crossed: swap_two(rng, crossed, P_SWAP),
        )
        masks = Species(
            draw=lambda rng, size: np.zeros((size, n_bits(n)), dtype=np.bool_),
            cross=lambda rng, one, two: two_point_crossover(rng, one, two, P_CROSSOVER),
            mutate=lambda rng, crossed: flip_bits(rng, crossed, 1 / max(1, n_bits(n))),
        )
        self._cooperation = Cooperation((orders, masks), self._evaluate, population=POPULATION)

    def _evaluate(
        self, pools: Sequence[NDArray[Any]], chosen: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        values, order = np.empty(chosen.shape[1]), np.empty(self.n_places, dtype=np.int64)
        is_tour, matrix = isinstance(self._problem, TourProblem), self._problem.matrix
        solutions = Solutions(pools[0], chosen[0], pools[1], chosen[1])
        measure_programmes(is_tour, matrix, solutions, order, values)
        return self.sign * values

    def start(self, rng: Generator) -> SolveState:
        """Return random populations, each individual scored with a random partner."""
        made = self._cooperation.start(rng)
        order, score = self._decode(made)
        parts = (*made.populations, *made.scores)
        return SolveState(0, made.n_solutions, 0, score, order, parts)

    def step(self, rng: Generator, state: SolveState) -> SolveState:
        """Return the next generation of both species."""
        made = self._cooperation.step(rng, state.parts[:2], state.parts[2:])
        order, score = self._decode(made)
        return state.advance(made.n_solutions, score, order, *made.populations, *made.scores)

    def declare_parts(self) -> tuple[Array, ...]:
        """Return that a state holds populations of orders and masks, and their scores."""
        return (
            Array(np.int64, (POPULATION, "n"), PERMUTATIONS),
            Array(np.bool_, (POPULATION, n_bits(self.n_places))),
            *(Array(np.float64, (POPULATION,)) for _ in range(2)),
        )

    def _decode(self, made: Generation) -> tuple[Order, float]:
        """Return the best solution of a generation, and its score."""
        order = run_programme(made.best[0], made.best[1], self._move)
        return order, self.sign * self._problem.measure(order)
