"""Families with a parent outside the candidates: how much they weigh, and which are kept.

The tables hold all sets of the candidates of a child. What they leave out can be measured. Take a
DAG drawn from the posterior of the tables, and one child. All families of the child that close no
cycle with the rest of the DAG compete for its place. Let r be the weight of those that the tables
leave out, over the weight of those that they hold. The mean of r over the draws is the weight of
all DAGs in which this child alone has a family that was left out, over the weight of all DAGs of
the tables: given the rest of the DAG, the draw of the family of the child cancels the divisor. So
the *odds* of a child are an unbiased measure of what its candidates miss, and
odds / (1 + odds) is the probability that its family is one of them, as long as few children have
such families.

Not every set can be scored. Those measured here have one parent outside the candidates, beside a
family that was drawn, or beside such a family without one of its parents. This covers every arc
that is added to a probable network, and every parent that is exchanged for another one. Sets with
two parents outside the candidates are not measured. They matter where only the two together depend
on the child.

The measure serves three purposes. An outside parent that is more probable than a candidate takes
its place (`exchange_candidates`). The most probable families that are still outside are kept one by
one beside the tables (`choose_families`). What is left out after that is part of the answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coevo.averaging.chain_tables import ChainTables
from coevo.averaging.family_weights import ParentSets, compute_log_prior
from coevo.averaging.sample import find_descendants
from coevo.score import FamilyBatch
from coevo.search.base import Problem

__all__ = ["OutsideMeasure", "choose_families", "exchange_candidates", "measure_outside"]

MAX_BASES = 64  # families of a child that are extended by an outside parent
MAX_DRAWS = 40  # DAGs over which the odds are averaged
KEPT = 1e-3  # the probability above which a family is kept beside the tables
MAX_KEPT = 64  # families of a child that are kept beside the tables
LEAST_GAIN = 1e-3  # by which an outside parent must be more probable than a candidate

Draws = NDArray[np.integer]  # (n_draws, n), the families of DAGs, as numbers in the tables


class OutsideMeasure(NamedTuple):
    """How much the tables leave out."""

    odds: NDArray[np.float64]  # (n,), of the families of each child that are left out
    arcs: NDArray[np.float64]  # (n, n), [parent, child], the odds of the arcs in these families
    sets: ParentSets  # the families that are left out
    share: NDArray[np.float64]  # the odds of each of them

    @property
    def probability(self) -> NDArray[np.float64]:
        """The probability that the family of each child is left out, (n,)."""
        return self.odds / (1 + self.odds)


class _Child(NamedTuple):
    """The measured families of one child: each base with each outside parent."""

    parents: NDArray[np.bool_]  # (n_families, n)
    share: NDArray[np.float64]  # (n_families,)


def measure_outside(
    problem: Problem, tables: ChainTables, draws: Draws, family_prior: str = "uniform"
) -> OutsideMeasure:
    """Return the odds of families that are not in the tables, from DAGs drawn from them."""
    n = problem.n_variables
    chosen = draws[np.linspace(0, len(draws) - 1, min(len(draws), MAX_DRAWS)).round().astype(int)]
    is_free = ~np.stack([find_descendants(dag) for dag in tables.make_adjacency(chosen)])
    is_free[:, np.arange(n), np.arange(n)] = False
    prior = compute_log_prior(n, family_prior)
    found = [
        _measure_child(problem, tables, child, _choose_bases(tables, child, draws), is_free, prior)
        for child in range(n)
    ]
    odds = np.array([child.share.sum() for child in found])
    arcs = np.stack([child.share @ child.parents for child in found], axis=1)
    sizes = np.concatenate([child.parents.sum(axis=1) for child in found])
    sets = ParentSets(
        np.concatenate([[0], np.cumsum([len(child.share) for child in found])]),
        np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        np.concatenate([np.nonzero(child.parents)[1] for child in found]).astype(np.int32),
    )
    for child in range(n):
        arcs[_get_candidates(tables, child), child] = 0.0
    return OutsideMeasure(odds, arcs, sets, np.concatenate([child.share for child in found]))


def _get_candidates(tables: ChainTables, child: int) -> NDArray[np.int64]:
    begin = tables.arrays.cand_begin
    return tables.arrays.cand[begin[child] : begin[child + 1]]


def _choose_bases(tables: ChainTables, child: int, draws: Draws) -> NDArray[np.int64]:
    """Return the most frequent sets of candidates, drawn as family or a drawn one less a parent."""
    codes, counts = np.unique(tables.arrays.code[draws[:, child]], return_counts=True)
    codes, counts = codes[codes >= 0], counts[codes >= 0]
    bits = 1 << np.arange(len(_get_candidates(tables, child)), dtype=np.int64)
    smaller = codes[:, None] & ~bits
    every = np.concatenate([codes, smaller[smaller != codes[:, None]]])
    weight = np.concatenate([counts, np.repeat(counts, (smaller != codes[:, None]).sum(axis=1))])
    bases, place = np.unique(every, return_inverse=True)
    total = np.bincount(place, weight, minlength=len(bases))
    return bases[np.argsort(-total, kind="stable")[:MAX_BASES]]


def _measure_child(
    problem: Problem,
    tables: ChainTables,
    child: int,
    bases: NDArray[np.int64],
    is_free: NDArray[np.bool_],
    prior: NDArray[np.float64],
) -> _Child:
    """Return the families of a child that the tables leave out, with their odds.

    ``is_free[g, v, u]`` says whether u may be a parent of v in draw g.
    """
    parents = _extend_bases(problem, tables, child, bases)
    if not len(parents):
        return _Child(parents, np.zeros(0))
    size = parents.sum(axis=1)
    members = np.nonzero(parents)[1].astype(np.int32)
    start = np.concatenate([[0], np.cumsum(size)]).astype(np.int64)
    batch = FamilyBatch(np.insert(members, start[:-1], child), start + np.arange(len(start)))
    weight = problem.scorer.local_scores(batch) + prior[size]
    share = np.zeros(len(parents))
    for free in is_free[:, child]:
        is_suitable = ~parents[:, ~free].any(axis=1)
        share[is_suitable] += np.exp(weight[is_suitable] - _sum_held(tables, child, free))
    return _Child(parents, share / len(is_free))


def _extend_bases(
    problem: Problem, tables: ChainTables, child: int, bases: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Return the bases with each outside parent, (n_families, n), less those in the tables."""
    n, rules = problem.n_variables, problem.rules
    candidates = _get_candidates(tables, child)
    is_outside = rules.allowed[:, child].copy()
    is_outside[candidates] = False
    others = np.flatnonzero(is_outside)
    extended = np.zeros((len(bases), len(others), n), dtype=np.bool_)
    inside = (bases[:, None] >> np.arange(len(candidates))) & 1 == 1
    extended[:, :, candidates] = inside[:, None]
    extended[:, np.arange(len(others)), others] = True
    parents: NDArray[np.bool_] = extended.reshape(-1, n)
    has_required = parents[:, rules.required[:, child]].all(axis=1)
    parents = parents[(parents.sum(axis=1) <= rules.max_parents) & has_required]
    left: NDArray[np.bool_] = parents[~_find_kept(tables, child, parents)]
    return left


