"""Tests of conditional independence, in batches: triples (x, y, Z) in, p-values out.

The null hypothesis of a test is that x and y are independent given the variables Z. A small
p-value speaks against it. `Scorer.test_triples` counts a batch, on the threads of the scorer or in
the shards of a table, and this module turns the counts into numbers. engine/independence.h
explains the two statistics.

The degrees of freedom count what the data can show: in each stratum (a configuration of Z that
occurs) only the states that occur in it. The usual number (r_x - 1)(r_y - 1) q counts strata
without a row. It grows with every variable in Z, so that soon no dependence is significant.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from operator import index

import numpy as np
from numpy.typing import NDArray

from coevo.errors import ParameterError, bad_choice
from coevo.runtime.threads import Threads
from coevo.score.families import FamilyBatch
from coevo.score.kernels import (
    G2,
    INDEPENDENCE_ARRAYS,
    X2,
    CountIndex,
    TableSums,
    compute_upper_tails,
    make_sparse_scratch,
    measure_sparse,
    measure_tables,
)

__all__ = [
    "TESTS",
    "CountedTriples",
    "IndependenceTests",
    "Numbers",
    "TripleBatch",
    "check_test",
    "compute_p_values",
    "measure_counts",
]

TESTS = {"g2": G2, "x2": X2}  # the likelihood ratio, and Pearson's statistic
SMALLEST_PART = 64  # the fewest tables for which a thread pays off
SMALLEST_SPARSE_PART = 4  # the same for tests that read rows

Numbers = NDArray[np.float64]


def check_test(test: str, owner: str) -> str:
    """Return the name of a test; raise `ParameterError` if there is none.

    >>> check_test("chi2", "learn")
    Traceback (most recent call last):
    coevo.errors.ParameterError: 'test' of learn must be one of 'g2', 'x2'; got 'chi2'.
    """
    if not isinstance(test, str) or test not in TESTS:
        raise bad_choice("test", owner, TESTS, test)
    return test


@dataclass(frozen=True, slots=True, eq=False)
class TripleBatch(FamilyBatch):
    """A batch of triples (x, y, Z), each stored as x, y and then the variables of Z.

    >>> batch = TripleBatch.from_triples([(3, 1, ()), (0, 2, (5, 4))])
    >>> batch.members.tolist(), batch.start.tolist()
    ([3, 1, 0, 2, 4, 5], [0, 2, 6])
    """

    @classmethod
    def from_triples(cls, triples: Iterable[tuple[int, int, Iterable[int]]]) -> TripleBatch:
        """Build a batch from (x, y, Z), the variables of Z in any order."""
        members: list[int] = []
        start = [0]
        try:
            for x, y, given in triples:
                members += (index(x), index(y))
                members.extend(sorted(map(index, given)))
                start.append(len(members))
            return cls(np.array(members, dtype=np.int32), np.array(start, dtype=np.int64))
        except (OverflowError, TypeError, ValueError):
            raise ParameterError(
                "A triple is two variables and the variables given, as numbers of variables."
            ) from None

    def check_members(self, n_variables: int) -> None:
        """Raise `ParameterError` unless every triple is valid for this number of variables."""
        if not len(self):
            return
        if (np.diff(self.start) < 2).any():
            raise ParameterError("A triple has at least two variables.")
        low, high = int(self.members.min()), int(self.members.max())
        if low < 0 or high >= n_variables:
            wrong = low if low < 0 else high
            raise ParameterError(
                f"A triple names variable {wrong}; there are {n_variables}, counted from 0."
            )
        owner = np.repeat(np.arange(len(self)), np.diff(self.start))
        keys = np.sort(owner * n_variables + self.members)
        if (keys[1:] == keys[:-1]).any():
            raise ParameterError("A triple names a variable twice.")


@dataclass(frozen=True, eq=False)
class IndependenceTests:
    """The results of a batch of tests, in its order.

    Attributes
    ----------
    statistics : array of float
        G2 or X2; 0 if x and y are independent in the rows.
    degrees_of_freedom : array of float
        The degrees of freedom. They are whole numbers, except as a mean over imputed tables.
    p_values : array of float
        The chance of so large a statistic if x and y are independent given Z; 1 without degrees
        of freedom.
    """

    statistics: Numbers
    degrees_of_freedom: Numbers
    p_values: Numbers

    @classmethod
    def from_statistics(cls, statistics: Numbers, degrees_of_freedom: Numbers) -> IndependenceTests:
        """Compute the p-values."""
        p_values = compute_p_values(statistics, degrees_of_freedom)
        return cls(statistics, degrees_of_freedom, p_values)

    def __len__(self) -> int:
        return len(self.p_values)


@dataclass(frozen=True, eq=False)
class CountedTriples:
    """The counts of a part of a batch: tables, and rows where a table would be too large."""

    facts: NDArray[np.int64]  # of all variables, see `count_kernels`
    triples: FamilyBatch
    sums: TableSums  # where the table of each triple begins, and the tables
    rows: Mapping[int, tuple[CountIndex, NDArray[np.int32]]] = field(default_factory=dict)
    # by number of the triple: an index with its rows, and its members in that index


def measure_counts(counted: CountedTriples, kind: int, threads: Threads) -> tuple[Numbers, Numbers]:
    """Return the statistics and the degrees of freedom of counted triples."""
    triples, sums = counted.triples, counted.sums
    statistics, freedoms = np.zeros(len(triples)), np.zeros(len(triples))
    sparse = list(counted.rows.items())

    def measure_part(first: int, last: int, _: int) -> None:
        states = np.empty(len(sums.cells) + 1, dtype=np.int64)  # never fewer than those of x and y
        where = (counted.facts, triples.members, triples.start, sums)
        measure_tables(*where, kind, first, last, states, statistics, freedoms)

    def measure_sparse_part(first: int, last: int, _: int) -> None:
        part, measured = sparse[first:last], np.empty(2)
        n_rows = max(rows.codes.shape[1] for _, (rows, _) in part)
        scratch = make_sparse_scratch(n_rows, INDEPENDENCE_ARRAYS)
        for number, (rows, members) in part:
            measure_sparse(rows, kind, members, scratch, measured)
            statistics[number], freedoms[number] = measured

    if len(sums.cells):
        threads.run_in_parts(measure_part, len(triples), SMALLEST_PART)
    if sparse:
        threads.run_in_parts(measure_sparse_part, len(sparse), SMALLEST_SPARSE_PART)
    return statistics, freedoms


def compute_p_values(statistics: Numbers, degrees_of_freedom: Numbers) -> Numbers:
    """Return the chance of a larger value under the chi-squared distributions.

    The relative error is below 1e-12 as long as the result is above the smallest normal float.

    >>> compute_p_values(np.array([3.841459, 0.0]), np.array([1.0, 0.0])).round(6).tolist()
    [0.05, 1.0]
    """
    tails = np.empty(len(statistics))
    compute_upper_tails(
        np.ascontiguousarray(statistics, dtype=np.float64),
        np.ascontiguousarray(degrees_of_freedom, dtype=np.float64),
        tails,
    )
    return tails
