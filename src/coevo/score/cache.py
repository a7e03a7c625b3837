"""The store of local scores, keyed by (child, sorted parents) and bounded in memory.

It grows by doubling until it reaches its limit; then it is emptied and starts again. A
score that was forgotten is computed anew and is the same to the last bit, so that the
limit costs time and changes no answer.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coevo.score.cache_kernels import Entries, find_or_add, place_all
from coevo.score.families import FamilyBatch

__all__ = ["CacheStatistics", "FamilyCache"]

FIRST_CAPACITY = 4096


@dataclass(frozen=True, slots=True)
class CacheStatistics:
    """What the cache has done so far.

    `asked` families were asked for; `scored` of them had to be computed; the store holds
    `kept` families in `n_bytes` bytes and was emptied `emptied` times.
    """

    asked: int
    scored: int
    kept: int
    emptied: int
    n_bytes: int

    @property
    def hit_rate(self) -> float:
        """Share of the families asked for that were known already."""
        return 1 - self.scored / self.asked if self.asked else 0.0

    def since(self, before: CacheStatistics) -> CacheStatistics:
        """Return what was done since an earlier moment, and the store as it is now.

        A scorer that was interrupted counts from 0 again.
        """
        return CacheStatistics(
            asked=max(0, self.asked - before.asked),
            scored=max(0, self.scored - before.scored),
            kept=self.kept,
            emptied=max(0, self.emptied - before.emptied),
            n_bytes=self.n_bytes,
        )


class FamilyCache:
    """Local scores by family; see the module. Not safe for use by several threads."""

    def __init__(self, n_variables: int, limit_bytes: int) -> None:
        self._n_variables = n_variables
        self._limit = limit_bytes
        self._asked = self._scored = self._emptied = 0
        self._start_over(FIRST_CAPACITY, 4 * FIRST_CAPACITY)

    def _start_over(self, capacity: int, n_members: int) -> None:
        self._n = 0
        self._allocate(capacity, n_members)

    def _allocate(self, capacity: int, n_members: int) -> None:
        n_slots = 2 << (capacity - 1).bit_length()
        self._entries = Entries(
            slots=np.full(n_slots, -1, dtype=np.int64),
            start=np.zeros(capacity + 1, dtype=np.int64),
            members=np.zeros(n_members, dtype=np.int32),
        )
        self._scores = np.full(capacity, np.nan)

    @property
    def n_bytes(self) -> int:
        """Memory in use."""
        return sum(array.nbytes for array in self._entries) + self._scores.nbytes

    def statistics(self) -> CacheStatistics:
        """Return what the cache has done so far."""
        return CacheStatistics(self._asked, self._scored, self._n, self._emptied, self.n_bytes)

    def find(self, batch: FamilyBatch) -> tuple[NDArray[np.int64], FamilyBatch]:
        """Return the entry of each family, and the families that are new.

        The new ones are the last entries; `keep` must be told their scores before any
        score is read. Members are checked on the way, since looking is most of the cost.
        """
        self._make_room(len(batch), len(batch.members))
        found = np.empty(len(batch), dtype=np.int64)
        before, members, start = self._n, batch.members, batch.start
        n = int(find_or_add(self._entries, before, members, start, self._n_variables, found))
        if n < 0:
            batch.check_members(self._n_variables)
        self._n = n
        self._asked += len(batch)
        self._scored += self._n - before
        start = self._entries.start[before : self._n + 1]
        members = self._entries.members[start[0] : start[-1]]
        return found, FamilyBatch(members, start - start[0])

    def keep(self, scores: NDArray[np.float64]) -> None:
        """Store the scores of the last new families."""
        self._scores[self._n - len(scores) : self._n] = scores

    def scores(self, entries: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the scores of entries that `find` returned."""
        return self._scores[entries]

    def _make_room(self, n_families: int, n_members: int) -> None:
        """Grow, or start over at the limit, so that a batch fits whatever is new in it."""
        old, n, scores = self._entries, self._n, self._scores
        used = int(old.start[n])
        capacity, room = len(scores), len(old.members)
        if n + n_families <= capacity and used + n_members <= room:
            return
        capacity = max(capacity, 1 << (n + n_families - 1).bit_length())
        room = max(room, 1 << (used + n_members - 1).bit_length())
        if n and 32 * capacity + 4 * room > self._limit:
            self._emptied += 1
            self._start_over(len(scores), len(old.members))
            self._make_room(n_families, n_members)
            return
        self._allocate(capacity, room)
        self._entries.start[: n + 1] = old.start[: n + 1]
        self._entries.members[:used] = old.members[:used]
        self._scores[:n] = scores[:n]
        place_all(self._entries, n)
