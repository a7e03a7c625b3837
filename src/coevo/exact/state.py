"""The state of a proof: all that its next step needs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coevo.exact.bounds import Clusters
from coevo.exact.relaxation import Basis
from coevo.exact.tree import Filter, Node

__all__ = ["ProofState"]


@dataclass(frozen=True, slots=True)
class ProofState:
    """All that the next step needs.

    Attributes
    ----------
    generation : int
        Number of steps so far.
    evaluations : int
        Number of linear programmes that were solved.
    improved : int
        The step that found the best network.
    score : float
        The score of the best network, the sum of its local scores.
    chosen : array, (n,)
        The family of each variable in the best network, as numbers of `Families`.
    clusters : Clusters
        All clusters.
    rows : array
        The clusters in the linear programme, in its order.
    nodes : tuple of Node
        The tree; the root comes first.
    filters : tuple of Weights
        Weights at the root that dropped families for the rest of the tree.
    root_bounds : tuple of int
        The bound after each round at the root.
    basis : Basis or None
        Where the last linear programme ended.
    """

    generation: int
    evaluations: int
    improved: int
    score: float
    chosen: NDArray[np.int64]
    clusters: Clusters
    rows: NDArray[np.int64]
    nodes: tuple[Node, ...]
    filters: tuple[Filter, ...] = ()
    root_bounds: tuple[int, ...] = ()
    basis: Basis | None = None
