"""What is believed about arcs before the data are looked at: a log prior for each.

The weights of a structure's arcs are added to its score, each to the local score of the
child. They are added once, when a family is computed, so that a scorer without weights pays
nothing and one with weights next to nothing. A price on parents is the weight that every
arc has: each parent costs as much, so that a family must gain more than that to grow.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coevo.checks import is_number
from coevo.errors import GraphError, ParameterError, bad_parameter, suggestion
from coevo.graph import Arc
from coevo.score.families import FamilyBatch

__all__ = ["ArcWeights"]


@dataclass(frozen=True, slots=True)
class ArcWeights:
    """The weights of arcs over numbered variables.

    >>> weights = ArcWeights.of({("a", "b"): 1.5}, ["a", "b", "c"])
    >>> batch = FamilyBatch.from_pairs([(1, (0, 2)), (0, (1,))])
    >>> weights.of_families(batch).tolist()
    [1.5, 0.0]
    >>> ArcWeights.of({("a", "b"): 1.5}, ["a", "b", "c"], 2.0).of_families(batch).tolist()
    [-2.5, -2.0]
    """

    arcs: tuple[tuple[Arc, float], ...]  # sorted
    matrix: NDArray[np.float64]  # (n, n), [parent, child]

    @classmethod
    def of(
        cls, weights: Mapping[Arc, float], names: Sequence[str], parent_penalty: float = 0.0
    ) -> ArcWeights:
        """Check weights against the variables; every arc pays the penalty besides."""
        if not isinstance(weights, Mapping):
            expected = "a mapping of (parent, child) to a number"
            raise bad_parameter("weights", "FamilyScorer", expected, weights)
        number = {name: i for i, name in enumerate(names)}
        matrix = np.full((len(names), len(names)), -float(parent_penalty))
        np.fill_diagonal(matrix, 0.0)
        for (parent, child), weight in weights.items():
            arc = f"{parent!r} -> {child!r}"
            for end in (parent, child):
                if end not in number:
                    raise GraphError(
                        f"The weight of {arc} names {end!r}, which is not a variable."
                        f"{suggestion(end, names)}"
                    )
            if parent == child:
                raise GraphError(f"{arc} has a weight, but leads back to its start.")
            if not is_number(weight):
                raise ParameterError(f"The weight of {arc} must be a number; got {weight!r}.")
            matrix[number[parent], number[child]] += weight
        arcs = ((arc, float(weight)) for arc, weight in weights.items())
        return cls(tuple(sorted(arcs)), matrix)

    @property
    def any_bonus(self) -> bool:
        """Whether an arc may add to the score."""
        return bool((self.matrix > 0).any())

    def of_families(self, families: FamilyBatch) -> NDArray[np.float64]:
        """Return the sum of the weights of each family's arcs."""
        if not len(families):
            return np.zeros(0)
        starts = families.start[:-1]
        children = np.repeat(families.members[starts], np.diff(families.start))
        # The child stands among its family; the weight of its arc to itself is 0.
        return np.add.reduceat(self.matrix[families.members, children], starts)
