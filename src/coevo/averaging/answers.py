"""Answers that are averaged over networks: what the data say, not what one network says.

Each sampled DAG gets its conditional probability tables from the same rows. Each network gives an
answer, and the average of the answers has the probability of each network as its weight. DAGs that
were drawn more than once are fitted once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from coevo.averaging.sample import DagSample
from coevo.data import Dataset
from coevo.network import BayesianNetwork, fit_network
from coevo.network.bayesian_network import Evidence
from coevo.network.distribution import Distribution
from coevo.network.rows import Prediction

__all__ = ["AveragedNetwork"]


class AveragedNetwork:
    """Sampled networks that answer together.

    Parameters
    ----------
    sample : DagSample
        The DAGs.
    dataset : Dataset
        The rows that the tables of each network are estimated from.
    ess : float
        Equivalent sample size of the estimates, as for `fit_network`.
    """

    def __init__(self, sample: DagSample, dataset: Dataset, ess: float = 1.0) -> None:
        self._sample, self._dataset, self._ess = sample, dataset, ess

    @cached_property
    def networks(self) -> tuple[tuple[float, BayesianNetwork], ...]:
        """The distinct networks with their weights, which add up to 1; the heaviest first."""
        total = len(self._sample)
        return tuple(
            (count / total, fit_network(self._sample[first], self._dataset, self._ess))
            for first, count in self._sample.count_networks()
        )

    def query(self, targets: str | Iterable[str], given: Evidence | None = None) -> Distribution:
        """Return the mean of the distributions of one or more variables, given evidence."""
        wanted = targets if isinstance(targets, str) else tuple(targets)
        answers = [(weight, one.query(wanted, given)) for weight, one in self.networks]
        mean = sum(weight * answer.probabilities for weight, answer in answers)
        return replace(answers[0][1], probabilities=np.asarray(mean))

    def predict(self, table: Any, target: str) -> Prediction:
        """Return the mean of the predictions of a column, given the other cells of each row."""
        first, *others = self._iter_predictions(table, target)
        mean = first[0] * first[1].probabilities
        for weight, answer in others:
            mean = mean + weight * answer.probabilities
        mean.setflags(write=False)
        return replace(first[1], probabilities=mean)

    def _iter_predictions(self, table: Any, target: str) -> Iterator[tuple[float, Prediction]]:
        for weight, network in self.networks:
            yield weight, network.predict(table, target)
