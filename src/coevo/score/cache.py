"""The cache of local scores, keyed by (child, sorted parents), with bounded memory.

The cache doubles its size until it reaches its limit. Then it drops all entries and starts
again. A dropped score is computed again and is equal to the last bit: the limit costs time
and changes no result.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coevo.score.families import FamilyBatch
from coevo.score.kernels import CacheEntries, find_or_add, insert_all

__all__ = ["CacheStatistics", "FamilyCache"]

FIRST_CAPACITY = 4096


@dataclass(frozen=True, slots=True)
class CacheStatistics:
    """Statistics of the cache.

    Callers requested `requested` families, and `scored` of these had to be computed. The cache
    holds `stored` families in `n_bytes` bytes. It dropped all entries `emptied` times.
    """

    requested: int
    scored: int
    stored: int
    emptied: int
    n_bytes: int

    @property
    def hit_rate(self) -> float:
        """Share of the requested families that the cache already had."""
        return 1 - self.scored / self.requested if self.requested else 0.0

    def since(self, before: CacheStatistics) -> CacheStatistics:
        """Return the statistics since an earlier moment, and the present size of the cache.

        A scorer counts from 0 again after an interrupt.
        """
        return CacheStatistics(
            requested=max(0, self.requested - before.requested),
            scored=max(0, self.scored - before.scored),
            stored=self.stored,
            emptied=max(0, self.emptied - before.emptied),
            n_bytes=self.n_bytes,
        )


class FamilyCache:
    """A cache of local scores by family. It is not thread-safe."""

    def __init__(self, n_variables: int, limit_bytes: int) -> None:
        self._n_variables = n_variables
        self._limit = limit_bytes
        self._requested = self._scored = self._emptied = 0
        self._start_over(FIRST_CAPACITY, 4 * FIRST_CAPACITY)

    def _start_over(self, capacity: int, n_members: int) -> None:
        self._n = 0
        self._allocate(capacity, n_members)

    def _allocate(self, capacity: int, n_members: int) -> None:
        n_slots = 2 << (capacity - 1).bit_length()
        self._entries = CacheEntries(
            slots=np.full(n_slots, -1, dtype=np.int64),
            start=np.zeros(capacity + 1, dtype=np.int64),
            members=np.zeros(n_members, dtype=np.int32),
        )
        self._scores = np.full(capacity, np.nan)

    @property
    def n_bytes(self) -> int:
        """Memory in use."""
        return sum(int(array.nbytes) for array in self._entries) + self._scores.nbytes

    @property
    def statistics(self) -> CacheStatistics:
        """The statistics of the cache so far."""
        counters = (self._requested, self._scored, self._n, self._emptied)
        return CacheStatistics(*counters, self.n_bytes)

    def find_or_add(self, batch: FamilyBatch) -> tuple[NDArray[np.int64], FamilyBatch]:
        """Return the entry of each family, and the families that are new.

        The new families are the last entries. Call `store_scores` for them before any score
        is read. The lookup also checks the members, because it has to read them anyway.
        """
        self._make_room(len(batch), len(batch.members))
        positions = np.empty(len(batch), dtype=np.int64)
        before, members, start = self._n, batch.members, batch.start
        n = int(find_or_add(self._entries, before, members, start, self._n_variables, positions))
        if n < 0:
            batch.check_members(self._n_variables)
        self._n = n
        self._requested += len(batch)
        self._scored += self._n - before
        start = self._entries.start[before : self._n + 1]
        members = self._entries.members[start[0] : start[-1]]
        return positions, FamilyBatch(members, start - start[0])

    def store_scores(self, scores: NDArray[np.float64]) -> None:
        """Store the scores of the last new families."""
        self._scores[self._n - len(scores) : self._n] = scores

    def get_scores(self, entries: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the scores of entries that `find_or_add` returned."""
        return self._scores[entries]

    def _make_room(self, n_families: int, n_members: int) -> None:
        """Grow, or drop all entries at the limit, until a batch of new families fits."""
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
        insert_all(self._entries, n)
