"""The decision of a node: an arc that its networks have, or do not have.

It is an arc in doubt, of a variable whose families in use differ much in score.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coevo.exact.families import Families
from coevo.exact.separation import find_arc_shares

__all__ = ["choose_arc"]

LEAST_DOUBT = 1e-6


def choose_arc(families: Families, shares: NDArray[np.float64]) -> tuple[int, int] | None:
    """Return the arc with the most doubt times spread; None if all shares are 0 or 1."""
    arcs = find_arc_shares(families, shares)
    doubt = np.minimum(arcs, 1.0 - arcs)
    if doubt.max(initial=0.0) <= LEAST_DOUBT:
        return None
    spread = _measure_spread(families, shares)
    value = np.where(doubt > LEAST_DOUBT, doubt * (1.0 + spread), -1.0)
    parent, child = divmod(int(value.argmax()), families.n_variables)
    return parent, child


def _measure_spread(families: Families, shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how much the families in use of each child differ in score."""
    used = np.flatnonzero(shares > LEAST_DOUBT)
    children, weights = families.children[used], shares[used]
    n = families.n_variables
    mean = np.bincount(children, weights=weights * families.scores[used], minlength=n)
    distance = np.abs(families.scores[used] - mean[children])
    spread = np.bincount(children, weights=weights * distance, minlength=n)
    return spread.astype(np.float64)
