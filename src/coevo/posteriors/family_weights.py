"""The candidate parents of each child, and the log weight of each family.

The posterior of a DAG is proportional to the product of the weights of its families. The log
weight of a family is its local score, plus the log prior of its number of parents. A family that
the constraints exclude has the log weight -inf.

For each child there are K candidate parents, and a table with the log weights of all 2^K sets of
them. Bit j of the number of a set says whether candidate j is in it. If the candidates are all
other variables, the tables are complete, and what follows from them is exact. Otherwise the most
probable families with a parent that is no candidate are kept one by one (`OutsideFamilies`), in
the manner of Gadget [1]_. `coevo.posteriors.outside` finds them.

The prior over the number of parents is either uniform over sets (``'uniform'``), or uniform over
numbers (``'fair'`` [2]_): each set of k parents out of n - 1 variables has the prior
1 / C(n - 1, k).

**Candidates.** The tables hold all sets of the candidates of a child, so candidates are few. A good
candidate is in a family of high weight. The archive of a finished search with `ccma` holds
the best scored families of each child under many orders. It ranks the parents of a child by the
best family that contains them. Without an archive, the best family is grown greedily.

The best family of a child often has its children as parents. A parent in the best network can
then rank low, although it has a high probability. So good structures that a search has found come
first: all variables that are adjacent to the child, those of the most structures first.

The other variables follow by their gain: the largest difference that a variable makes to the
score beside any subset of the best family (Viinikka et al. 2020 choose candidates in this way).

Required parents are always candidates, and come first. A forbidden parent never is one.

.. [1] J. Viinikka, A. Hyttinen, J. Pensar and M. Koivisto, Towards scalable Bayesian learning of
   causal DAGs, NeurIPS 2020.
.. [2] N. Friedman and D. Koller, Being Bayesian about network structure: a Bayesian approach to
   structure discovery in Bayesian networks, Machine Learning 50, 2003.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coevo.checks import is_int
from coevo.errors import bad_parameter
from coevo.score import FamilyBatch
from coevo.search.archive import Archive
from coevo.search.base import LEAST_GAIN, Problem

__all__ = [
    "FAMILY_PRIORS",
    "FamilyWeights",
    "OutsideFamilies",
    "ParentSets",
    "choose_candidates",
    "choose_least_candidates",
    "compute_log_prior",
    "count_family_sets",
    "make_complete_weights",
    "make_family_weights",
]


MAX_CORE = 4  # parents of the best family beside whose subsets gains are computed


def choose_candidates(
    problem: Problem,
    archive: Archive | None,
    n_candidates: int,
    structures: NDArray[np.bool_] | None = None,
) -> list[NDArray[np.int64]]:
    """Return the candidate parents of each child, ascending: at most `n_candidates`.

    Parameters
    ----------
    problem : Problem
        The scorer and the constraints.
    archive : Archive, optional
        The families that a search has scored: ``SearchResult.state.archive`` of `ccma`.
    n_candidates : int
        Number of candidates of each child, if there are as many allowed parents. A child with
        more required parents has these.
    structures : array of bool, (m, n, n), optional
        Good structures, ``[structure, parent, child]``: the best network of a search, or those
        of its population.
    """
    if not is_int(n_candidates, 1):
        raise bad_parameter("candidates", "posterior", "an int >= 1", n_candidates)
    n = problem.n_variables
    adjacent = np.zeros((n, n), dtype=np.int64)
    if structures is not None:
        adjacent = structures.sum(axis=0) + structures.sum(axis=0).T
    return [
        _choose_for_child(problem, archive, child, n_candidates, adjacent[child])
        for child in range(n)
    ]


def choose_least_candidates(problem: Problem, n_candidates: int) -> list[NDArray[np.int64]]:
    """Return the required parents of each child, and others that the start has: without a score."""
    rules, start = problem.rules, problem.start
    is_near = (start | start.T) & rules.allowed
    chosen = []
    for child in range(problem.n_variables):
        required = np.flatnonzero(rules.required[:, child]).tolist()
        parents = np.flatnonzero(start[:, child]).tolist()
        near = np.flatnonzero(is_near[:, child]).tolist()
        ranked = list(dict.fromkeys([*required, *parents, *near]))
        kept = ranked[: max(n_candidates, len(required))]
        chosen.append(np.array(sorted(kept), dtype=np.int64))
    return chosen


def _choose_for_child(
    problem: Problem,
    archive: Archive | None,
    child: int,
    n_candidates: int,
    adjacent: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Return the candidates of one child, ascending.

    ``adjacent[v]`` is the number of structures in which v is adjacent to the child.
    """
    rules = problem.rules
    required = np.flatnonzero(rules.required[:, child]).tolist()
    allowed = np.flatnonzero(rules.allowed[:, child]).tolist()
    if len(allowed) <= n_candidates:
        return np.array(allowed, dtype=np.int64)
    if archive is None:
        core, ranked = _grow_family(problem, child, required, allowed), list[int]()
    else:
        core, ranked = _rank_by_family(archive, child)
    near = [v for v in np.argsort(-adjacent, kind="stable").tolist() if adjacent[v]]
    is_allowed = problem.rules.allowed[:, child]
    near = [v for v in near if is_allowed[v]]
    chosen = list(dict.fromkeys([*required, *near, *core, *ranked]))
    if len(chosen) < n_candidates:
        others = [v for v in allowed if v not in set(chosen)]
        chosen += _rank_by_gain(problem, child, core, others)
    kept = chosen[: max(n_candidates, len(required))]
    return np.array(sorted(kept), dtype=np.int64)


