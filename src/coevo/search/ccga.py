"""CCGA: the cooperative coevolutionary genetic algorithm of Carvalho (GECCO 2011).

This module implements the algorithm of the paper and does not improve on it. The improved
algorithm of this package is another method, `coevo.search.ccma`.

Two species evolve side by side: orders of the variables, and masks over pairs of positions
(`coevo.search.encoding`). An order with a mask is a DAG. Each generation makes these steps for
both species, starting from the populations of the previous generation. They are the steps of
`coevo.search.cooperation`, with these operators:

1. Select as many individuals as the population has, by tournaments of two. Each individual
   enters exactly two tournaments.
2. Pair the selected individuals at random. Cross a pair with probability `p_crossover`, else
   copy it. Masks use two-point crossover, orders use cycle crossover.
3. Mutate: flip each bit of a mask with probability `p_flip`; swap two positions of an order
   with probability `p_swap`.
4. Score each child as a complete solution, once with the best partner of the other species and
   once with a random partner. The higher score counts (CCGA-2 of Potter and De Jong).
5. Keep the best individual with its score. All children but the worst take the other places.

The result is the best complete solution of the run. Ties go to the first individual. The
defaults are the values of table 2 of the paper. The paper leaves two improvements to later
work: caching of local scores and parallel evaluation. This module uses both, and scores a
generation as one batch. That changes the time, not the result.

Constraints hold because of how an order and a mask are decoded
(`coevo.search.graph_kernels`). The order and the mask stay unchanged, and nothing is repaired.

References
----------
A. Carvalho (2011). A cooperative coevolutionary genetic algorithm for learning Bayesian network
structures. GECCO 2011 (Genetic and Evolutionary Computation Conference), Dublin.

M. A. Potter, K. A. De Jong (1994). A cooperative coevolutionary approach to function
optimization. PPSN III, 249-257.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from coevo.checks import is_number
from coevo.errors import bad_parameter
from coevo.search.base import (
    PERMUTATIONS,
    SCORES,
    Array,
    Info,
    Method,
    Problem,
    Schema,
    Search,
    SearchState,
)
from coevo.search.cooperation import Cooperation, Generation, Species
from coevo.search.encoding import encode_dag, n_bits
from coevo.search.loop import Budget
from coevo.search.operators import (
    Masks,
    Orders,
    Scores,
    cycle_crossover,
    draw_masks,
    draw_orders,
    flip_bits,
    swap_two,
    two_point_crossover,
)
from coevo.search.solution_scorer import SolutionScorer
from coevo.search.species import MaskRow, Populations, count_pairs

__all__ = ["CCGA", "CCGAState"]

GENERATIONS = 250  # table 2 of the paper


@dataclass(frozen=True, eq=False)
class CCGAState(SearchState):
    """Both populations with the scores of their individuals."""

    schema: ClassVar[Schema] = {
        **SearchState.schema,
        "orders": Array(np.int64, ("population", "n"), PERMUTATIONS),
        "order_scores": Array(np.float64, ("population",), SCORES),
        "masks": Array(np.bool_, ("population", "bits")),
        "mask_scores": Array(np.float64, ("population",), SCORES),
    }

    orders: Orders
    order_scores: Scores
    masks: Masks
    mask_scores: Scores

    def get_populations(self) -> Populations:
        """Return both species; a mask stands for the arcs that it has under the best order."""
        best = int(self.order_scores.argmax())
        ranked = np.argsort(-self.order_scores, kind="stable")
        pairs = count_pairs(self.orders[best], self.masks)
        return Populations(
            self.orders[ranked],
            len(self.masks),
            pairs,
            self.mask_scores,
            row=_choose_row(self.orders[best], self.masks[int(self.mask_scores.argmax())]),
        )


def _choose_row(order: NDArray[np.int64], mask: NDArray[np.bool_]) -> MaskRow | None:
    """Return the longest row of a mask under an order; None if the mask is empty."""
    pairs = count_pairs(order, mask[None])
    if not len(pairs):
        return None
    child = int(np.bincount(pairs[:, 1]).argmax())
    return MaskRow("the best mask", child, pairs[pairs[:, 1] == child, 0])


@dataclass(frozen=True)
class CCGA(Method):
    """Settings of CCGA; the defaults are those of the paper.

    Parameters
    ----------
    population : int
        Number of individuals of each species, at least 2.
    p_flip : float, optional
        Probability of flipping each bit of a mask (default: 1 / number of bits).
    p_swap : float
        Probability of swapping two positions, for each order.
    p_crossover : float
        Probability of crossing a pair.
    random_partners : int
        Number of random partners of each child, in addition to the best partner: 1 is
        CCGA-2, 0 is CCGA-1.

    Examples
    --------
    >>> CCGA(population=50, random_partners=0).settings["random_partners"]
    0
    >>> CCGA(p_swap=2)
    Traceback (most recent call last):
    coevo.errors.ParameterError: 'p_swap' of CCGA must be a number from 0 to 1; got 2.
    """

    name: ClassVar[str] = "ccga"
    state_type: ClassVar[type[SearchState]] = CCGAState
    default_budget: ClassVar[Budget] = Budget(max_generations=GENERATIONS)

    population: int = 100
    p_flip: float | None = None
    p_swap: float = 0.5
    p_crossover: float = 0.6
    random_partners: int = 1

    def __post_init__(self) -> None:
        self.check_counts(population=2, random_partners=0)
        for name in ("p_flip", "p_swap", "p_crossover"):
            value = getattr(self, name)
            expected = "a number from 0 to 1" + (" or None" if name == "p_flip" else "")
            if value is None and name == "p_flip":
                continue
            if not (is_number(value) and 0 <= value <= 1):
                raise bad_parameter(name, "CCGA", expected, value)

    def estimate_memory(self, n_variables: int) -> int:
        """Return an upper estimate of the bytes that a search needs, without the scorer.

        It counts two populations and the random numbers of the operators, one for each bit.
        """
        return 16 * self.population * n_bits(n_variables) + super().estimate_memory(n_variables)

    def make_search(self, problem: Problem) -> CCGASearch:
        """Return the search on a problem."""
        return CCGASearch(self, problem)


class CCGASearch(Search[CCGAState]):
    """CCGA on a problem: the two species of `coevo.search.cooperation`."""

    def __init__(self, method: CCGA, problem: Problem) -> None:
        self._method = method
        self._problem = problem
        self._n = n = problem.n_variables
        self._solutions = SolutionScorer(problem)
        p_flip = 1 / max(1, n_bits(n)) if method.p_flip is None else method.p_flip
        orders = Species(
            draw=lambda rng, size: draw_orders(rng, size, n),
            cross=lambda rng, one, two: cycle_crossover(rng, one, two, method.p_crossover),
            mutate=lambda rng, crossed: swap_two(rng, crossed, method.p_swap),
        )
        masks = Species(
            draw=lambda rng, size: draw_masks(rng, size, n),
            cross=lambda rng, one, two: two_point_crossover(rng, one, two, method.p_crossover),
            mutate=lambda rng, crossed: flip_bits(rng, crossed, p_flip),
        )
        self._cooperation = Cooperation(
            (orders, masks),
            lambda pools, chosen: self._solutions.score_solutions(
                pools[0], chosen[0], pools[1], chosen[1]
            ),
            population=method.population,
            random_partners=method.random_partners,
        )

    def start(self, rng: Generator) -> tuple[CCGAState, Info]:
        """Return random populations. Each individual is scored with a random partner.

        A start structure becomes the first individual of both species, and these two are
        partners.
        """
        given = None
        if self._problem.has_start:
            dag = self._problem.make_dag(self._problem.start)
            given = encode_dag(dag, self._problem.names)
        first = self._cooperation.start(rng, given)
        adjacency, score = self._solutions.decode_and_score(*first.best)
        state = CCGAState(
            generation=0,
            evaluations=first.n_solutions * self._n,
            improved=0,
            score=score,
            adjacency=adjacency,
            **_name_fields(first),
        )
        return state, _make_info(state)

    def step(self, rng: Generator, state: CCGAState) -> tuple[CCGAState, Info]:
        """Return the next generation of both species."""
        made = self._cooperation.step(rng, *_get_species(state))
        better = None
        if made.best_score > state.score:
            found = self._solutions.decode_and_score(*made.best)
            if found[1] > state.score:  # the exact score excludes mere round-off
                better = found
        after = state.advance(made.n_solutions * self._n, better, **_name_fields(made))
        return after, _make_info(after)

    def rescore(self, state: CCGAState) -> CCGAState:
        """Return a state of a search on other rows of the same variables, scored on these rows.

        Each individual is scored with the best partner of the old state. The best of these
        solutions becomes the best structure.
        """
        made = self._cooperation.rescore(*_get_species(state))
        adjacency, score = self._solutions.decode_and_score(*made.best)
        return replace(
            state,
            evaluations=state.evaluations + made.n_solutions * self._n,
            improved=state.generation if score > state.score else state.improved,
            score=score,
            adjacency=adjacency,
            order_scores=made.scores[0],
            mask_scores=made.scores[1],
        )

    def is_compatible(self, state: CCGAState) -> bool:
        """Return whether the populations have the size of the settings."""
        size = self._method.population
        shapes = (state.orders.shape, state.masks.shape)
        return shapes == ((size, self._n), (size, n_bits(self._n)))

    def iter_structures(self, state: CCGAState) -> Iterator[NDArray[np.bool_]]:
        """Yield each order with the best mask, then each mask with the best order."""
        order, mask = (
            state.orders[state.order_scores.argmax()],
            state.masks[state.mask_scores.argmax()],
        )
        for each in state.orders:
            yield self._solutions.decode(each, mask)
        for each in state.masks:
            yield self._solutions.decode(order, each)


def _get_species(
    state: CCGAState,
) -> tuple[tuple[Orders, Masks], tuple[Scores, Scores]]:
    """Return the populations of a state, and their scores."""
    return (state.orders, state.masks), (state.order_scores, state.mask_scores)


def _name_fields(made: Generation) -> dict[str, NDArray[Any]]:
    """Return the populations of a generation and their scores, by the names of the state."""
    (orders, masks), (order_scores, mask_scores) = made.populations, made.scores
    return {
        "orders": orders,
        "order_scores": order_scores,
        "masks": masks,
        "mask_scores": mask_scores,
    }


def _make_info(state: CCGAState) -> Info:
    """Return the mean score of each species."""
    return {
        "mean_order_score": float(state.order_scores.mean()),
        "mean_mask_score": float(state.mask_scores.mean()),
    }
