"""The state of CCMA: both species and the archive, and what a checkpoint of them must be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from coevo.search.archive import Archive
from coevo.search.base import (
    FINITE,
    LARGEST_SCORE,
    OFFSETS,
    PERMUTATIONS,
    SCORES,
    Array,
    Flag,
    Schema,
    SearchState,
    make_range,
)
from coevo.search.breeding import describe_masks
from coevo.search.masks import LEAST_HOPE, N_CANDIDATES, Masks, list_paying_pairs
from coevo.search.operators import Orders
from coevo.search.species import MaskRow, MaskWork, Populations

__all__ = ["CCMAState", "make_archive_fields", "make_mask_fields", "merge_populations"]


@dataclass(frozen=True, eq=False)
class CCMAState(SearchState):
    """Both species and the archive; during the first generations, the hill climbing."""

    schema: ClassVar[Schema] = {
        **SearchState.schema,
        "is_climbing": Flag(),
        "gains": Array(np.float64, ("climbing", "candidates"), SCORES),
        "local": Array(np.float64, ("climbing",), FINITE),
        "orders": Array(np.int64, ("orders", "n"), PERMUTATIONS),
        "choice": Array(np.int64, ("orders", "n")),
        "candidates": Array(np.int32, ("masks", "n", "candidates"), make_range(0, "n")),
        "values": Array(np.float64, ("masks", "n", "candidates"), SCORES),
        "credit": Array(np.float64, ("masks",), make_range(0, LARGEST_SCORE)),
        "hope": Array(np.float64, ("masks", "n"), make_range(LEAST_HOPE, 1)),
        "spent": Array(np.int64, ("masks", "n"), make_range(0, LARGEST_SCORE)),
        "earned": Array(np.float64, ("masks", "n"), make_range(0, LARGEST_SCORE)),
        "begin": Array(np.int64, ("children",), OFFSETS),
        "family_scores": Array(np.float64, ("families",), SCORES),
        "start": Array(np.int64, ("starts",), OFFSETS),
        "parents": Array(np.int32, ("parents",), make_range(0, "n")),
        "extended": Array(np.uint64, ("extended",)),
    }

    is_climbing: bool
    gains: NDArray[np.float64]  # (n, n), of the hill climbing; empty after it
    local: NDArray[np.float64]  # (n,), of the hill climbing; empty after it
    orders: Orders  # (n_orders, n), best first
    choice: NDArray[np.int64]  # (n_orders, n), the family of each child under each order
    candidates: NDArray[np.int32]  # (n_masks, n, k), the masks, see `Masks`
    values: NDArray[np.float64]  # (n_masks, n, k)
    credit: NDArray[np.float64]  # (n_masks,)
    hope: NDArray[np.float64]  # (n_masks, n)
    spent: NDArray[np.int64]  # (n_masks, n)
    earned: NDArray[np.float64]  # (n_masks, n)
    begin: NDArray[np.int64]  # the archive, see `Archive`
    family_scores: NDArray[np.float64]
    start: NDArray[np.int64]
    parents: NDArray[np.int32]
    extended: NDArray[np.uint64]

    @property
    def masks(self) -> Masks:
        """The second species."""
        return Masks(self.candidates, self.values, self.credit, self.hope, self.spent, self.earned)

    @cached_property
    def archive(self) -> Archive:
        """The archive of scored families."""
        return Archive(self.begin, self.family_scores, self.start, self.parents, self.extended)

    def with_archive(self, archive: Archive, **changed: Any) -> CCMAState:
        """Return the state with an archive and other changes.

        The archive stays the object that it is, with the index that it has made of its families.
        """
        after = replace(self, **changed, **make_archive_fields(archive))
        vars(after)["archive"] = archive
        return after

    def get_populations(self) -> Populations | None:
        """Return orders and masks; None during the hill climbing."""
        return None if self.is_climbing else merge_populations([self], self.adjacency)

    @classmethod
    def upgrade_entries(cls, entries: Mapping[str, Any], prefix: str) -> dict[str, Any]:
        """Return masks for a file of 0.2.0: its variables ranked by their gains, without credit.

        A mask had one parent set for each child there. Orders and archive stay as they are.
        """
        if prefix + "candidates" in entries:
            return {}
        ranked, gains = entries[prefix + "probes"], entries[prefix + "gains"]
        adjacency, n_masks = entries[prefix + "adjacency"], len(entries[prefix + "masks"])
        n = len(adjacency)
        is_table = adjacency.shape == (n, n) and ranked.shape == (n, max(0, n - 1))
        if not is_table or not ((ranked >= 0) & (ranked < n)).all():
            raise ValueError("the tables of a state have the wrong shape")
        child = np.arange(n)[:, None]
        held_first = np.argsort(~adjacency[ranked, child], axis=1, kind="stable")
        candidates = np.take_along_axis(ranked, held_first, axis=1)[:, :N_CANDIDATES]
        is_climbing = gains.shape == (n, n) and n > 0
        upgraded = {
            "candidates": np.tile(candidates.astype(np.int32), (n_masks, 1, 1)),
            "values": np.zeros((n_masks, *candidates.shape)),
            "credit": np.zeros(n_masks),
            "hope": np.ones((n_masks, n)),
            "spent": np.zeros((n_masks, n), dtype=np.int64),
            "earned": np.zeros((n_masks, n)),
            "gains": gains[candidates, child]
            if is_climbing
            else np.empty((0, candidates.shape[1])),
        }
        return {prefix + name: value for name, value in upgraded.items()}

    def find_flaw(self) -> str:
        """Return what is wrong with the fields together; an empty text if nothing is."""
        n = len(self.adjacency)
        if len(self.gains) != (n if self.is_climbing else 0):
            return "'gains' must have one row for each variable, and only during the climb"
        if len(self.begin) != n + 1:
            return "'begin' must have one offset for each variable, and one more"
        flaw = self.archive.find_flaw() or super().find_flaw()
        if flaw or not len(self.choice):
            return flaw
        if ((self.choice < self.begin[:-1]) | (self.choice >= self.begin[1:])).any():
            return "'choice' must name families of each child"
        return _find_wrong_choice(self)


def merge_populations(states: Sequence[CCMAState], adjacency: NDArray[np.bool_]) -> Populations:
    """Return the species of one or more states that evolve, the best state first.

    `adjacency` is the best structure. The work of masks with the same source is added up; their
    credit, which is a rate, is averaged.
    """
    n_masks, n, width = states[0].candidates.shape
    pairs = np.concatenate([list_paying_pairs(state.masks) for state in states])
    if len(states) > 1:  # the same pair may be on several islands
        distinct, number = np.unique(pairs[:, 0] * n + pairs[:, 1], return_inverse=True)
        times = np.bincount(number, weights=pairs[:, 2], minlength=len(distinct))
        pairs = np.column_stack([*np.divmod(distinct, max(1, n)), times.astype(np.int64)])
    work = MaskWork(
        describe_masks(n_masks, has_scouts=width < n - 1),
        np.mean([state.credit for state in states], axis=0),
        np.sum([state.spent for state in states], axis=0),
        np.sum([state.earned for state in states], axis=0),
        np.concatenate([state.candidates for state in states]),
        np.concatenate([state.values for state in states]),
        adjacency,
    )
    return Populations(
        np.concatenate([state.orders for state in states]),
        n_masks * len(states),
        pairs,
        np.concatenate([state.credit for state in states]),
        work,
        _choose_row(states[0], work),
    )


def _choose_row(state: CCMAState, work: MaskWork) -> MaskRow | None:
    """Return a row that shows well what a mask is.

    The child earned most of those with two parents in the best structure, if there are any. The
    row has most of these parents; other masks may have found the others.
    """
    if not len(work.adjacency):
        return None
    n_parents = np.minimum(2, work.adjacency.sum(axis=0))
    child = int(np.lexsort((-state.earned.sum(axis=0), -n_parents))[0])
    n_held = np.isin(state.candidates[:, child], np.flatnonzero(work.adjacency[:, child]))
    mask = int(np.lexsort((-state.earned[:, child], -n_held.sum(axis=1)))[0])
    return MaskRow(
        f"the mask “{work.names[mask][0]}”",
        child,
        state.candidates[mask, child].astype(np.int64),
        np.maximum(state.values[mask, child], 0.0),
    )


def _find_wrong_choice(state: CCMAState) -> str:
    """Return a text if an order has chosen a family whose parents do not come before the child."""
    child_of, start, parents = state.archive.children, state.start, state.parents
    family_of = np.repeat(np.arange(len(child_of)), np.diff(start))
    for order, choice in zip(state.orders, state.choice, strict=True):
        place = np.argsort(order)
        is_late = place[parents] >= place[child_of[family_of]]
        if np.isin(family_of[is_late], choice).any():
            return "'choice' must name families whose parents come before the child"
    return ""


def make_archive_fields(archive: Archive) -> dict[str, Any]:
    """Return the archive as fields of a state."""
    return {
        "begin": archive.begin,
        "family_scores": archive.score,
        "start": archive.start,
        "parents": archive.parents,
        "extended": archive.extended,
    }


def make_mask_fields(masks: Masks) -> dict[str, Any]:
    """Return the masks as fields of a state."""
    return {field.name: getattr(masks, field.name) for field in fields(masks)}
