"""Peers: other libraries that learn Bayesian networks, behind one interface.

They are an optional extra (``pip install 'coevo[bench]'``). Each one is imported only when it
learns. This module works around their known bugs, so a comparison shows each peer at its best.

A peer takes data and a score, and returns a DAG and the seconds used. It maximises the requested
score if it has it, and otherwise its nearest score, which `find_nearest_score` returns. Only
learning is timed, not the conversion of the data.
"""

from __future__ import annotations

import time
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from importlib import metadata, util
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from coevo.data import Dataset
from coevo.graph import DAG, Arc
from coevo.score import AIC, BIC, BDeu, BDs, K2Score, LogLikelihood, Score

__all__ = ["PEERS", "Peer", "make_categorical_frame"]


LearnFunction = Callable[[], Iterable[Arc]]  # learns; the data are already converted


class Peer(ABC):
    """Another library that learns structures."""

    name: ClassVar[str]  # its name on the command line
    package: ClassVar[str]  # its name for pip
    module: ClassVar[str]  # its name for import
    method: ClassVar[str]  # its search method, in a few words
    scores: ClassVar[tuple[type[Score], ...]]  # the scores that it maximises correctly

    @property
    def is_installed(self) -> bool:
        """Whether it is installed. This does not import it."""
        return util.find_spec(self.module) is not None

    @property
    def version(self) -> str | None:
        """The installed version, or None."""
        try:
            return metadata.version(self.package)
        except metadata.PackageNotFoundError:
            return None

    def find_nearest_score(self, score: Score) -> Score:
        """Return the score that it maximises when this one is requested.

        >>> from coevo.experiments.peers import PEERS
        >>> from coevo.score import make_score
        >>> PEERS["pyagrum"].find_nearest_score(make_score("k2")).label
        'k2'
        >>> PEERS["pybnesian"].find_nearest_score(make_score("k2")).label
        'bdeu (ess 1)'
        """
        if isinstance(score, self.scores):
            return score
        if isinstance(score, AIC | LogLikelihood) and BIC in self.scores:
            return BIC()
        return BDeu(score.ess) if isinstance(score, BDs) else BDeu()

    def describe_score_used(self, score: Score) -> str:
        """Return a description of the score that it maximises."""
        return self.find_nearest_score(score).label

    @abstractmethod
    def prepare(self, dataset: Dataset, score: Score) -> LearnFunction:
        """Import the library and convert the data; return the function that learns.

        `score` is one of `scores`.
        """

    def learn(
        self, dataset: Dataset, score: Score, start_clock: Callable[[], object] = lambda: None
    ) -> tuple[DAG, float]:
        """Return the learned structure and the seconds used.

        `start_clock` is called when the data are converted.
        """
        learn = self.prepare(dataset, self.find_nearest_score(score))
        start_clock()
        start = time.perf_counter()
        arcs = learn()
        seconds = time.perf_counter() - start
        return DAG(dataset.names, arcs), seconds


def expand_codes(dataset: Dataset) -> NDArray[Any]:
    """Return the code of each variable in each row, (n_vars, n_rows); weighted rows are repeated.

    >>> from coevo.data import Variable
    >>> rain = Variable("rain", ("no", "yes"))
    >>> expand_codes(Dataset([rain], [[0, 1]], weights=np.array([1, 3])))
    array([[0, 1, 1, 1]], dtype=uint8)
    """
    if dataset.weights is None:
        return dataset.codes
    return np.repeat(dataset.codes, dataset.weights, axis=1)


def make_categorical_frame(dataset: Dataset) -> Any:
    """Return a pandas data frame of categorical columns, with unobserved states too."""
    import pandas as pd

    return pd.DataFrame(
        {
            variable.name: pd.Categorical.from_codes(codes, list(variable.states))
            for variable, codes in zip(dataset.variables, expand_codes(dataset), strict=True)
        }
    )


