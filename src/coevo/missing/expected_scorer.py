"""The expected score: the mean of a family's local score over several completions.

What a structure would score on the complete table is unknown; over completions that are
drawn as often as they are probable, the mean estimates what it may be expected to score.
All structures are judged by the same completions, so that the noise of the draws is common
to them. A mean of decomposable scores is decomposable: every search of the house takes this
scorer as it takes any other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from coevo.data import Dataset
from coevo.score import FamilyBatch, FamilyScorer, Score
from coevo.score.base import ScorerOptions

__all__ = ["ExpectedScorer"]


class ExpectedScorer(FamilyScorer):
    """Local scores of families, as their mean over datasets with the same variables.

    Parameters
    ----------
    datasets : sequence of Dataset
        The completions; at least one.
    score : str or Score
        Which score.
    n_jobs : int
        Number of threads. It changes nothing but the time.
    weights, parent_penalty : optional
        The log prior of some arcs and of all, as for `FamilyScorer`.

    Examples
    --------
    >>> import coevo
    >>> two = [coevo.sample(coevo.load_network("cancer"), 100, seed) for seed in (1, 2)]
    >>> dag = coevo.load_network("cancer").dag
    >>> mean = ExpectedScorer(two, "k2").score(dag)
    >>> round(mean - sum(FamilyScorer(one, "k2").score(dag) for one in two) / 2, 9)
    0.0
    """

    def __init__(
        self,
        datasets: Sequence[Dataset],
        score: str | Score = "bdeu",
        **options: Unpack[ScorerOptions],
    ) -> None:
        # The log prior of arcs is added once, and one cache is enough.
        plain: ScorerOptions = {**options, "weights": None, "parent_penalty": 0.0, "cache_bytes": 0}
        self._others = [FamilyScorer(dataset, score, **plain) for dataset in datasets[1:]]
        super().__init__(datasets[0], score, **options)

    def _start_over(self) -> None:
        super()._start_over()
        for other in self._others:
            other._start_over()

    def estimate_memory(self) -> int:
        """Return how many bytes it holds at most, the data among them."""
        return super().estimate_memory() + sum(other.estimate_memory() for other in self._others)

    def _compute(self, families: FamilyBatch) -> NDArray[np.float64]:
        """Count and score families in every completion; return the means."""
        total = super()._compute(families)
        for other in self._others:
            total += other._compute(families)
        return total / (1 + len(self._others))
