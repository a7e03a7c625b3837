"""The log weight of each family: what every computation about the posterior reads.

The posterior of a DAG is proportional to the product of the weights of its families. The log
weight of a family is its local score, plus the log prior of its number of parents. A family that
the constraints exclude has the log weight -inf.

For each child there are K candidate parents, and a table with the log weights of all 2^K sets of
them. Bit j of the number of a set says whether candidate j is in it. If the candidates are all
other variables, the tables are complete, and what follows from them is exact. Otherwise some
families with a parent that is no candidate are kept one by one (`OutsideFamilies`), as in
Gadget [1]_.

A family outside the candidates is dropped if it is improbable. If some of the parents of a child
are removed, a DAG stays a DAG. So the probability that the child has exactly the parents P is at
most the weight of P over the sum of the weights of all subsets of P. If this bound is below
`NEGLIGIBLE`, P is dropped. The sum of the bounds of all dropped families is an upper bound on what
this changes in any probability (`FamilyWeights.dropped`). It says nothing of larger sets outside
the candidates, which are never scored.

The prior over the number of parents is either uniform over sets (``'uniform'``), or uniform over
numbers (``'fair'`` [2]_): each set of k parents out of n - 1 variables has the prior
1 / C(n - 1, k).

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
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coevo.score import FamilyBatch
from coevo.search.base import Problem

__all__ = [
    "FAMILY_PRIORS",
    "FamilyWeights",
    "OutsideFamilies",
    "count_family_sets",
    "make_complete_weights",
    "make_family_weights",
]

FAMILY_PRIORS = ("uniform", "fair")
NEGLIGIBLE = 1e-7  # the bound on the probability of a family below which it is dropped
SETS_PER_BATCH = 1 << 14  # families that are scored at once

Sets = NDArray[np.int64]  # numbers of sets: bit j says whether candidate j is in the set


class OutsideFamilies(NamedTuple):
    """Families with a parent that is no candidate, the heaviest of each child first."""

    begin: NDArray[np.int64]  # (n + 1,), the families of child v are begin[v] to begin[v + 1]
    log_weight: NDArray[np.float64]
    start: NDArray[np.int64]  # family f has the parents parents[start[f]:start[f + 1]]
    parents: NDArray[np.int32]  # ascending within a family


@dataclass(frozen=True)
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
    dropped : float
        An upper bound on the probability that a network has one of the dropped families.
    n_scored : int
        Number of families that were scored.
    """

    candidates: tuple[NDArray[np.int64], ...]
    tables: tuple[NDArray[np.float64], ...]
    outside: OutsideFamilies
    dropped: float
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
    max_outside: int = 0,
) -> FamilyWeights:
    """Score all sets of candidates, and all sets of up to `max_outside` parents outside them."""
    prior = _compute_log_prior(problem.n_variables, family_prior)
    tables, n_scored = [], 0
    for child, chosen in enumerate(candidates):
        table, n = _score_sets(problem, child, chosen, prior)
        tables.append(table)
        n_scored += n
    parts, dropped = list[_Outside](), list[float]()
    for child, chosen in enumerate(candidates):
        by_size, free, n = _score_outside(problem, child, chosen, tables[child], prior, max_outside)
        part, bounds = _drop_improbable(by_size, free, chosen)
        parts.append(part)
        dropped += bounds
        n_scored += n
    return FamilyWeights(
        tuple(candidates), tuple(tables), _join_outside(parts), math.fsum(dropped), n_scored
    )


def _compute_log_prior(n_variables: int, family_prior: str) -> NDArray[np.float64]:
    """Return the log prior of a set by its number of parents."""
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


class _Outside(NamedTuple):
    """The families of one child with a parent that is no candidate."""

    log_weight: NDArray[np.float64]
    size: NDArray[np.int64]
    parents: NDArray[np.int64]  # (n, max_outside), ascending, then -1


@cache
def _list_places(n: int, size: int) -> NDArray[np.int64]:
    """Return all sets of `size` places below n, in colexicographic order: set i has rank i."""
    turned = itertools.combinations(range(n - 1, -1, -1), size)
    places = np.array(list(turned), dtype=np.int64).reshape(-1, size)
    return places[::-1, ::-1].copy()


