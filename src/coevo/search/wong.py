"""Wong's hybrid: independence tests first, then one species of parent sets for each variable.

Wong, Lee and Leung (2004) combine the two families of methods. Phase 1 tests each pair of variables
without and with one other variable given. A pair that some test calls independent is never
connected: the largest p-value of the pair must not exceed a cut-off. In phase 2 species v holds
parent sets of variable v. A local score needs no partner, so the species evolve side by side. One
network S collects their best members, and its order feeds back: no member may have a descendant of
its variable as a parent, and one that has leaves its species. Only arcs that S believes in bind,
so that a wrong order can be left again.

The primary text was not at hand. Known are the tests of order 0 and 1, the cut-off, the species of
20 members and the belief factor of 0.2. How belief is computed and how S stays acyclic is our
reading:

- The belief in an arc p -> v of S is ``1 - g(v -> p) / g(p -> v)``, where g is what the arc adds to
  the local score of its head beside the other parents in S; it is 0 if g(p -> v) is not positive.
- S takes, for one variable after another, the best of its six best sets that raises the score of S
  and closes no cycle. A new parent that had the variable as a parent gives it up first, for its own
  best set without it that closes no cycle.

The paper's score is MDL: ``score='bic'`` with ``parent_penalty`` ln(n) is the same, up to its sign
and unit. Any other score will do.

References
----------
M. L. Wong, S. Y. Lee, K. S. Leung (2004). Data mining of Bayesian networks using cooperative
coevolution. Decision Support Systems 38, 451-472.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from coevo.checks import is_number
from coevo.errors import bad_parameter
from coevo.runtime.deadline import check_deadline
from coevo.score import FamilyBatch
from coevo.score.independence import TripleBatch, check_test
from coevo.search.base import (
    FINITE,
    LEAST_GAIN,
    SCORES,
    Array,
    Info,
    Method,
    Number,
    Problem,
    Rule,
    Schema,
    Search,
    SearchState,
)
from coevo.search.graph_kernels import compute_reachability
from coevo.search.loop import Budget

__all__ = ["Wong", "WongNetwork", "WongState"]


# The network that collects the best parent sets of all species, and the order it feeds back.


N_TRIED = 6  # best sets of a variable that the network tries


class WongNetwork:
    """A DAG with its local scores; `collect` changes both, for the better only.

    Parameters
    ----------
    problem : Problem
        The problem.
    adjacency : array of bool
        The structure, ``[parent, child]``; it is copied.
    local : array of float
        Its local scores; they are copied.
    """

    def __init__(
        self, problem: Problem, adjacency: NDArray[np.bool_], local: NDArray[np.float64]
    ) -> None:
        self._problem = problem
        self.adjacency = adjacency.copy()
        self.local = local.copy()

    def find_barred(self, belief: float) -> tuple[NDArray[np.bool_], int]:
        """Return which parents, ``[parent, child]``, the order bars, and the number of scores.

        The descendants of a variable along arcs of enough belief are barred as its parents.
        """
        binding, n_scored = self._find_binding_arcs(belief)
        reach = compute_reachability(binding)  # [ancestor, descendant]
        barred: NDArray[np.bool_] = np.ascontiguousarray(reach.T).astype(np.bool_)
        np.fill_diagonal(barred, False)
        return barred, n_scored

    def _find_binding_arcs(self, belief: float) -> tuple[NDArray[np.bool_], int]:
        """Return the arcs whose belief is at least the factor, and the number of scores."""
        arcs = np.argwhere(self.adjacency).tolist()
        if belief == 0 or not arcs:
            return self.adjacency.copy(), 0
        pairs = []
        for parent, child in arcs:
            parents = np.flatnonzero(self.adjacency[:, child])
            pairs.append((child, parents[parents != parent]))
            others = np.flatnonzero(self.adjacency[:, parent])
            pairs.append((parent, np.append(others, child)))
        without, turned = (
            self._problem.scorer.local_scores(FamilyBatch.from_pairs(pairs)).reshape(-1, 2).T
        )
        binding = np.zeros_like(self.adjacency)
        for (parent, child), low, high in zip(arcs, without, turned, strict=True):
            gain = self.local[child] - low
            turned_gain = max(0.0, high - self.local[parent])
            share = 1 - turned_gain / gain if gain > 0 else 0.0
            binding[parent, child] = share >= belief
        return binding, len(pairs)

    def collect(
        self,
        order: NDArray[np.int64],
        sets: NDArray[np.bool_],
        scores: NDArray[np.float64],
    ) -> int:
        """Install better parent sets, for one variable after another; return the scores asked."""
        n_scored = 0
        for child in order.tolist():
            check_deadline()
            for member in range(min(N_TRIED, sets.shape[1])):
                if scores[child, member] == -np.inf:
                    break
                is_better, n_asked = self._try(child, sets[child, member], sets, scores, member)
                n_scored += n_asked
                if is_better:
                    break
        return n_scored

    def _try(
        self,
        child: int,
        parents: NDArray[np.bool_],
        sets: NDArray[np.bool_],
        scores: NDArray[np.float64],
        member: int,
    ) -> tuple[bool, int]:
        """Install a set if the network gains from it; return whether, and the scores asked."""
        adjacency, local = self.adjacency.copy(), self.local.copy()
        adjacency[:, child], local[child] = parents, scores[child, member]
        turned = np.flatnonzero(parents & self.adjacency[child]).tolist()
        if self._problem.rules.required[child, turned].any():
            return False, 0
        adjacency[child, turned] = False
        n_asked = 0
        for parent in turned:
            n_asked += self._give_up(child, parent, sets[parent], scores[parent], adjacency, local)
        is_better = local.sum() > self.local.sum() + LEAST_GAIN and not _has_cycle(adjacency)
        if is_better:
            self.adjacency, self.local = adjacency, local
        return bool(is_better), n_asked

    def _give_up(
        self,
        child: int,
        parent: int,
        sets: NDArray[np.bool_],
        scores: NDArray[np.float64],
        adjacency: NDArray[np.bool_],
        local: NDArray[np.float64],
    ) -> int:
        """Give `parent` its best set without `child` that closes no cycle, in place.

        Where it has none, it keeps its other parents. Return the number of scores asked.
        """
        own = adjacency[:, parent].copy()
        for member in np.flatnonzero(~sets[:, child] & np.isfinite(scores)).tolist():
            adjacency[:, parent], local[parent] = sets[member], scores[member]
            if not _has_cycle(adjacency):
                return 0
        adjacency[:, parent] = own
        batch = FamilyBatch.from_pairs([(parent, np.flatnonzero(own))])
        local[parent] = self._problem.scorer.local_scores(batch)[0]
        return 1


def _has_cycle(adjacency: NDArray[np.bool_]) -> bool:
    return bool(compute_reachability(adjacency).diagonal().any())


DEFAULT_MAX_PARENTS = 5
TESTS_PER_STEP = 1 << 16
TESTS_PER_BATCH = 1 << 14  # between two checks of the deadline

Sets = NDArray[np.bool_]  # (n, population, n): [child, member, parent]
NO_LOOPS = Rule(
    "no variable among its own parents",
    lambda sets, sizes: not sets[np.arange(len(sets)), :, np.arange(len(sets))].any(),
)


@dataclass(frozen=True, eq=False)
class WongState(SearchState):
    """The pairs that may be connected, the next variable to test them with, and the species.

    `set_scores` is minus infinity where a species has no member.
    """

    schema: ClassVar[Schema] = {
        **SearchState.schema,
        "candidates": Array(np.bool_, ("n", "n")),
        "n_tested": Number(0, "n"),
        "sets": Array(np.bool_, ("n", "population", "n"), NO_LOOPS),
        "set_scores": Array(np.float64, ("n", "population"), SCORES),
        "local": Array(np.float64, ("n",), FINITE),
    }

    candidates: NDArray[np.bool_]  # (n, n), [parent, child]
    n_tested: int  # variables that all pairs were tested with, one given
    sets: Sets
    set_scores: NDArray[np.float64]  # (n, population)
    local: NDArray[np.float64]  # (n,), local scores of the network


@dataclass(frozen=True)
class Wong(Method):
    """Settings of Wong's hybrid.

    Parameters
    ----------
    cutoff : float
        A pair is connected only if no test of order 0 or 1 has a p-value above this (default: 0.3).
    belief : float
        Arcs of the network whose belief is at least this bind the order; 0 binds all, above 1 none
        (default: 0.2).
    population : int
        Number of parent sets of each species (default: 20).
    p_crossover : float
        Probability of uniform crossover (default: 0.7).
    p_mutation : float
        Probability that one candidate is added or removed (default: 0.5).
    test : str
        ``'g2'`` or ``'x2'`` (default: ``'g2'``).
    """

    name: ClassVar[str] = "wong"
    state_type: ClassVar[type[SearchState]] = WongState
    default_budget: ClassVar[Budget] = Budget(max_generations=200)

    cutoff: float = 0.3
    belief: float = 0.2
    population: int = 20
    p_crossover: float = 0.7
    p_mutation: float = 0.5
    test: str = "g2"

    def __post_init__(self) -> None:
        self.check_counts(population=2)
        for name in ("cutoff", "p_crossover", "p_mutation"):
            value = getattr(self, name)
            if not (is_number(value) and 0 <= value <= 1):
                raise bad_parameter(name, "Wong", "a number from 0 to 1", value)
        if not (is_number(self.belief) and self.belief >= 0):
            raise bad_parameter("belief", "Wong", "a number >= 0", self.belief)
        check_test(self.test, "Wong")

    def make_search(self, problem: Problem) -> WongSearch:
        """Return the search on a problem."""
        return WongSearch(self, problem)

    def estimate_memory(self, n_variables: int) -> int:
        """Return an upper estimate of the bytes that a search needs, without the scorer."""
        return super().estimate_memory(n_variables) + 8 * self.population * n_variables**2


class WongSearch(Search[WongState]):
    """Wong's hybrid on a problem: steps of tests first, then generations."""

    def __init__(self, method: Wong, problem: Problem) -> None:
        self._method, self._problem = method, problem
        limit = problem.constraints.max_parents or DEFAULT_MAX_PARENTS
        most_required = int(problem.rules.required.sum(axis=0).max(initial=0))
        self._limit = min(max(limit, most_required), problem.rules.max_parents)

    def start(self, rng: Generator) -> tuple[WongState, Info]:
        """Return the start structure, with the pairs that pass the tests of order 0."""
        problem, n = self._problem, self._problem.n_variables
        start, rules = problem.start, problem.rules
        may_connect = (rules.allowed | rules.allowed.T) & ~(rules.required | rules.required.T)
        first, second = np.nonzero(np.triu(may_connect))
        p_values = self._test(first, second, ())
        passed = p_values <= self._method.cutoff
        candidates = np.zeros((n, n), dtype=np.bool_)
        candidates[first[passed], second[passed]] = True
        candidates = (candidates | candidates.T) & rules.allowed
        local = problem.local_scores(start)
        size = self._method.population
        sets = np.zeros((n, size, n), dtype=np.bool_)
        sets[:, 0] = start.T
        scores = np.full((n, size), -np.inf)
        scores[:, 0] = local
        state = WongState(
            generation=0,
            evaluations=n + len(first),
            improved=0,
            score=math.fsum(local),
            adjacency=start.copy(),
            candidates=candidates,
            n_tested=0,
            sets=sets,
            set_scores=scores,
            local=local,
        )
        return state, self._describe(state)

    def is_compatible(self, state: WongState) -> bool:
        """Return whether the species have the size of the settings."""
        return bool(state.sets.shape[1] == self._method.population)

    def step(self, rng: Generator, state: WongState) -> tuple[WongState, Info]:
        """Test a part of the pairs, or evolve all species by one generation."""
        if state.n_tested < self._problem.n_variables:
            after = self._test_pairs(state)
        else:
            after = self._evolve(rng, state)
        return after, self._describe(after)

    def _describe(self, state: WongState) -> Info:
        pairs = np.triu(state.candidates | state.candidates.T).sum()
        return {"n_candidate_pairs": float(pairs), "n_tested": float(state.n_tested)}

    # -- phase 1

    def _test(
        self, first: NDArray[np.int64], second: NDArray[np.int64], given: tuple[int, ...]
    ) -> NDArray[np.float64]:
        """Return the p-value of the test of each pair."""
        parts = [np.empty(0)]
        for begin in range(0, len(first), TESTS_PER_BATCH):
            check_deadline()
            ends = (pair[begin : begin + TESTS_PER_BATCH].tolist() for pair in (first, second))
            batch = TripleBatch.from_triples([(x, y, given) for x, y in zip(*ends, strict=True)])
            parts.append(self._problem.scorer.test_triples(batch, self._method.test).p_values)
        return np.concatenate(parts)

    def _test_pairs(self, state: WongState) -> WongState:
        """Test the pairs that are left, given one variable after another."""
        candidates, n_tested, n_tests = state.candidates.copy(), state.n_tested, 0
        while n_tested < len(candidates) and n_tests < TESTS_PER_STEP:
            first, second = np.nonzero(np.triu(candidates | candidates.T))
            left = (first != n_tested) & (second != n_tested)
            first, second = first[left], second[left]
            p_values = self._test(first, second, (n_tested,))
            n_tests += len(first)
            gone = p_values > self._method.cutoff
            candidates[first[gone], second[gone]] = candidates[second[gone], first[gone]] = False
            n_tested += 1
        return state.advance(n_tests, candidates=candidates, n_tested=n_tested)

    # -- phase 2

    def _evolve(self, rng: Generator, state: WongState) -> WongState:
        """Return the state after one generation of all species and of the network."""
        network = WongNetwork(self._problem, state.adjacency, state.local)
        barred, n_believed = network.find_barred(self._method.belief)
        children = self._breed(rng, state, barred)
        scores, n_scored = self._score_sets(children)
        is_barred = (state.sets & barred.T[:, None]).any(axis=2)
        conforming = replace(state, set_scores=np.where(is_barred, -np.inf, state.set_scores))
        sets, set_scores = self._select(conforming, children, scores)
        order = rng.permutation(self._problem.n_variables)
        n_collected = network.collect(order, sets, set_scores)
        better = None
        total = math.fsum(network.local)
        if total > state.score + LEAST_GAIN:
            better = (network.adjacency, total)
        local = state.local if better is None else network.local
        n_evaluations = n_believed + n_scored + n_collected
        return state.advance(n_evaluations, better, sets=sets, set_scores=set_scores, local=local)

    def _breed(self, rng: Generator, state: WongState, barred: NDArray[np.bool_]) -> Sets:
        """Return a new set for each member of each species."""
        method, (n, size, _) = self._method, state.sets.shape
        draws = rng.random((4, n, size, 2))
        species = np.arange(n)[:, None]
        n_members = np.maximum(1, np.isfinite(state.set_scores).sum(axis=1))[:, None]
        parents = []
        for pair in draws[:2]:  # members are sorted, so the lower number wins a tournament
            chosen = np.floor(pair * n_members[..., None]).astype(np.int64).min(axis=2)
            parents.append(state.sets[species, chosen])
        mixed = np.where(rng.random((n, size, n)) < 0.5, *parents)
        crosses = draws[2, ..., 0] < method.p_crossover
        children = np.where(crosses[..., None], mixed, parents[0])
        has_candidates = np.asarray(state.candidates.any(axis=0))[:, None]
        toggles = (draws[2, ..., 1] < method.p_mutation) & has_candidates
        keys = np.where(state.candidates.T[:, None], rng.random((n, size, n)), -1.0)
        place = keys.argmax(axis=2)
        children[species, np.arange(size), place] ^= toggles
        children &= state.candidates.T[:, None] & ~barred.T[:, None]
        self._limit_parents(children, rng.random((n, size, n)))
        complete: Sets = children | self._problem.rules.required.T[:, None]
        return complete

    def _limit_parents(self, children: Sets, keys: NDArray[np.float64]) -> None:
        """Remove random parents until each set is within the limit, without the required ones."""
        room = self._limit - self._problem.rules.required.sum(axis=0)
        for child in np.flatnonzero(children.sum(axis=2).max(axis=1) > room):
            ranks = np.argsort(np.argsort(-np.where(children[child], keys[child], -1.0)))
            children[child] &= ranks < room[child]

    def _score_sets(self, sets: Sets) -> tuple[NDArray[np.float64], int]:
        """Return the local score of each set; minus infinity where its table is too large."""
        n, size, _ = sets.shape
        pairs = [(v, np.flatnonzero(member)) for v in range(n) for member in sets[v]]
        fits = np.array([self._problem.rules.fits(v, parents) for v, parents in pairs])
        batch = FamilyBatch.from_pairs([pair for pair, fit in zip(pairs, fits, strict=True) if fit])
        scores = np.full(n * size, -np.inf)
        scores[fits] = self._problem.scorer.local_scores(batch)
        return scores.reshape(n, size), int(fits.sum())

    def _select(
        self, state: WongState, children: Sets, scores: NDArray[np.float64]
    ) -> tuple[Sets, NDArray[np.float64]]:
        """Return the best distinct sets of old and new members and of the network, best first."""
        own = state.adjacency.T[:, None]
        sets = np.concatenate([own, state.sets, children], axis=1)
        all_scores = np.concatenate([state.local[:, None], state.set_scores, scores], axis=1)
        kept, kept_scores = np.zeros_like(state.sets), np.full_like(state.set_scores, -np.inf)
        for child in range(len(sets)):
            # Ties go to the first set by its parents, so that the answer is free of the order.
            packed = np.packbits(sets[child], axis=1)
            order = np.lexsort((*packed.T[::-1], -all_scores[child]))
            seen: set[bytes] = set()
            for place in order.tolist():
                key = packed[place].tobytes()
                if len(seen) == kept.shape[1] or all_scores[child, place] == -np.inf:
                    break
                if key not in seen:
                    kept[child, len(seen)] = sets[child, place]
                    kept_scores[child, len(seen)] = all_scores[child, place]
                    seen.add(key)
        return kept, kept_scores
