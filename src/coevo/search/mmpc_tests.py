"""The tests of MMPC, the first half of `coevo.search.mmhc`: which ones a step runs, in which order.

A *round* is a list of tests that depends only on the sets at its beginning. A step takes a limited
number of them. The forward rounds test all candidates of each target, given the subsets of its
neighbours that have the newest one. The backward rounds test one neighbour of each target, given
all subsets of the others.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import chain, combinations, islice
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["FIRST", "OVER", "Test", "list_backward_tests", "list_forward_tests"]

FIRST, OVER = -1, -2  # in place of the newest neighbour: none yet, and no more

Given = tuple[int, ...]
Test = tuple[int, int, Given]  # candidate, target, given
Flags = NDArray[np.bool_]  # (n, n), [x, t]: x belongs to target t


class Round(Protocol):
    """What the tests of a round depend on: the fields of the state of `mmhc`."""

    @property
    def near(self) -> Flags:
        """The neighbours of each target."""

    @property
    def is_open(self) -> Flags:
        """The candidates of each target, or its neighbours before the first backward round."""

    @property
    def newest(self) -> NDArray[np.int64]:
        """The neighbour of each target that entered last, `FIRST` or `OVER`."""

    @property
    def place(self) -> int:
        """Which neighbour a backward round tests."""

    @property
    def next_test(self) -> int:
        """The number of tests of the round that have run."""


def list_forward_tests(state: Round, max_given: int | None, most: int) -> list[Test]:
    """Return the next tests of a forward round, at most so many."""

    def list_parts() -> Iterator[tuple[list[int], int, list[int], Given]]:
        for t in np.flatnonzero(state.newest != OVER).tolist():
            newest = int(state.newest[t])
            candidates = np.flatnonzero(state.is_open[:, t]).tolist()
            if newest == FIRST:
                yield candidates, t, [], ()
            elif max_given != 0:
                others = [v for v in np.flatnonzero(state.near[:, t]).tolist() if v != newest]
                yield candidates, t, others, (newest,)

    return _take(list_parts(), state.next_test, max_given, most)


def list_backward_tests(state: Round, max_given: int | None, most: int) -> list[Test]:
    """Return the next tests of a backward round, at most so many."""

    def list_parts() -> Iterator[tuple[list[int], int, list[int], Given]]:
        for t in range(len(state.near)):
            members = np.flatnonzero(state.is_open[:, t]).tolist()
            if state.place < len(members):
                x = members[state.place]
                others = [v for v in np.flatnonzero(state.near[:, t]).tolist() if v != x]
                yield [x], t, others, ()

    return _take(list_parts(), state.next_test, max_given, most)


def _take(
    parts: Iterator[tuple[list[int], int, list[int], Given]],
    first: int,
    max_given: int | None,
    most: int,
) -> list[Test]:
    """Return the tests from number `first` on, at most so many.

    A part is the tests of some candidates with a target, given each subset of `others` together
    with `always`.
    """
    found: list[Test] = []
    for candidates, t, others, always in parts:
        limit = len(others) if max_given is None else min(len(others), max_given - len(always))
        n_tests = len(candidates) * sum(math.comb(len(others), k) for k in range(limit + 1))
        if first >= n_tests:
            first -= n_tests
            continue
        sizes = range(limit + 1)
        subsets = chain.from_iterable(combinations(others, size) for size in sizes)
        given = [(*subset, *always) for subset in subsets]
        tests = ((x, t, one) for x in candidates for one in given)
        found += islice(tests, first, first + most - len(found))
        first = 0
        if len(found) == most:
            break
    return found
