"""Families whose tables were counted before; see engine/family_count.h."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coevo.engine import INT, Structure, array, kernel, read_array
from coevo.score.family_kernels import Scratch
from coevo.score.score_kernels import ScoreSpec

__all__ = ["CountedTables", "score_tables"]


class CountedTables(Structure):
    """A batch of families or triples, and their tables of counts."""

    facts: NDArray[np.int64] = read_array(np.int64, 2)  # (n_vars, N_FACTS)
    members: NDArray[np.int32] = read_array(np.int32)  # the variables of each table
    start: NDArray[np.int64] = read_array(np.int64)  # (n + 1,), in `members`
    begin: NDArray[np.int64] = read_array(np.int64)
    # (n + 1,): where each table begins in `cells`; it may be empty
    cells: NDArray[np.uint32] = read_array(np.uint32)


@kernel(CountedTables, ScoreSpec, INT, INT, Scratch, array(np.float64))
def score_tables(
    tables: CountedTables,
    spec: ScoreSpec,
    first: int,
    last: int,
    scratch: Scratch,
    scores: NDArray[np.float64],
) -> None:
    """Overwrite ``scores[f]`` of the families from `first` to before `last` that have a table.

    The first member of a family is the child. The scores are equal, to the last bit, to those of
    the same rows in one place.
    """
