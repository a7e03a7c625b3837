"""Sums over the cells of the table of a family that occur in the rows; see engine/cell.h."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coevo.engine import Structure, array, kernel, read_array

__all__ = ["CellRows", "sum_cells"]


class CellRows(Structure):
    """The rows of a table."""

    codes: NDArray[np.int32] = read_array(np.int32, 2)  # (variables, rows)
    weights: NDArray[np.int64] = read_array(np.int64)  # (rows,), how often each row occurs
    arities: NDArray[np.int64] = read_array(np.int64)  # (variables,)


@kernel(
    CellRows,
    read_array(np.int32, 2),
    read_array(np.float64),
    array(np.int32),
    array(np.int32),
    array(np.float64),
)
def sum_cells(
    rows: CellRows,
    families: NDArray[np.int32],
    value: NDArray[np.float64],
    cells: NDArray[np.int32],
    counts: NDArray[np.int32],
    sums: NDArray[np.float64],
) -> None:
    """Overwrite ``sums[f]`` with the sum of ``value[n]`` over the cells of family f with n rows.

    A row of `families` is a child and its parents. ``value[0]`` is 0. `counts` has room for the
    largest table, with zeros before and after. `cells` has room for each row.
    """
