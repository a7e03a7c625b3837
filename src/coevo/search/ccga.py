"""CCGA: the cooperative coevolutionary genetic algorithm of the 2011 GECCO paper.

Two species evolve side by side: orders of the variables, and masks over pairs of positions
(`coevo.search.encoding`). An order with a mask is a DAG. In each generation, for both
species from the populations of the generation before:

1. Tournaments of two, each individual in exactly two of them, select as many as there are.
2. The selected are paired at random; a pair is crossed with probability `p_crossover`
   (two points for masks, alternate cycles for orders), else copied.
3. Each bit of a mask flips with probability `p_flip`; two positions of an order change
   places with probability `p_swap`.
4. Each child is scored as a complete solution with the best partner of the other species
   and with a random one, and the higher score counts (CCGA-2 of Potter and De Jong).
5. The best individual stays, with the score that it has earned, and all children but the
   worst take the other places.

The best complete solution ever seen is the result. Of equal individuals the first counts.
The defaults are the numbers of the paper's table 2. What the paper left for later, local
scores that are remembered and computed in batches and on threads, is how this one is
computed; it changes nothing of what is computed. Improvements on the algorithm itself
belong in methods of other names.

Constraints are kept by the way in which an order and a mask are read, see
`coevo.search.decode_kernels`; neither is changed and nothing is repaired.

References
----------
M. A. Potter, K. A. De Jong (1994). A cooperative coevolutionary approach to function
optimization. PPSN III, 249-257.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import ClassVar, TypeVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from coevo.checks import is_number
from coevo.errors import bad_parameter
from coevo.search.base import Info, Method, Problem, Search, SearchState
from coevo.search.budget import Budget
from coevo.search.encoding import n_bits, pair_of
from coevo.search.operators import (
    Masks,
    Orders,
    Scores,
    cycle_crossover,
    double_tournament,
    flip_bits,
    initial_masks,
    initial_orders,
    random_pairs,
    swap_two,
    two_point_crossover,
)
from coevo.search.solution_scorer import SolutionScorer

__all__ = ["CCGA", "CCGAState"]

Item = TypeVar("Item", bound=np.generic)
Crossover = Callable[
    [Generator, NDArray[Item], NDArray[Item], float], tuple[NDArray[Item], NDArray[Item]]
]

GENERATIONS = 250  # of the paper's table 2


@dataclass(frozen=True)
class CCGAState(SearchState):
    """Both populations, with the scores that their individuals have earned."""

    orders: Orders
    order_scores: Scores
    masks: Masks
    mask_scores: Scores


@dataclass(frozen=True)
class CCGA(Method):
    """Settings of CCGA; the defaults are those of the paper.

    Parameters
    ----------
    population : int
        Individuals of each species, at least 2.
    p_flip : float, optional
        Probability of a flip, for each bit of a mask; one over the number of bits if left
        out.
    p_swap : float
        Probability of a swap, for each order.
    p_crossover : float
        Probability that a pair is crossed.
    random_partners : int
        Random partners of each child beside the best one: 1 is CCGA-2, 0 is CCGA-1.

    Examples
    --------
    >>> CCGA(population=50, random_partners=0).settings()["random_partners"]
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

    def memory(self, n_variables: int) -> int:
        """Return how many bytes a search takes at most, about, besides the scorer's.

        Two populations and what operators draw for them, a number for each bit.
        """
        return 16 * self.population * n_bits(n_variables) + super().memory(n_variables)

    def on(self, problem: Problem) -> CCGASearch:
        """Return the search on a problem."""
        return CCGASearch(self, problem)


