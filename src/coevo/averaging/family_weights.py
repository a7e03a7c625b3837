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
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
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
    parts: list[Part] = []
    dropped = []
    for child, chosen in enumerate(candidates):
        scored = _score_outside(problem, child, chosen, prior, max_outside)
        part, bounds = _drop_improbable(scored, chosen, tables[child])
        parts.append(part)
        dropped += bounds
        n_scored += len(scored)
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


Part = list[tuple[float, tuple[int, ...]]]  # log weights and parents


def _list_outside(
    problem: Problem, child: int, candidates: NDArray[np.int64], max_outside: int
) -> Iterator[tuple[int, ...]]:
    """Return the allowed parent sets with at least one parent that is no candidate."""
    rules, inside = problem.rules, set(candidates.tolist())
    needed = set(np.flatnonzero(rules.required[:, child]).tolist())
    free = np.flatnonzero(rules.allowed[:, child]).tolist()
    for size in range(1, min(max_outside, rules.max_parents) + 1):
        for parents in itertools.combinations(free, size):
            if not inside.issuperset(parents) and needed.issubset(parents):
                yield parents


def _score_outside(
    problem: Problem,
    child: int,
    candidates: NDArray[np.int64],
    prior: NDArray[np.float64],
    max_outside: int,
) -> dict[tuple[int, ...], float]:
    """Return the log weights of the allowed families with a parent that is no candidate."""
    listed = list(_list_outside(problem, child, candidates, max_outside))
    if not listed:
        return {}
    scores = problem.scorer.local_scores(FamilyBatch.from_pairs((child, p) for p in listed))
    return {p: float(s) + float(prior[len(p)]) for p, s in zip(listed, scores, strict=True)}


def _drop_improbable(
    scored: dict[tuple[int, ...], float],
    candidates: NDArray[np.int64],
    table: NDArray[np.float64],
) -> tuple[Part, list[float]]:
    """Return the families that stay, heaviest first, and the bounds of those that do not."""
    place = {int(variable): 1 << j for j, variable in enumerate(candidates)}
    kept: Part = []
    bounds = []
    for parents, weight in scored.items():
        subsets = (s for k in range(len(parents) + 1) for s in itertools.combinations(parents, k))
        all_weights = [
            scored[s] if s in scored else float(table[sum(map(place.__getitem__, s))])
            for s in subsets
            if s in scored or place.keys() >= set(s)
        ]
        bound = math.exp(weight - np.logaddexp.reduce(all_weights)) if weight > -math.inf else 0.0
        if bound >= NEGLIGIBLE:
            kept.append((weight, parents))
        else:
            bounds.append(bound)
    return sorted(kept, key=lambda item: (-item[0], item[1])), bounds


def _join_outside(parts: Sequence[Part]) -> OutsideFamilies:
    """Return the outside families of all children as arrays."""
    begin = np.concatenate([[0], np.cumsum([len(part) for part in parts])]).astype(np.int64)
    listed = [item for part in parts for item in part]
    start = np.concatenate([[0], np.cumsum([len(parents) for _, parents in listed])])
    return OutsideFamilies(
        begin,
        np.array([weight for weight, _ in listed], dtype=np.float64),
        start.astype(np.int64),
        np.array([parent for _, parents in listed for parent in parents], dtype=np.int32),
    )
