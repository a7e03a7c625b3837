"""Draw the states of one variable after the other, parents before children.

Each variable has its own random stream, which its position among the sorted names
identifies. It uses one number of the stream for each row. The rows of a seed therefore do not
depend on the order of the variables or on the size of the blocks, and the first n rows of a
long sample are the rows of a sample of n.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coevo.network.bayesian_network import CPT, BayesianNetwork

__all__ = ["ForwardSampler"]


class ForwardSampler:
    """The random streams of all variables of a network.

    Parameters
    ----------
    network : BayesianNetwork
        The network to draw from.
    seed : int
        The same seed gives the same states.
    """

    def __init__(self, network: BayesianNetwork, seed: int) -> None:
        self._network = network
        names = sorted(variable.name for variable in network.variables)
        sequences = np.random.SeedSequence(seed).spawn(len(names))
        self._sequences = dict(zip(names, sequences, strict=True))
        self._streams: dict[str, np.random.Generator] = {}  # of the variables that are drawn
        self._limits: dict[str, NDArray[np.float64]] = {}

    def draw(self, name: str, codes: Mapping[str, NDArray[Any]], n_rows: int) -> NDArray[Any]:
        """Return the states of a variable in the next rows, whose parents have these codes."""
        if name not in self._streams:
            self._streams[name] = np.random.default_rng(self._sequences[name])
            self._limits[name] = _compute_limits(self._network.table(name))
        draws = self._streams[name].random(n_rows)
        configuration = self._network.find_configurations(name, codes)
        limits = self._limits[name]
        dtype = np.uint8 if limits.shape[1] < 256 else np.uint16  # one limit less than states
        column: NDArray[Any] = np.zeros(n_rows, dtype)
        for limit in limits.T:
            column += draws >= limit[configuration]
        return column


def _compute_limits(table: CPT) -> NDArray[np.float64]:
    """Return the upper limits of the intervals of the states in [0, 1), except the last state.

    A draw u selects the first state whose limit is above u. The limits are 1 from the last
    possible state of a row on, so that round-off never selects a state of probability 0.
    """
    limits = np.cumsum(table, axis=1)
    last_possible = table.shape[1] - 1 - (table[:, ::-1] > 0).argmax(axis=1)
    limits[np.arange(table.shape[1]) >= last_possible[:, None]] = 1.0
    return limits[:, :-1]
