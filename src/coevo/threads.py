"""Threads that share the work of kernels, which run without the interpreter's lock."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np

__all__ = ["Threads", "usable_cores"]

PARTS_A_THREAD = 4  # where they are uneven
MOST_CORES = 8  # that are taken unasked


def usable_cores() -> int:
    """Return how many threads are worth while on this machine, if nobody says.

    >>> 1 <= usable_cores() <= MOST_CORES
    True
    """
    if hasattr(os, "sched_getaffinity"):
        return min(MOST_CORES, len(os.sched_getaffinity(0)))
    return min(MOST_CORES, os.cpu_count() or 1)


class Threads:
    """A number of threads; with one, everything is done by the caller's own.

    >>> done = []
    >>> Threads(1).in_parts(lambda begin, end, part: done.append((begin, end, part)), 10, 1)
    >>> done
    [(0, 10, 0)]
    """

    def __init__(self, n: int) -> None:
        self.n = n
        self._pool = ThreadPoolExecutor(n) if n > 1 else None

    def in_parts(
        self, work: Callable[[int, int, int], object], n_items: int, least: int, many: bool = False
    ) -> None:
        """Call ``work(begin, end, part)`` for parts of the items, one part for each thread.

        A part has at least `least` items, so that handing it over is worth while. Where some
        items may take much longer than others, ask for `many` parts, several a thread.
        """
        n_parts = min(self.n * PARTS_A_THREAD if many else self.n, max(1, n_items // least))
        if self._pool is None or n_parts == 1:
            work(0, n_items, 0)
            return
        borders = np.linspace(0, n_items, n_parts + 1).astype(int).tolist()
        begins, ends = zip(*pairwise(borders), strict=True)
        for _ in self._pool.map(work, begins, ends, range(n_parts)):
            pass