def _sum_held(tables: ChainTables, child: int, is_free: NDArray[np.bool_]) -> float:
    """Return the log of the sum of the families in the tables whose parents are all free."""
    t = tables.arrays
    candidates = _get_candidates(tables, child)
    number = int((1 << np.flatnonzero(is_free[candidates])).sum())
    held = float(t.log_sum[t.table_begin[child] + number])
    for family in t.outside[t.outside_begin[child] : t.outside_begin[child + 1]]:
        if is_free[t.parents[t.start[family] : t.start[family + 1]]].all():
            held = float(np.logaddexp(held, t.weight[family]))
    return held


def _find_kept(tables: ChainTables, child: int, parents: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which of the families the tables keep one by one."""
    t = tables.arrays
    kept = {
        t.parents[t.start[family] : t.start[family + 1]].tobytes()
        for family in t.outside[t.outside_begin[child] : t.outside_begin[child + 1]]
    }
    if not kept:
        return np.zeros(len(parents), dtype=np.bool_)
    return np.array([np.flatnonzero(row).astype(np.int32).tobytes() in kept for row in parents])


def exchange_candidates(
    candidates: Sequence[NDArray[np.int64]],
    arcs: NDArray[np.float64],
    measure: OutsideMeasure,
    required: NDArray[np.bool_],
) -> list[NDArray[np.int64]]:
    """Return candidates in which more probable outside parents replace the least probable ones.

    Parameters
    ----------
    candidates : sequence of arrays
        The candidates of each child.
    arcs : array of float, (n, n)
        The probabilities of arcs under the tables of these candidates, ``[parent, child]``.
    measure : OutsideMeasure
        What these tables leave out.
    required : array of bool, (n, n)
        Arcs whose parents stay candidates.
    """
    found = []
    for child, chosen in enumerate(candidates):
        inside = np.where(required[chosen, child], np.inf, arcs[chosen, child])
        leaving = chosen[np.argsort(inside, kind="stable")]
        coming = np.argsort(-measure.arcs[:, child], kind="stable")[: len(chosen)]
        gain = measure.arcs[coming, child] - np.sort(inside)[: len(coming)]
        is_better = gain > LEAST_GAIN  # falls from one pair to the next
        found.append(np.sort(np.concatenate([leaving[~is_better], coming[is_better]])))
    return found


def choose_families(measure: OutsideMeasure) -> ParentSets:
    """Return the outside families that are kept: those with the largest odds."""
    sets, chosen = measure.sets, list[NDArray[np.int64]]()
    for child in range(len(sets.begin) - 1):
        first, last = int(sets.begin[child]), int(sets.begin[child + 1])
        rank = first + np.argsort(-measure.share[first:last], kind="stable")[:MAX_KEPT]
        chosen.append(np.sort(rank[measure.share[rank] >= KEPT]))
    numbers = np.concatenate(chosen)
    split = sets.split()
    parents = [split[s] for s in numbers]
    return ParentSets(
        np.concatenate([[0], np.cumsum([len(some) for some in chosen])]).astype(np.int64),
        np.concatenate([[0], np.cumsum([len(some) for some in parents])]).astype(np.int64),
        np.concatenate([*parents, np.empty(0, dtype=np.int32)]).astype(np.int32),
    )
