"""pybnesian: greedy hill climbing.

It crashes on columns of whole numbers, so that it gets categories, with all states. It has
no K2 score.
"""

from __future__ import annotations

from typing import Any, ClassVar

from coevo.data import Dataset
from coevo.experiments.peers.base import Learn, Peer
from coevo.experiments.peers.tables import categorical_frame
from coevo.score import BIC, BDeu, Score

__all__ = ["PyBNesian"]


class PyBNesian(Peer):
    """pybnesian's greedy hill climbing with changes of one arc."""

    name: ClassVar[str] = "pybnesian"
    package: ClassVar[str] = "pybnesian"
    module: ClassVar[str] = "pybnesian"
    method: ClassVar[str] = "greedy hill climbing"
    scores: ClassVar[tuple[type[Score], ...]] = (BDeu, BIC)

    def prepare(self, dataset: Dataset, score: Score) -> Learn:
        """Hand the data over."""
        import pybnesian

        frame = categorical_frame(dataset)
        theirs: Any
        if isinstance(score, BDeu):
            theirs = pybnesian.BDe(frame, float(score.ess))
        else:
            theirs = pybnesian.BIC(frame)
        start = pybnesian.DiscreteBN(list(dataset.names))
        changes = pybnesian.ArcOperatorSet()

        def learn() -> list[tuple[str, str]]:
            found = pybnesian.GreedyHillClimbing().estimate(changes, theirs, start)
            return [(parent, child) for parent, child in found.arcs()]

        return learn