def _rank_by_family(archive: Archive, child: int) -> tuple[list[int], list[int]]:
    """Return the parents of the best family, and those of all families, the best first."""
    first, last = int(archive.begin[child]), int(archive.begin[child + 1])
    parents = archive.parents[archive.start[first] : archive.start[last]].tolist()
    return list(archive.parents_of(first)), list(dict.fromkeys(parents))


def _grow_family(
    problem: Problem, child: int, required: list[int], allowed: list[int]
) -> list[int]:
    """Return the parents of a family that grows by the best parent as long as one gains."""
    family, score = list(required), -np.inf
    score = float(_score(problem, child, [tuple(family)])[0])
    while len(family) < problem.rules.max_parents:
        more = [v for v in allowed if v not in set(family)]
        if not more:
            break
        scores = _score(problem, child, [tuple(sorted([*family, v])) for v in more])
        best = int(scores.argmax())
        if scores[best] <= score + LEAST_GAIN:
            break
        family.append(more[best])
        score = float(scores[best])
    return family


def _rank_by_gain(problem: Problem, child: int, core: list[int], others: list[int]) -> list[int]:
    """Return the others by the largest gain beside a subset of the core, the largest first."""
    near = sorted(core[:MAX_CORE])
    limit = problem.rules.max_parents - 1
    bases = [s for k in range(len(near) + 1) if k <= limit for s in itertools.combinations(near, k)]
    if not bases:
        return others
    families = [tuple(sorted([*base, v])) for base in bases for v in others]
    scores = _score(problem, child, families).reshape(len(bases), len(others))
    gains = (scores - _score(problem, child, bases)[:, None]).max(axis=0)
    return [others[i] for i in np.argsort(-gains, kind="stable").tolist()]


def _score(problem: Problem, child: int, sets: list[tuple[int, ...]]) -> NDArray[np.float64]:
    """Return the scores of a child with each of these parent sets."""
    return problem.scorer.local_scores(FamilyBatch.from_pairs((child, s) for s in sets))


FAMILY_PRIORS = ("uniform", "fair")
SETS_PER_BATCH = 1 << 14  # families that are scored at once

Sets = NDArray[np.int64]  # numbers of sets: bit j says whether candidate j is in the set


class ParentSets(NamedTuple):
    """Parent sets of all children."""

    begin: NDArray[np.int64]  # (n + 1,), the sets of child v are begin[v] to begin[v + 1]
    start: NDArray[np.int64]  # set s has the parents parents[start[s]:start[s + 1]]
    parents: NDArray[np.int32]  # ascending within a set

    @classmethod
    def make_empty(cls, n_variables: int) -> ParentSets:
        """Return no set for any child."""
        none = np.zeros(1, dtype=np.int64)
        return cls(np.zeros(n_variables + 1, dtype=np.int64), none, np.empty(0, dtype=np.int32))

    def split(self) -> list[NDArray[np.int32]]:
        """Return the parents of each set."""
        return np.split(self.parents, self.start[1:-1]) if len(self.start) > 1 else []

    @property
    def children(self) -> NDArray[np.int64]:
        """The child of each set."""
        return np.repeat(np.arange(len(self.begin) - 1), np.diff(self.begin))


class OutsideFamilies(NamedTuple):
    """Families with a parent that is no candidate, the heaviest of each child first."""

    begin: NDArray[np.int64]  # (n + 1,), the families of child v are begin[v] to begin[v + 1]
    log_weight: NDArray[np.float64]
    start: NDArray[np.int64]  # family f has the parents parents[start[f]:start[f + 1]]
    parents: NDArray[np.int32]  # ascending within a family


@dataclass(frozen=True, eq=False)
class FamilyWeights:
    """The log weights of the families of all children.

    Attributes
    ----------
    candidates : tuple of arrays
        The candidate parents of each child, ascending.
    tables : tuple of arrays
        For each child the log weights of all sets of its candidates, (2^K,).
    outside : OutsideFamilies
        The families that are kept although a parent is no candidate.
    n_scored : int
        Number of families that were scored.
    """

    candidates: tuple[NDArray[np.int64], ...]
    tables: tuple[NDArray[np.float64], ...]
    outside: OutsideFamilies
    n_scored: int

    @property
    def n_variables(self) -> int:
        """The number of variables."""
        return len(self.candidates)

    @property
    def is_complete(self) -> bool:
        """Whether the tables hold every family."""
        n = self.n_variables
        return all(len(candidates) == n - 1 for candidates in self.candidates)


