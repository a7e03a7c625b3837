"""The support of an arc: the share of the last population that joins its two variables.

A method with a population ends with many structures. The best one is the result. The *support*
of an arc is the share of these structures that join its two variables, in either direction.
The direction does not count: where the data cannot direct an edge, its direction is random.
Every structure counts once, whatever its score.

Support shows how far the survivors agree. It is not a probability and not a confidence: the
structures were bred from each other and selected on the same rows. Use the bootstrap for the
confidence of an arc (`coevo.posteriors.bootstrap`).
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from coevo.work_time import check_deadline

__all__ = ["Support", "arc_support"]

Support = NDArray[np.float64]  # (n, n), symmetric: share of structures that join two variables


def arc_support(structures: Iterable[NDArray[np.bool_]]) -> Support | None:
    """Return the share of structures that join each two variables; None without structures.

    >>> arc_support(np.array([[[0, 1], [0, 0]], [[0, 0], [0, 0]]], dtype=bool))
    array([[0. , 0.5],
           [0.5, 0. ]])
    """
    counts: NDArray[np.int64] | None = None
    n_structures = 0
    for adjacency in structures:
        check_deadline()
        edges = adjacency | adjacency.T
        counts = edges.astype(np.int64) if counts is None else counts + edges
        n_structures += 1
    return None if counts is None else counts / n_structures
