"""The interface of a peer: it takes data and a score, and returns a DAG and the seconds used.

A peer maximises the requested score if it has it, and otherwise its nearest score, which
`find_nearest_score` returns. Only learning is timed, not the conversion of the data.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from importlib import metadata, util
from typing import ClassVar

from coevo.data import Dataset
from coevo.graph import DAG, Arc
from coevo.score import AIC, BIC, BDeu, BDs, LogLikelihood, Score

__all__ = ["LearnFunction", "Peer"]

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
