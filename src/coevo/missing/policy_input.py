"""What every policy takes, and what it returns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from coevo.data import Dataset, IncompleteDataset
from coevo.missing.expected_scorer import ExpectedScorer
from coevo.missing.imputations import Adjacency, Imputations
from coevo.missing.policy_checkpoint import Stage
from coevo.score import FamilyScorer
from coevo.search import (
    Budget,
    Callback,
    Checkpoint,
    CheckpointCallback,
    Method,
    SearchResult,
    SearchSpec,
    SearchState,
)
from coevo.threads import Threads

__all__ = ["PolicyInput", "PolicyOutput"]


@dataclass(frozen=True)
class PolicyInput:
    """A table with missing values, the search to run on it, and how to run it.

    `resume_from` is the checkpoint to resume from. `on_checkpoint` receives a checkpoint after each
    generation. `is_stopped` tells whether the user has pressed Ctrl-C, which also stops a search.
    """

    table: IncompleteDataset
    spec: SearchSpec
    n_jobs: int = 1
    callbacks: tuple[Callback, ...] = ()
    resume_from: Checkpoint | None = None
    on_checkpoint: CheckpointCallback | None = None
    is_stopped: Callable[[], bool] = lambda: False

    @property
    def seed(self) -> int:
        """The seed of all random numbers."""
        return self.spec.seed

    def with_search(self, *, method: Method | None = None, budget: Budget) -> PolicyInput:
        """Return the same input with another budget, and another method if one is given."""
        method = self.spec.method if method is None else method
        return replace(self, spec=replace(self.spec, method=method, budget=budget))

    def make_threads(self) -> Threads:
        """Return threads for drawing missing values."""
        return Threads(self.n_jobs)

    def make_scorer(self, dataset: Dataset) -> FamilyScorer:
        """Return the scorer of one imputed table."""
        return self.spec.make_scorer(dataset, self.n_jobs)

    def make_expected_scorer(self, datasets: Sequence[Dataset]) -> ExpectedScorer:
        """Return the scorer that takes the mean over imputed tables."""
        options = self.spec.scorer_options(self.n_jobs)
        return ExpectedScorer(datasets, self.spec.score, **options)

    def run(
        self,
        scorer: FamilyScorer,
        state: SearchState | Checkpoint | None = None,
        stage: Stage | None = None,
        seconds: float = 0.0,
    ) -> SearchResult:
        """Search with a scorer, from the start or from a state.

        The policy has taken `seconds` so far. Each checkpoint stores the stage beside the search.
        """
        extra, on_checkpoint = {} if stage is None else stage.arrays(), self.on_checkpoint

        def add_stage(checkpoint: Checkpoint) -> None:
            if on_checkpoint is not None:
                on_checkpoint(replace(checkpoint, extra_arrays=extra))

        return self.spec.run(
            scorer,
            callbacks=self.callbacks,
            state=state,
            on_checkpoint=add_stage,
            seconds=seconds,
        )


@dataclass(frozen=True)
class PolicyOutput:
    """What a policy returns: a structure, the scorer that judged it, and the imputations.

    `stage` is the stage whose search found the structure, where the policy has several.
    """

    result: SearchResult
    scorer: FamilyScorer
    imputations: Imputations | None = None  # None: missing is a state of its own
    partners: Sequence[Adjacency] = ()  # structures under which the final values are drawn
    stage: Stage | None = None

    @property
    def checkpoint(self) -> Checkpoint | None:
        """The last checkpoint, to resume from; None if the search stopped before it started."""
        last = self.result.checkpoint
        if last is None or self.stage is None:
            return last
        return replace(last, extra_arrays=self.stage.arrays())
