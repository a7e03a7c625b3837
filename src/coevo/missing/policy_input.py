"""What every policy is asked, and what it finds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from coevo.data import Dataset, IncompleteDataset
from coevo.graph import DAG, Arc, Constraints
from coevo.missing.expected_scorer import ExpectedScorer
from coevo.missing.imputations import Adjacency, Imputations
from coevo.missing.policy_checkpoint import Stage
from coevo.score import FamilyScorer, Score
from coevo.search import (
    Budget,
    Callback,
    Checkpoint,
    Keep,
    Method,
    SearchResult,
    SearchState,
    run_search,
)
from coevo.threads import Threads

__all__ = ["Found", "PolicyInput"]


@dataclass(frozen=True)
class PolicyInput:
    """The table, the search, and what is known beforehand; all checked.

    `reached` is where to go on from; `keep` is told of each generation that one could go on from.
    `is_stopped` says whether someone has pressed Ctrl-C, which also ends a search.
    """

    table: IncompleteDataset
    method: Method
    score: Score
    constraints: Constraints
    weights: Mapping[Arc, float]
    parent_penalty: float
    start: DAG | None
    budget: Budget
    seed: int
    n_jobs: int
    callbacks: tuple[Callback, ...] = ()
    reached: Checkpoint | None = None
    keep: Keep | None = None
    is_stopped: Callable[[], bool] = lambda: False

    def threads(self) -> Threads:
        """Return threads for drawing cells."""
        return Threads(self.n_jobs)

    def scorer(self, dataset: Dataset) -> FamilyScorer:
        """Return the scorer of one table."""
        return FamilyScorer(dataset, self.score, **self.scorer_options())

    def expected(self, datasets: Sequence[Dataset]) -> ExpectedScorer:
        """Return the scorer that takes the mean over completions."""
        return ExpectedScorer(datasets, self.score, **self.scorer_options())

    def scorer_options(self) -> dict[str, Any]:
        """Return what all scorers have in common."""
        return {
            "n_jobs": self.n_jobs,
            "weights": self.weights,
            "parent_penalty": self.parent_penalty,
        }

    def run(
        self,
        scorer: FamilyScorer,
        state: SearchState | Checkpoint | None = None,
        stage: Stage | None = None,
        seconds: float = 0.0,
    ) -> SearchResult:
        """Search with a scorer, from the start or from a state, so many seconds after the start.

        The stage is kept beside each checkpoint.
        """
        beside, keep = {} if stage is None else stage.arrays(), self.keep

        def keep_all(checkpoint: Checkpoint) -> None:
            if keep is not None:
                keep(replace(checkpoint, beside=beside))

        return run_search(
            self.method,
            scorer,
            constraints=self.constraints,
            budget=self.budget,
            random_state=self.seed,
            callbacks=self.callbacks,
            start=self.start,
            state=state,
            keep=keep_all,
            seconds=seconds,
        )


@dataclass(frozen=True)
class Found:
    """What a policy found: a structure, the scorer that judged it, and where cells stand.

    `stage` is that of the search which found it, where there were several.
    """

    result: SearchResult
    scorer: FamilyScorer
    completions: Imputations | None = None  # None: missing is a state of its own
    partners: Sequence[Adjacency] = ()  # structures to fill the cells under
    stage: Stage | None = None

    @property
    def checkpoint(self) -> Checkpoint | None:
        """Where it ended, to be gone on from; None if it was stopped before it began."""
        last = self.result.checkpoint
        if last is None or self.stage is None:
            return last
        return replace(last, beside=self.stage.arrays())
