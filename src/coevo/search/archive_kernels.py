"""The kernels that merge new families into an archive, without dominated ones."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coevo.engine import INT, Structure, array, kernel, read_array
from coevo.search.family_index_kernels import Families

__all__ = ["MergedFamilies", "NewFamilies", "merge_families", "merge_hashes"]


class NewFamilies(Structure):
    """New families, in any sequence, and room for their ranks."""

    child: NDArray[np.int64] = read_array(np.int64)  # of each family
    score: NDArray[np.float64] = read_array(np.float64)
    start: NDArray[np.int64] = read_array(np.int64)  # (n_families + 1,), of the parents of each
    parents: NDArray[np.int32] = read_array(np.int32)  # ascending in each family
    ranked: NDArray[np.int64] = array(np.int64)  # scratch


class MergedFamilies(Structure):
    """The families of an archive while they are written: room for old and new ones."""

    begin: NDArray[np.int64] = array(np.int64)  # (n + 1,)
    score: NDArray[np.float64] = array(np.float64)
    start: NDArray[np.int64] = array(np.int64)  # (n_families + 1,)
    parents: NDArray[np.int32] = array(np.int32)
    signature: NDArray[np.uint64] = array(np.uint64)  # scratch
    is_new: NDArray[np.bool_] = array(np.bool_)  # scratch


@kernel(Families, NewFamilies, INT, MergedFamilies, returns=INT)
def merge_families(old: Families, added: NewFamilies, limit: int, merged: MergedFamilies) -> int:
    """Overwrite `merged` with old and new families, best first; return their number.

    Of equal scores the smaller family comes first, then the one with the smaller first parent, the
    old one, the earlier one. A family is dropped if a subset of it comes earlier; old families do
    not dominate each other. Of a child with more than `limit` families the worst ones are dropped,
    but for the last two: the family of the required parents and the empty one.
    """
    raise NotImplementedError


@kernel(read_array(np.uint64), read_array(np.uint64), array(np.uint64), returns=INT)
def merge_hashes(
    old: NDArray[np.uint64], added: NDArray[np.uint64], merged: NDArray[np.uint64]
) -> int:
    """Overwrite `merged` with the numbers of two ascending lists, each once; return how many.

    There must be room for both lists.
    """
    raise NotImplementedError
