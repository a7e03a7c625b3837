"""Families whose tables are added up over all shards; see engine/family_count.h."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coevo.engine import INT, array, kernel, read_array
from coevo.score.family_kernels import Scratch, TableSums
from coevo.score.score_kernels import ScoreSpec

__all__ = ["score_tables"]


@kernel(
    read_array(np.int64, 2),
    read_array(np.int32),
    read_array(np.int64),
    TableSums,
    ScoreSpec,
    INT,
    INT,
    Scratch,
    array(np.float64),
)
def score_tables(
    facts: NDArray[np.int64],
    members: NDArray[np.int32],
    start: NDArray[np.int64],
    sums: TableSums,
    spec: ScoreSpec,
    first: int,
    last: int,
    scratch: Scratch,
    scores: NDArray[np.float64],
) -> None:
    """Overwrite ``scores[f]`` of the families from `first` to before `last` that have a table.

    The scores are equal, to the last bit, to those of the same rows in one place.
    """
