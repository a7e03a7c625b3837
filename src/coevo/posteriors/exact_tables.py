"""The tables that the exact sums read: one log weight for every family, scaled for each child.

The largest log weight of each child is subtracted, so that logs stay small and exact. Families
that are in no table of `FamilyWeights` have the weight zero here too: the exact sums then belong
to the same weights as the chains, also where these are pruned.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coevo.errors import ParameterError
from coevo.posteriors.exact_kernels import SortedFamilies, sum_subsets
from coevo.posteriors.family_weights import FamilyWeights

__all__ = [
    "CompleteTables",
    "make_complete_tables",
    "make_impossible_error",
    "sort_families",
    "sum_all_subsets",
]


class CompleteTables(NamedTuple):
    """The log weights of all sets of the other variables, for each child."""

    log_weight: NDArray[np.float64]  # (n, 2^(n-1)), the largest of each row is 0
    log_scale: float  # what was subtracted, summed over all children

    @property
    def n_variables(self) -> int:
        """The number of variables."""
        return len(self.log_weight)


def make_impossible_error() -> ParameterError:
    """Return the exception for weights that exclude every DAG."""
    return ParameterError(
        "No network is possible: every DAG has a family with the weight zero. Remove required or "
        "forbidden arcs, or raise the limit on the number of parents."
    )


def make_complete_tables(weights: FamilyWeights) -> CompleteTables:
    """Return the scaled log weights of all families; raise `ParameterError` if they exclude all."""
    n = weights.n_variables
    table = np.full((n, 1 << (n - 1)), -np.inf)
    for child in range(n):
        chosen = weights.candidates[child]
        if len(chosen) == n - 1:
            table[child] = weights.tables[child]
        else:
            table[child, _place_sets(chosen, child)] = weights.tables[child]
        _place_outside(weights, child, table[child])
    largest = table.max(axis=1)
    if not (largest < np.inf).all():  # false for nan too
        raise ParameterError(
            "The log weights of the families have an entry that is nan or inf. Check the score."
        )
    if (largest == -np.inf).any():
        raise make_impossible_error()
    table -= largest[:, None]
    return CompleteTables(table, math.fsum(largest))


def _place_sets(candidates: NDArray[np.int64], child: int) -> NDArray[np.int64]:
    """Return the number of each set of candidates among the sets of all other variables."""
    sets = np.zeros(1, dtype=np.int64)
    for candidate in candidates:
        sets = np.concatenate([sets, sets | 1 << int(candidate - (candidate > child))])
    return sets


def _place_outside(weights: FamilyWeights, child: int, row: NDArray[np.float64]) -> None:
    """Write the log weights of the outside families of a child into its row."""
    outside = weights.outside
    for family in range(outside.begin[child], outside.begin[child + 1]):
        parents = outside.parents[outside.start[family] : outside.start[family + 1]].tolist()
        number = sum(1 << (parent - (parent > child)) for parent in parents)
        row[number] = outside.log_weight[family]


def sum_all_subsets(tables: CompleteTables) -> NDArray[np.float64]:
    """Return, for each child and each set, the log of the sum over all subsets of the set."""
    sums = tables.log_weight.copy()
    for row in sums:
        sum_subsets(row)
    return sums


def sort_families(tables: CompleteTables) -> SortedFamilies:
    """Return the possible families of each child, the heaviest first; ties by number."""
    weights, parents = [], []
    for child, row in enumerate(tables.log_weight):
        chosen = np.argsort(-row, kind="stable")[: np.count_nonzero(row > -np.inf)]
        low = chosen & ((1 << child) - 1)
        weights.append(row[chosen])
        parents.append(low | ((chosen - low) << 1))
    begin = np.concatenate([[0], np.cumsum([len(part) for part in weights])])
    return SortedFamilies(
        begin.astype(np.int64), np.concatenate(weights), np.concatenate(parents).astype(np.int64)
    )
