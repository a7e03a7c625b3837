"""Available cases: each family is scored on the rows in which none of its cells is missing.

Families are then scored on different numbers of rows, and a sum of them compares nothing. So
what is taken is the score per row (the node-average likelihood of Balov 2013, and Bodewes and
Scutari 2021), brought back to all N rows. That alone is not enough: two families are also
scored on different *rows*, which differ in more than a parent is worth, so that many arcs too
many are found (at 10 % missing, 1,000 rows of Alarm, 78 away from the true ones). Therefore
families are compared only where both are seen. With R(P) the n(P) rows that show a child and
its parents P,

    score of no parents   N / n * s(no parents) on the rows that show the child
    score of P            the least, over parents p, of
                          score of P - p  +  N / n(P) * (s(P) - s(P - p)), both on R(P)

so that no parent is ever worth more than on the rows that show all. For scores with a price on
parameters s is the log-likelihood, and the price is that of N rows; for marginal likelihoods
(K2, BDeu, BDs) s is the score. Without missing cells all this is the score itself. The cells
must be missing completely at random.
"""

from __future__ import annotations

import itertools
import math
from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from coevo.data import IncompleteDataset
from coevo.missing.available_kernels import evaluate_available
from coevo.score import FamilyBatch, FamilyScorer, Score
from coevo.score.base import ScorerOptions
from coevo.score.score_kernels import LIKELIHOOD

__all__ = ["AvailableScorer"]

SMALLEST_PART = 64  # families that are worth a thread
MOST_FOUND = 1 << 20  # families whose scores are at hand for larger ones

Family = tuple[int, ...]  # a child, then its parents in ascending order


class AvailableScorer(FamilyScorer):
    """Local scores of families on their available cases, as if there were N of them.

    A family that no row shows completely, or whose table would have more cells than four
    times the rows (and more than 4,096), counts as impossible; a variable without parents of
    which nothing is seen scores 0.

    Parameters
    ----------
    table : IncompleteDataset
        The observations.
    score, ess, n_jobs, cache_bytes, weights, parent_penalty
        As for `FamilyScorer`.
    """

    def __init__(
        self,
        table: IncompleteDataset,
        score: str | Score = "bdeu",
        **options: Unpack[ScorerOptions],
    ) -> None:
        self._missing = table.missing
        super().__init__(table.dataset, score, **options)

    def _start_over(self) -> None:
        super()._start_over()
        self._found: dict[Family, float] = {}  # without the weights of arcs
        self._reduced = [np.empty_like(own.counts) for own in self._scratch]

    def _compute(self, families: FamilyBatch) -> NDArray[np.float64]:
        """Score families, and first all that they grow from."""
        asked = _listed(families)
        if len(self._found) > MOST_FOUND:
            self._found = {}
        for same_size in self._unknown(asked):
            self._found |= self._grown(same_size)
        return np.array([self._found[family] for family in asked])

    def _unknown(self, asked: list[Family]) -> list[list[Family]]:
        """Return the families that are still to be scored, those with fewest parents first."""
        new: set[Family] = set()
        waiting = [family for family in asked if family not in self._found]
        while waiting:
            family = waiting.pop()
            if family not in new:
                new.add(family)
                waiting += [less for less in _smaller(family) if less not in self._found]
        by_size: dict[int, list[Family]] = {}
        for family in sorted(new, key=lambda family: (len(family), family)):
            by_size.setdefault(len(family), []).append(family)
        return list(by_size.values())

    def _grown(self, families: list[Family]) -> dict[Family, float]:
        """Score families of one size, given those that have a parent less."""
        n_rows, n_members = self._dataset.n_rows, len(families[0])
        scores, n_seen = self._counted(families)
        found: dict[Family, float] = {}
        for family, own, n in zip(families, scores.tolist(), n_seen.tolist(), strict=True):
            whole, *without = own
            price = self._price(family)
            if n == 0:
                found[family] = -price if n_members == 1 else -math.inf
            elif n_members == 1:
                found[family] = n_rows / n * whole - price
            else:
                found[family] = min(
                    self._found[less] + n_rows / n * (whole - part) - (price - self._price(less))
                    for less, part in zip(_smaller(family), without, strict=True)
                )
        return found

    def _counted(self, families: list[Family]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Return the scores of families and of those without one parent, and their rows."""
        batch = FamilyBatch.from_pairs((child, parents) for child, *parents in families)
        dataset, spec = self._dataset, self._spec._replace(penalty=0.0)
        scores, n_seen = np.empty(len(batch.members)), np.empty(len(families), dtype=np.int64)

        def part(begin: int, end: int, number: int) -> None:
            own = self._scratch[number]
            evaluate_available(
                dataset.codes,
                self._missing,
                dataset.arities,
                spec,
                batch.members,
                batch.start,
                begin,
                end,
                (own.counts, self._reduced[number], own.margin, own.rising),
                scores,
                n_seen,
            )

        self.threads.run_in_parts(part, len(families), SMALLEST_PART)
        return scores.reshape(len(families), -1), n_seen

    def _price(self, family: Family) -> float:
        """Return what the parameters of a family cost, where the score has a price on them."""
        if self._spec.kind != LIKELIHOOD:
            return 0.0
        arity, *others = (int(self._dataset.arities[v]) for v in family)
        return float(self._spec.penalty) * (arity - 1) * math.prod(others)


def _listed(families: FamilyBatch) -> list[Family]:
    members, start = families.members.tolist(), families.start.tolist()
    return [tuple(members[begin:end]) for begin, end in itertools.pairwise(start)]


def _smaller(family: Family) -> list[Family]:
    """Return a family without each of its parents in turn."""
    return [family[:i] + family[i + 1 :] for i in range(1, len(family))]
