"""The kernel that sums a value over the cells of a family's table that occur in the rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from coevo.jit import array_of, kernel

__all__ = ["sum_cells"]


@kernel(
    (
        array_of(np.int32, 2, is_read_only=True),
        array_of(np.int64, is_read_only=True),
        array_of(np.int64, is_read_only=True),
        array_of(np.int32, 2, is_read_only=True),
        array_of(np.float64, is_read_only=True),
        array_of(np.int64),
        array_of(np.float64),
    )
)
def sum_cells(
    codes: Any, weights: Any, arities: Any, families: Any, value: Any, counts: Any, sums: Any
) -> None:
    """Overwrite ``sums[f]`` with the sum of ``value[n]`` over the cells of family f with n rows.

    A row of `families` is a child and its parents. `weights` is how often each row of the table
    occurs. ``value[0]`` is 0. `counts` has room for the largest table, with zeros before and after.
    """
    n_rows = codes.shape[1]
    cells = np.empty(n_rows, dtype=np.int64)
    for f in range(len(families)):
        cells[:] = 0
        for m in range(families.shape[1]):
            member = families[f, m]
            arity = arities[member]
            for row in range(n_rows):
                cells[row] = cells[row] * arity + codes[member, row]
        for row in range(n_rows):
            counts[cells[row]] += weights[row]
        total = 0.0
        for row in range(n_rows):
            total += value[counts[cells[row]]]
            counts[cells[row]] = 0
        sums[f] = total
