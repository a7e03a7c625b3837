"""The sets of one size, and those of the next size all of whose subsets are among them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Level", "encode_sets"]

Sets = NDArray[np.int64]
Values = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Level:
    """Sets of one size that may be extended, in ascending order, as places in a list of variables.

    `best` is the best score of each set and of its subsets.
    """

    sets: Sets
    best: Values
    scores: Values
    size: int = 0

    @classmethod
    def make_first(cls) -> Level:
        """Return what comes before the level of the empty set."""
        none = np.empty(0)
        return cls(np.empty((0, 0), dtype=np.int64), none, none, -1)

    def _find_group_ends(self) -> NDArray[np.int64]:
        """Return for each set where the sets that differ only in the last place end."""
        m = len(self.sets)
        if self.sets.shape[1] == 0:
            return np.full(m, m)
        differs = (self.sets[1:, :-1] != self.sets[:-1, :-1]).any(axis=1)
        ends = np.append(np.flatnonzero(differs) + 1, m)
        return np.asarray(ends[np.searchsorted(ends, np.arange(m), side="right")])

    def count_joins(self, n_free: int) -> int:
        """Return the number of candidates of the next level."""
        if self.size < 0:
            return 1
        if self.sets.shape[1] == 0:
            return n_free
        return int((self._find_group_ends() - np.arange(len(self.sets)) - 1).sum())

    def join(self, n_free: int) -> tuple[Sets, Sets]:
        """Return the sets of the next level, and the number of each subset with one place less.

        A subset that is not in this level has the number -1.
        """
        if self.size < 0:
            return np.empty((1, 0), dtype=np.int64), np.empty((1, 0), dtype=np.int64)
        if self.sets.shape[1] == 0:
            return np.arange(n_free)[:, None], np.zeros((n_free, 1), dtype=np.int64)
        lengths = self._find_group_ends() - np.arange(len(self.sets)) - 1
        first = np.repeat(np.arange(len(self.sets)), lengths)
        begin = np.repeat(np.cumsum(lengths) - lengths, lengths)
        second = first + 1 + np.arange(len(first)) - begin
        sets = np.concatenate([self.sets[first], self.sets[second, -1:]], axis=1)
        keys = encode_sets(self.sets, n_free)
        places = [
            self._find(np.delete(sets, at, axis=1), keys, n_free) for at in range(sets.shape[1])
        ]
        return sets, np.stack(places, axis=1)

    def _find(self, sets: Sets, keys: NDArray[np.int64], n_free: int) -> NDArray[np.int64]:
        wanted = encode_sets(sets, n_free)
        at = np.minimum(np.searchsorted(keys, wanted), max(len(keys) - 1, 0))
        return np.where(keys[at] == wanted, at, -1)


def encode_sets(sets: Sets, base: int) -> NDArray[np.int64]:
    """Return one number for each set, in the order of the sets; of Python if it is large.

    >>> encode_sets(np.array([[0, 2], [1, 2]]), 3).tolist()
    [2, 5]
    """
    is_small = base ** sets.shape[1] < 2**62
    keys = np.zeros(len(sets), dtype=np.int64 if is_small else object)
    for column in sets.T:
        keys = keys * base + column
    return keys
