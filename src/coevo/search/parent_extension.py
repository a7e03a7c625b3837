"""Extend parent sets: score each one as it is, and with each further candidate of a mask.

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

    ``wider_scores[s, i]`` is the score of parent set s with ``candidates[s, i]`` added; -inf if it
    was not scored.
    """

    parent_sets: tuple[ParentSet, ...]
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
    if not parent_sets:
        none = np.empty(0, dtype=np.uint64)
        return Extensions((), np.empty(0), rows, wider_scores, none, none, 0)
    scores = problem.scorer.local_scores(_make_batch(parent_sets))
    child = np.array([child for child, _ in parent_sets])
    sizes = np.array([len(parents) for _, parents in parent_sets])
    is_open = _is_open(problem, parent_sets, child, sizes, scores, rows)
    parts: list[tuple[NDArray[np.int32], NDArray[np.int64]]] = []
    places: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []
    for size in np.unique(sizes):
        same_size = np.flatnonzero(sizes == size)
        place, column = np.nonzero(is_open[same_size])
        parents = np.array([parent_sets[s][1] for s in same_size.tolist()], dtype=np.int64)
        held = parents.reshape(len(same_size), size)
        added = rows[same_size[place], column]
        members = np.concatenate([held[place], added[:, None]], axis=1)
        members.sort(axis=1)
        table = np.concatenate([child[same_size[place]][:, None], members], axis=1)
        lengths = np.full(len(table), table.shape[1], dtype=np.int64)
        parts.append((table.astype(np.int32).ravel(), lengths))
        places.append((same_size[place], column))
    batch = FamilyBatch.from_parts(parts)
    set_of, column = (np.concatenate(columns) for columns in zip(*places, strict=True))
    wider_scores[set_of, column] = problem.scorer.local_scores(batch)
    n_scored = len(parent_sets) + len(batch)
    flat = flatten_sets([parents for _, parents in parent_sets])
    hashes = hash_parent_sets(child, *flat, problem.n_variables)
    return Extensions(tuple(parent_sets), scores, rows, wider_scores, hashes, hashes, n_scored)


def _is_open(
    problem: Problem,
    parent_sets: Sequence[ParentSet],
    child: NDArray[np.int64],
    sizes: NDArray[np.int64],
    scores: NDArray[np.float64],
    rows: NDArray[np.int32],
) -> NDArray[np.bool_]:
    """Return which further parents each parent set may have and could gain from."""
    rules, dataset = problem.rules, problem.scorer.dataset
    arities = dataset.arities.astype(np.float64)
    is_open: NDArray[np.bool_] = rules.allowed[rows, child[:, None]]
    is_open &= (sizes < rules.max_parents)[:, None]
    # All sets as one table, a column for each parent; -1 is no parent and has the arity 1.
    held = np.full((len(parent_sets), int(sizes.max(initial=0))), -1, dtype=np.int32)
    held[np.arange(held.shape[1]) < sizes[:, None]] = [v for _, own in parent_sets for v in own]
    with np.errstate(over="ignore"):
        q = np.append(arities, 1.0)[held].prod(axis=1)[:, None] * arities[rows]
    for parent in held.T:
        is_open &= rows != parent[:, None]
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


def add_extensions(archive: Archive, *all_extensions: Extensions) -> Archive:
    """Return the archive with the parent sets and with their extensions that raise the score."""
    children, scores, sizes, members, hashes = [], [], [], [], []
    for extensions in all_extensions:
        child = np.array([child for child, _ in extensions.parent_sets], dtype=np.int64)
        start, parents = flatten_sets([parents for _, parents in extensions.parent_sets])
        size = np.diff(start)
        gains = extensions.wider_scores > extensions.scores[:, None] + LEAST_GAIN
        set_of, column = np.nonzero(gains)
        added = extensions.candidates[set_of, column]

        # The parents of the set and the added one, all sets in one array, ascending in each.
        wider_start = np.concatenate([[0], np.cumsum(size[set_of] + 1)])
        wider_of = np.repeat(np.arange(len(set_of)), size[set_of] + 1)
        place = np.arange(len(wider_of)) - wider_start[:-1][wider_of]
        is_added = place == size[set_of][wider_of]
        wider = np.empty(len(wider_of), dtype=np.int32)
        wider[is_added] = added
        held = ~is_added
        wider[held] = parents[start[:-1][set_of[wider_of[held]]] + place[held]]
        wider = wider[np.lexsort((wider, wider_of))]

        children += [child, child[set_of]]
        scores += [extensions.scores, extensions.wider_scores[set_of, column]]
        sizes += [size, size[set_of] + 1]
        members += [parents, wider]
        hashes.append(extensions.extended)
    starts = np.concatenate([[0], np.cumsum(np.concatenate(sizes))])
    return archive.with_families(
        np.concatenate(children),
        np.concatenate(scores),
        starts,
        np.concatenate(members),
        np.concatenate(hashes),
    )
