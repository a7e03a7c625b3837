"""Collapsed Gibbs sampling of missing values under a structure; see engine/gibbs.h."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coevo.engine import INT, Structure, array, kernel, read_array

__all__ = ["FamilyTables", "add_rows", "draw_values", "maximise_values"]


class FamilyTables(Structure):
    """The families of a structure and their tables of counts, one table after another.

    The table of variable v begins at ``first[v]`` in `counts`. Its margin, the number of rows for
    each configuration of the parents, begins at ``first_margin[v]`` in `margins`. The state of the
    child varies fastest.
    """

    arity: NDArray[np.int64] = read_array(np.int64)  # (n,)
    prior: NDArray[np.float64] = read_array(np.float64)  # (n,), pseudo-count of each cell
    start: NDArray[np.int64] = read_array(np.int64)  # (n + 1,), of the parents of v in `parents`
    parents: NDArray[np.int64] = read_array(np.int64)
    stride: NDArray[np.int64] = read_array(np.int64)  # of each parent in the table of its child
    child_start: NDArray[np.int64] = read_array(np.int64)  # (n + 1,), in `children`
    children: NDArray[np.int64] = read_array(np.int64)
    child_stride: NDArray[np.int64] = read_array(np.int64)  # of v in the table of each child
    first: NDArray[np.int64] = read_array(np.int64)  # (n,)
    first_margin: NDArray[np.int64] = read_array(np.int64)  # (n,)
    counts: NDArray[np.int64] = array(np.int64)
    margins: NDArray[np.int64] = array(np.int64)
    weights: NDArray[np.float64] = array(np.float64)  # (largest arity,), working memory


@kernel(FamilyTables, read_array(np.uint16, 2))
def add_rows(tables: FamilyTables, codes: NDArray[np.uint16]) -> None:
    """Add all rows to the tables. The tables must be empty."""


@kernel(
    FamilyTables,
    array(np.uint16, 2),
    read_array(np.int64),
    read_array(np.int64),
    read_array(np.float64),
    array(np.float64, 2),
)
def draw_values(
    tables: FamilyTables,
    codes: NDArray[np.uint16],
    variables: NDArray[np.int64],
    rows: NDArray[np.int64],
    uniforms: NDArray[np.float64],
    totals: NDArray[np.float64],
) -> None:
    """Draw each missing value again, and add the probabilities of its states to ``totals[value]``.

    `uniforms` has a random number from 0 to 1 for each missing value. If `totals` is empty, no
    probabilities are added.
    """


@kernel(
    FamilyTables, array(np.uint16, 2), read_array(np.int64), read_array(np.int64), returns=INT
)  # fmt: skip
def maximise_values(
    tables: FamilyTables,
    codes: NDArray[np.uint16],
    variables: NDArray[np.int64],
    rows: NDArray[np.int64],
) -> int:
    """Set each missing value to its most probable state; return how many values changed."""
    raise NotImplementedError
