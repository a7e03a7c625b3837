"""The archive of scored families, which both species of CCMA share.

For each child it holds the scored families, sorted from the best score to the worst. A family
is dropped if one of its subsets has an equal or a higher score. No order needs it: every order
that allows the family also allows the subset. Tens to hundreds of families remain for each
child. The best response to any order is then a lookup (`coevo.search.order_kernels`).

The archive also records which parent sets were *extended*, that is, scored with every further
variable, so that no work is done twice. It stores their 64-bit hashes. If two sets have the
same hash, one of them is skipped, and always the same one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from functools import cache, cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coevo.runtime.randomness import random_stream
from coevo.score import FamilyBatch
from coevo.search.base import Problem
from coevo.search.order_kernels import (
    Families,
    FamilyIndex,
    MergedFamilies,
    NewFamilies,
    OrderScratch,
    index_families,
    make_scratch,
    merge_families,
    merge_hashes,
)

__all__ = [
    "MAX_FAMILIES_PER_CHILD",
    "Archive",
    "ParentSet",
    "flatten_sets",
    "hash_keys",
    "hash_parent_sets",
]

ParentSet = tuple[int, tuple[int, ...]]  # a child and its parents, ascending
Hashes = NDArray[np.uint64]
MAX_FAMILIES_PER_CHILD = 1 << 12  # the worst families above this number are dropped
NOT_ALLOWED = -np.inf  # the score of a child without its required parents


@dataclass(frozen=True, eq=False)
class Archive:
    """The arrays of `Families`, and the hashes of the extended parent sets, ascending."""

    begin: NDArray[np.int64]
    score: NDArray[np.float64]
    start: NDArray[np.int64]
    parents: NDArray[np.int32]
    extended: Hashes

    @classmethod
    def from_problem(cls, problem: Problem) -> Archive:
        """Return an archive with the smallest family of each child: its required parents.

        A child with required parents also gets the empty family with the score -inf. An order
        that puts the child before a required parent then has the score -inf, and is no error.
        """
        local = problem.local_scores(problem.rules.required)
        none = np.empty(0, dtype=np.uint64)
        if not problem.rules.required.any():
            begin = np.arange(problem.n_variables + 1)
            return cls(begin, local, np.zeros_like(begin), np.empty(0, dtype=np.int32), none)
        families: list[ParentSet] = []
        scores: list[float] = []
        for child in range(problem.n_variables):
            needed = np.flatnonzero(problem.rules.required[:, child])
            families.append((child, tuple(needed.tolist())))
            scores.append(float(local[child]))
            if len(needed):
                families.append((child, ()))
                scores.append(NOT_ALLOWED)
        children = [child for child, _ in families]
        begin = np.searchsorted(children, np.arange(problem.n_variables + 1))
        start, parents = flatten_sets([parents for _, parents in families])
        return cls(begin, np.array(scores), start, parents, none)

    @cached_property
    def families(self) -> Families:
        """The families as arrays for the kernels."""
        return Families(self.begin, self.score, self.start, self.parents)

    @cached_property
    def index(self) -> FamilyIndex:
        """The families by child and parent, for the kernels."""
        return index_families(self.families)

    @contextmanager
    def lend_scratch(self) -> Iterator[OrderScratch]:
        """Lend the working memory of the kernels, which is made once for each thread.

        After an error it may be in any state, and does not come back.
        """
        try:
            scratch = self._idle_scratch.pop()
        except IndexError:
            scratch = make_scratch(self.families)
        yield scratch
        self._idle_scratch.append(scratch)

    @cached_property
    def _idle_scratch(self) -> list[OrderScratch]:
        return []

    def __getstate__(self) -> dict[str, Any]:
        """Return the fields alone: a worker makes the rest again from them."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @property
    def n_families(self) -> int:
        """The number of families."""
        return len(self.score)

    @cached_property
    def children(self) -> NDArray[np.int64]:
        """The child of each family."""
        return np.repeat(np.arange(len(self.begin) - 1), np.diff(self.begin))

    def find_flaw(self) -> str:
        """Return what is wrong with the arrays together; an empty text if nothing is."""
        if self.begin[-1] != self.n_families or len(self.start) != self.n_families + 1:
            return "'begin' and 'start' must have an entry for each family"
        if self.start[-1] != len(self.parents):
            return "'start' must end with the number of parents"
        sizes, last = np.diff(self.start), self.begin[1:] - 1
        if (np.diff(self.begin) == 0).any() or sizes[last].any():
            return "the last family of each child must be the one without parents"
        family_of = np.repeat(np.arange(self.n_families), sizes)
        if (self.parents == self.children[family_of]).any():
            return "'parents' must not hold the child itself"
        is_same = family_of[1:] == family_of[:-1]
        if (np.diff(self.parents)[is_same] <= 0).any():
            return "'parents' of a family must ascend"
        if (self.extended[1:] <= self.extended[:-1]).any():
            return "'extended' must ascend"
        return ""

    @cached_property
    def hashes(self) -> Hashes:
        """The hash of each family."""
        return hash_parent_sets(self.children, self.start, self.parents, len(self.begin) - 1)

    def parents_of(self, family: int) -> tuple[int, ...]:
        """Return the parents of a family, ascending."""
        start = self.start
        return tuple(self.parents[start.item(family) : start.item(family + 1)].tolist())

    def are_extended(self, hashes: Hashes) -> NDArray[np.bool_]:
        """Return whether each of these parent sets was extended."""
        if not len(self.extended):
            return np.zeros(len(hashes), dtype=np.bool_)
        at = np.minimum(np.searchsorted(self.extended, hashes), len(self.extended) - 1)
        is_extended: NDArray[np.bool_] = self.extended[at] == hashes
        return is_extended

    def list_pairs(
        self, families: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Return the child and the parent of each arc of these families."""
        start, at = _find_members(self.start, families)
        return np.repeat(self.children[families], np.diff(start)), self.parents[at]

    def rescore(self, problem: Problem) -> Archive:
        """Return the same families with their scores on other rows, none of them extended."""
        known = np.flatnonzero(np.isfinite(self.score))
        sets = [self.parents_of(family) for family in known.tolist()]
        children = self.children[known]
        batch = FamilyBatch.from_pairs(zip(children.tolist(), sets, strict=True))
        scores = problem.scorer.local_scores(batch)
        none = np.empty(0, dtype=np.uint64)
        return Archive.from_problem(problem).with_families(
            children, scores, *flatten_sets(sets), none
        )

    def with_families(
        self,
        children: NDArray[np.int64],
        scores: NDArray[np.float64],
        start: NDArray[np.int64],
        parents: NDArray[np.int32],
        extended: Hashes,
    ) -> Archive:
        """Return the archive with further families and further hashes of extended sets."""
        n, n_parents = self.n_families + len(scores), len(self.parents) + len(parents)
        merged = MergedFamilies(
            begin=np.empty_like(self.begin),
            score=np.empty(n),
            start=np.empty(n + 1, dtype=np.int64),
            parents=np.empty(n_parents, dtype=np.int32),
            signature=np.empty(n, dtype=np.uint64),
            is_new=np.empty(n, dtype=np.bool_),
        )
        ranked = np.empty(len(children), dtype=np.int64)
        added = NewFamilies(children, scores, start, parents, ranked)
        n = merge_families(self.families, added, MAX_FAMILIES_PER_CHILD, merged)
        hashes = np.empty(len(self.extended) + len(extended), dtype=np.uint64)
        n_hashes = merge_hashes(self.extended, np.sort(extended), hashes)
        # Copies, because the room for dropped families would stay.
        start = merged.start[: n + 1].copy()
        score, parents = merged.score[:n].copy(), merged.parents[: start[n]].copy()
        return Archive(merged.begin, score, start, parents, hashes[:n_hashes].copy())


def _find_members(
    start: NDArray[np.int64], chosen: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return where the parents of each chosen family begin, and the places of all of them."""
    size = np.diff(start)[chosen]
    new_start = np.concatenate([[0], np.cumsum(size)])
    return new_start, np.repeat(start[chosen] - new_start[:-1], size) + np.arange(new_start[-1])


def flatten_sets(sets: Sequence[tuple[int, ...]]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return where each set begins, and all sets as one array."""
    start = np.concatenate([[0], np.cumsum([len(s) for s in sets])]).astype(np.int64)
    return start, np.array([v for s in sets for v in s], dtype=np.int32)


@cache
def hash_keys(n_variables: int) -> tuple[Hashes, Hashes]:
    """Return the random key of each variable as a child, and its key as a parent.

    The hash of a parent set is the exclusive or of the key of its child and the keys of its
    parents (Zobrist hashing). The keys are the same on every machine.
    """
    numbers = random_stream(0, n_variables).integers(2**64, size=(2, n_variables), dtype=np.uint64)
    return numbers[0], numbers[1]


def hash_parent_sets(
    child: NDArray[np.int64], start: NDArray[np.int64], parents: NDArray[np.int32], n_variables: int
) -> Hashes:
    """Return the hashes of parent sets that are flattened into one array."""
    as_child, as_parent = hash_keys(n_variables)
    running = np.zeros(len(parents) + 1, dtype=np.uint64)
    np.bitwise_xor.accumulate(as_parent[parents], out=running[1:])
    hashes: Hashes = as_child[child] ^ running[start[1:]] ^ running[start[:-1]]
    return hashes
