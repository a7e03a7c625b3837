"""Prior knowledge about arcs: a log prior for each arc, added to the score.

The weight of an arc is added to the local score of its child. A scorer adds it once, when it
computes the family. A scorer without weights has no extra cost, and a scorer with weights
almost none. The parent penalty is a negative weight that every arc has: a new parent must
raise the score by more than the penalty.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coevo.checks import is_number
from coevo.errors import GraphError, ParameterError, bad_parameter, suggest_match
from coevo.graph import Arc
from coevo.options import LARGEST_PENALTY
from coevo.score.families import FamilyBatch

__all__ = ["ArcWeights"]

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
