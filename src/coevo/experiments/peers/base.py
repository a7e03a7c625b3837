"""What every peer obeys: data and a score in, a DAG and its seconds out.

A peer gets the score that is asked for where it has it, and its nearest one where it has
not; `nearest` says which. Handing the data over is not timed, learning is.
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

__all__ = ["Learn", "Peer"]

Learn = Callable[[], Iterable[Arc]]  # the work itself, everything else being ready


class Peer(ABC):
    """Another library that learns structures."""

    name: ClassVar[str]  # as on the command line
    package: ClassVar[str]  # as pip knows it
    module: ClassVar[str]  # as Python imports it
    method: ClassVar[str]  # what it does, in a few words
    scores: ClassVar[tuple[type[Score], ...]]  # those that it can maximise, and gets right

    @property
    def is_installed(self) -> bool:
        """Whether it could be imported; it is not imported for this."""
        return util.find_spec(self.module) is not None

    @property
    def version(self) -> str | None:
        """The version that is installed, or None."""
        try:
            return metadata.version(self.package)
        except metadata.PackageNotFoundError:
            return None

    def nearest(self, score: Score) -> Score:
        """Return the score that it maximises where this one is asked for.

        >>> from coevo.experiments.peers import PEERS
        >>> from coevo.score import make_score
        >>> PEERS["pyagrum"].nearest(make_score("k2")).label
        'k2'
        >>> PEERS["pybnesian"].nearest(make_score("k2")).label
        'bdeu (ess 1)'
        """
        if isinstance(score, self.scores):
            return score
        if isinstance(score, AIC | LogLikelihood) and BIC in self.scores:
            return BIC()
        return BDeu(score.ess) if isinstance(score, BDs) else BDeu()

    def score_used(self, score: Score) -> str:
        """Return what is written down of the score that it maximises."""
        return self.nearest(score).label

    @abstractmethod
    def prepare(self, dataset: Dataset, score: Score) -> Learn:
        """Import the library and hand the data over; return what is left to do.

        `score` is one of `scores`.
        """

    def learn(
        self, dataset: Dataset, score: Score, begin: Callable[[], object] = lambda: None
    ) -> tuple[DAG, float]:
        """Return the structure that it learns, and the seconds that it took.

        `begin` is called when the data are handed over.
        """
        work = self.prepare(dataset, self.nearest(score))
        begin()
        began = time.perf_counter()
        arcs = work()
        seconds = time.perf_counter() - began
        return DAG(dataset.names, arcs), seconds