class CCGASearch(Search[CCGAState]):
    """CCGA on a problem."""

    def __init__(self, method: CCGA, problem: Problem) -> None:
        self._method = method
        self._problem = problem
        self._n = problem.n_variables
        self._solutions = SolutionScorer(problem)
        self._p_flip = 1 / max(1, n_bits(self._n)) if method.p_flip is None else method.p_flip

    def start(self, rng: Generator) -> tuple[CCGAState, Info]:
        """Return random populations, each individual scored with a random partner.

        A structure to start from takes the first place of both species, as partners.
        """
        size, n = self._method.population, self._n
        order_rng, mask_rng = rng.spawn(2)
        orders, masks = initial_orders(order_rng, size, n), initial_masks(mask_rng, size, n)
        everyone = np.arange(size)
        order_of = np.concatenate([everyone, mask_rng.integers(size, size=size)])
        mask_of = np.concatenate([order_rng.integers(size, size=size), everyone])
        if self._problem.has_start:
            given = self._problem.dag(self._problem.start)
            orders[0], masks[0] = pair_of(given, self._problem.names)
            order_of[size] = mask_of[0] = 0
        scores = self._solutions.scores(orders, order_of, masks, mask_of)
        best = int(scores.argmax())
        adjacency, score = self._solutions.structure(orders[order_of[best]], masks[mask_of[best]])
        state = CCGAState(
            generation=0,
            evaluations=len(scores) * n,
            improved=0,
            score=score,
            adjacency=adjacency,
            orders=orders,
            order_scores=scores[:size],
            masks=masks,
            mask_scores=scores[size:],
        )
        return state, _info(state)

    def step(self, rng: Generator, state: CCGAState) -> tuple[CCGAState, Info]:
        """Return the next generation of both species."""
        order_rng, mask_rng = rng.spawn(2)
        crossed = self._crossed(order_rng, state.orders, state.order_scores, cycle_crossover)
        new_orders = swap_two(order_rng, crossed, self._method.p_swap)
        mixed = self._crossed(mask_rng, state.masks, state.mask_scores, two_point_crossover)
        new_masks = flip_bits(mask_rng, mixed, self._p_flip)
        # Populations of before and their children in one array each, so that one batch can
        # pair any of them.
        size = self._method.population
        orders = np.concatenate([state.orders, new_orders])
        masks = np.concatenate([state.masks, new_masks])
        children = size + np.arange(size)
        mask_partners = self._partners(order_rng, state.mask_scores)
        order_partners = self._partners(mask_rng, state.order_scores)
        repeated = np.tile(children, len(mask_partners))
        order_of = np.concatenate([repeated, order_partners.ravel()])
        mask_of = np.concatenate([mask_partners.ravel(), repeated])
        scores = self._solutions.scores(orders, order_of, masks, mask_of)
        earned = scores.reshape(2, -1, size).max(axis=1)

        better = None
        best = int(scores.argmax())
        if scores[best] > state.score:
            found = self._solutions.structure(orders[order_of[best]], masks[mask_of[best]])
            if found[1] > state.score:  # not by round-off alone
                better = found
        kept_orders, order_scores = _replaced(
            state.orders, state.order_scores, new_orders, earned[0]
        )
        kept_masks, mask_scores = _replaced(state.masks, state.mask_scores, new_masks, earned[1])
        after = state.after(
            len(scores) * self._n,
            better,
            orders=kept_orders,
            order_scores=order_scores,
            masks=kept_masks,
            mask_scores=mask_scores,
        )
        return after, _info(after)

    def rescored(self, state: CCGAState) -> CCGAState:
        """Return a state that was reached on other rows of the same variables, on these.

        Each individual is scored anew with the best partner of before, and the best of these
        solutions is the best structure.
        """
        size = self._method.population
        order_of = np.concatenate([np.arange(size), np.full(size, state.order_scores.argmax())])
        mask_of = np.concatenate([np.full(size, state.mask_scores.argmax()), np.arange(size)])
        scores = self._solutions.scores(state.orders, order_of, state.masks, mask_of)
        best = int(scores.argmax())
        pair = state.orders[order_of[best]], state.masks[mask_of[best]]
        adjacency, score = self._solutions.structure(*pair)
        return replace(
            state,
            evaluations=state.evaluations + len(scores) * self._n,
            improved=state.generation if score > state.score else state.improved,
            score=score,
            adjacency=adjacency,
            order_scores=scores[:size],
            mask_scores=scores[size:],
        )

    def fits(self, state: CCGAState) -> bool:
        """Return whether the populations have the size that is set."""
        size = self._method.population
        shapes = (state.orders.shape, state.masks.shape)
        return shapes == ((size, self._n), (size, n_bits(self._n)))

    def structures(self, state: CCGAState) -> Iterator[NDArray[np.bool_]]:
        """Yield each order with the best mask, then each mask with the best order."""
        order, mask = (
            state.orders[state.order_scores.argmax()],
            state.masks[state.mask_scores.argmax()],
        )
        for each in state.orders:
            yield self._solutions.adjacency(each, mask)
        for each in state.masks:
            yield self._solutions.adjacency(order, each)

    def _crossed(
        self, rng: Generator, population: NDArray[Item], scores: Scores, cross: Crossover[Item]
    ) -> NDArray[Item]:
        """Select by tournaments, pair at random and cross; one without a pair is copied."""
        first, second, alone = random_pairs(rng, double_tournament(rng, scores))
        p_crossover = self._method.p_crossover
        one, two = cross(rng, population[first], population[second], p_crossover)
        return np.concatenate([one, two, population[alone]])

    def _partners(self, rng: Generator, scores: Scores) -> NDArray[np.int64]:
        """Return (partners, children): for each child the best partner and random ones."""
        size, n_random = self._method.population, self._method.random_partners
        best = np.full((1, size), scores.argmax())
        return np.concatenate([best, rng.integers(size, size=(n_random, size))])


def _replaced(
    old: NDArray[Item], old_scores: Scores, children: NDArray[Item], earned: Scores
) -> tuple[NDArray[Item], Scores]:
    """Return the elite of before and all children but the worst, with their scores."""
    elite = int(old_scores.argmax())
    kept = np.delete(np.arange(len(children)), earned.argmin())
    population = np.concatenate([old[elite : elite + 1], children[kept]])
    return population, np.concatenate([old_scores[elite : elite + 1], earned[kept]])


def _info(state: CCGAState) -> Info:
    """Return how good the two species are on average."""
    return {
        "mean_order_score": float(state.order_scores.mean()),
        "mean_mask_score": float(state.mask_scores.mean()),
    }