def _rank_places(places: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the rank of each set of ascending places among all sets of its size.

    >>> _rank_places(_list_places(4, 2)).tolist()
    [0, 1, 2, 3, 4, 5]
    """
    most = int(places.max(initial=0)) + 1
    rank = np.zeros(len(places), dtype=np.int64)
    for i in range(places.shape[1]):
        count = np.array([math.comb(place, i + 1) for place in range(most)], dtype=np.int64)
        rank += count[places[:, i]]
    return rank


def _score_outside(
    problem: Problem,
    child: int,
    candidates: NDArray[np.int64],
    table: NDArray[np.float64],
    prior: NDArray[np.float64],
    max_outside: int,
) -> tuple[list[NDArray[np.float64]], NDArray[np.int64], int]:
    """Return the log weights of all sets of each size up to `max_outside`, by their rank.

    The places of a set are those of the allowed parents, which are returned too. The sets of
    candidates have their weights from the table. The last value is the number of scored
    families.
    """
    rules = problem.rules
    free = np.flatnonzero(rules.allowed[:, child])
    bit = np.zeros(problem.n_variables, dtype=np.int64)
    bit[candidates] = 1 << np.arange(len(candidates), dtype=np.int64)
    needed = np.flatnonzero(rules.required[:, child])
    by_size, n_scored = [table[:1].copy()], 0
    for size in range(1, min(max_outside, rules.max_parents, len(free)) + 1):
        parents = free[_list_places(len(free), size)]
        is_inside = (bit[parents] > 0).all(axis=1)
        weights = np.full(len(parents), -np.inf)
        weights[is_inside] = table[bit[parents[is_inside]].sum(axis=1)]
        is_scored = ~is_inside
        for parent in needed.tolist():
            is_scored &= (parents == parent).any(axis=1)
        some = parents[is_scored]
        weights[is_scored] = _score_equal_sizes(problem, child, some) + prior[size]
        n_scored += len(some)
        by_size.append(weights)
    return by_size, free, n_scored


def _score_equal_sizes(
    problem: Problem, child: int, parents: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the local scores of a child with each row of parents."""
    n, size = parents.shape
    members = np.full((n, size + 1), child, dtype=np.int32)
    members[:, 1:] = parents
    start = np.arange(n + 1, dtype=np.int64) * (size + 1)
    return problem.scorer.local_scores(FamilyBatch(members.ravel(), start))


def _drop_improbable(
    by_size: Sequence[NDArray[np.float64]], free: NDArray[np.int64], candidates: NDArray[np.int64]
) -> tuple[_Outside, list[float]]:
    """Return the families that stay, heaviest first, and the bounds of those that do not."""
    weights, sizes, sets, dropped = [], [], [], list[float]()
    most = len(by_size) - 1
    is_candidate = np.isin(free, candidates)
    for size in range(1, most + 1):
        places = _list_places(len(free), size)
        weight = by_size[size]
        is_outside = ~is_candidate[places].all(axis=1) & (weight > -np.inf)
        places, weight = places[is_outside], weight[is_outside]
        total = np.full(len(places), by_size[0][0])
        for k in range(1, size + 1):
            for columns in itertools.combinations(range(size), k):
                rank = _rank_places(places[:, columns])
                total = np.logaddexp(total, by_size[k][rank])
        bound = np.exp(weight - total)
        is_kept = bound >= NEGLIGIBLE
        dropped += bound[~is_kept].tolist()
        filled = np.full((int(is_kept.sum()), most), -1, dtype=np.int64)
        filled[:, :size] = free[places[is_kept]]
        weights.append(weight[is_kept])
        sizes.append(np.full(len(filled), size))
        sets.append(filled)
    if not sets:
        none = np.empty(0, dtype=np.int64)
        return _Outside(np.empty(0), none, np.empty((0, 0), dtype=np.int64)), dropped
    found = _Outside(np.concatenate(weights), np.concatenate(sizes), np.concatenate(sets))
    # The heaviest first. Of equal ones the first by name: a shorter set before its extensions.
    rank = np.lexsort((*found.parents.T[::-1], -found.log_weight))
    return _Outside(found.log_weight[rank], found.size[rank], found.parents[rank]), dropped


def _join_outside(parts: Sequence[_Outside]) -> OutsideFamilies:
    """Return the outside families of all children as arrays."""
    begin = np.cumsum([0, *(len(part.log_weight) for part in parts)], dtype=np.int64)
    size = np.concatenate([part.size for part in parts])
    parents = [part.parents[part.parents >= 0] for part in parts]
    return OutsideFamilies(
        begin,
        np.concatenate([part.log_weight for part in parts]),
        np.cumsum([0, *size.tolist()], dtype=np.int64),
        np.concatenate(parents).astype(np.int32),
    )
