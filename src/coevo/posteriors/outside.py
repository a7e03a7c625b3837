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
on the child. With very many variables only the most frequent families are extended, so that the
number of scored families stays bounded (`FAMILIES_PER_MEASURE`).

The ratio r has a heavy tail: in most draws it is small, and in a few it is large, where the parents
that matter are descendants of the child. So the mean over few draws is more often too low than too
high.

So there is a second figure that stays between 0 and 1: the *chance* of an arc. Redraw the family of
the child among all families, in each draw; the chance is the mean probability that the new family
has the arc. For arcs that no family of the tables has, it is part of the answer in place of 0.

The measure serves four purposes. An outside parent that is more probable than a candidate takes
its place (`exchange_candidates`). The most probable families that are still outside are kept one by
one beside the tables (`choose_families`). What is left out after that is part of the answer, and so
are the chances.

**Refinement.** The candidates that an archive ranks first are a guess. Short chains over orders
draw networks from their tables, and the measure says how probable other parents are beside these
networks. The more probable ones take the place of the least probable candidates. After three rounds
of this the most probable families that still have a parent outside the candidates are kept one by
one. Only tables of children whose candidates have changed are scored again.

Each round ends with a complete choice of families, so the choice can end early.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coevo.posteriors.chain_state import ChainSettings
from coevo.posteriors.chain_tables import ChainTables, prepare_tables
from coevo.posteriors.chains import draw_roughly
from coevo.posteriors.family_weights import (
    FamilyWeights,
    ParentSets,
    compute_log_prior,
    make_family_weights,
)
from coevo.posteriors.sample import find_descendants
from coevo.score import FamilyBatch
from coevo.search.base import Problem

__all__ = [
    "OutsideMeasure",
    "choose_families",
    "exchange_candidates",
    "improve_weights",
    "measure_outside",
]


MAX_BASES = 64  # families of a child that are extended by an outside parent
MIN_BASES = 4  # the same for very many variables
FAMILIES_PER_MEASURE = 1 << 21  # limit of the scored families, as long as the bases are enough
MAX_DRAWS = 40  # DAGs over which the odds are averaged
KEPT = 1e-3  # the probability above which a family is kept beside the tables
MAX_KEPT = 64  # families of a child that are kept beside the tables
LEAST_GAIN = 1e-3  # by which an outside parent must be more probable than a candidate
MAX_LOG_ODDS = 500.0  # larger ones make no difference

Draws = NDArray[np.integer]  # (n_draws, n), the families of DAGs, as numbers in the tables


class OutsideMeasure(NamedTuple):
    """How much the tables leave out."""

    odds: NDArray[np.float64]  # (n,), of the families of each child that are left out
    arcs: NDArray[np.float64]  # (n, n), [parent, child], the odds of the arcs in these families
    chance: NDArray[np.float64]  # (n, n), of the same arcs, if the family of the child is redrawn
    sets: ParentSets  # the families that are left out
    share: NDArray[np.float64]  # the odds of each of them

    @property
    def probability(self) -> NDArray[np.float64]:
        """The probability that the family of each child is left out, (n,)."""
        return self.odds / (1 + self.odds)


class _Child(NamedTuple):
    """The measured families of one child: each base with each outside parent."""

    others: NDArray[np.int64]  # (n_others,), the outside parents
    parents: NDArray[np.int32]  # of all families in turn, ascending within a family
    size: NDArray[np.int64]  # (n_bases * n_others,), the number of parents of each family
    share: NDArray[np.float64]  # (n_bases, n_others)
    chance: NDArray[np.float64]  # (n_others,)
    is_new: NDArray[np.bool_]  # (n_bases, n_others), False for families in the tables


