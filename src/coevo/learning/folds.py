"""The folds of a cross-validation: which rows are held out together.

Equal observations give equal folds: neither the order of rows and columns nor the way a table is
stored matters. Rows are therefore put into an order of their own first, that of their hashes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coevo.data.columns import Column
from coevo.data.dataset import hash_clusters, hash_rows
from coevo.data.labels import parse_numbers

__all__ = ["RowNumbers", "hash_cells", "split_clusters", "split_rows"]

RowNumbers = NDArray[np.intp]
FindMissing = Callable[[Column], list[int]]


def hash_cells(
    columns: Sequence[Column], continuous: Set[str], find_missing: FindMissing = Column.find_missing
) -> NDArray[np.uint64]:
    """Return a hash of each row that depends on its cells alone; it gives rows an order.

    Parameters
    ----------
    columns : sequence of Column
        The cells.
    continuous : set of str
        The columns whose labels stand for numbers.
    find_missing : function
        Returns the codes of a column that stand for missing values.
    """
    ordered = sorted(columns, key=lambda column: column.name)
    codes = [_rank_cells(column, column.name in continuous, find_missing) for column in ordered]
    return hash_rows(np.stack(codes))


def _rank_cells(
    column: Column, is_continuous: bool, find_missing: FindMissing
) -> NDArray[np.unsignedinteger]:
    """Return the rank of each cell among the values that occur; 0 is a missing value."""
    unknown = set(find_missing(column))
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
    strata: NDArray[np.integer],
    n_folds: int,
    rng: np.random.Generator,
    hashes: NDArray[np.uint64],
) -> tuple[RowNumbers, ...]:
    """Return the rows of each fold, in ascending order; each stratum is spread evenly.

    Rows are drawn from the order of their hashes (`hash_cells`).

    >>> strata, hashes = np.array([0, 0, 0, 0, 1, 1]), np.arange(6, dtype=np.uint64)
    >>> folds = split_rows(strata, 2, np.random.default_rng(1), hashes)
    >>> [(strata[fold] == 1).sum().item() for fold in folds]
    [1, 1]
    """
    order = np.argsort(hashes, kind="stable")
    shuffled = order[rng.permutation(len(strata))]
    drawn = shuffled[np.argsort(strata[shuffled], kind="stable")]
    return tuple(np.sort(drawn[fold::n_folds]) for fold in range(n_folds))


def split_clusters(
    strata: NDArray[np.integer],
    clusters: NDArray[np.int64],
    n_folds: int,
    rng: np.random.Generator,
    hashes: NDArray[np.uint64],
) -> tuple[RowNumbers, ...]:
    """Return the rows of each fold, in ascending order; all rows of a cluster are in one fold.

    Clusters are dealt out in a random order, the largest first. Each goes to the fold in which its
    strata are scarcest, so that folds have about the same number of rows of each stratum.

    >>> clusters = np.array([0, 0, 1, 1, 2, 2, 3, 3])
    >>> strata, hashes = np.zeros(8, dtype=np.int64), np.arange(8, dtype=np.uint64)
    >>> folds = split_clusters(strata, clusters, 2, np.random.default_rng(1), hashes)
    >>> [sorted(set(clusters[fold].tolist())) for fold in folds]
    [[0, 2], [1, 3]]
    """
    numbers = np.unique(strata, return_inverse=True)[1]
    groups = np.unique(clusters, return_inverse=True)[1]
    # Neither the order of rows nor the names of clusters matter.
    ranked = np.argsort(hash_clusters(hashes, groups), kind="stable")
    ranked = ranked[rng.permutation(len(ranked))]
    by_size = ranked[np.argsort(-np.bincount(groups)[ranked], kind="stable")]
    n_strata = int(numbers.max()) + 1
    counts = np.bincount(groups * n_strata + numbers, minlength=len(ranked) * n_strata)
    counts = counts.reshape(len(ranked), n_strata)
    share = counts / np.maximum(counts.sum(axis=0), 1)
    filled = np.zeros((n_folds, n_strata))
    fold_of = np.empty(len(ranked), dtype=np.int64)
    for cluster in by_size.tolist():
        costs = ((filled + share[cluster]) ** 2 - filled**2).sum(axis=1)
        fold_of[cluster] = int(np.argmin(np.round(costs, 12)))
        filled[fold_of[cluster]] += share[cluster]
    return tuple(np.flatnonzero(fold_of[groups] == fold) for fold in range(n_folds))
