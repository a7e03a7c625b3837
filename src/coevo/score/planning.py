"""The families of a batch, in parts that fit into the store of known tables."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from coevo.score.counting import forget
from coevo.score.families import FamilyBatch
from coevo.score.family_kernels import KEEP, Batch, Index, Known, plan

__all__ = ["planned"]


def planned(
    index: Index, families: FamilyBatch, known: Known, dense_limit: int
) -> Iterator[tuple[Batch, int, int]]:
    """Yield what to evaluate next: a batch, and the families of it from where to before where.

    Tables of two and three variables come first, before the families that are built on them.
    Each must be evaluated before the next one is asked for.
    """
    n = len(families)
    batch = Batch(
        members=families.members,
        start=families.start,
        variables=np.empty_like(families.members),
        method=np.empty(n, dtype=np.int8),
        known=np.empty(n, dtype=np.int64),
        new_pairs=np.empty((n, 2), dtype=np.int32),
        new_triples=np.empty((n, 3), dtype=np.int32),
    )
    first = 0
    while first < n:
        last, n_pairs, n_triples = plan(index, batch, known, first, dense_limit)
        yield _tables(batch.new_pairs[:n_pairs]), 0, n_pairs
        yield _tables(batch.new_triples[:n_triples]), 0, n_triples
        yield batch, first, last
        if last < n:
            forget(known)
        first = last


def _tables(new: NDArray[np.int32]) -> Batch:
    """Return the tables that `plan` asked for as a batch that `evaluate` takes."""
    n, k = new.shape
    variables = np.ascontiguousarray(new).reshape(-1)
    start = np.arange(0, n * k + 1, k)
    keep, none = np.full(n, KEEP, dtype=np.int8), np.empty(0, dtype=np.int64)
    return Batch(variables, start, variables, keep, none, new, new)
