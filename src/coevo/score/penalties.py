r"""What is added to the score of a family: the cost of sparse tables, knowledge about arcs.

The cost of a table with few rows: what a family with parents may not get for nothing.

A variable without parents pays for learning its distribution. Its marginal likelihood is lower
than the highest likelihood :math:`\prod_k (n_k / N)^{n_k}` by its *regret* R. If most
configurations of the parents hold a single row, nothing is learned in them, and nothing is paid:
each row has the probability 1 / r. Where the states are about equally frequent, this is as good as
the learned distribution. So parents that tell nothing gain R, and a search finds them in noise.

The sparse penalty takes R back. The penalty of a family with the variables S, the child among them,
is G(S) - G(S without the child), where

.. math:: G(S) = \omega(S) \sum_{v \in S} R_v

and :math:`\omega` rises from 0 to 1 as the table of S grows from `DENSE` to `SPARSE` cells for each
row. Families with fewer cells pay nothing, so nothing changes where the rows suffice. As a
difference of one function of sets it is the same for all networks of an equivalence class.
:math:`G(\{v\})` is 0.

In a sparse table the gain over no parents is then at most :math:`\log P(\text{child} \mid
\text{parents}) - \log \prod_k (n_k / N)^{n_k}`. Whatever the distribution of the child is, this
exceeds t with a probability of at most :math:`e^{-t}` if the child does not depend on the parents,
by Markov's inequality: the first term is the logarithm of a distribution of the child's column, and
the second at least that of its true distribution.

Bound for proofs: a superset T of the parents S has at least the penalty
:math:`\omega(S)\, R_\text{child}` (`bound_supersets`), because :math:`\omega` only grows.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coevo.checks import is_number
from coevo.errors import GraphError, ParameterError, bad_parameter, suggest_match
from coevo.graph import Arc
from coevo.options import LARGEST_PENALTY
from coevo.score.families import FamilyBatch

__all__ = ["ArcWeights", "SparsePenalty", "compute_likelihoods", "is_dense"]

# Cells for each row. Pairs of variables with 15 states and 60 rows (4 cells a row) are far from
# being rewarded; triples of them (56 cells a row) are. benchmarks/null_tables.py measures it.
DENSE, SPARSE = 4.0, 16.0
ROUND_OFF = 1e-9  # more than that of a sum of logarithms

Values = NDArray[np.float64]


def compute_likelihoods(state_counts: Sequence[NDArray[np.int64]]) -> Values:
    """Return the highest log-likelihood of each variable without parents.

    >>> compute_likelihoods([np.array([2, 2]), np.array([4, 0])]).round(4).tolist()
    [-2.7726, 0.0]
    """
    sums = []
    for counts in state_counts:
        n = counts[counts > 0].astype(np.float64)
        sums.append(math.fsum((n * np.log(n / n.sum())).tolist()))
    return np.array(sums)


def is_dense(n_cells: Values, n_rows: int) -> bool:
    """Return whether all tables with so many cells are clearly too small for a penalty.

    >>> is_dense(np.array([8.0, 39.0]), 10), is_dense(np.array([40.0]), 10)
    (True, False)
    """
    return bool(n_cells.max() < (1 - ROUND_OFF) * DENSE * n_rows)


@dataclass(frozen=True, slots=True, eq=False)
class SparsePenalty:
    """The sparse penalty of the families of one table.

    >>> penalty = SparsePenalty(1.0, 10, np.array([20, 20, 20]), np.array([5.0, 6.0, 7.0]))
    >>> batch = FamilyBatch.from_pairs([(0, ()), (0, (1,)), (1, (0,)), (2, (0, 1))])
    >>> penalty.sum_families(batch).round(6).tolist()
    [0.0, 11.0, 11.0, 7.0]
    """

    scale: float  # 1 takes the regret back once
    n_rows: int
    arities: NDArray[np.int64]
    regrets: Values  # of each variable

    def sum_families(self, families: FamilyBatch) -> Values:
        """Return the penalty of each family."""
        if not len(families):
            return np.zeros(0)
        starts = families.start[:-1]
        logs = np.log(self.arities.astype(np.float64))[families.members]
        of_all = np.add.reduceat(logs, starts)
        if of_all.max() <= math.log(DENSE * self.n_rows):
            return np.zeros(len(families))
        children = families.members[starts]
        regrets = np.add.reduceat(self.regrets[families.members], starts)
        n_parents = np.diff(families.start) - 1
        of_family = self._weigh(of_all, n_parents + 1) * regrets
        of_parents = self._weigh(of_all - logs[starts], n_parents) * (
            regrets - self.regrets[children]
        )
        return np.asarray(self.scale * (of_family - of_parents))

    def bound_supersets(self, child: int, parents: NDArray[np.int64]) -> Values:
        """Return the least penalty of families with these parents and more.

        `parents` is (m, k): m parent sets of k variables.
        """
        logs = np.log(self.arities.astype(np.float64))[parents].sum(axis=1)
        n_parents = np.full(len(parents), parents.shape[1])
        return np.asarray(self.scale * self._weigh(logs, n_parents) * self.regrets[child])

    def _weigh(self, log_cells: Values, n_variables: NDArray[np.int64]) -> Values:
        """Return omega: 0 for dense tables and single variables, 1 for sparse tables."""
        excess = log_cells - math.log(DENSE * self.n_rows)
        share = np.clip(excess / math.log(SPARSE / DENSE), 0.0, 1.0)
        return np.where(n_variables > 1, share, 0.0)


# Prior knowledge about arcs: a log prior for each arc, added to the score.
#
# The weight of an arc is added to the local score of its child. A scorer adds it once, when it
# computes the family. A scorer without weights has no extra cost, and a scorer with weights almost
# none. The parent penalty is a negative weight that every arc has: a new parent must raise the
# score by more than the penalty.


TABULATED = 32  # numbers of parents with a known sum, where all arcs have one weight
LARGEST_WEIGHT = LARGEST_PENALTY  # nats; with more, rows would not count, and sums could overflow


@dataclass(frozen=True, slots=True, eq=False)
class ArcWeights:
    """The weights of the arcs between numbered variables.

    >>> weights = ArcWeights.from_mapping({("a", "b"): 1.5}, ["a", "b", "c"])
    >>> batch = FamilyBatch.from_pairs([(1, (0, 2)), (0, (1,))])
    >>> weights.sum_families(batch).tolist()
    [1.5, 0.0]
    >>> penalised = ArcWeights.from_mapping({("a", "b"): 1.5}, ["a", "b", "c"], 2.0)
    >>> penalised.sum_families(batch).tolist()
    [-2.5, -2.0]
    """

    arcs: tuple[tuple[Arc, float], ...]  # sorted
    matrix: NDArray[np.float64]  # (n, n), [parent, child]
    of_size: NDArray[np.float64]  # by number of parents; empty if arcs have their own weights

    @classmethod
    def from_mapping(
        cls, weights: Mapping[Arc, float], names: Sequence[str], parent_penalty: float = 0.0
    ) -> ArcWeights:
        """Check the weights against the variables; subtract the penalty from every arc."""
        if not _is_of_arcs(weights):
            expected = "a mapping of (parent, child) to a number"
            raise bad_parameter("weights", "FamilyScorer", expected, weights)
        position = {name: i for i, name in enumerate(names)}
        matrix = np.full((len(names), len(names)), -float(parent_penalty))
        np.fill_diagonal(matrix, 0.0)
        for (parent, child), weight in weights.items():
            arc = f"{parent!r} -> {child!r}"
            for end in (parent, child):
                if end not in position:
                    raise GraphError(
                        f"The weight of {arc} names {end!r}, which is not a variable."
                        f"{suggest_match(end, names)}"
                    )
            if parent == child:
                raise GraphError(
                    f"The arc {arc} has a weight, but it starts and ends at the same variable. "
                    "Remove it."
                )
            if not (is_number(weight) and abs(float(weight)) <= LARGEST_WEIGHT):
                raise ParameterError(
                    f"The weight of {arc} must be a number from {-LARGEST_WEIGHT:,} to "
                    f"{LARGEST_WEIGHT:,}; got {weight!r}."
                )
            matrix[position[parent], position[child]] += weight
        arcs = ((arc, float(weight)) for arc, weight in weights.items())
        of_size = np.empty(0) if weights else _sum_by_size(-float(parent_penalty))
        return cls(tuple(sorted(arcs)), matrix, of_size)

    @property
    def has_bonus(self) -> bool:
        """Whether some arc has a weight above 0."""
        return bool((self.matrix > 0).any())

    def sum_families(self, families: FamilyBatch) -> NDArray[np.float64]:
        """Return the sum of the weights of each family's arcs."""
        if not len(families):
            return np.zeros(0)
        starts = families.start[:-1]
        n_parents = families.start[1:] - starts - 1
        if n_parents.max() < len(self.of_size):
            return np.take(self.of_size, n_parents)
        children = np.repeat(families.members[starts], np.diff(families.start))
        # The members include the child; its weight to itself is 0.
        return np.add.reduceat(self.matrix[families.members, children], starts)


def _sum_by_size(weight: float) -> NDArray[np.float64]:
    """Return the sum of 0, 1, 2 and so on equal weights, added up as `sum_families` does.

    >>> _sum_by_size(-2.0)[:4].tolist()
    [0.0, -2.0, -4.0, -6.0]
    """
    sizes = np.arange(TABULATED) + 1  # with the child, whose weight is 0
    starts = np.cumsum(sizes) - sizes
    weights = np.full(int(sizes.sum()), weight)
    weights[starts] = 0.0
    return np.add.reduceat(weights, starts)


def _is_of_arcs(weights: object) -> bool:
    """Return whether this is a mapping whose keys are pairs."""
    if not isinstance(weights, Mapping):
        return False
    return all(isinstance(arc, tuple) and len(arc) == 2 for arc in weights)
