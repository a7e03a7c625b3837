"""The families of a proof: those of a child together, the best first."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from coevo.exact.units import Units, check_range, round_up

__all__ = ["Families", "PartOfFamilies"]

Sets = NDArray[np.int64]
Values = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class PartOfFamilies:
    """What a partial list has, and why it is partial."""

    n_free: int  # the list has all families of so many parents beside the required ones
    bounds: Units  # (n,), no family of a child exceeds it, whether it is listed or not
    rests: Values  # (n,), the same for those that are not listed; minus infinity if all are
    reason: str  # "time", "memory" or "interrupt"
    note: str  # one sentence, with the way out


@dataclass(frozen=True, slots=True)
class Families:
    """The families of all children: those of a child together, the best first.

    ``begin[v]`` to ``begin[v + 1]`` are the families of child v. A row of `parents` ends with the
    number of variables where a family has fewer parents than the largest one.
    """

    n_variables: int
    begin: NDArray[np.int64]  # (n + 1,)
    children: NDArray[np.int64]  # (m,)
    parents: NDArray[np.int64]  # (m, k)
    scores: Values  # (m,)
    units: Units  # (m,), the scores rounded up
    n_scored: int = 0  # families that were scored to find these
    part: PartOfFamilies | None = None  # of a partial list

    @classmethod
    def from_parts(cls, parts: list[tuple[Sets, Values]], n_scored: int) -> Families:
        """Build the list from the parents (padded) and the scores of each child's families."""
        n = len(parts)
        width = max(sets.shape[1] for sets, _ in parts)
        padded, ordered = [], []
        for sets, scores in parts:
            wide = np.full((len(sets), width), n, dtype=np.int64)
            wide[:, : sets.shape[1]] = sets
            order = np.lexsort((*wide.T[::-1], -scores))
            padded.append(wide[order])
            ordered.append(scores[order])
        lengths = np.array([len(scores) for scores in ordered])
        scores = np.concatenate(ordered)
        check_range(scores, n)
        return cls(
            n_variables=n,
            begin=np.concatenate([[0], np.cumsum(lengths)]),
            children=np.repeat(np.arange(n), lengths),
            parents=np.concatenate(padded),
            scores=scores,
            units=round_up(scores),
            n_scored=n_scored,
        )

    def take(self, chosen: NDArray[np.bool_]) -> Families:
        """Return the chosen families."""
        lengths = np.add.reduceat(chosen.astype(np.int64), self.begin[:-1])
        return Families(
            self.n_variables,
            np.concatenate([[0], np.cumsum(lengths)]),
            self.children[chosen],
            self.parents[chosen],
            self.scores[chosen],
            self.units[chosen],
            self.n_scored,
            self.part,
        )

    def add(self, more: list[tuple[Sets, Values]]) -> Families:
        """Return the list with more families of each child: their parents and scores."""
        parts = []
        for child, (sets, scores) in enumerate(more):
            own = slice(self.begin[child], self.begin[child + 1])
            width = max(sets.shape[1], self.parents.shape[1])
            rows = [
                np.pad(some, ((0, 0), (0, width - some.shape[1])), constant_values=self.n_variables)
                for some in (self.parents[own], sets)
            ]
            parts.append((np.concatenate(rows), np.concatenate([self.scores[own], scores])))
        return replace(Families.from_parts(parts, self.n_scored), part=self.part)

    def find(self, child: int, parents: NDArray[np.int64]) -> int | None:
        """Return the number of a family, or None if it is not in the list."""
        row = np.full(self.parents.shape[1], self.n_variables)
        if len(parents) > len(row):
            return None
        row[: len(parents)] = np.sort(parents)
        first, last = self.begin[child], self.begin[child + 1]
        places = np.flatnonzero((self.parents[first:last] == row).all(axis=1))
        return int(first + places[0]) if len(places) else None

    def __len__(self) -> int:
        return len(self.scores)
