"""Extending sets of parents: each scored as it is and with every further variable.

What a further variable would gain beside the parents already there (its residual gain) is
what neither a list of candidates nor a limit on parents can know beforehand. Rows of the
same size are made together, so that a batch of thousands of families takes a few calls.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coevo.score import FamilyBatch
from coevo.search.archive import Archive, Row, flat_sets, marks_of
from coevo.search.base import LEAST_GAIN, Problem

__all__ = ["Extensions", "extend", "learned"]

LARGEST_Q = 1e300  # configurations; what they cost is still a number


@dataclass(frozen=True)
class Extensions:
    """Rows with their scores; ``wider[r, u]`` is the score with u beside them, or -inf."""

    rows: tuple[Row, ...]
    scores: NDArray[np.float64]  # (n_rows,), of the rows themselves
    wider: NDArray[np.float64]  # (n_rows, n)
    n_scored: int


def extend(problem: Problem, rows: Sequence[Row]) -> Extensions:
    """Score rows, and all rows with one more parent that the rules allow, in two batches.

    Left out are those that cannot be better than the row itself, whatever the data say:
    under BIC and AIC large tables cost more than the row has to lose.
    """
    n = problem.n_variables
    wider_scores = np.full((len(rows), n), -np.inf)
    if not rows:
        return Extensions((), np.empty(0), wider_scores, 0)
    scores = problem.scorer.local_scores(_batch(rows))
    child = np.array([row[0] for row in rows])
    sizes = np.array([len(row[1]) for row in rows])
    is_open = _is_open(problem, rows, child, sizes, scores)
    parts: list[tuple[NDArray[np.int32], NDArray[np.int64]]] = []
    places: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []
    for size in np.unique(sizes):
        own = np.flatnonzero(sizes == size)
        place, added = np.nonzero(is_open[own])
        held = np.array([rows[r][1] for r in own.tolist()], dtype=np.int64).reshape(len(own), size)
        members = np.concatenate([held[place], added[:, None]], axis=1)
        members.sort(axis=1)
        table = np.concatenate([child[own[place]][:, None], members], axis=1)
        lengths = np.full(len(table), table.shape[1], dtype=np.int64)
        parts.append((table.astype(np.int32).ravel(), lengths))
        places.append((own[place], added))
    batch = FamilyBatch.joined(parts)
    row_of, added = (np.concatenate(columns) for columns in zip(*places, strict=True))
    wider_scores[row_of, added] = problem.scorer.local_scores(batch)
    return Extensions(tuple(rows), scores, wider_scores, len(rows) + len(batch))


def _is_open(
    problem: Problem,
    rows: Sequence[Row],
    child: NDArray[np.int64],
    sizes: NDArray[np.int64],
    scores: NDArray[np.float64],
) -> NDArray[np.bool_]:
    """Return which further parents each row may have and could gain from."""
    rules, dataset = problem.rules, problem.scorer.dataset
    inside = np.zeros((len(rows), problem.n_variables), dtype=np.bool_)
    for r, (_, parents) in enumerate(rows):
        inside[r, list(parents)] = True
    is_open: NDArray[np.bool_] = rules.allowed.T[child] & ~inside
    is_open &= (sizes < rules.max_parents)[:, None]
    if problem.scorer.favours_arcs:  # which the ceiling knows nothing of
        return is_open
    arities = dataset.arities.astype(np.float64)
    with np.errstate(over="ignore"):
        q = np.where(inside, arities, 1.0).prod(axis=1)[:, None] * arities
    q = np.minimum(q, LARGEST_Q)
    ceiling = problem.scorer.scoring.ceiling(dataset.n_rows, q, arities[child][:, None])
    return is_open & (ceiling > scores[:, None])


def _batch(rows: Sequence[Row]) -> FamilyBatch:
    """Return the rows themselves as families."""
    members = [v for child, parents in rows for v in (child, *parents)]
    lengths = np.array([1 + len(parents) for _, parents in rows], dtype=np.int64)
    return FamilyBatch.joined([(np.array(members, dtype=np.int32), lengths)])


def learned(archive: Archive, extensions: Extensions) -> Archive:
    """Return the archive with the rows and with those extensions that gain something."""
    rows, n = extensions.rows, extensions.wider.shape[1]
    row_of, added = np.nonzero(extensions.wider > extensions.scores[:, None] + LEAST_GAIN)
    sets = [row[1] for row in rows]
    gaining = zip(row_of.tolist(), added.tolist(), strict=True)
    wider = [tuple(sorted((*sets[r], u))) for r, u in gaining]
    child = np.array([row[0] for row in rows], dtype=np.int64)
    return archive.with_families(
        np.concatenate([child, child[row_of]]),
        np.concatenate([extensions.scores, extensions.wider[row_of, added]]),
        *flat_sets(sets + wider),
        marks_of(child, *flat_sets(sets), n),
    )
