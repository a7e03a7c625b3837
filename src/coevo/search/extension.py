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
from coevo.search.contract import LEAST_GAIN, Problem

__all__ = ["Extensions", "extend", "learned"]


@dataclass(frozen=True)
class Extensions:
    """Rows with their scores; ``wider[r, u]`` is the score with u beside them, or -inf."""

    rows: tuple[Row, ...]
    scores: NDArray[np.float64]  # (n_rows,), of the rows themselves
    wider: NDArray[np.float64]  # (n_rows, n)
    n_scored: int


def extend(problem: Problem, rows: Sequence[Row]) -> Extensions:
    """Score rows, and all rows with one more parent that the rules allow, in one batch."""
    rules, n = problem.rules, problem.n_variables
    scores, wider_scores = np.empty(len(rows)), np.full((len(rows), n), -np.inf)
    if not rows:
        return Extensions((), scores, wider_scores, 0)
    child = np.array([row[0] for row in rows])
    sizes = np.array([len(row[1]) for row in rows])
    inside = np.zeros((len(rows), n), dtype=np.bool_)
    for r, (_, parents) in enumerate(rows):
        inside[r, list(parents)] = True
    is_open = rules.allowed.T[child] & ~inside & (sizes < rules.max_parents)[:, None]
    parts: list[tuple[NDArray[np.int32], NDArray[np.int64]]] = []
    places: list[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]] = []
    for size in np.unique(sizes):
        own = np.flatnonzero(sizes == size)
        row_of, added = np.nonzero(is_open[own])
        row_of = own[row_of]
        held = np.array([rows[r][1] for r in own.tolist()], dtype=np.int64).reshape(len(own), size)
        base = np.concatenate([child[own][:, None], held], axis=1)
        of_row = np.zeros(len(rows), dtype=np.int64)
        of_row[own] = np.arange(len(own))
        wider = np.concatenate([held[of_row[row_of]], added[:, None]], axis=1)
        wider.sort(axis=1)
        wider = np.concatenate([child[row_of][:, None], wider], axis=1)
        parts += [_part(base), _part(wider)]
        places.append((own, row_of, added))
    batch = FamilyBatch.joined(parts)
    found = problem.scorer.local_scores(batch)
    at = 0
    for own, row_of, added in places:
        scores[own] = found[at : at + len(own)]
        at += len(own)
        wider_scores[row_of, added] = found[at : at + len(row_of)]
        at += len(row_of)
    return Extensions(tuple(rows), scores, wider_scores, len(batch))


def _part(table: NDArray[np.int64]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    lengths = np.full(len(table), table.shape[1], dtype=np.int64)
    return table.astype(np.int32).ravel(), lengths


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
