"""The expected score: the mean of the local score of a family over several imputations.

The score of a structure on the complete table is unknown. Over imputations that are drawn from
their posterior distribution, the mean score estimates its expectation. All structures are scored
on the same imputations, so the sampling noise is common to them. A mean of decomposable scores is
decomposable: every search method works with this scorer as with any other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from coevo.data import Dataset
from coevo.options import ScorerOptions
from coevo.score import FamilyBatch, FamilyScorer, Score, Scorer, TripleBatch
from coevo.score.independence import Numbers

__all__ = ["ExpectedScorer"]


class ExpectedScorer(FamilyScorer):
    """Local scores of families: their means over datasets with the same variables.

    Parameters
    ----------
    datasets : sequence of Dataset
        The imputed tables; at least one.
    score : str or Score
        The score.
    **options
        As for `FamilyScorer`.

    Examples
    --------
    >>> import coevo
    >>> datasets = [coevo.sample(coevo.load_network("cancer"), 100, seed) for seed in (1, 2)]
    >>> dag = coevo.load_network("cancer").dag
    >>> scores = [FamilyScorer(dataset, "k2").score(dag) for dataset in datasets]
    >>> round(ExpectedScorer(datasets, "k2").score(dag) - sum(scores) / 2, 9)
    0.0
    """

    def __init__(
        self,
        datasets: Sequence[Dataset],
        score: str | Score = "bdeu",
        **options: Unpack[ScorerOptions],
    ) -> None:
        # The log prior of arcs is added once, and one cache is enough.
        plain: ScorerOptions = {
            **options,
            "weights": None,
            "parent_penalty": 0.0,
            "sparse_penalty": 0.0,
            "cache_bytes": 0,
        }
        self._others: list[FamilyScorer] = []
        super().__init__(datasets[0], score, **options)
        self._others = [FamilyScorer(dataset, score, **plain) for dataset in datasets[1:]]

    def _start_over(self) -> None:
        super()._start_over()
        for other in self._others:
            other._start_over()

    def estimate_memory(self) -> int:
        """Return the largest number of bytes that the scorer holds, including the data."""
        return super().estimate_memory() + sum(other.estimate_memory() for other in self._others)

    def measure_pairs(self, children: Sequence[int]) -> Iterator[NDArray[np.float64]]:
        """Return for each child the log likelihood that each variable alone adds to it."""
        return Scorer.measure_pairs(self, children)  # the bit sets hold missing values, too

    def _compute(self, families: FamilyBatch) -> NDArray[np.float64]:
        """Count and score families in every imputed table; return the means."""
        total = super()._compute(families)
        for other in self._others:
            total += other._compute(families)
        return total / (1 + len(self._others))

    def _measure_triples(self, triples: TripleBatch, kind: int) -> tuple[Numbers, Numbers]:
        """Return the means of the statistics and of their degrees of freedom."""
        statistics, freedoms = super()._measure_triples(triples, kind)
        for other in self._others:
            more, free = other._measure_triples(triples, kind)
            statistics, freedoms = statistics + more, freedoms + free
        n = 1 + len(self._others)
        return statistics / n, freedoms / n