def count_family_sets(n_candidates: int, max_parents: int) -> int:
    """Return the number of sets of at most `max_parents` candidates.

    >>> count_family_sets(4, 2)
    11
    """
    return sum(math.comb(n_candidates, k) for k in range(min(n_candidates, max_parents) + 1))


def make_complete_weights(problem: Problem, family_prior: str = "uniform") -> FamilyWeights:
    """Return the weights of all families: every other variable is a candidate."""
    n = problem.n_variables
    every = [np.delete(np.arange(n), child) for child in range(n)]
    return make_family_weights(problem, every, family_prior)


def make_family_weights(
    problem: Problem,
    candidates: Sequence[NDArray[np.int64]],
    family_prior: str = "uniform",
    outside: ParentSets | None = None,
    known: FamilyWeights | None = None,
) -> FamilyWeights:
    """Score all sets of candidates, and the given sets with a parent outside them.

    The tables of children whose candidates are the same in `known` weights are taken from there.
    """
    prior = compute_log_prior(problem.n_variables, family_prior)
    tables, n_scored = [], 0
    for child, chosen in enumerate(candidates):
        if known is not None and np.array_equal(known.candidates[child], chosen):
            tables.append(known.tables[child])
            continue
        table, n = _score_sets(problem, child, chosen, prior)
        tables.append(table)
        n_scored += n
    sets = ParentSets.make_empty(len(candidates)) if outside is None else outside
    found = _score_outside(problem, sets, prior)
    n_scored += len(found.log_weight)
    return FamilyWeights(tuple(candidates), tuple(tables), found, n_scored)


def compute_log_prior(n_variables: int, family_prior: str) -> NDArray[np.float64]:
    """Return the log prior of a set by its number of parents: uniform over sets, or fair."""
    if family_prior == "uniform":
        return np.zeros(n_variables)
    return np.array([-math.log(math.comb(n_variables - 1, k)) for k in range(n_variables)])


def _score_sets(
    problem: Problem, child: int, candidates: NDArray[np.int64], prior: NDArray[np.float64]
) -> tuple[NDArray[np.float64], int]:
    """Return the log weights of all sets of candidates, and the number of scored families."""
    rules, n_candidates = problem.rules, len(candidates)
    table = np.full(1 << n_candidates, -np.inf)
    needed = np.flatnonzero(rules.required[:, child])
    if not np.isin(needed, candidates).all():
        return table, 0
    bits = 1 << np.arange(n_candidates, dtype=np.int64)
    is_free = rules.allowed[candidates, child]
    is_needed = np.isin(candidates, needed)
    sets = np.arange(1 << n_candidates, dtype=np.int64)
    sizes = np.bitwise_count(sets).astype(np.int64)
    barred, required = int(bits[~is_free].sum()), int(bits[is_needed].sum())
    is_allowed = (sizes <= rules.max_parents) & (sets & barred == 0) & (sets & required == required)
    allowed = sets[is_allowed]
    for low in range(0, len(allowed), SETS_PER_BATCH):
        some = allowed[low : low + SETS_PER_BATCH]
        batch = _make_batch(child, candidates, some)
        table[some] = problem.scorer.local_scores(batch) + prior[sizes[some]]
    return table, len(allowed)


def _make_batch(child: int, candidates: NDArray[np.int64], sets: Sets) -> FamilyBatch:
    """Return the families of a child with these sets of ascending candidates as parents."""
    chosen = (sets[:, None] >> np.arange(len(candidates))) & 1 == 1
    column = np.nonzero(chosen)[1]
    start = np.concatenate([[0], np.cumsum(1 + chosen.sum(axis=1))]).astype(np.int64)
    members = np.full(int(start[-1]), child, dtype=np.int32)
    is_parent = np.ones(len(members), dtype=np.bool_)
    is_parent[start[:-1]] = False
    members[is_parent] = candidates[column]
    return FamilyBatch(members, start)


def _score_outside(
    problem: Problem, sets: ParentSets, prior: NDArray[np.float64]
) -> OutsideFamilies:
    """Return the weights of these sets, the heaviest of each child first; ties in their order."""
    size, child = np.diff(sets.start), sets.children
    members = np.insert(sets.parents, sets.start[:-1], child).astype(np.int32)
    start = sets.start + np.arange(len(sets.start))
    weight = problem.scorer.local_scores(FamilyBatch(members, start)) + prior[size]
    rank = np.lexsort((-weight, child))
    split = sets.split()
    parents = [split[s] for s in rank]
    return OutsideFamilies(
        sets.begin,
        weight[rank],
        np.concatenate([[0], np.cumsum(size[rank])]).astype(np.int64),
        np.concatenate([*parents, np.empty(0, dtype=np.int32)]).astype(np.int32),
    )
