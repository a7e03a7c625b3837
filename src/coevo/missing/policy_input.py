"""The input and the output that all policies share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from coevo.data import Dataset, IncompleteDataset
from coevo.missing.imputations import Adjacency, Imputations
from coevo.missing.policy_checkpoint import Stage
from coevo.missing.scorers import ExpectedScorer
from coevo.runtime.threads import Threads
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

__all__ = ["PolicyInput", "PolicyOutput"]


@dataclass(frozen=True)
class PolicyInput:
    """A table with missing values, the search to run on it, and how to run it.

    Attributes
    ----------
    table : IncompleteDataset
        The table; its rows are sorted by content.
    spec : SearchSpec
        The search to run on imputed tables.
    n_jobs : int
        Number of threads. It does not change the result.
    callbacks : tuple of functions
        As for `run_search`.
    resume_from : Checkpoint or None
        The checkpoint to resume from.
    on_checkpoint : function or None
        Receives a checkpoint after each generation.
    is_stopped : function
        Returns whether the user has pressed Ctrl-C, which also stops a search.
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
        """Return the threads that draw missing values."""
        return Threads(self.n_jobs)

    def make_scorer(self, dataset: Dataset) -> FamilyScorer:
        """Return the scorer of one imputed table."""
        return self.spec.make_scorer(dataset, self.n_jobs)

    def make_expected_scorer(self, datasets: Sequence[Dataset]) -> ExpectedScorer:
        """Return the scorer that averages over imputed tables."""
        options = self.spec.make_scorer_options(self.n_jobs)
        return ExpectedScorer(datasets, self.spec.score, **options)

    def run(
        self,
        scorer: FamilyScorer,
        state: SearchState | Checkpoint | None = None,
        stage: Stage | None = None,
        seconds: float = 0.0,
    ) -> SearchResult:
        """Search with a scorer, from the start or from a state.

        `seconds` is the time that the policy has taken so far. Each checkpoint also stores the
        stage.
        """
        stage_arrays = {} if stage is None else stage.as_arrays()
        on_checkpoint = self.on_checkpoint

        def add_stage(checkpoint: Checkpoint) -> None:
            if on_checkpoint is not None:
                on_checkpoint(replace(checkpoint, extra_arrays=stage_arrays))

        return self.spec.run(
            scorer,
            callbacks=self.callbacks,
            state=state,
            on_checkpoint=add_stage,
            seconds=seconds,
        )


@dataclass(frozen=True)
class PolicyOutput:
    """The result of a policy: a structure, its scorer, and the imputations.

    Attributes
    ----------
    result : SearchResult
        The result of the last search.
    scorer : FamilyScorer
        The scorer of the last search.
    imputations : Imputations or None
        The imputations; None if "missing" is a state.
    partners : sequence of Adjacency
        The structures under which the final values are drawn.
    stage : Stage or None
        The stage of the last search; None if the policy has only one.
    """

    result: SearchResult
    scorer: FamilyScorer
    imputations: Imputations | None = None
    partners: Sequence[Adjacency] = ()
    stage: Stage | None = None

    @property
    def checkpoint(self) -> Checkpoint | None:
        """The last checkpoint, to resume from; None if the search stopped before it started."""
        last = self.result.checkpoint
        if last is None or self.stage is None:
            return last
        return replace(last, extra_arrays=self.stage.as_arrays())
