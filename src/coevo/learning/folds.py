"""The folds of a cross-validation: which rows are held out together.

Equal observations give equal folds: neither the order of rows and columns nor the way a table is
stored matters. Rows are therefore put into an order of their own first, that of their hashes.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coevo.data.columns import Column
from coevo.data.dataset import hash_rows
from coevo.data.number_labels import parse_numbers

__all__ = ["RowNumbers", "order_rows", "split_rows"]

RowNumbers = NDArray[np.intp]


def order_rows(columns: Sequence[Column], continuous: Set[str], missing: Set[str]) -> RowNumbers:
    """Return the rows in an order that depends on their cells alone; equal rows are neighbours.

    Parameters
    ----------
    columns : sequence of Column
        The cells.
    continuous : set of str
        The columns whose labels stand for numbers.
    missing : set of str
        The labels of missing values.
    """
    ordered = sorted(columns, key=lambda column: column.name)
    codes = [_rank_cells(column, column.name in continuous, missing) for column in ordered]
    return np.argsort(hash_rows(np.stack(codes)), kind="stable")


def _rank_cells(
    column: Column, is_continuous: bool, missing: Set[str]
) -> NDArray[np.unsignedinteger]:
    """Return the rank of each cell among the values that occur; 0 is a missing value."""
    unknown = set(column.find_missing(missing))
    known = [code for code in np.flatnonzero(column.counts).tolist() if code not in unknown]
    numbers = parse_numbers(column.labels) if is_continuous else None
    values: NDArray[Any]
    if numbers is None:
        values = np.array([column.labels[code] for code in known], dtype=np.object_)
    else:
        values = numbers[known]
    distinct, places = np.unique(values, return_inverse=True)
    ranks = np.zeros(len(column.labels), dtype=np.min_scalar_type(len(distinct)))
    ranks[known] = places + 1
    cells: NDArray[np.unsignedinteger] = ranks[column.codes]
    if column.missing is not None:
        cells[column.missing] = 0
    return cells


def split_rows(
    strata: NDArray[np.integer], n_folds: int, rng: np.random.Generator, order: RowNumbers
) -> tuple[RowNumbers, ...]:
    """Return the rows of each fold, in ascending order; each stratum is spread evenly.

    `order` has the rows in the order from which they are drawn (`order_rows`).

    >>> strata = np.array([0, 0, 0, 0, 1, 1])
    >>> folds = split_rows(strata, 2, np.random.default_rng(1), np.arange(6))
    >>> [(strata[fold] == 1).sum().item() for fold in folds]
    [1, 1]
    """
    shuffled = order[rng.permutation(len(strata))]
    drawn = shuffled[np.argsort(strata[shuffled], kind="stable")]
    return tuple(np.sort(drawn[fold::n_folds]) for fold in range(n_folds))
