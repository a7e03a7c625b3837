"""Tests of conditional independence; see engine/independence.h."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coevo.engine import INT, array, kernel, read_array
from coevo.score.count_kernels import CountIndex
from coevo.score.family_count_kernels import CountedTables
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
    CountedTables, INT, INT, INT, array(np.int64), array(np.float64), array(np.float64)
)  # fmt: skip
def measure_tables(
    tables: CountedTables,
    kind: int,
    first: int,
    last: int,
    sums: NDArray[np.int64],
    statistics: NDArray[np.float64],
    freedoms: NDArray[np.float64],
) -> None:
    """Overwrite the statistics and degrees of freedom of the tests that have a table.

    The first two members of a test are x and y. `sums` has room for the states of both.
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
