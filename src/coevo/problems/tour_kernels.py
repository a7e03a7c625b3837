"""The kernel that shortens tours by 2-opt and or-opt, and by double bridges; see engine/tour.h."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coevo.engine import Structure, array, kernel, number, read_array

__all__ = ["TourTable", "climb_tours", "make_tour_table"]

TOUR_SCRATCH = 4  # rows of scratch


class TourTable(Structure):
    """What all climbs share; `make_tour_table` makes it."""

    distances: NDArray[np.float64] = read_array(np.float64, 2)
    rows: NDArray[np.int64] = read_array(np.int64, 2)  # neighbours of each city, nearest first
    credit: NDArray[np.float64] = array(np.float64, 2)  # of each neighbour in a row
    scratch: NDArray[np.int64] = array(np.int64, 2)
    least: float = number(float)  # a smaller gain is round-off


def make_tour_table(
    distances: NDArray[np.float64], rows: NDArray[np.int64], least: float
) -> TourTable:
    """Return the table for climbs in which moves join city c to cities of ``rows[c]`` only."""
    scratch = np.empty((TOUR_SCRATCH, len(distances)), dtype=np.int64)
    return TourTable(distances, rows, np.zeros(rows.shape), scratch, least)


@kernel(TourTable, array(np.int64, 2), array(np.float64), read_array(np.float64, 3))
def climb_tours(
    table: TourTable,
    tours: NDArray[np.int64],
    lengths: NDArray[np.float64],
    draws: NDArray[np.float64],
) -> None:
    """Overwrite each tour with a shorter one: climb, then perturb and climb again and again.

    Tour t is perturbed by ``draws[t]``, three numbers from [0, 1) each time; a longer tour is
    undone. The gains of all moves are added to the ``table.credit`` of the neighbours that they
    used. Needs five cities.
    """
