"""The arrays of a dataset that counting needs; see engine/count.h.

`CountIndex.facts` has one row for each variable. The columns are:

    ARITY       number of states
    RANK        position in the order of the axes
    COMMON      the most common state
    SINGLE      where the counts of its states begin in the pool of shared tables
    N_OTHERS    number of rows in which it is not in its most common state
    COMPACT     where its compact columns begin, or -1: these rows only, of the variable
                itself and of every variable of higher rank, one column after another
    BITS        its first row of `bits`, or -1; the most common state has no row
    HIGH        the row of `codes` with the high bytes, or -1 if it has at most 256 states
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coevo.engine import Structure, read_array

__all__ = ["CountIndex"]

ARITY, RANK, COMMON, SINGLE, N_OTHERS, COMPACT, BITS, HIGH, N_FACTS = range(9)
WORDS_PER_BLOCK = 512  # of a bit set


class CountIndex(Structure):
    """The arrays that counting needs of a dataset."""

    facts: NDArray[np.int64] = read_array(np.int64, 2)  # (n_vars, N_FACTS)
    codes: NDArray[np.uint8] = read_array(np.uint8, 2)
    # (n_vars and those with high bytes, n_stored)
    weights: NDArray[np.int64] = read_array(np.int64)  # (n_stored,), or (0,) if all are 1
    compact: NDArray[np.uint8] = read_array(np.uint8)  # compact columns, see COMPACT
    bits: NDArray[np.uint64] = read_array(np.uint64, 2)  # (n_sets, n_words)
