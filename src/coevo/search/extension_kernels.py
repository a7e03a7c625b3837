"""Parent sets of CCMA, and the families that extend them by one candidate."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coevo.engine import FLOAT, INT, Structure, array, kernel, read_array

__all__ = [
    "FamilyList",
    "ParentSets",
    "append_gains",
    "flag_extensions",
    "list_extensions",
    "list_families",
]


class ParentSets(Structure):
    """Parent sets, each of a child."""

    child: NDArray[np.int64] = read_array(np.int64)  # (n_sets,)
    start: NDArray[np.int64] = read_array(np.int64)  # (n_sets + 1,), of the parents of each
    parents: NDArray[np.int32] = read_array(np.int32)  # ascending in each set


class FamilyList(Structure):
    """Families that are written one behind the other."""

    child: NDArray[np.int64] = array(np.int64)  # of each family
    score: NDArray[np.float64] = array(np.float64)
    start: NDArray[np.int64] = array(np.int64)  # where the parents of each begin, and the last end
    parents: NDArray[np.int32] = array(np.int32)  # ascending in each family


@kernel(ParentSets, array(np.int32), array(np.int64))
def list_families(sets: ParentSets, members: NDArray[np.int32], start: NDArray[np.int64]) -> None:
    """Write the parent sets as families: the child and its parents, ``start[f]`` the first of f."""


@kernel(
    ParentSets,
    read_array(np.int32, 2),
    read_array(np.bool_, 2),
    read_array(np.int64),
    INT,
    FLOAT,
    FLOAT,
    array(np.bool_, 2),
    array(np.float64, 2),
)
def flag_extensions(
    sets: ParentSets,
    rows: NDArray[np.int32],
    allowed: NDArray[np.bool_],
    arities: NDArray[np.int64],
    max_parents: int,
    max_table: float,
    largest: float,
    is_open: NDArray[np.bool_],
    q: NDArray[np.float64],
) -> None:
    """Set ``is_open[s, i]`` where set s may have the candidate ``rows[s, i]`` as a further parent.

    The arc is ``allowed[candidate, child]``, it is not in the set, the set has fewer than
    `max_parents`, and the table has at most `max_table` cells. ``q[s, i]`` is the number of
    configurations of the parents with the candidate, at most `largest`.
    """


@kernel(
    ParentSets,
    read_array(np.int32, 2),
    read_array(np.bool_, 2),
    array(np.int32),
    array(np.int64),
    array(np.int64),
    returns=INT,
)
def list_extensions(
    sets: ParentSets,
    rows: NDArray[np.int32],
    is_open: NDArray[np.bool_],
    members: NDArray[np.int32],
    start: NDArray[np.int64],
    place: NDArray[np.int64],
) -> int:
    """Write each open extension of a parent set as a family; return how many there are.

    Family f has the members ``start[f]`` to ``start[f + 1]``, the child first, and is the extension
    ``place[f]``, which is ``s * k + i``.
    """
    raise NotImplementedError


@kernel(
    ParentSets,
    read_array(np.float64),
    read_array(np.int32, 2),
    read_array(np.float64, 2),
    FLOAT,
    INT,
    FamilyList,
    returns=INT,
)
def append_gains(
    sets: ParentSets,
    scores: NDArray[np.float64],
    rows: NDArray[np.int32],
    wider_scores: NDArray[np.float64],
    least_gain: float,
    n_families: int,
    families: FamilyList,
) -> int:
    """Append parent sets to a list of families, and their extensions that score more.

    They score more than `least_gain` above the set. The list has `n_families` before; return how
    many it has then.
    """
    raise NotImplementedError
