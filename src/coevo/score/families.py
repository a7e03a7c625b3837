"""Families as arrays: the form in which a search requests local scores.

A family is a child and its parents. A batch of families is two arrays, so that a search can
build a batch without one Python object for each family.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import index

import numpy as np
from numpy.typing import NDArray

from coevo.errors import ParameterError

__all__ = ["FamilyBatch", "toggle_families"]


@dataclass(frozen=True, slots=True, eq=False)
class FamilyBatch:
    """A batch of families, each stored as its child and then its parents in ascending order.

    Parameters
    ----------
    members : array of int32
        The families one after another. Variables are numbered in canonical order.
    start : array of int64, one longer than the number of families
        Family f is ``members[start[f]:start[f + 1]]``.

    Examples
    --------
    >>> batch = FamilyBatch.from_pairs([(0, ()), (3, (2, 1))])
    >>> batch.members.tolist(), batch.start.tolist()
    ([0, 3, 1, 2], [0, 1, 4])
    >>> len(batch)
    2
    """

    members: NDArray[np.int32]
    start: NDArray[np.int64]

    @classmethod
    def from_pairs(cls, pairs: Iterable[tuple[int, Iterable[int]]]) -> FamilyBatch:
        """Build a batch from (child, parents), the parents in any order."""
        members: list[int] = []
        start = [0]
        try:
            for child, parents in pairs:
                members.append(index(child))
                members.extend(sorted(map(index, parents)))
                start.append(len(members))
            return cls(np.array(members, dtype=np.int32), np.array(start, dtype=np.int64))
        except (OverflowError, TypeError):
            raise ParameterError(
                "A family is a child and its parents, as numbers of variables."
            ) from None

    @classmethod
    def from_parts(
        cls, parts: Sequence[tuple[NDArray[np.int32], NDArray[np.int64]]]
    ) -> FamilyBatch:
        """Build a batch from parts: the members of some families, and their lengths."""
        members = np.concatenate([part[0] for part in parts])
        lengths = np.concatenate([part[1] for part in parts])
        return cls(members, np.concatenate([[0], np.cumsum(lengths)]))

    @classmethod
    def from_adjacency(cls, adjacency: NDArray[np.bool_]) -> FamilyBatch:
        """Build the batch of all families of a structure, ``[parent, child]``.

        >>> batch = FamilyBatch.from_adjacency(np.array([[False, True], [False, False]]))
        >>> batch.members.tolist(), batch.start.tolist()
        ([0, 1, 0], [0, 1, 3])
        """
        child, parent = np.nonzero(adjacency.T)
        return cls.from_arcs(child, parent, len(adjacency))

    @classmethod
    def from_arcs(cls, child: NDArray[np.int64], parent: NDArray[np.int64], n: int) -> FamilyBatch:
        """Build the batch of all families of n variables from arcs that ascend by child and parent.

        >>> FamilyBatch.from_arcs(np.array([1]), np.array([0]), 2).members.tolist()
        [0, 1, 0]
        """
        start = np.arange(n + 1) + np.searchsorted(child, np.arange(n + 1))
        members = np.empty(n + len(child), dtype=np.int32)
        members[start[:-1]] = np.arange(n)
        members[np.arange(len(child)) + child + 1] = parent
        return cls(members, start)

    def check_starts(self) -> None:
        """Raise `ParameterError` unless `start` splits `members` into families."""
        members, start = self.members, self.start
        for array, dtype in ((members, np.int32), (start, np.int64)):
            if not isinstance(array, np.ndarray) or array.dtype != dtype or array.ndim != 1:
                raise ParameterError("A family batch has int32 members and int64 starts.")
        if not len(start):
            raise ParameterError("The starts of a family batch do not fit its members.")
        if start[0] != 0 or start[-1] != len(members) or (start[1:] <= start[:-1]).any():
            raise ParameterError("The starts of a family batch do not fit its members.")

    def check_members(self, n_variables: int) -> None:
        """Raise `ParameterError` unless every family is valid for this number of variables."""
        members, start = self.members, self.start
        lengths = np.diff(start)
        if int(members.min()) < 0 or int(members.max()) >= n_variables:
            wrong = int(members.min()) if int(members.min()) < 0 else int(members.max())
            raise ParameterError(
                f"A family names variable {wrong}; there are {n_variables}, counted from 0."
            )
        is_parent = np.ones(len(members), dtype=np.bool_)
        is_parent[start[:-1]] = False
        follows = is_parent[1:] & is_parent[:-1]
        if (members[1:] <= members[:-1])[follows].any():
            raise ParameterError("The parents of a family must be distinct and ascending.")
        if (np.repeat(members[start[:-1]], lengths) == members)[is_parent].any():
            raise ParameterError("A family has its child among its parents.")

    def slice(self, first: int, last: int) -> FamilyBatch:
        """Return the families from `first` to before `last`."""
        start = self.start[first : last + 1]
        return FamilyBatch(self.members[start[0] : start[-1]], start - start[0])

    def count_cells(self, arities: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the number of cells of each family's table; infinite if it is too large.

        >>> batch = FamilyBatch.from_pairs([(0, ()), (2, (0, 1))])
        >>> batch.count_cells(np.array([2, 3, 4])).tolist()
        [2.0, 24.0]
        """
        with np.errstate(over="ignore"):
            return np.multiply.reduceat(arities[self.members].astype(np.float64), self.start[:-1])

    def take(self, numbers: NDArray[np.int64]) -> FamilyBatch:
        """Return the families with these numbers, in this order.

        >>> batch = FamilyBatch.from_pairs([(0, ()), (3, (2, 1)), (1, (0,))])
        >>> batch.take(np.array([2, 0])).members.tolist()
        [1, 0, 0]
        """
        lengths = np.diff(self.start)[numbers]
        start = np.concatenate([[0], np.cumsum(lengths)])
        at = np.repeat(self.start[numbers] - start[:-1], lengths) + np.arange(int(start[-1]))
        return FamilyBatch(self.members[at], start)

    def __len__(self) -> int:
        return len(self.start) - 1


def toggle_families(
    child: int, parents: NDArray[np.int64], others: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return the families of a child after each of `others` is added or removed as a parent.

    The result is the members of all families, one after another, and the length of each.
    """
    n_parents = len(parents)
    is_parent = np.isin(others, parents, assume_unique=True)
    lengths = np.where(is_parent, n_parents, n_parents + 2)
    start = np.concatenate([[0], np.cumsum(lengths)])
    members = np.empty(int(start[-1]), dtype=np.int32)
    members[start[:-1]] = child
    added = others[~is_parent]
    if len(added):
        table = np.empty((len(added), n_parents + 1), dtype=np.int64)
        table[:, :n_parents] = parents
        table[:, n_parents] = added
        table.sort(axis=1)
        at = start[:-1][~is_parent][:, None] + 1 + np.arange(n_parents + 1)
        members[at] = table
    for place in np.flatnonzero(is_parent):
        left = parents[parents != others[place]]
        members[start[place] + 1 : start[place + 1]] = left
    return members, lengths
