"""GA: a genetic algorithm on the connectivity matrix (Larrañaga et al. 1996).

An individual is a graph: one bit for each possible arc. Crossover and mutation may close cycles;
repair opens them again, and the repaired graph takes the place of the child. A generation:

1. Select as many individuals as the population has, with a chance proportional to their rank, and
   pair them.
2. Cross a pair at one point with probability `p_crossover`, else copy it. Flip each bit with
   probability `p_flip`.
3. Repair each child (`repair`) and score it.
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
from coevo.runtime.deadline import check_deadline
from coevo.score import FamilyBatch
from coevo.search.base import SCORES, Array, Info, Method, Problem, Schema, Search, SearchState
from coevo.search.graph_kernels import (
    ParentLimits,
    insert_arcs,
    make_repair_table,
    put_required_first,
)
from coevo.search.k2 import GreedyParents, resolve_order
from coevo.search.loop import Budget
from coevo.search.operators import Indices, Scores, flip_bits, one_point_crossover, select_by_rank

__all__ = ["GA", "Bits", "GAState", "GraphStrings", "Graphs", "measure_pairs"]


# Graphs as bit strings, and their repair: what `GA` and `coevo.search.mdlep` breed.
#
# A string has one bit for each arc that is free: neither required nor forbidden. The bits stand
# column after column, so that the possible parents of a child are together. With an order, only
# arcs along the order have bits.
#
# Repair is one rule: each arc has a key, and the arcs are inserted by falling key. An arc is
# skipped if it closes a cycle with those before it, or if its child would have too many parents.
# Required arcs come first. A DAG within the limits stays as it is.


PAIRS_PER_CALL = 1 << 21  # pairs of variables of all graphs, between two checks of the deadline

Bits = NDArray[np.bool_]  # (n_graphs, n_bits)
Graphs = NDArray[np.bool_]  # (n_graphs, n, n), [parent, child]


class GraphStrings:
    """Turns bit strings into graphs, repairs them and scores them, for one problem."""

    def __init__(
        self, problem: Problem, max_parents: int, order: NDArray[np.int64] | None = None
    ) -> None:
        rules = problem.rules
        is_free = rules.allowed & ~rules.required & ~rules.required.T
        if order is not None:
            places = np.argsort(order)
            is_free &= places[:, None] < places
        self._problem = problem
        self._child, self._parent = np.nonzero(is_free.T)
        self._table = make_repair_table(rules.required)
        self._limits = ParentLimits(
            arities=problem.scorer.dataset.arities.astype(np.float64),
            max_cells=rules.max_table,
            max_parents=min(max_parents, rules.max_parents),
        )

    @property
    def n_bits(self) -> int:
        """The number of free arcs."""
        return len(self._child)

    @property
    def parents(self) -> NDArray[np.int64]:
        """The parent of the arc of each bit."""
        return self._parent

    @property
    def children(self) -> NDArray[np.int64]:
        """The child of the arc of each bit, ascending."""
        return self._child

    def draw(self, rng: Generator, n_graphs: int, n_parents: float) -> Bits:
        """Return random strings in which a variable has so many parents on average."""
        share = min(1.0, n_parents * self._problem.n_variables / max(self.n_bits, 1))
        bits = np.empty((n_graphs, self.n_bits), dtype=np.bool_)
        for row in bits:  # the same numbers as in one call
            check_deadline()
            row[:] = rng.random(self.n_bits) < share
        return bits

    def encode(self, graphs: Graphs) -> Bits:
        """Return the strings of graphs."""
        bits: Bits = graphs[:, self._parent, self._child]
        return bits

    def decode(self, bits: Bits) -> Graphs:
        """Return the graphs of strings, with the required arcs and without a repair."""
        graphs = np.tile(self._problem.rules.required, (len(bits), 1, 1))
        graphs[:, self._parent, self._child] = bits
        return graphs

    def repair(self, bits: Bits, keys: NDArray[np.float64]) -> Graphs:
        """Return the DAGs of strings; `keys` has a key for each bit that is set, row by row.

        Among equal keys, the first bit of the string comes first.
        """
        graph_of, bit = _find_bits(bits)
        by_key, small = _sort_falling(keys), np.min_scalar_type(len(bits))  # small: radix sort
        by_key = by_key[np.argsort(graph_of[by_key].astype(small), kind="stable")]
        begin = np.searchsorted(graph_of, np.arange(len(bits) + 1))
        parents, children = self._parent[bit[by_key]], self._child[bit[by_key]]
        n = self._problem.n_variables
        graphs = np.empty((len(bits), n, n), dtype=np.bool_)
        step = max(1, PAIRS_PER_CALL // max(1, n * n))
        for first in range(0, len(bits), step):
            check_deadline()
            part, part_begin = graphs[first : first + step], begin[first : first + step + 1]
            insert_arcs(part_begin, parents, children, self._table, self._limits, part)
        return graphs

    def get_values(self, table: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the value of each bit, from a table ``[parent, child]``."""
        values: NDArray[np.float64] = table[self._parent, self._child]
        return values

    def get_keys(self, bits: Bits, table: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the key of each bit that is set, from a table ``[parent, child]``."""
        bit = np.flatnonzero(bits) % max(self.n_bits, 1)
        keys: NDArray[np.float64] = table[self._parent[bit], self._child[bit]]
        return keys

    def score(self, graphs: Graphs) -> NDArray[np.float64]:
        """Return the local scores of graphs, (n_graphs, n), as one batch of families."""
        n_graphs, n = graphs.shape[:2]
        families = np.ascontiguousarray(graphs.transpose(0, 2, 1)).reshape(n_graphs * n, n)
        scores = self.score_families(np.tile(np.arange(n), n_graphs), families)
        return scores.reshape(n_graphs, n)

    def score_families(
        self, children: NDArray[np.int64], parents: NDArray[np.bool_]
    ) -> NDArray[np.float64]:
        """Return the local scores of families; ``parents[i]`` has a flag for each variable."""
        check_deadline()
        n_parents = np.count_nonzero(parents, axis=1)
        start = np.concatenate([[0], np.cumsum(1 + n_parents)])
        members = np.empty(int(start[-1]), dtype=np.int32)
        is_parent = np.ones(len(members), dtype=np.bool_)
        is_parent[start[:-1]] = False
        members[start[:-1]] = children
        members[is_parent] = np.flatnonzero(parents) % parents.shape[1]
        return self._problem.scorer.local_scores(FamilyBatch(members, start))


def _sort_falling(keys: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the places of keys by falling key; among equal keys the first one is first.

    Without equal keys, which is the rule, a sort that is not stable gives the same and is faster.
    """
    by_key = np.argsort(-keys)
    ranked = keys[by_key]
    return np.argsort(-keys, kind="stable") if (ranked[1:] == ranked[:-1]).any() else by_key


def _find_bits(bits: Bits) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the graph and the number of each bit that is set, row by row."""
    found = []
    for row in bits:
        check_deadline()
        found.append(np.flatnonzero(row))
    lengths = [len(numbers) for numbers in found]
    return np.repeat(np.arange(len(bits)), lengths), np.concatenate([np.empty(0, np.int64), *found])


def measure_pairs(problem: Problem) -> NDArray[np.float64]:
    """Return what the score says that two variables know about each other, as a symmetric table.

    It is the gain of an arc between two variables that have no parents, the mean of both
    directions. With the log-likelihood it is the number of rows times the mutual information.
    An arc that is not allowed has no gain to measure and counts as zero.
    """
    n = problem.n_variables
    may_join = problem.rules.allowed
    if problem.rules.arities is not None:
        arities = problem.rules.arities.astype(np.float64)
        may_join = may_join & (arities[:, None] * arities <= problem.rules.max_table)
    parents, children = np.nonzero(may_join)
    families: list[tuple[int, tuple[int, ...]]] = [(child, ()) for child in range(n)]
    for parent, child in zip(parents.tolist(), children.tolist(), strict=True):
        families.append((child, (parent,)))
    scores = problem.scorer.local_scores(FamilyBatch.from_pairs(families))
    gains = np.zeros((n, n))
    gains[parents, children] = scores[n:] - scores[children]
    n_directions = np.maximum(may_join.astype(np.float64) + may_join.T, 1.0)
    means: NDArray[np.float64] = (gains + gains.T) / n_directions
    return means


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
