"""Cuts on four variables that no cluster implies.

Take four variables a < b < c < d and give each a number of points that depends on which of the
other three are its parents. If every network on the four receives at least r points, the cut says
that every network of all variables does. The tables here are the facets of the polytope of the
networks of four variables that are not cuts of clusters (Cussens, Järvisalo, Korhonen and Bartlett
2017 describe this polytope; it has ten classes of such facets, five of them clusters). They were
found by separating random points from the 543 networks. The tests enumerate all networks, and the
checker of certificates verifies each table that it meets, so nothing rests on how they were found.

A table has one row for each of the four variables and one column for each set of parents among
them, a number of four bits. A renaming of the four variables gives another table.
"""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray

__all__ = ["RIGHTS", "TABLES"]

# The right side r, and for each variable its points for the eight sets of other variables.
CLASSES = (
    (2, ("10000000", "11001100", "21111100", "11110000")),
    (2, ("10001000", "11111000", "11111000", "11111100")),
    (2, ("10101000", "10101000", "11111000", "11111000")),
    (2, ("10101000", "21101000", "11001000", "11001000")),
    (3, ("11101110", "11111110", "21211110", "11111100")),
)


def _list_tables() -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return all tables under all renamings, and their right sides, in a fixed order."""
    found: set[tuple[int, ...]] = set()
    for right, rows in CLASSES:
        for names in itertools.permutations(range(4)):
            table = np.zeros((4, 16), dtype=np.int64)
            for v, points in enumerate(rows):
                sets = [mask for mask in range(16) if not mask >> v & 1]
                for mask, digit in zip(sets, points, strict=True):
                    renamed = sum(1 << names[u] for u in range(4) if mask >> u & 1)
                    table[names[v], renamed] = int(digit)
            found.add((right, *table.ravel().tolist()))
    rows_found = np.array(sorted(found), dtype=np.int64)
    return np.ascontiguousarray(rows_found[:, 1:]).reshape(-1, 4, 16), rows_found[:, 0].copy()


TABLES, RIGHTS = _list_tables()
