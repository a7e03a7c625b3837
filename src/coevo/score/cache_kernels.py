"""The lookup of a family among millions; see engine/cache.h."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coevo.engine import INT, Structure, array, kernel, read_array

__all__ = ["CacheEntries", "find_or_add", "insert_all"]


class CacheEntries(Structure):
    """The arrays of the table; `members` and `start` have room for more."""

    slots: NDArray[np.int64] = array(np.int64)  # a power of two, at most half full
    start: NDArray[np.int64] = array(np.int64)  # (capacity + 1,)
    members: NDArray[np.int32] = array(np.int32)


@kernel(
    CacheEntries, INT, read_array(np.int32), read_array(np.int64), INT, array(np.int64), returns=INT
)
def find_or_add(
    entries: CacheEntries,
    n_entries: int,
    members: NDArray[np.int32],
    start: NDArray[np.int64],
    n_variables: int,
    found: NDArray[np.int64],
) -> int:
    """Overwrite ``found[f]`` with the entry of each family f; add the family if it is new.

    Return the new number of entries, or -1 at the first invalid family. The caller has made
    room for all families and has checked that `start` fits `members`.
    """
    raise NotImplementedError


@kernel(CacheEntries, INT)
def insert_all(entries: CacheEntries, n_entries: int) -> None:
    """Insert all entries into empty slots, after the table has grown."""
