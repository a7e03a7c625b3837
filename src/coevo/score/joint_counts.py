"""Counts of the joint configurations of some variables: the sufficient statistics of a fit.

`count_configurations` dispatches on the type of the table. This module counts rows in memory;
`coevo.parallel` registers a function that counts rows in shards.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import singledispatch

import numpy as np
from numpy.typing import NDArray

from coevo.data import Codes, Dataset, Table

__all__ = ["JointCounts", "count_configurations", "count_rows"]

JointCounts = NDArray[np.int64]  # one axis for each variable, states in canonical order


@singledispatch
def count_configurations(table: Table, groups: Sequence[Sequence[int]]) -> Iterator[JointCounts]:
    """Yield the counts of each group of variables, with one axis for each variable, in order.

    >>> from coevo.data import Variable
    >>> table = Dataset([Variable("a", ("0", "1")), Variable("b", ("0", "1"))], [[0, 1], [0, 0]])
    >>> [counts.tolist() for counts in count_configurations(table, [[0], [1, 0]])]
    [[1, 1], [[1, 1], [0, 0]]]
    """
    raise TypeError(f"Rows of a {type(table).__name__} cannot be counted.")


@count_configurations.register
def _(table: Dataset, groups: Sequence[Sequence[int]]) -> Iterator[JointCounts]:
    for group in map(list, groups):
        yield count_rows(table.codes[group], table.weights, table.arities[group].tolist())


def count_rows(
    codes: Codes, weights: NDArray[np.int64] | None, shape: Sequence[int]
) -> JointCounts:
    """Count the rows of each configuration; `weights` is how often each row occurs."""
    joint = np.zeros(codes.shape[1], dtype=np.intp)
    for column, arity in zip(codes, shape, strict=True):
        joint *= arity
        joint += column
    counts = np.bincount(joint, weights=weights, minlength=math.prod(shape))
    return counts.astype(np.int64).reshape(shape)
