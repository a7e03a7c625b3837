"""Families on their available cases: the rows that observe all their variables."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coevo.engine import INT, Structure, array, kernel, read_array
from coevo.score.family_kernels import Scratch
from coevo.score.score_kernels import ScoreSpec

__all__ = ["IncompleteRows", "evaluate_available"]


class IncompleteRows(Structure):
    """Rows with missing values; the code of a missing value can be any state of its variable."""

    codes: NDArray[np.uint16] = read_array(np.uint16, 2)  # (n_vars, n_rows)
    missing: NDArray[np.bool_] = read_array(np.bool_, 2)  # (n_vars, n_rows)
    arity: NDArray[np.int64] = read_array(np.int64)  # (n_vars,)


@kernel(
    IncompleteRows,
    ScoreSpec,
    read_array(np.int32),
    read_array(np.int64),
    INT,
    INT,
    Scratch,
    array(np.uint32),
    array(np.float64),
    array(np.int64),
)
def evaluate_available(
    rows: IncompleteRows,
    spec: ScoreSpec,
    members: NDArray[np.int32],
    start: NDArray[np.int64],
    first: int,
    last: int,
    scratch: Scratch,
    reduced: NDArray[np.uint32],
    scores: NDArray[np.float64],
    n_complete: NDArray[np.int64],
) -> None:
    """Overwrite the scores of families ``first:last``, and their numbers of complete rows.

    The position of the child in `members` gets the score of the family. The position of a parent
    gets the score of the family without this parent, on the same rows. A family whose table does
    not fit into ``scratch.counts`` gets 0 complete rows and no score. `reduced` has as much room.
    """
