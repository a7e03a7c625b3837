"""GA: a genetic algorithm on the connectivity matrix (Larrañaga et al. 1996).

An individual is a graph: one bit for each possible arc. Crossover and mutation may close cycles;
repair opens them again, and the repaired graph takes the place of the child. A generation:

1. Select as many individuals as the population has, with a chance proportional to their rank, and
   pair them.
2. Cross a pair at one point with probability `p_crossover`, else copy it. Flip each bit with
   probability `p_flip`.
3. Repair each child (`coevo.search.ga_graphs`) and score it.
4. The best of old and new survive. Equal graphs survive only if there are too few others.

`repair="random"` gives each arc a random key, so that random arcs of a cycle are removed. It is
the repair of Larrañaga et al. `repair="information"` removes the weakest arc of a cycle, after
Delaplace, Brouard and Cardot (2007). The two arcs between a pair are equally strong, and a random
one of them is removed; so mutation can reverse an arc. With an `order`, no cycle can arise and half
of the bits are enough. With `optimise`, each child keeps a subset of its own parents.

**Our reading.** The primary texts could not be had. Known from descriptions of them: the bits by
columns, the repair, the order, and that the repaired graph is written back. Ours: selection by
rank, one cut, the elitist survival of different graphs, and the sparse start. (Random bits would
give each of 37 variables 18 parents.) The local optimiser runs K2 inside the parents of each
variable. A search sees scores and no rows, so the information of a pair is the gain of an arc
between them, with both variables otherwise without parents. It is the mutual information if the
score is the log-likelihood; other scores subtract their penalty.

References
----------
P. Larrañaga, M. Poza, Y. Yurramendi, R. H. Murga, C. M. H. Kuijpers (1996). Structure learning of
Bayesian networks by genetic algorithms: a performance analysis of control parameters. IEEE
Transactions on Pattern Analysis and Machine Intelligence 18, 912-926.

A. Delaplace, T. Brouard, H. Cardot (2007). Two evolutionary methods for learning Bayesian network
structures. Computational Intelligence and Security 2006, LNAI 4456, 288-297.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from coevo.checks import is_choice, is_int, is_number
from coevo.errors import bad_choice, bad_parameter
from coevo.search.base import Info, Method, Problem, Search, SearchState
from coevo.search.budget import Budget
from coevo.search.decode_kernels import put_required_first
from coevo.search.ga_graphs import Bits, Graphs, GraphStrings, measure_pairs
from coevo.search.greedy_parents import GreedyParents
from coevo.search.k2 import resolve_order
from coevo.search.operators import Indices, Scores, flip_bits, one_point_crossover, select_by_rank
from coevo.search.state_schema import SCORES, Array, Schema
from coevo.work_time import check_deadline

__all__ = ["GA", "GAState"]

DEFAULT_MAX_PARENTS = 5
GENERATIONS = 500
REPAIRS = ("information", "random")


@dataclass(frozen=True, eq=False)
class GAState(SearchState):
    """The population, best first."""

    schema: ClassVar[Schema] = {
        **SearchState.schema,
        "graphs": Array(np.bool_, ("population", "bits")),
        "graph_scores": Array(np.float64, ("population",), SCORES),
    }

    graphs: Bits  # (population, n_bits)
    graph_scores: Scores


@dataclass(frozen=True)
class GA(Method):
    """Settings of the genetic algorithm on the connectivity matrix.

    Parameters
    ----------
    population : int
        Number of graphs, at least 2.
    p_crossover : float
        Probability of crossing a pair.
    p_flip : float, optional
        Probability of flipping each bit (default: 1 / number of bits).
    parents : float
        Expected number of parents of a variable at the start, before the repair.
    repair : str
        ``'random'`` or ``'information'``: which arcs of a cycle are removed.
    order : sequence of str, optional
        All variables, possible parents first: only arcs along this order are used. Where required
        arcs or the start contradict it, a variable moves behind its parents.
    optimise : bool
        Keep only the parents that K2 takes among those that a variable has.
    max_parents : int, optional
        Maximum number of parents (default: the limit of the constraints, else 5).

    Examples
    --------
    >>> GA(repair="information").settings["population"]
    100
    >>> GA(repair="none")
    Traceback (most recent call last):
    coevo.errors.ParameterError: 'repair' of GA must be one of 'information', 'random'; got 'none'.
    """

    name: ClassVar[str] = "ga"
    state_type: ClassVar[type[SearchState]] = GAState
    default_budget: ClassVar[Budget] = Budget(max_generations=GENERATIONS)

    population: int = 100
    p_crossover: float = 0.9
    p_flip: float | None = None
    parents: float = 2.0
    repair: str = "random"
    order: Sequence[str] | None = None
    optimise: bool = False
    max_parents: int | None = None

    def __post_init__(self) -> None:
        self.check_counts(population=2)
        for name in ("p_crossover", "p_flip"):
            value, may_miss = getattr(self, name), name == "p_flip"
            if not (may_miss and value is None) and not (is_number(value) and 0 <= value <= 1):
                expected = "a number from 0 to 1" + (" or None" if may_miss else "")
                raise bad_parameter(name, "GA", expected, value)
        if not (is_number(self.parents) and self.parents >= 0):
            raise bad_parameter("parents", "GA", "a number >= 0", self.parents)
        if not is_choice(self.repair, REPAIRS):
            raise bad_choice("repair", "GA", REPAIRS, self.repair)
        if isinstance(self.order, str):
            raise bad_parameter("order", "GA", "a sequence of names or None", self.order)
        if not isinstance(self.optimise, bool):
            raise bad_parameter("optimise", "GA", "True or False", self.optimise)
        if self.max_parents is not None and not is_int(self.max_parents, 0):
            raise bad_parameter("max_parents", "GA", "an int >= 0 or None", self.max_parents)
        object.__setattr__(self, "order", None if self.order is None else tuple(self.order))

    def make_search(self, problem: Problem) -> GASearch:
        """Return the search on a problem."""
        return GASearch(self, problem)

    def estimate_memory(self, n_variables: int) -> int:
        """Return an upper estimate of the bytes that a search needs, without the scorer.

        It counts both populations, the repaired graphs and the random numbers of the start.
        """
        return 16 * self.population * n_variables**2 + super().estimate_memory(n_variables)

    @property
    def settings(self) -> dict[str, Any]:
        """The settings as plain numbers, strings and lists."""
        return super().settings | {"order": None if self.order is None else list(self.order)}


class GASearch(Search[GAState]):
    """The genetic algorithm on a problem."""

    def __init__(self, method: GA, problem: Problem) -> None:
        self._method = method
        self._problem = problem
        limit = method.max_parents
        if limit is None:
            limit = problem.constraints.max_parents or DEFAULT_MAX_PARENTS
        order = None
        if method.order is not None:
            given = resolve_order(method.order, problem.names)
            order = put_required_first(given[None], problem.start)[0]
        self._strings = GraphStrings(problem, limit, order)
        self._parents = GreedyParents(problem, limit) if method.optimise else None
        self._ranks: NDArray[np.float64] | None = None  # of the pairs, by information

    def start(self, rng: Generator) -> tuple[GAState, Info]:
        """Return random sparse graphs, repaired; a start structure takes the first place."""
        problem = self._problem
        bits = self._strings.draw(rng, self._method.population, self._method.parents)
        graphs, local, n_evaluations = self._make_graphs(rng, bits)
        if problem.has_start:
            graphs[0], local[0] = problem.start, problem.local_scores(problem.start)
        scores = local.sum(axis=1)
        by_score = np.argsort(-scores, kind="stable")
        adjacency = graphs[by_score[0]].copy()
        score = problem.score(adjacency)
        if problem.has_start:  # round-off must not cost the start its place
            given = problem.score(problem.start)
            if given >= score:
                adjacency, score = problem.start.copy(), given
        state = GAState(
            generation=0,
            evaluations=n_evaluations,
            improved=0,
            score=score,
            adjacency=adjacency,
            graphs=self._strings.encode(graphs[by_score]),
            graph_scores=scores[by_score],
        )
        return state, _make_info(state)

    def step(self, rng: Generator, state: GAState) -> tuple[GAState, Info]:
        """Return the best of the old graphs and their children."""
        size = len(state.graphs)
        graphs, local, n_evaluations = self._make_graphs(rng, self._breed(rng, state))
        scores = np.concatenate([state.graph_scores, local.sum(axis=1)])
        best = int(scores.argmax()) - size
        better = None
        if best >= 0 and scores[best + size] > state.score:
            exact = self._problem.score(graphs[best])
            if exact > state.score:  # the exact score excludes mere round-off
                better = (graphs[best].copy(), exact)
        both = np.concatenate([state.graphs, self._strings.encode(graphs)])
        kept = _choose_survivors(both, scores, size)
        after = state.advance(n_evaluations, better, graphs=both[kept], graph_scores=scores[kept])
        return after, _make_info(after)

    def is_compatible(self, state: GAState) -> bool:
        """Return whether the population has the size of the settings."""
        return state.graphs.shape == (self._method.population, self._strings.n_bits)

    def iter_structures(self, state: GAState) -> Iterable[NDArray[np.bool_]]:
        """Return the graphs of the population."""
        return self._strings.decode(state.graphs)

    def _breed(self, rng: Generator, state: GAState) -> Bits:
        """Return as many children as there are graphs, before the repair."""
        size, n_bits = state.graphs.shape
        selected = state.graphs[select_by_rank(rng.random((size,)), size)]
        half = size // 2
        cuts = rng.integers(n_bits + 1, size=half)
        cuts = np.where(rng.random(half) < self._method.p_crossover, cuts, n_bits)
        pairs = one_point_crossover(selected[:half], selected[half : 2 * half], cuts)
        p_flip = 1 / max(1, n_bits) if self._method.p_flip is None else self._method.p_flip
        return flip_bits(rng, np.concatenate([*pairs, selected[2 * half :]]), p_flip)

    def _make_graphs(self, rng: Generator, bits: Bits) -> tuple[Graphs, NDArray[np.float64], int]:
        """Return repaired graphs, their local scores and the number of evaluations."""
        check_deadline()
        keys = rng.random(int(bits.sum()))
        if self._method.repair == "information":
            if self._ranks is None:
                self._ranks = _rank(measure_pairs(self._problem))
            keys += self._strings.get_keys(bits, self._ranks)
        graphs = self._strings.repair(bits, keys)
        if self._parents is not None:
            return self._parents.grow(graphs)
        local = self._strings.score(graphs)
        return graphs, local, local.size


def _choose_survivors(bits: Bits, scores: Scores, size: int) -> Indices:
    """Return the best different graphs, best first; equal ones fill the places that are left.

    Equal graphs have equal scores, so only those are compared.
    """
    by_score = np.argsort(-scores, kind="stable")
    ranked = scores[by_score]
    is_same = np.concatenate([[False], ranked[1:] == ranked[:-1]])
    suspects = np.flatnonzero(is_same | np.append(is_same[1:], False))
    packed = np.packbits(bits[by_score[suspects]], axis=1)
    seen: set[bytes] = set()
    is_double = np.zeros(len(bits), dtype=np.bool_)  # by place in `by_score`
    for place, graph in zip(suspects.tolist(), packed, strict=True):
        key = graph.tobytes()
        is_double[place] = key in seen
        seen.add(key)
    chosen = by_score[np.argsort(is_double, kind="stable")][:size]
    return chosen[np.argsort(-scores[chosen], kind="stable")]


def _rank(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the rank of each number of a table, from 0; equal numbers have equal ranks."""
    ranks = np.unique(table, return_inverse=True)[1]
    return ranks.reshape(table.shape).astype(np.float64)


def _make_info(state: GAState) -> Info:
    """Return the mean score of the population."""
    return {"mean_score": float(state.graph_scores.mean())}
