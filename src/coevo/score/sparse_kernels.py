"""Families whose table would be larger than the data: count what occurs; see engine/sparse.h."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coevo.engine import INT, Structure, array, kernel
from coevo.score.count_kernels import CountIndex
from coevo.score.family_kernels import BatchPlan
from coevo.score.score_kernels import ScoreSpec

__all__ = ["GROUP_ARRAYS", "SparseScratch", "evaluate_sparse", "make_sparse_scratch"]

GROUP_ARRAYS = 3  # rows of `groups` that one grouping takes


class SparseScratch(Structure):
    """Working memory of one thread. All arrays from `keys` on have room for each row."""

    slots: NDArray[np.uint32] = array(np.uint32)  # a power of two, at least twice the rows
    slot_keys: NDArray[np.int64] = array(np.int64)  # as many
    keys: NDArray[np.int64] = array(np.int64)
    groups: NDArray[np.uint32] = array(np.uint32, 2)  # GROUP_ARRAYS rows for each grouping
    terms: NDArray[np.float64] = array(np.float64)


def make_sparse_scratch(n_rows: int, n_arrays: int = GROUP_ARRAYS) -> SparseScratch:
    """Return working memory for a number of rows, with `n_arrays` rows of `groups`.

    >>> make_sparse_scratch(5).slots.shape
    (16,)
    """
    n_slots = 1 << max(1, (2 * n_rows - 1).bit_length())
    return SparseScratch(
        slots=np.empty(n_slots, dtype=np.uint32),
        slot_keys=np.empty(n_slots, dtype=np.int64),
        keys=np.empty(n_rows, dtype=np.int64),
        groups=np.empty((n_arrays, n_rows), dtype=np.uint32),
        terms=np.empty(n_rows),
    )


@kernel(CountIndex, ScoreSpec, BatchPlan, INT, INT, SparseScratch, array(np.float64))
def evaluate_sparse(
    index: CountIndex,
    spec: ScoreSpec,
    batch: BatchPlan,
    first: int,
    last: int,
    scratch: SparseScratch,
    scores: NDArray[np.float64],
) -> None:
    """Overwrite ``scores[f]`` of the families from `first` to before `last` that are sparse."""
