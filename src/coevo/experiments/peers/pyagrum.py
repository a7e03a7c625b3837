"""pyAgrum: greedy hill climbing.

It infers the states from the rows, unless it gets a network without arcs that declares all
states. Variables and states are passed as numbers, because its files cannot hold every name. Its
BDeu score has an equivalent sample size of 1; for any other one, its BD score with a prior is
used.
"""

from __future__ import annotations

import warnings
from typing import Any, ClassVar

from coevo.data import Dataset
from coevo.experiments.peers.base import LearnFunction, Peer
from coevo.experiments.peers.tables import expand_codes
from coevo.score import BIC, BDeu, K2Score, Score

__all__ = ["PyAgrum"]


class PyAgrum(Peer):
    """pyAgrum's greedy hill climbing, on one thread and without a prior on arcs."""

    name: ClassVar[str] = "pyagrum"
    package: ClassVar[str] = "pyagrum"
    module: ClassVar[str] = "pyagrum"
    method: ClassVar[str] = "greedy hill climbing"
    scores: ClassVar[tuple[type[Score], ...]] = (K2Score, BDeu, BIC)

    def prepare(self, dataset: Dataset, score: Score) -> LearnFunction:
        """Convert the data."""
        learner = _make_learner(dataset)
        _set_score(learner, score)
        learner.useGreedyHillClimbing()
        learner.setNumberOfThreads(1)

        def learn() -> list[tuple[str, str]]:
            dag = learner.learnDAG()
            names = {node: dataset.names[int(learner.nameFromId(node))] for node in dag.nodes()}
            return [(names[parent], names[child]) for parent, child in dag.arcs()]

        return learn


def _make_learner(dataset: Dataset) -> Any:
    """Return a learner with the rows and all declared states."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its SWIG layer warns during import
        import pyagrum
    import pandas as pd

    peer: Any = pyagrum  # it has no types
    template = peer.BayesNet()
    for number, variable in enumerate(dataset.variables):
        template.add(peer.RangeVariable(str(number), "", 0, variable.arity - 1))
    rows = pd.DataFrame({str(number): codes for number, codes in enumerate(expand_codes(dataset))})
    return peer.BNLearner(rows, template)


def _set_score(learner: Any, score: Score) -> None:
    """Set the score, without the default smoothing."""
    if isinstance(score, BDeu) and score.ess != 1:
        learner.useScoreBD()
        learner.useBDeuPrior(float(score.ess))
        return
    learner.useNoPrior()
    {K2Score: learner.useScoreK2, BDeu: learner.useScoreBDeu, BIC: learner.useScoreBIC}[
        type(score)
    ]()
