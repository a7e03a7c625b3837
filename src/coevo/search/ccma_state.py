"""The state of CCMA: both species and the archive, and what a checkpoint of them must be."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from coevo.search.archive import Archive
from coevo.search.base import SearchState
from coevo.search.operators import Orders
from coevo.search.species import Populations
from coevo.search.state_schema import (
    FINITE,
    LARGEST_SCORE,
    OFFSETS,
    PERMUTATIONS,
    SCORES,
    Array,
    Flag,
    Rule,
    Schema,
    make_range,
)

__all__ = ["CCMAState", "make_archive_fields"]

# In files of 0.2.0 and earlier, the credit of an old parent set may be any negative number. The
# next generation bounds it (`coevo.search.mask_credit.fade_credit`). NaN is refused.
CREDIT = Rule("credit", lambda values, sizes: bool((values <= LARGEST_SCORE).all()))


@dataclass(frozen=True, eq=False)
class CCMAState(SearchState):
    """Both species and the archive; during the first generations, the hill climbing."""

    schema: ClassVar[Schema] = {
        **SearchState.schema,
        "is_climbing": Flag(),
        "gains": Array(np.float64, ("climbing", "climbing"), SCORES),
        "local": Array(np.float64, ("climbing",), FINITE),
        "orders": Array(np.int64, ("orders", "n"), PERMUTATIONS),
        "choice": Array(np.int64, ("orders", "n")),
        "masks": Array(np.bool_, ("masks", "n", "n")),
        "credit": Array(np.float64, ("masks", "n"), CREDIT),
        "probes": Array(np.int32, ("n", "others"), make_range(0, "n")),
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
    masks: NDArray[np.bool_]  # (n_masks, n, n), [mask, parent, child]
    credit: NDArray[np.float64]  # (n_masks, n), of each parent set
    probes: NDArray[np.int32]  # (n, n - 1), for each child all others, most promising first
    begin: NDArray[np.int64]  # the archive, see `Archive`
    family_scores: NDArray[np.float64]
    start: NDArray[np.int64]
    parents: NDArray[np.int32]
    extended: NDArray[np.uint64]

    @cached_property
    def archive(self) -> Archive:
        """The archive of scored families."""
        return Archive(self.begin, self.family_scores, self.start, self.parents, self.extended)

    def get_populations(self) -> Populations | None:
        """Return orders and masks; None during the hill climbing."""
        if self.is_climbing:
            return None
        return Populations(
            self.orders, len(self.masks), self.masks.sum(axis=0, dtype=np.int64), self.credit
        )

    def find_flaw(self) -> str:
        """Return what is wrong with the fields together; an empty text if nothing is."""
        n = len(self.adjacency)
        if len(self.gains) != (n if self.is_climbing else 0):
            return "'gains' must have one row for each variable, and only during the climb"
        if self.probes.shape[1] != max(0, n - 1):
            return "'probes' must list all others for each variable"
        if len(self.begin) != n + 1:
            return "'begin' must have one offset for each variable, and one more"
        flaw = self.archive.find_flaw() or super().find_flaw()
        if flaw or not len(self.choice):
            return flaw
        if ((self.choice < self.begin[:-1]) | (self.choice >= self.begin[1:])).any():
            return "'choice' must name families of each child"
        return _find_wrong_choice(self)


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
