"""causal-learn: greedy equivalence search (GES).

Its one score for discrete data is BDeu with an equivalent sample size of 1, a prior that
expects one parent a variable, and the states that occur: what one asks for otherwise is not
looked at. It finds a class of equivalent structures; one of them is taken.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from coevo.data import Dataset
from coevo.experiments.peers.base import Learn, Peer
from coevo.experiments.peers.tables import code_rows
from coevo.score import BDeu, Score

__all__ = ["CausalLearn"]


class CausalLearn(Peer):
    """causal-learn's GES."""

    name: ClassVar[str] = "causal-learn"
    package: ClassVar[str] = "causal-learn"
    module: ClassVar[str] = "causallearn"
    method: ClassVar[str] = "greedy equivalence search"
    scores: ClassVar[tuple[type[Score], ...]] = (BDeu,)

    def nearest(self, score: Score) -> Score:
        """Return the one score that it has."""
        return BDeu()

    def score_used(self, score: Score) -> str:
        """Return that score, and the prior on arcs that comes with it."""
        return f"{BDeu().label} and a prior on arcs"

    def prepare(self, dataset: Dataset, score: Score) -> Learn:
        """Hand the data over."""
        from causallearn.search.ScoreBased.GES import ges
        from causallearn.utils.PDAG2DAG import pdag2dag

        rows = code_rows(dataset).T.astype(np.int64)

        def learn() -> list[tuple[str, str]]:
            # [i, j] is -1 and [j, i] is 1 where i -> j
            graph = pdag2dag(ges(rows, score_func="local_score_BDeu")["G"]).graph
            parents, children = np.nonzero((graph == -1) & (graph.T == 1))
            return [
                (dataset.names[i], dataset.names[j]) for i, j in zip(parents, children, strict=True)
            ]

        return learn
