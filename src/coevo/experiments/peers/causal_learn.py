"""causal-learn: greedy equivalence search (GES).

Its only score for discrete data is BDeu with an equivalent sample size of 1, with a prior that
expects one parent per variable, and with the observed states only. It ignores other requests. It
finds an equivalence class; this module takes one DAG of that class.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from coevo.data import Dataset
from coevo.experiments.peers.base import LearnFunction, Peer
from coevo.experiments.peers.tables import expand_codes
from coevo.score import BDeu, Score

__all__ = ["CausalLearn"]


class CausalLearn(Peer):
    """causal-learn's GES."""

    name: ClassVar[str] = "causal-learn"
    package: ClassVar[str] = "causal-learn"
    module: ClassVar[str] = "causallearn"
    method: ClassVar[str] = "greedy equivalence search"
    scores: ClassVar[tuple[type[Score], ...]] = (BDeu,)

    def find_nearest_score(self, score: Score) -> Score:
        """Return its only score."""
        return BDeu()

    def describe_score_used(self, score: Score) -> str:
        """Return a description of that score and its prior on arcs."""
        return f"{BDeu().label} and a prior on arcs"

    def prepare(self, dataset: Dataset, score: Score) -> LearnFunction:
        """Convert the data."""
        from causallearn.search.ScoreBased.GES import ges
        from causallearn.utils.PDAG2DAG import pdag2dag

        rows = expand_codes(dataset).T.astype(np.int64)

        def learn() -> list[tuple[str, str]]:
            # [i, j] is -1 and [j, i] is 1 where i -> j
            graph = pdag2dag(ges(rows, score_func="local_score_BDeu")["G"]).graph
            parents, children = np.nonzero((graph == -1) & (graph.T == 1))
            return [
                (dataset.names[i], dataset.names[j]) for i, j in zip(parents, children, strict=True)
            ]

        return learn
