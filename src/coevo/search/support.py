"""How far the last population of a search agrees on an arc.

A method with a population ends with many structures, of which the best is its answer. The
*support* of an arc is the share of them that join its two variables, either way: what data
cannot direct, structures direct by chance. Each counts once, however good it is.

That is a hint at how far the survivors agree, and nothing more. It is not a probability: the
structures were bred from each other, and chosen, on the same rows. How sure an arc is in the
face of other rows, only other rows can tell (`coevo.bootstrap`).
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

__all__ = ["Support", "arc_support"]

Support = NDArray[np.float64]  # (n, n), symmetric: the share of structures that join two variables


def arc_support(structures: Iterable[NDArray[np.bool_]]) -> Support | None:
    """Return the share of structures that join each two variables; None if there are none.

    >>> arc_support(np.array([[[0, 1], [0, 0]], [[0, 0], [0, 0]]], dtype=bool))
    array([[0. , 0.5],
           [0.5, 0. ]])
    """
    counts: NDArray[np.int64] | None = None
    n_structures = 0
    for adjacency in structures:
        joined = adjacency | adjacency.T
        counts = joined.astype(np.int64) if counts is None else counts + joined
        n_structures += 1
    return None if counts is None else counts / n_structures
