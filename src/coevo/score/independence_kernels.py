"""Tests of conditional independence; see engine/independence.h."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coevo.engine import INT, array, kernel, read_array
from coevo.score.count_kernels import CountIndex
from coevo.score.family_kernels import TableSums
from coevo.score.sparse_kernels import SparseScratch

__all__ = [
    "G2",
    "INDEPENDENCE_ARRAYS",
    "X2",
    "compute_upper_tails",
    "measure_sparse",
    "measure_tables",
]

G2, X2 = 0, 1  # the statistics
INDEPENDENCE_ARRAYS = 14  # rows of `groups` in the scratch of `measure_sparse`


@kernel(
    read_array(np.int64, 2),
    read_array(np.int32),
    read_array(np.int64),
    TableSums,
    INT,
    INT,
    INT,
    array(np.int64),
    array(np.float64),
    array(np.float64),
)
def measure_tables(
    facts: NDArray[np.int64],
    members: NDArray[np.int32],
    start: NDArray[np.int64],
    sums: TableSums,
    kind: int,
    first: int,
    last: int,
    states: NDArray[np.int64],
    statistics: NDArray[np.float64],
    freedoms: NDArray[np.float64],
) -> None:
    """Overwrite the statistics and degrees of freedom of the tests that have a table.

    The members of a test are x, y, then Z. `states` has room for the counts of the states of x and
    y.
    """


@kernel(CountIndex, INT, read_array(np.int32), SparseScratch, array(np.float64))
def measure_sparse(
    index: CountIndex,
    kind: int,
    members: NDArray[np.int32],
    scratch: SparseScratch,
    measured: NDArray[np.float64],
) -> None:
    """Overwrite `measured` with the statistic and the degrees of freedom of one test.

    They follow from the rows, each with a positive weight. `groups` of the scratch has
    `INDEPENDENCE_ARRAYS` rows.
    """


@kernel(read_array(np.float64), read_array(np.float64), array(np.float64))
def compute_upper_tails(
    statistics: NDArray[np.float64], freedoms: NDArray[np.float64], tails: NDArray[np.float64]
) -> None:
    """Overwrite the chances of a chi-squared variable to be larger; 1 with 0 degrees of freedom."""
