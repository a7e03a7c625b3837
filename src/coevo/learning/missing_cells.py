"""What became of the missing cells of a table: how many there were, and what fills them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from coevo.data import Dataset, IncompleteDataset
from coevo.missing import ImputedTable, IncompleteResult

__all__ = ["MissingCells"]


@dataclass(frozen=True)
class MissingCells:
    """A table with missing cells, and what was learned from it."""

    table: IncompleteDataset
    result: IncompleteResult

    @property
    def policy(self) -> str:
        """What was done about them."""
        return self.result.policy

    @property
    def dataset(self) -> Dataset:
        """The filled table; or the one in which missing is a state."""
        done = self.completed
        return self.result.scorer.dataset if done is None else done.dataset

    @property
    def completed(self) -> ImputedTable | None:
        """The filled table with the probability of each filled cell; None if missing is a state."""
        return self.result.completed

    def as_dict(self) -> dict[str, Any]:
        """Return how much was missing where, as plain values."""
        return {"policy": self.policy, **self.table.missing_facts()}
