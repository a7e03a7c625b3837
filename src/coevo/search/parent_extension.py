"""Extend parent sets: score each one as it is, and with each further candidate of a mask.

The gain of a further variable depends on the parents already present (its residual gain). A
fixed list of candidates or a fixed limit on parents cannot know it in advance. Parent sets of
a generation are handled together, so a batch of thousands of families takes a few calls.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coevo.score import FamilyBatch
from coevo.search.archive import Archive, ParentSet, flatten_sets, hash_parent_sets
from coevo.search.base import LEAST_GAIN, Problem
from coevo.search.extension_kernels import (
    FamilyList,
    ParentSets,
    append_gains,
    flag_extensions,
    list_extensions,
    list_families,
)

__all__ = ["Extensions", "add_extensions", "extend_parent_sets"]

LARGEST_Q = 1e300  # parent configurations; a larger number would overflow


@dataclass(frozen=True, eq=False)
class Extensions:
    """Parent sets with their scores, and the scores with one more parent.

    ``wider_scores[s, i]`` is the score of parent set s with ``candidates[s, i]`` added; -inf if it
    was not scored.
    """

    sets: ParentSets
    scores: NDArray[np.float64]  # (n_sets,), of the parent sets themselves
    candidates: NDArray[np.int32]  # (n_sets, k), the further parents of each set
    wider_scores: NDArray[np.float64]  # (n_sets, k)
    hashes: NDArray[np.uint64]  # of the parent sets
    extended: NDArray[np.uint64]  # hashes to remember, so that nothing is extended twice
    n_scored: int

    def count_families(self) -> NDArray[np.int64]:
        """Return the number of families that each parent set cost."""
        n_families: NDArray[np.int64] = 1 + np.isfinite(self.wider_scores).sum(axis=1)
        return n_families


def extend_parent_sets(
    problem: Problem, parent_sets: Sequence[ParentSet], rows: NDArray[np.int32]
) -> Extensions:
    """Score parent sets, and their extensions by one allowed candidate, in two batches.

    ``rows[s]`` has the candidates of parent set s. An extension is skipped if it cannot beat the
    parent set itself on any data: under BIC and AIC the penalty of a large table can exceed the
    largest possible gain.
    """
    wider_scores = np.full(rows.shape, -np.inf)
    sets = ParentSets(
        np.array([child for child, _ in parent_sets], dtype=np.int64),
        *flatten_sets([parents for _, parents in parent_sets]),
    )
    if not parent_sets:
        none = np.empty(0, dtype=np.uint64)
        return Extensions(sets, np.empty(0), rows, wider_scores, none, none, 0)
    scores = problem.scorer.local_scores(_make_batch(sets))
    is_open = _flag_open(problem, sets, scores, rows)
    n_most = is_open.size
    members = np.empty(rows.shape[1] * (len(sets.parents) + 2 * len(rows)), dtype=np.int32)
    start, place = np.empty(n_most + 1, dtype=np.int64), np.empty(n_most, dtype=np.int64)
    n = list_extensions(sets, rows, is_open, members, start, place)
    batch = FamilyBatch(members[: start[n]], start[: n + 1])
    wider_scores.reshape(-1)[place[:n]] = problem.scorer.local_scores(batch)
    hashes = hash_parent_sets(sets.child, sets.start, sets.parents, problem.n_variables)
    return Extensions(sets, scores, rows, wider_scores, hashes, hashes, len(parent_sets) + n)


def _flag_open(
    problem: Problem, sets: ParentSets, scores: NDArray[np.float64], rows: NDArray[np.int32]
) -> NDArray[np.bool_]:
    """Return which further parents each parent set may have and could gain from."""
    rules, dataset = problem.rules, problem.scorer.dataset
    is_open, q = np.empty(rows.shape, dtype=np.bool_), np.empty(rows.shape)
    limits = (rules.max_parents, rules.max_table, LARGEST_Q)
    flag_extensions(sets, rows, rules.allowed, dataset.arities, *limits, is_open, q)
    if problem.scorer.favours_arcs:  # the upper bound does not include weights
        return is_open
    r = dataset.arities[sets.child].astype(np.float64)[:, None]
    ceiling = problem.scorer.scoring.compute_upper_bound(dataset.n_rows, q, r)
    is_open &= ceiling > scores[:, None]
    return is_open


def _make_batch(sets: ParentSets) -> FamilyBatch:
    """Return the parent sets themselves as families."""
    members = np.empty(len(sets.child) + len(sets.parents), dtype=np.int32)
    start = np.empty(len(sets.start), dtype=np.int64)
    list_families(sets, members, start)
    return FamilyBatch(members, start)


def add_extensions(archive: Archive, *all_extensions: Extensions) -> Archive:
    """Return the archive with the parent sets and with their extensions that raise the score."""
    n_most, size = 0, 0
    for extensions in all_extensions:
        n_sets, k = extensions.wider_scores.shape
        n_most += n_sets * (1 + k)
        size += len(extensions.sets.parents) * (1 + k) + n_sets * k
    families = FamilyList(
        child=np.empty(n_most, dtype=np.int64),
        score=np.empty(n_most),
        start=np.zeros(n_most + 1, dtype=np.int64),
        parents=np.empty(size, dtype=np.int32),
    )
    n = 0
    for one in all_extensions:
        n = append_gains(
            one.sets, one.scores, one.candidates, one.wider_scores, LEAST_GAIN, n, families
        )
    start = families.start[: n + 1]
    return archive.with_families(
        families.child[:n],
        families.score[:n],
        start,
        families.parents[: start[n]],
        np.concatenate([one.extended for one in all_extensions]),
    )
