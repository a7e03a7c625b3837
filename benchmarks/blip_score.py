r"""`bic-blip`: the smoothed BIC under which the results of BLIP (ASOBS and others) are published.

It is for the comparison with published numbers only, and no score of coevo. Let r be the number of
states of a variable and q that of the configurations of its parents. With parents, a cell adds

.. math:: n_{jk} \log\frac{n_{jk} + 1/(r q)}{n_j + 1/r}

and each free parameter costs (log N)/2. Without parents, a cell adds n log((n + 1/r) / (N + 1)) and
each free parameter costs log N. The definition is inferred from published numbers: dynamic
programming over all structures gives the published optimum of `nltcs` under it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from blip_kernels import score_smoothed_tables
from coevo import FamilyScorer
from coevo.score import BIC, FamilyBatch, Score
from coevo.score.independence import TripleBatch

__all__ = ["BlipBIC", "BlipScorer", "make_scorer"]


@dataclass(frozen=True)
class BlipBIC(BIC):
    """The smoothed BIC; its upper bound is that of BIC, because no cell adds more than 0."""

    name: ClassVar[str] = "bic-blip"
    formula: ClassVar[str] = "smoothed log-likelihood - (log N) / 2 for each free parameter"
    is_equivalent: ClassVar[bool] = False


class BlipScorer(FamilyScorer):
    """A scorer that counts as `FamilyScorer` does and scores the tables by the smoothed BIC.

    A family with so many cells that its table is not counted cell by cell scores -inf. Its penalty
    is above all that it can gain.
    """

    def __init__(self, table: Any) -> None:
        super().__init__(table, BlipBIC())

    def _compute(self, families: FamilyBatch) -> NDArray[np.float64]:
        parts = [np.empty(0)]
        for counted in self._count_triples(TripleBatch(families.members, families.start)):
            batch = counted.triples
            scores = np.empty(len(batch))
            score_smoothed_tables(
                counted.facts,
                batch.members,
                batch.start,
                counted.begin,
                counted.cells,
                self.dataset.n_rows,
                scores,
            )
            parts.append(scores)
        return np.concatenate(parts)


def make_scorer(table: Any, score: str | Score) -> FamilyScorer:
    """Return the scorer of a score of coevo or of ``'bic-blip'``."""
    return BlipScorer(table) if score == BlipBIC.name else FamilyScorer(table, score)
