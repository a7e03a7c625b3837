"""Scores as whole numbers, so that no sum has round-off.

A unit is 2 ** -32 nats. The local score of a family is rounded up to whole units once. All sums,
differences and comparisons of a proof are then exact, in 64-bit integers. The score of a network
in units is at most one unit for each variable above its score.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from coevo.errors import DataError

__all__ = ["UNITS_PER_NAT", "Units", "check_range", "round_up", "to_nats"]

UNITS_PER_NAT = 2.0**32
LARGEST = 2.0**28  # nats, of a network; sums of some such numbers fit into 64 bits

Units = NDArray[np.int64]


def round_up(scores: NDArray[np.float64]) -> Units:
    """Return scores in units, rounded up.

    >>> round_up(np.array([-1.5, 2.0**-40])).tolist()
    [-6442450944, 1]
    """
    return np.ceil(np.asarray(scores) * UNITS_PER_NAT).astype(np.int64)


def to_nats(units: int) -> float:
    """Return units in nats, rounded up to the next float.

    >>> to_nats(3 * 2**31), to_nats(0)
    (1.5, 0.0)
    """
    nats = units / UNITS_PER_NAT
    return nats if nats * UNITS_PER_NAT >= units else math.nextafter(nats, math.inf)


def check_range(scores: NDArray[np.float64], n_variables: int) -> None:
    """Raise `DataError` if sums of these local scores might not fit into 64 bits."""
    if len(scores) and float(np.abs(scores).max()) * n_variables > LARGEST:
        raise DataError(
            f"A local score is beyond {LARGEST / n_variables:,.0f} nats, which a proof cannot add "
            "up exactly. Take a sample of the rows."
        )
