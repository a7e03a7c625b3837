"""K2GA: a genetic algorithm over orders, with K2 as the judge (Larrañaga et al. 1996).

An individual is an order of the variables. Its score is that of the structure which K2 makes of
it. The population is in a steady state, as in Whitley's GENITOR:

1. Select two orders, with a chance proportional to their rank, and cross them into one child.
2. Mutate the child with probability `p_mutation`.
3. Run K2 on the child. It replaces the worst order if its score is higher.

A generation makes `offspring` children from one population and keeps the best of old and new, so
that the scorer gets larger batches. With one child it is the algorithm of the paper.

**Our reading.** The primary text could not be had. These points are from descriptions of it: the
steady state, the selection by rank, and the list of operators (`coevo.search.order_operators`).
The default pair of operators is the one that did best in our own runs. Both parents are drawn
independently, so that they may be the same order. The crossover `vr` has a third parent, drawn in
the same way. Ties go to the older order.

Constraints hold as in `coevo.search.k2`: where required arcs contradict an order, a variable moves
behind its required parents. A start structure gives its order to the first individual.

References
----------
P. Larrañaga, C. M. H. Kuijpers, R. H. Murga, Y. Yurramendi (1996). Learning Bayesian network
structures by searching for the best ordering with genetic algorithms. IEEE Transactions on
Systems, Man and Cybernetics 26, 487-493.

D. Whitley (1989). The GENITOR algorithm and selection pressure: why rank-based allocation of
reproductive trials is best. ICGA 3, 116-121.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from coevo.checks import is_choice, is_int, is_number
from coevo.errors import bad_choice, bad_parameter
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
from coevo.search.encoding import encode_dag
from coevo.search.graph_kernels import put_required_first
from coevo.search.k2 import GreedyParents, Grown
from coevo.search.loop import Budget
from coevo.search.operators import Indices, Orders, Scores, draw_orders, select_by_rank
from coevo.search.order_operators import CROSSOVERS, MUTATIONS, CrossoverDraws, MutationDraws
from coevo.search.species import Populations

__all__ = ["K2GA", "K2GAState"]

DEFAULT_MAX_PARENTS = 4
GENERATIONS = 200


@dataclass(frozen=True, eq=False)
class K2GAState(SearchState):
    """The population, best first."""

    schema: ClassVar[Schema] = {
        **SearchState.schema,
        "orders": Array(np.int64, ("population", "n"), PERMUTATIONS),
        "order_scores": Array(np.float64, ("population",), SCORES),
    }

    orders: Orders
    order_scores: Scores

    def get_populations(self) -> Populations:
        """Return the orders, the only species."""
        return Populations(self.orders)


@dataclass(frozen=True)
class K2GA(Method):
    """Settings of K2GA.

    Parameters
    ----------
    population : int
        Number of orders, at least 2.
    offspring : int
        Number of children in a generation; 1 is the original algorithm.
    crossover : str
        ``'ap'``, ``'cx'``, ``'ox1'``, ``'ox2'``, ``'pmx'``, ``'pos'`` or ``'vr'``.
    mutation : str
        ``'displacement'``, ``'exchange'``, ``'insertion'``, ``'inversion'``, ``'scramble'`` or
        ``'simple_inversion'``.
    p_mutation : float
        Probability of mutating a child.
    max_parents : int, optional
        Maximum number of parents (default: the limit of the constraints, else 4).

    Examples
    --------
    >>> K2GA(crossover="pmx", mutation="displacement").settings["offspring"]
    10
    >>> K2GA(crossover="ox3")
    Traceback (most recent call last):
    coevo.errors.ParameterError: 'crossover' of K2GA must be one of 'ap', 'cx', 'ox1', 'ox2', \
