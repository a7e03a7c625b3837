"""Available cases: each family is scored on the rows in which none of its cells is missing.

Families are then scored on different numbers of rows, and a sum of them compares nothing. So
the likelihood is taken per row (the node-average likelihood of Balov 2013, and Bodewes and
Scutari 2021) and brought back to all N rows:

    scores with a price on parameters     N / n * log-likelihood of the n rows - price
    marginal likelihoods (K2, BDeu, BDs)  N / n * log marginal likelihood of the n rows

The price is that of N rows. Without missing cells both are the scores themselves. The cells
must be missing completely at random. Even then rows of their own make the comparison of two
families noisier than a price of (log N) / 2 a parameter can forgive (Bodewes and Scutari ask
for a price that grows faster than the square root of N), so that many arcs too many are
found where much is missing: a quick look, not a method for small tables.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coevo.data import IncompleteDataset
from coevo.graph import Arc
from coevo.missing.available_kernels import evaluate_available
from coevo.score import FamilyBatch, FamilyScorer, Score
from coevo.score.score_kernels import LIKELIHOOD

__all__ = ["AvailableScorer"]

SMALLEST_PART = 64  # families that are worth a thread


class AvailableScorer(FamilyScorer):
    """Local scores of families on their available cases, as if there were N of them.

    A family that no row shows completely, or whose table would have more cells than four
    times the rows (and more than 4,096), counts as impossible; a variable without parents of
    which nothing is seen scores 0.

    Parameters
    ----------
    table : IncompleteDataset
        The observations.
    score, n_jobs, weights, parent_penalty
        As for `FamilyScorer`.
    """

    def __init__(
        self,
        table: IncompleteDataset,
        score: str | Score = "bdeu",
        *,
        n_jobs: int = 1,
        weights: Mapping[Arc, float] | None = None,
        parent_penalty: float = 0.0,
    ) -> None:
        self._holes = table.missing
        priors: Any = {"weights": weights, "parent_penalty": parent_penalty}
        super().__init__(table.dataset, score, n_jobs=n_jobs, **priors)

    def _compute(self, families: FamilyBatch) -> NDArray[np.float64]:
        """Count and score families, each on its own rows."""
        dataset, n = self._dataset, len(families)
        scores, n_seen = np.empty(n), np.empty(n, dtype=np.int64)
        has_price = self._spec.kind == LIKELIHOOD
        spec = self._spec._replace(price=0.0) if has_price else self._spec

        def part(begin: int, end: int, number: int) -> None:
            own = self._scratch[number]
            evaluate_available(
                dataset.codes,
                self._holes,
                dataset.arities,
                spec,
                families.members,
                families.start,
                begin,
                end,
                (own.counts, own.margin, own.rising),
                scores,
                n_seen,
            )

        self.threads.in_parts(part, n, SMALLEST_PART)
        alone = np.diff(families.start) == 1
        unseen = np.where(alone, 0.0, -np.inf)
        whole = np.where(n_seen > 0, scores * (dataset.n_rows / np.maximum(n_seen, 1)), unseen)
        return whole - self._prices(families) if has_price else whole

    def _prices(self, families: FamilyBatch) -> NDArray[np.float64]:
        """Return what the parameters of each family cost."""
        arities = self._dataset.arities.astype(np.float64)
        first = families.start[:-1]
        cells = np.multiply.reduceat(arities[families.members], first)
        r = arities[families.members[first]]
        prices: NDArray[np.float64] = self._spec.price * (cells / r) * (r - 1)
        return prices
