"""pyAgrum: greedy hill climbing.

It learns the states from the rows unless it is given a network without arcs that has them
all. Variables and states are handed over by number, since its files cannot hold every name.
Its BDeu has an equivalent sample size of 1; any other one is the score BD under a prior.
"""

from __future__ import annotations

import warnings
from typing import Any, ClassVar

from coevo.data import Dataset
from coevo.experiments.peers.base import Learn, Peer
from coevo.experiments.peers.tables import code_rows
from coevo.score import BIC, BDeu, K2Score, Score

__all__ = ["PyAgrum"]


class PyAgrum(Peer):
    """pyAgrum's greedy hill climbing, on one thread and without a prior on arcs."""

    name: ClassVar[str] = "pyagrum"
    package: ClassVar[str] = "pyagrum"
    module: ClassVar[str] = "pyagrum"
    method: ClassVar[str] = "greedy hill climbing"
    scores: ClassVar[tuple[type[Score], ...]] = (K2Score, BDeu, BIC)

    def prepare(self, dataset: Dataset, score: Score) -> Learn:
        """Hand the data over."""
        learner = _learner(dataset)
        _choose(learner, score)
        learner.useGreedyHillClimbing()
        learner.setNumberOfThreads(1)

        def learn() -> list[tuple[str, str]]:
            found = learner.learnDAG()
            names = {node: dataset.names[int(learner.nameFromId(node))] for node in found.nodes()}
            return [(names[parent], names[child]) for parent, child in found.arcs()]

        return learn


def _learner(dataset: Dataset) -> Any:
    """Return a learner that knows the rows and all states."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its SWIG layer warns while it is being imported
        import pyagrum
    import pandas as pd

    peer: Any = pyagrum  # it has no types
    template = peer.BayesNet()
    for number, variable in enumerate(dataset.variables):
        template.add(peer.RangeVariable(str(number), "", 0, variable.arity - 1))
    rows = pd.DataFrame({str(number): codes for number, codes in enumerate(code_rows(dataset))})
    return peer.BNLearner(rows, template)


def _choose(learner: Any, score: Score) -> None:
    """Set the score; smoothing would otherwise be added to it."""
    if isinstance(score, BDeu) and score.ess != 1:
        learner.useScoreBD()
        learner.useBDeuPrior(float(score.ess))
        return
    learner.useNoPrior()
    {K2Score: learner.useScoreK2, BDeu: learner.useScoreBDeu, BIC: learner.useScoreBIC}[
        type(score)
    ]()