class PyAgrum(Peer):
    """pyAgrum's greedy hill climbing, on one thread and without a prior on arcs.

    It infers the states from the rows, unless it gets a network without arcs that declares all
    states. Variables and states are passed as numbers, because its files cannot hold every name.
    Its BDeu score has an equivalent sample size of 1; for any other one, its BD score with a prior
    is used.
    """

    name: ClassVar[str] = "pyagrum"
    package: ClassVar[str] = "pyagrum"
    module: ClassVar[str] = "pyagrum"
    method: ClassVar[str] = "greedy hill climbing"
    scores: ClassVar[tuple[type[Score], ...]] = (K2Score, BDeu, BIC)

    def prepare(self, dataset: Dataset, score: Score) -> LearnFunction:
        """Convert the data."""
        learner = _make_pyagrum_learner(dataset)
        _set_pyagrum_score(learner, score)
        learner.useGreedyHillClimbing()
        learner.setNumberOfThreads(1)

        def learn() -> list[tuple[str, str]]:
            dag = learner.learnDAG()
            names = {node: dataset.names[int(learner.nameFromId(node))] for node in dag.nodes()}
            return [(names[parent], names[child]) for parent, child in dag.arcs()]

        return learn


def _make_pyagrum_learner(dataset: Dataset) -> Any:
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


def _set_pyagrum_score(learner: Any, score: Score) -> None:
    """Set the score, without the default smoothing."""
    if isinstance(score, BDeu) and score.ess != 1:
        learner.useScoreBD()
        learner.useBDeuPrior(float(score.ess))
        return
    learner.useNoPrior()
    {K2Score: learner.useScoreK2, BDeu: learner.useScoreBDeu, BIC: learner.useScoreBIC}[
        type(score)
    ]()


class PyBNesian(Peer):
    """pybnesian's greedy hill climbing with single-arc operators.

    It crashes on integer columns, so it gets categorical columns with all states. It has no K2
    score.
    """

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


class Pgmpy(Peer):
    """pgmpy's hill climbing, with its default tabu list.

    Its K2 score is wrong for variables with three or more states (every unobserved parent
    configuration adds to the score), so it is never used. Its BDeu score is wrong for a variable
    with an unobserved state (each such state lowers the score), so only observed states are passed.
    Its result depends on Python's hash seed, so the seed must be set in the process that runs it.
    """

    name: ClassVar[str] = "pgmpy"
    package: ClassVar[str] = "pgmpy"
    module: ClassVar[str] = "pgmpy"
    method: ClassVar[str] = "hill climbing"
    scores: ClassVar[tuple[type[Score], ...]] = (BDeu, BIC)

    def prepare(self, dataset: Dataset, score: Score) -> LearnFunction:
        """Convert the data."""
        from pgmpy import structure_score
        from pgmpy.causal_discovery import HillClimbSearch

        frame = make_categorical_frame(dataset).astype(str)
        peer_score: Any
        if isinstance(score, BDeu):
            peer_score = structure_score.BDeu(frame, equivalent_sample_size=float(score.ess))
        else:
            states = {variable.name: list(variable.states) for variable in dataset.variables}
            peer_score = structure_score.BIC(frame, state_names=states)
        search = HillClimbSearch(scoring_method=peer_score, return_type="dag", show_progress=False)

        def learn() -> list[tuple[str, str]]:
            search.fit(frame)
            return [(parent, child) for parent, child in search.causal_graph_.edges()]

        return learn


class CausalLearn(Peer):
    """causal-learn's greedy equivalence search (GES).

    Its only score for discrete data is BDeu with an equivalent sample size of 1, with a prior that
    expects one parent per variable, and with the observed states only. It ignores other requests.
    It finds an equivalence class; one DAG of that class is taken.
    """

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


PEERS: dict[str, Peer] = {
    peer.name: peer for peer in (PyAgrum(), PyBNesian(), Pgmpy(), CausalLearn())
}
