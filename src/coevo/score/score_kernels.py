"""The specification of a score, from which the engine computes it; see engine/score.h."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coevo.engine import Structure, number, read_array

__all__ = [
    "ALL_ONES",
    "DIRICHLET",
    "DIRICHLET_SEEN",
    "FACTORISED",
    "LIKELIHOOD",
    "QUOTIENT",
    "RISING_ROWS",
    "RISING_WIDTH",
    "ScoreSpec",
]

# The kinds from LIKELIHOOD on have the terms n log n.
ALL_ONES, DIRICHLET, DIRICHLET_SEEN, LIKELIHOOD, FACTORISED, QUOTIENT = range(6)
RISING_ROWS, RISING_WIDTH = 512, 258  # of the table of logarithms of rising factorials


class ScoreSpec(Structure):
    """The specification of a score."""

    kind: int = number(int)
    ess: float = number(float)  # equivalent sample size of the Dirichlet kinds
    penalty: float = number(float)  # of one free parameter
    n_rows: int = number(int)  # the largest possible count
    table: NDArray[np.float64] = read_array(np.float64)
    # log n! (K2) or n log n (likelihoods), for n below its length
    regret: NDArray[np.float64] = read_array(np.float64)
    # C(2, n) (FACTORISED) or log C(K, n_rows) (QUOTIENT)