'pmx', 'pos', 'vr'; got 'ox3'. Did you mean 'ox2'?
    """

    name: ClassVar[str] = "k2ga"
    state_type: ClassVar[type[SearchState]] = K2GAState
    default_budget: ClassVar[Budget] = Budget(max_generations=GENERATIONS)

    population: int = 50
    offspring: int = 10
    crossover: str = "ox2"
    mutation: str = "insertion"
    p_mutation: float = 0.1
    max_parents: int | None = None

    def __post_init__(self) -> None:
        self.check_counts(population=2, offspring=1)
        for name, choices in (("crossover", CROSSOVERS), ("mutation", MUTATIONS)):
            if not is_choice(getattr(self, name), choices):
                raise bad_choice(name, "K2GA", choices, getattr(self, name))
        if not (is_number(self.p_mutation) and 0 <= self.p_mutation <= 1):
            raise bad_parameter("p_mutation", "K2GA", "a number from 0 to 1", self.p_mutation)
        if self.max_parents is not None and not is_int(self.max_parents, 0):
            raise bad_parameter("max_parents", "K2GA", "an int >= 0 or None", self.max_parents)

    def make_search(self, problem: Problem) -> K2GASearch:
        """Return the search on a problem."""
        return K2GASearch(self, problem)

    def estimate_memory(self, n_variables: int) -> int:
        """Return an upper estimate of the bytes that a search needs, without the scorer."""
        n_orders = self.population + self.offspring
        return 16 * n_orders * n_variables**2 + super().estimate_memory(n_variables)


class K2GASearch(Search[K2GAState]):
    """K2GA on a problem."""

    def __init__(self, method: K2GA, problem: Problem) -> None:
        self._method = method
        self._problem = problem
        limit = method.max_parents
        if limit is None:
            limit = problem.constraints.max_parents or DEFAULT_MAX_PARENTS
        self._parents = GreedyParents(problem, limit)

    def start(self, rng: Generator) -> tuple[K2GAState, Info]:
        """Return random orders; a start structure gives its order to the first of them."""
        problem, size, n = self._problem, self._method.population, self._problem.n_variables
        orders = draw_orders(rng, size, n)
        if problem.has_start:
            orders[0] = encode_dag(problem.make_dag(problem.start), problem.names)[0]
        grown = self._run_k2(orders)
        scores = grown.local.sum(axis=1)
        by_score = np.argsort(-scores, kind="stable")
        adjacency = grown.graphs[by_score[0]]
        score, n_evaluations = problem.score(adjacency), grown.n_evaluations
        if problem.has_start:
            n_evaluations += n
            given = problem.score(problem.start)
            if given >= score:
                adjacency, score = problem.start.copy(), given
        state = K2GAState(
            generation=0,
            evaluations=n_evaluations,
            improved=0,
            score=score,
            adjacency=adjacency,
            orders=orders[by_score],
            order_scores=scores[by_score],
        )
        return state, _make_info(state)

    def step(self, rng: Generator, state: K2GAState) -> tuple[K2GAState, Info]:
        """Make some children; the best of old and new orders survive."""
        children = self._breed(rng, state)
        grown = self._run_k2(children)
        scores = np.concatenate([state.order_scores, grown.local.sum(axis=1)])
        best = int(scores.argmax()) - len(state.orders)
        better = None
        if best >= 0 and scores[best + len(state.orders)] > state.score:
            exact = self._problem.score(grown.graphs[best])
            if exact > state.score:  # the exact score excludes mere round-off
                better = (grown.graphs[best], exact)
        kept = np.argsort(-scores, kind="stable")[: len(state.orders)]
        orders = np.concatenate([state.orders, children])[kept]
        after = state.advance(grown.n_evaluations, better, orders=orders, order_scores=scores[kept])
        return after, _make_info(after)

    def is_compatible(self, state: K2GAState) -> bool:
        """Return whether the population has the size of the settings."""
        return state.orders.shape == (self._method.population, self._problem.n_variables)

    def iter_structures(self, state: K2GAState) -> Iterable[NDArray[np.bool_]]:
        """Return the structure of each order."""
        return self._run_k2(state.orders).graphs

    def _breed(self, rng: Generator, state: K2GAState) -> Orders:
        """Return children of orders that are selected by rank."""
        method, n = self._method, self._problem.n_variables
        chosen: Indices = select_by_rank(rng.random((3, method.offspring)), len(state.orders))
        first, second, third = state.orders[chosen]
        cross, mutate = CROSSOVERS[method.crossover], MUTATIONS[method.mutation]
        children = cross(first, second, CrossoverDraws.draw(rng, third))
        mutants = mutate(children, MutationDraws.draw(rng, method.offspring, n))
        is_mutated = rng.random((method.offspring, 1)) < method.p_mutation
        return np.where(is_mutated, mutants, children)

    def _run_k2(self, orders: Orders) -> Grown:
        """Return the structure of each order."""
        n = orders.shape[1]
        read = put_required_first(orders, self._problem.rules.required)
        places = np.empty_like(read)
        np.put_along_axis(places, read, np.arange(n)[None], axis=1)
        return self._parents.grow(places[:, :, None] < places[:, None, :])


def _make_info(state: K2GAState) -> Info:
    """Return the mean score of the population."""
    return {"mean_score": float(state.order_scores.mean())}
