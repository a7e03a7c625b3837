"""pybnesian: greedy hill climbing.

It crashes on integer columns, so it gets categorical columns with all states. It has no K2
score.
"""

from __future__ import annotations

from typing import Any, ClassVar

from coevo.data import Dataset
from coevo.experiments.peers.base import LearnFunction, Peer
from coevo.experiments.peers.tables import make_categorical_frame
from coevo.score import BIC, BDeu, Score

__all__ = ["PyBNesian"]


class PyBNesian(Peer):
    """pybnesian's greedy hill climbing with single-arc operators."""

    name: ClassVar[str] = "pybnesian"
    package: ClassVar[str] = "pybnesian"
    module: ClassVar[str] = "pybnesian"
    method: ClassVar[str] = "greedy hill climbing"
    scores: ClassVar[tuple[type[Score], ...]] = (BDeu, BIC)

    def prepare(self, dataset: Dataset, score: Score) -> LearnFunction:
        """Convert the data."""
        import pybnesian

        frame = make_categorical_frame(dataset)
        peer_score: Any
        if isinstance(score, BDeu):
            peer_score = pybnesian.BDe(frame, float(score.ess))
        else:
            peer_score = pybnesian.BIC(frame)
        start = pybnesian.DiscreteBN(list(dataset.names))
        operators = pybnesian.ArcOperatorSet()

        def learn() -> list[tuple[str, str]]:
            network = pybnesian.GreedyHillClimbing().estimate(operators, peer_score, start)
            return [(parent, child) for parent, child in network.arcs()]

        return learn
