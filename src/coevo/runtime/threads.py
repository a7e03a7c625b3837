"""Threads that share the work of kernels. Kernels run without the interpreter lock."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextvars import copy_context
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from coevo.errors import get_address_space

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

__all__ = ["Threads", "count_usable_cores"]

PARTS_PER_THREAD = 4  # for items of uneven cost
MAX_DEFAULT_CORES = 8  # more cores are used only if the user sets a number
# Of addresses, where a process has a limit (ulimit -v). A thread reserves about 0.1 GB, and the
# process aborts if the system has none left for its variables.
ADDRESSES_OF_A_THREAD = 1_000_000_000


def count_usable_cores() -> int:
    """Return the default number of threads on this machine.

    >>> 1 <= count_usable_cores() <= MAX_DEFAULT_CORES
    True
    """
    limit = get_address_space()
    most = MAX_DEFAULT_CORES
    if limit is not None:
        most = min(most, max(1, limit // ADDRESSES_OF_A_THREAD))
    if hasattr(os, "sched_getaffinity"):
        return min(most, len(os.sched_getaffinity(0)))
    return min(most, os.cpu_count() or 1)


class Threads:
    """A pool of `n` threads. With ``n=1`` the calling thread does all the work.

    >>> calls = []
    >>> Threads(1).run_in_parts(lambda begin, end, part: calls.append((begin, end, part)), 10, 1)
    >>> calls
    [(0, 10, 0)]
    """

    def __init__(self, n: int) -> None:
        self.n = n
        self._pool: ThreadPoolExecutor | None = None  # made for the first work that is shared

    def run_in_parts(
        self,
        work: Callable[[int, int, int], object],
        n_items: int,
        min_items: int,
        is_uneven: bool = False,
    ) -> None:
        """Split the items into parts and call ``work(begin, end, part)`` for each part.

        There is one part for each thread, and several if `is_uneven`: some items then take
        much longer than others. A part has at least `min_items` items, so that the overhead
        of a thread pays off. The deadline of the caller holds in every part.
        """
        n_parts = self.n * PARTS_PER_THREAD if is_uneven else self.n
        n_parts = min(n_parts, max(1, n_items // min_items))
        if self.n == 1 or n_parts == 1:
            work(0, n_items, 0)
            return
        if self._pool is None:
            from concurrent.futures import ThreadPoolExecutor  # its import takes 5 ms

            self._pool = ThreadPoolExecutor(self.n)
        borders = np.linspace(0, n_items, n_parts + 1).astype(int).tolist()
        begins, ends = zip(*pairwise(borders), strict=True)
        contexts = [copy_context() for _ in range(n_parts)]

        def run(begin: int, end: int, part: int) -> None:
            contexts[part].run(work, begin, end, part)

        for _ in self._pool.map(run, begins, ends, range(n_parts)):
            pass
