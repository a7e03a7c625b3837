"""Extend parent sets: score each one as it is, and with every further variable.

The gain of a further variable depends on the parents already present (its residual gain). A
fixed list of candidates or a fixed limit on parents cannot know it in advance. Parent sets of
the same size are handled together, so a batch of thousands of families takes a few calls.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coevo.score import FamilyBatch
from coevo.search.archive import Archive, ParentSet, flatten_sets, hash_parent_sets
from coevo.search.base import LEAST_GAIN, Problem

__all__ = ["Extensions", "add_extensions", "extend_parent_sets"]

LARGEST_Q = 1e300  # parent configurations; a larger number would overflow


@dataclass(frozen=True, eq=False)
class Extensions:
    """Parent sets with their scores, and the scores with one more parent.

    ``wider_scores[s, u]`` is the score of parent set s with u added; -inf if it was not scored.
    """

    parent_sets: tuple[ParentSet, ...]
    scores: NDArray[np.float64]  # (n_sets,), of the parent sets themselves
    wider_scores: NDArray[np.float64]  # (n_sets, n)
    n_scored: int


def extend_parent_sets(problem: Problem, parent_sets: Sequence[ParentSet]) -> Extensions:
    """Score parent sets, and all their extensions by one allowed parent, in two batches.

    An extension is skipped if it cannot beat the parent set itself on any data: under BIC and
    AIC the penalty of a large table can exceed the largest possible gain.
    """
    n = problem.n_variables
    wider_scores = np.full((len(parent_sets), n), -np.inf)
    if not parent_sets:
        return Extensions((), np.empty(0), wider_scores, 0)
    scores = problem.scorer.local_scores(_make_batch(parent_sets))
    child = np.array([child for child, _ in parent_sets])
    sizes = np.array([len(parents) for _, parents in parent_sets])
    is_open = _is_open(problem, parent_sets, child, sizes, scores)
    parts: list[tuple[NDArray[np.int32], NDArray[np.int64]]] = []
    places: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []
    for size in np.unique(sizes):
        same_size = np.flatnonzero(sizes == size)
        place, added = np.nonzero(is_open[same_size])
        parents = np.array([parent_sets[s][1] for s in same_size.tolist()], dtype=np.int64)
        held = parents.reshape(len(same_size), size)
        members = np.concatenate([held[place], added[:, None]], axis=1)
        members.sort(axis=1)
        table = np.concatenate([child[same_size[place]][:, None], members], axis=1)
        lengths = np.full(len(table), table.shape[1], dtype=np.int64)
        parts.append((table.astype(np.int32).ravel(), lengths))
        places.append((same_size[place], added))
    batch = FamilyBatch.from_parts(parts)
    set_of, added = (np.concatenate(columns) for columns in zip(*places, strict=True))
    wider_scores[set_of, added] = problem.scorer.local_scores(batch)
    n_scored = len(parent_sets) + len(batch)
    return Extensions(tuple(parent_sets), scores, wider_scores, n_scored)


def _is_open(
    problem: Problem,
    parent_sets: Sequence[ParentSet],
    child: NDArray[np.int64],
    sizes: NDArray[np.int64],
    scores: NDArray[np.float64],
) -> NDArray[np.bool_]:
    """Return which further parents each parent set may have and could gain from."""
    rules, dataset = problem.rules, problem.scorer.dataset
    inside = np.zeros((len(parent_sets), problem.n_variables), dtype=np.bool_)
    for s, (_, parents) in enumerate(parent_sets):
        inside[s, list(parents)] = True
    is_open: NDArray[np.bool_] = rules.allowed.T[child] & ~inside
    is_open &= (sizes < rules.max_parents)[:, None]
    arities = dataset.arities.astype(np.float64)
    with np.errstate(over="ignore"):
        q = np.where(inside, arities, 1.0).prod(axis=1)[:, None] * arities
    q = np.minimum(q, LARGEST_Q)
    is_open &= q * arities[child][:, None] <= rules.max_table
    if problem.scorer.favours_arcs:  # the upper bound does not include weights
        return is_open
    ceiling = problem.scorer.scoring.compute_upper_bound(dataset.n_rows, q, arities[child][:, None])
    return is_open & (ceiling > scores[:, None])


def _make_batch(parent_sets: Sequence[ParentSet]) -> FamilyBatch:
    """Return the parent sets themselves as families."""
    members = [v for child, parents in parent_sets for v in (child, *parents)]
    lengths = np.array([1 + len(parents) for _, parents in parent_sets], dtype=np.int64)
    return FamilyBatch.from_parts([(np.array(members, dtype=np.int32), lengths)])


def add_extensions(archive: Archive, extensions: Extensions) -> Archive:
    """Return the archive with the parent sets and with their extensions that raise the score."""
    n = extensions.wider_scores.shape[1]
    gains = extensions.wider_scores > extensions.scores[:, None] + LEAST_GAIN
    set_of, added = np.nonzero(gains)
    sets = [parents for _, parents in extensions.parent_sets]
    gaining = zip(set_of.tolist(), added.tolist(), strict=True)
    wider = [tuple(sorted((*sets[s], u))) for s, u in gaining]
    child = np.array([child for child, _ in extensions.parent_sets], dtype=np.int64)
    return archive.with_families(
        np.concatenate([child, child[set_of]]),
        np.concatenate([extensions.scores, extensions.wider_scores[set_of, added]]),
        *flatten_sets(sets + wider),
        hash_parent_sets(child, *flatten_sets(sets), n),
    )
