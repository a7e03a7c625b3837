"""Kernel that makes DAGs of graphs: insert arcs one after another, skip what closes a cycle."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coevo.engine import Structure, array, kernel, read_array
from coevo.search.climb_kernels import compute_reachability
from coevo.search.decode_kernels import ParentLimits

__all__ = ["RepairTable", "insert_arcs", "make_repair_table"]


class RepairTable(Structure):
    """What all graphs begin with, ``[parent, child]``, and scratch; see `make_repair_table`."""

    required: NDArray[np.bool_] = read_array(np.bool_, 2)
    reach_of_required: NDArray[np.bool_] = read_array(np.bool_, 2)  # over required arcs
    reach: NDArray[np.bool_] = array(np.bool_, 2)
    counts: NDArray[np.int64] = array(np.int64, 2)
    cells: NDArray[np.float64] = array(np.float64, 2)


def make_repair_table(required: NDArray[np.bool_]) -> RepairTable:
    """Return the table for graphs with these required arcs."""
    n = len(required)
    return RepairTable(
        required,
        compute_reachability(required),
        np.empty((n, n), dtype=np.bool_),
        np.empty((2, n), dtype=np.int64),
        np.empty((2, n)),
    )


@kernel(
    read_array(np.int64),
    read_array(np.int64),
    read_array(np.int64),
    RepairTable,
    ParentLimits,
    array(np.bool_, 3),
)
def insert_arcs(
    begin: NDArray[np.int64],
    parents: NDArray[np.int64],
    children: NDArray[np.int64],
    table: RepairTable,
    limits: ParentLimits,
    graphs: NDArray[np.bool_],
) -> None:
    """Overwrite ``graphs[g]`` with the required arcs and those of g that can be inserted.

    The arcs of g are ``begin[g]`` to ``begin[g + 1]`` of `parents` and `children`. They are
    inserted in this order. An arc is skipped if it closes a cycle, or if its child would have
    too many parents or a table with too many cells.
    """
