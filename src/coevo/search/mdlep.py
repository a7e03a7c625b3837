"""MDLEP: evolutionary programming over graphs (Wong, Lam and Leung 1999).

An individual is a DAG. There is no crossover: each graph has one child, which differs from it by
one to six mutations (below). A generation:

1. Copy each graph, and mutate the copy: one to four times with a chance of 0.2 each, five or six
   times with a chance of 0.1 each. Each mutation is of one of the four kinds, with equal chances.
2. Repair the children: random arcs of a cycle are removed (`coevo.search.ga`).
3. Each of the old and new graphs meets `opponents` random others, and wins against
   those whose score is not higher.
4. The graphs with the most wins survive.

It is the system with which Wong et al. (2004) compare their hybrid (`coevo.search.wong`). The
authors minimise MDL: ``score='bic'`` with ``parent_penalty`` ln(n) is the same, up to its sign and
unit. Any other score will do.

**Our reading.** The primary text could not be had. Known from descriptions of it: 50 graphs, one
child each, one to six mutations of these four kinds, tournaments against seven, 5,000 generations,
and that one of the mutations uses the MDL of pairs. Ours: the chances of the numbers of mutations
are from memory; a simple mutation adds and deletes equally often; a guided one draws arcs with a
chance proportional to their rank by what `coevo.search.ga.measure_pairs` measures; equal
numbers of wins are ranked by score, so that the best graph survives; the sparse start; and that a
search without a limit also ends after 200 generations without a better structure.

References
----------
M. L. Wong, W. Lam, K. S. Leung (1999). Using evolutionary programming and minimum description
length principle for data mining of Bayesian networks. IEEE Transactions on Pattern Analysis and
Machine Intelligence 21, 174-178.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from coevo.checks import is_int, is_number
from coevo.errors import bad_parameter
from coevo.runtime.deadline import check_deadline
from coevo.search.base import SCORES, Array, Info, Method, Problem, Schema, Search, SearchState
from coevo.search.ga import Bits, Graphs, GraphStrings, measure_pairs
from coevo.search.loop import Budget
from coevo.search.operators import Indices, Scores

__all__ = ["GUIDED", "KINDS", "MDLEP", "MOVE", "REVERSE", "SIMPLE", "MDLEPState", "Mutations"]


# The mutations: each changes one arc of a graph, or two.
#
# A graph is a string of bits, one for each free arc (`coevo.search.ga`). A mutation gets
# its random numbers from outside: one draw decides whether it adds or deletes, one which arc
# leaves, one which arc enters. It may close a cycle, which the repair opens again. A mutation that
# finds no arc to change leaves the graph as it is.
#
#     simple   Add an arc, or delete one, each with the chance 1/2.
#     reverse  Turn an arc round.
#     move     A variable gets another parent in the place of one that it has.
#     guided   As simple, but arcs that gain much by themselves are added often and deleted rarely.


KINDS = SIMPLE, REVERSE, MOVE, GUIDED = 0, 1, 2, 3
NONE = -1  # no arc

Arcs = NDArray[np.int64]  # numbers of bits, ascending


class Mutations:
    """Mutates bit strings.

    Parameters
    ----------
    parents, children : array of int, (n_bits,)
        The arc of each bit.
    gains : array of float, (n_bits,)
        What each arc gains by itself. Only the ranks of these numbers are used.
    """

    def __init__(
        self,
        parents: NDArray[np.int64],
        children: NDArray[np.int64],
        gains: NDArray[np.float64],
    ) -> None:
        self._children = children.tolist()
        last = int(children.max(initial=-1))
        self._begin = np.searchsorted(children, np.arange(last + 2)).tolist()  # of each child
        self._reversed = _find_reversed(parents, children)
        ranks = np.unique(gains, return_inverse=True)[1].reshape(-1).astype(np.float64)
        self._weights_to_add = ranks + 1.0
        self._weights_to_delete = ranks.max(initial=0.0) - ranks + 1.0

    def mutate(self, bits: NDArray[np.bool_], kind: int, draws: Sequence[float]) -> None:
        """Apply one mutation to a string, in its place; `draws` has three numbers in [0, 1)."""
        adds = kind in (SIMPLE, GUIDED) and draws[0] < 0.5
        leaving = NONE if adds else self._choose_leaving(bits, kind, draws[1])
        if leaving == NONE and not adds:
            return
        entering = self._choose_entering(bits, kind, leaving, draws[2])
        if entering == NONE and kind == MOVE:
            return
        if leaving != NONE:
            bits[leaving] = False
        if entering != NONE:
            bits[entering] = True

    def _choose_leaving(self, bits: NDArray[np.bool_], kind: int, draw: float) -> int:
        arcs = bits.nonzero()[0]
        if kind == REVERSE:
            arcs = arcs[self._reversed[arcs] != NONE]
        return _choose(arcs, self._weights_to_delete if kind == GUIDED else None, draw)

    def _choose_entering(
        self, bits: NDArray[np.bool_], kind: int, leaving: int, draw: float
    ) -> int:
        """Return the arc that enters, when it is known which one leaves."""
        if kind == REVERSE:
            return int(self._reversed[leaving])
        if kind == MOVE:
            child = self._children[leaving]
            begin, end = self._begin[child], self._begin[child + 1]
            return _choose(begin + (~bits[begin:end]).nonzero()[0], None, draw)
        if leaving != NONE:
            return NONE
        arcs = (~bits).nonzero()[0]
        return _choose(arcs, self._weights_to_add if kind == GUIDED else None, draw)


def _find_reversed(parents: NDArray[np.int64], children: NDArray[np.int64]) -> Arcs:
    """Return the bit of the turned arc of each bit; `NONE` where that arc is not free."""
    numbers = {
        arc: i for i, arc in enumerate(zip(parents.tolist(), children.tolist(), strict=True))
    }
    return np.array(
        [numbers.get((child, parent), NONE) for parent, child in numbers], dtype=np.int64
    )


def _choose(arcs: Arcs, weights: NDArray[np.float64] | None, draw: float) -> int:
    """Return the arc that a draw from [0, 1) chooses, with equal chances or these weights.

    >>> _choose(np.array([2, 5]), None, 0.6), _choose(np.array([], dtype=np.int64), None, 0.6)
    (5, -1)
    """
    if not len(arcs):
        return NONE
    if weights is None:
        return int(arcs[int(draw * len(arcs))])
    limits = weights[arcs].cumsum()
    place = int(limits.searchsorted(draw * limits[-1], side="right"))
    return int(arcs[min(place, len(arcs) - 1)])


DEFAULT_MAX_PARENTS = 5
GENERATIONS, PATIENCE = 5000, 200
CHANCES = (0.2, 0.2, 0.2, 0.2, 0.1, 0.1)  # of one to six mutations


@dataclass(frozen=True, eq=False)
class MDLEPState(SearchState):
    """The population, most wins first."""

    schema: ClassVar[Schema] = {
        **SearchState.schema,
        "graphs": Array(np.bool_, ("population", "bits")),
        "local": Array(np.float64, ("population", "n"), SCORES),
    }

    graphs: Bits  # (population, n_bits)
    local: NDArray[np.float64]  # (population, n), the local scores of each graph


@dataclass(frozen=True)
class MDLEP(Method):
    """Settings of evolutionary programming over graphs.

    Parameters
    ----------
    population : int
        Number of graphs.
    opponents : int
        Number of other graphs that each graph meets in a generation.
    parents : float
        Expected number of parents of a variable at the start, before the repair.
    max_parents : int, optional
        Maximum number of parents (default: the limit of the constraints, else 5).

    Examples
    --------
    >>> MDLEP().settings
    {'population': 50, 'opponents': 7, 'parents': 1.0, 'max_parents': None}
    >>> MDLEP(opponents=0)
    Traceback (most recent call last):
    coevo.errors.ParameterError: 'opponents' of MDLEP must be an int >= 1; got 0.
    """

    name: ClassVar[str] = "mdlep"
    state_type: ClassVar[type[SearchState]] = MDLEPState
    default_budget: ClassVar[Budget] = Budget(max_generations=GENERATIONS, patience=PATIENCE)

    population: int = 50
    opponents: int = 7
    parents: float = 1.0
    max_parents: int | None = None

    def __post_init__(self) -> None:
        self.check_counts(population=1, opponents=1)
        if not (is_number(self.parents) and self.parents >= 0):
            raise bad_parameter("parents", "MDLEP", "a number >= 0", self.parents)
        if self.max_parents is not None and not is_int(self.max_parents, 0):
            raise bad_parameter("max_parents", "MDLEP", "an int >= 0 or None", self.max_parents)

    def make_search(self, problem: Problem) -> MDLEPSearch:
        """Return the search on a problem."""
        return MDLEPSearch(self, problem)

    def estimate_memory(self, n_variables: int) -> int:
        """Return an upper estimate of the bytes that a search needs, without the scorer."""
        return 12 * self.population * n_variables**2 + super().estimate_memory(n_variables)


class MDLEPSearch(Search[MDLEPState]):
    """Evolutionary programming on a problem."""

    def __init__(self, method: MDLEP, problem: Problem) -> None:
        self._method, self._problem = method, problem
        limit = method.max_parents
        if limit is None:
            limit = problem.constraints.max_parents or DEFAULT_MAX_PARENTS
        self._strings = GraphStrings(problem, limit)
        self._mutations: Mutations | None = None  # made when they are needed: it takes scores

    def start(self, rng: Generator) -> tuple[MDLEPState, Info]:
        """Return random sparse graphs, repaired; a start structure takes the first place."""
        problem, strings = self._problem, self._strings
        bits = strings.draw(rng, self._method.population, self._method.parents)
        graphs = strings.repair(bits, rng.random(int(bits.sum())))
        if problem.has_start:
            graphs[0] = problem.start
        local = strings.score(graphs)
        best = int(local.sum(axis=1).argmax())
        adjacency, score = graphs[best].copy(), problem.score(graphs[best])
        if problem.has_start:  # round-off must not cost the start its place
            given = problem.score(problem.start)
            if given >= score:
                adjacency, score = problem.start.copy(), given
        state = MDLEPState(
            generation=0,
            evaluations=local.size,
            improved=0,
            score=score,
            adjacency=adjacency,
            graphs=strings.encode(graphs),
            local=local,
        )
        return state, _make_info(state)

    def step(self, rng: Generator, state: MDLEPState) -> tuple[MDLEPState, Info]:
        """Return the graphs with the most wins of the old graphs and their children."""
        size = len(state.graphs)
        bits = self._mutate(rng, state.graphs)
        graphs = self._strings.repair(bits, rng.random(int(bits.sum())))
        local, n_evaluations = self._score_children(state, graphs)
        both = np.concatenate([state.local, local])
        scores = both.sum(axis=1)
        best, better = int(scores[size:].argmax()), None
        if scores[best + size] > state.score:
            exact = self._problem.score(graphs[best])
            if exact > state.score:  # the exact score excludes mere round-off
                better = (graphs[best].copy(), exact)
        kept = choose_by_wins(scores, rng.random((2 * size, self._method.opponents)))
        strings = np.concatenate([state.graphs, self._strings.encode(graphs)])
        after = state.advance(n_evaluations, better, graphs=strings[kept], local=both[kept])
        return after, _make_info(after)

    def is_compatible(self, state: MDLEPState) -> bool:
        """Return whether the population has the size of the settings."""
        return state.graphs.shape == (self._method.population, self._strings.n_bits)

    def iter_structures(self, state: MDLEPState) -> Iterable[NDArray[np.bool_]]:
        """Return the graphs of the population."""
        return self._strings.decode(state.graphs)

    def _mutate(self, rng: Generator, parents: Bits) -> Bits:
        """Return a mutated copy of each string, before the repair."""
        if self._mutations is None:
            gains = self._strings.get_values(measure_pairs(self._problem))
            self._mutations = Mutations(self._strings.parents, self._strings.children, gains)
        most, size = len(CHANCES), len(parents)
        numbers = 1 + np.searchsorted(np.cumsum(CHANCES)[:-1], rng.random(size), side="right")
        kinds = rng.integers(len(KINDS), size=(size, most)).tolist()
        draws = rng.random((size, most, 3)).tolist()
        bits = parents.copy()
        for graph, number in enumerate(numbers.tolist()):
            check_deadline()
            for i in range(number):
                self._mutations.mutate(bits[graph], kinds[graph][i], draws[graph][i])
        return bits

    def _score_children(self, state: MDLEPState, graphs: Graphs) -> tuple[NDArray[np.float64], int]:
        """Return the local scores of the children. Only families that changed are requested."""
        changed = (graphs != self._strings.decode(state.graphs)).any(axis=1)
        graph_of, children = np.nonzero(changed)
        local = state.local.copy()
        local[changed] = self._strings.score_families(children, graphs[graph_of, :, children])
        return local, len(children)


def choose_by_wins(scores: Scores, draws: NDArray[np.float64]) -> Indices:
    """Return the better half of a population by its wins against random others, best first.

    ``draws[i]`` has a number from [0, 1) for each opponent of i. Among equally many wins, the
    higher score comes first, then the lower number.
    """
    n = len(scores)
    opponents = np.floor(draws * (n - 1)).astype(np.int64)
    opponents += opponents >= np.arange(n)[:, None]  # nobody meets itself
    wins = (scores[:, None] >= scores[opponents]).sum(axis=1)
    return np.lexsort((-scores, -wins))[: n // 2]


def _make_info(state: MDLEPState) -> Info:
    """Return the mean score of the population."""
    return {"mean_score": float(state.local.sum(axis=1).mean())}