def measure_outside(
    problem: Problem, tables: ChainTables, draws: Draws, family_prior: str = "uniform"
) -> OutsideMeasure:
    """Return the odds of families that are not in the tables, from DAGs drawn from them."""
    n = problem.n_variables
    chosen = draws[np.linspace(0, len(draws) - 1, min(len(draws), MAX_DRAWS)).round().astype(int)]
    is_free = ~np.stack([find_descendants(tables.make_adjacency(dag)) for dag in chosen])
    is_free[:, np.arange(n), np.arange(n)] = False
    prior = compute_log_prior(n, family_prior)
    n_bases = min(MAX_BASES, max(MIN_BASES, FAMILIES_PER_MEASURE // n**2))
    arcs, chance, found = np.zeros((n, n)), np.zeros((n, n)), list[_Child]()
    for child in range(n):
        bases = _choose_bases(tables, child, draws)[:n_bases]
        found.append(_measure_child(problem, tables, child, bases, is_free[:, child], prior))
        arcs[found[-1].others, child] = found[-1].share.sum(axis=0)
        chance[found[-1].others, child] = found[-1].chance
    odds = np.array([child.share.sum() for child in found])
    return OutsideMeasure(odds, arcs, chance, *_list_families(found))


def _list_families(found: Sequence[_Child]) -> tuple[ParentSets, NDArray[np.float64]]:
    """Return the families of all children that are not in the tables, and their odds."""
    is_new = [child.is_new.ravel() for child in found]
    size = [child.size[kept] for child, kept in zip(found, is_new, strict=True)]
    parents = [
        child.parents[np.repeat(kept, child.size)]
        for child, kept in zip(found, is_new, strict=True)
    ]
    share = [child.share.ravel()[kept] for child, kept in zip(found, is_new, strict=True)]
    sets = ParentSets(
        np.concatenate([[0], np.cumsum([len(one) for one in share])]),
        np.concatenate([[0], np.cumsum(np.concatenate(size))]).astype(np.int64),
        np.concatenate(parents).astype(np.int32),
    )
    return sets, np.concatenate(share)


def _get_candidates(tables: ChainTables, child: int) -> NDArray[np.int64]:
    begin = tables.arrays.cand_begin
    return tables.arrays.cand[begin[child] : begin[child + 1]]


def _list_kept(tables: ChainTables, child: int) -> list[tuple[NDArray[np.int32], float]]:
    """Return the parents and the log weight of the families beside the candidates."""
    t = tables.arrays
    return [
        (t.parents[t.start[family] : t.start[family + 1]], float(t.weight[family]))
        for family in t.outside[t.outside_begin[child] : t.outside_begin[child + 1]]
    ]


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

    ``is_free[g, u]`` says whether u may be a parent of the child in draw g. A base with an outside
    parent is suitable if both are, so the sum over the draws is a product of two matrices.
    """
    rules, candidates = problem.rules, _get_candidates(tables, child)
    others = np.setdiff1d(np.flatnonzero(rules.allowed[:, child]), candidates)
    inside = (bases[:, None] >> np.arange(len(candidates))) & 1 == 1
    has_required = inside[:, rules.required[candidates, child]].all(axis=1)
    is_usable = (inside.sum(axis=1) < rules.max_parents) & has_required
    bases, inside = bases[is_usable], inside[is_usable]
    parents, size = _extend_bases(candidates, inside, others)
    start = np.concatenate([[0], np.cumsum(size)]).astype(np.int64)
    batch = FamilyBatch(np.insert(parents, start[:-1], child), start + np.arange(len(start)))
    scores = problem.scorer.local_scores(batch) if len(size) else np.zeros(0)
    weight = (scores + prior[size]).reshape(len(bases), len(others))
    held = _sum_held(tables, child, is_free)
    is_suitable = ~(inside[:, None] & ~is_free[:, candidates]).any(axis=2)
    total = (is_suitable * np.exp(held.min() - held)) @ is_free[:, others] / len(held)
    is_new = np.ones(weight.shape, dtype=np.bool_)
    for kept, _ in _list_kept(tables, child):
        code = (1 << np.flatnonzero(np.isin(candidates, kept))).sum()
        beyond = np.setdiff1d(kept, candidates)
        is_new[np.ix_(bases == code, np.isin(others, beyond) & (len(beyond) == 1))] = False
    weight = np.where(is_new, weight, -np.inf)
    with np.errstate(divide="ignore"):
        share = np.exp(np.minimum(weight - held.min() + np.log(total), MAX_LOG_ODDS))
    chance = _measure_chance(weight, is_suitable, is_free[:, others], held)
    return _Child(others, parents, size, share, chance, is_new)


def _measure_chance(
    weight: NDArray[np.float64],
    is_suitable: NDArray[np.bool_],
    is_free: NDArray[np.bool_],
    held: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return the mean probability of each outside parent in a family that is redrawn.

    ``weight[b, u]`` is the log weight of base b with the outside parent u. ``is_suitable[b, g]``
    and ``is_free[g, u]`` say whether they may be parents in draw g, and ``held[g]`` is the log
    weight of the families of the tables there.
    """
    largest = weight.max(initial=-np.inf)
    if largest == -np.inf:
        return np.zeros(is_free.shape[1])
    scale = np.exp(np.minimum(largest - held, MAX_LOG_ODDS))
    odds = (is_suitable.T @ np.exp(weight - largest)) * is_free * scale[:, None]
    chance: NDArray[np.float64] = (odds / (1 + odds.sum(axis=1, keepdims=True))).mean(axis=0)
    return chance


def _extend_bases(
    candidates: NDArray[np.int64], inside: NDArray[np.bool_], others: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return the parents of each base with each outside parent, flat, and their numbers."""
    parents = [np.empty(0, dtype=np.int64)]
    for base in inside:
        members = np.broadcast_to(candidates[base], (len(others), int(base.sum())))
        parents.append(np.sort(np.column_stack([members, others]), axis=1).ravel())
    size = np.repeat(inside.sum(axis=1) + 1, len(others))
    return np.concatenate(parents).astype(np.int32), size


def _sum_held(tables: ChainTables, child: int, is_free: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return the log of the sum of the families in the tables with free parents, in each draw."""
    t = tables.arrays
    candidates = _get_candidates(tables, child)
    number = is_free[:, candidates] @ (1 << np.arange(len(candidates), dtype=np.int64))
    held: NDArray[np.float64] = t.log_sum[t.table_begin[child] + number]
    for parents, weight in _list_kept(tables, child):
        held = np.logaddexp(held, np.where(is_free[:, parents].all(axis=1), weight, -np.inf))
    return held


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
    parents = [sets.parents[sets.start[s] : sets.start[s + 1]] for s in np.concatenate(chosen)]
    return ParentSets(
        np.concatenate([[0], np.cumsum([len(some) for some in chosen])]).astype(np.int64),
        np.concatenate([[0], np.cumsum([len(some) for some in parents])]).astype(np.int64),
        np.concatenate([*parents, np.empty(0, dtype=np.int32)]).astype(np.int32),
    )


ROUNDS = 3  # in which candidates are exchanged
REFINEMENT = 1 << 61  # in place of the number of a step, the key of their random numbers


def improve_weights(
    problem: Problem,
    candidates: Sequence[NDArray[np.int64]],
    family_prior: str,
    settings: ChainSettings,
    starts: NDArray[np.bool_] | None,
    seed: int,
) -> Iterator[tuple[FamilyWeights, ParentSets]]:
    """Yield the weights of the first candidates' families, then the better ones of each round.

    With them come the parent sets beside the candidates. The parameters are those of
    `start_chains`, and the first candidates.
    """
    weights = make_family_weights(problem, candidates, family_prior)
    n = problem.n_variables
    yield weights, ParentSets.make_empty(n)
    n_allowed = problem.rules.allowed.sum(axis=0)
    if all(len(candidates[child]) == n_allowed[child] for child in range(n)):
        return  # nothing is left out
    warm_up, n_scored = settings.count_warm_up(n) // 2, weights.n_scored
    short = replace(settings, prior="order", warm_up=warm_up)
    outside = ParentSets.make_empty(n)
    for number in range(ROUNDS + 1):
        tables = prepare_tables(weights)
        key = (seed, REFINEMENT, number)
        rough = draw_roughly(tables, short, starts, key, problem.scorer.threads)
        found = measure_outside(problem, tables, rough.dags, family_prior)
        chosen = weights.candidates
        if number < ROUNDS:
            required = problem.rules.required
            chosen = tuple(exchange_candidates(chosen, rough.arcs, found, required))
        else:
            outside = choose_families(found)
        weights = make_family_weights(problem, chosen, family_prior, outside, weights)
        n_scored += weights.n_scored + len(found.share)
        yield replace(weights, n_scored=n_scored), outside
