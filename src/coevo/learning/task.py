"""A plan on a table, ready to run: one in memory, one in shards, one with missing cells."""

from __future__ import annotations

import contextlib
import pathlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from coevo import data, score, search
from coevo.data import ColumnInfo, Dataset, IncompleteDataset, Rows, Table
from coevo.data.audit import Finding
from coevo.errors import NetworkError
from coevo.interrupts import gentle_interrupts
from coevo.io import Knowledge
from coevo.learning.checkpoints import CheckpointFile
from coevo.learning.missing_cells import MissingCells
from coevo.learning.plan import Path, Plan
from coevo.learning.result import LearnResult
from coevo.missing import N_IMPUTATIONS, learn_incomplete
from coevo.network import BayesianNetwork, fit
from coevo.outofcore import ShardedScorer, Shards
from coevo.parallel import distribute_islands
from coevo.progress import SearchProgress
from coevo.score import Scorer
from coevo.score.base import CACHE_BYTES
from coevo.search import Callback, Checkpoint, HillClimb, Islands, Method, SearchResult
from coevo.search.fingerprint import search_fingerprint

__all__ = ["IncompleteTask", "Task", "task_of"]

N_SCORERS = {"evolve": N_IMPUTATIONS}  # of a policy, where it has several at a time


def task_of(
    plan: Plan, table: Rows | Shards, notes: tuple[ColumnInfo, ...], source: str | None = None
) -> Task:
    """Check a plan against a table, called `source`; look at the table."""
    holes = table if isinstance(table, IncompleteDataset) and table.n_missing else None
    dataset = table.dataset if isinstance(table, IncompleteDataset) else table
    known = plan.knowledge(dataset.names)
    findings = data.audit(_looked_at(plan, dataset, holes))
    scorer = _scorer(plan, dataset, known)
    search.Problem.of(scorer, known.constraints, plan.start)  # says what is wrong with it
    if holes is None:
        return Task(plan, dataset, notes, known, findings, scorer, source)
    return IncompleteTask(plan, dataset, notes, known, findings, scorer, source, holes)


def _looked_at(
    plan: Plan, dataset: Dataset | Shards, holes: IncompleteDataset | None
) -> Table | IncompleteDataset:
    """Return the table as it is learned from: missing is a state where that is the policy."""
    if holes is None:
        return dataset
    return holes.with_state() if plan.missing == "state" else holes


def _scorer(plan: Plan, table: Dataset | Shards, known: Knowledge) -> Scorer:
    """Return the scorer of a plan, wherever the rows are."""
    options: dict[str, Any] = {
        "n_jobs": plan.n_jobs,
        "weights": known.weights,
        "parent_penalty": plan.parent_penalty,
    }
    if isinstance(table, Shards):
        return ShardedScorer(table, plan.scoring, **options)
    return score.FamilyScorer(table, plan.scoring, **options)


@dataclass(frozen=True)
class Task:
    """A plan on a table, ready to run."""

    plan: Plan
    dataset: Table
    notes: tuple[ColumnInfo, ...]
    known: Knowledge
    findings: tuple[Finding, ...]
    scorer: Scorer
    source: str | None

    @property
    def memory(self) -> int:
        """How many bytes the search takes at most, about."""
        return self.scorer.memory() + self.plan.method.memory(self.dataset.n_variables)

    def progress(self) -> SearchProgress:
        """Return how far the search is, to be told of each generation."""
        limits = self.plan.budget.or_usual(self.plan.method.default_budget)
        return SearchProgress(limits, self.scorer)

    def _identity(self) -> dict[str, Any]:
        """Return what tells this search from others."""
        plan = self.plan
        identity = search_fingerprint(self.scorer, plan.method, self.known.constraints, plan.seed)
        start = None if plan.start is None else sorted(map(list, plan.start.arcs))
        return {**identity, "start": start}

    def _methods(self) -> tuple[Method, ...]:
        """Return the methods whose states a checkpoint may hold."""
        return (self.plan.method,)

    def _checkpoints(
        self, folder: Path | None, resume: bool
    ) -> tuple[CheckpointFile | None, Checkpoint | None]:
        """Return where checkpoints are kept in a folder, and the one to go on from."""
        if folder is None:
            return None, None
        kept = CheckpointFile(pathlib.Path(folder), self._identity(), *self._methods())
        return kept, kept.open(resume)

    def run(
        self,
        callbacks: Iterable[Callback] = (),
        folder: Path | None = None,
        resume: bool = False,
    ) -> LearnResult:
        """Search, and look at what was found. Ctrl-C ends the search with the best so far.

        In a folder, checkpoints are kept, and gone on from if that is asked for.
        """
        kept, reached = self._checkpoints(folder, resume)
        with self._method() as method:
            result = search.run_search(
                method,
                self.scorer,
                constraints=self.known.constraints,
                budget=self.plan.budget,
                random_state=self.plan.seed,
                callbacks=callbacks,
                start=self.plan.start,
                state=reached,
                keep=None if kept is None else kept.keep,
            )
        with gentle_interrupts():  # what was found is kept
            if kept is not None:
                kept.finish(result.checkpoint, result.stop_reason)
            return self._learned(result, self.dataset, self.scorer)

    def _method(self) -> contextlib.AbstractContextManager[Method]:
        """Return the method, its islands on a cluster if there is one."""
        method = self.plan.method
        if not isinstance(method, Islands):
            return contextlib.nullcontext(method)
        return distribute_islands(method, cluster=self.plan.cluster)

    def _learned(
        self,
        result: SearchResult,
        dataset: Table,
        scorer: Scorer,
        missing: MissingCells | None = None,
    ) -> LearnResult:
        """Look at what was found, as the scorer sees it."""
        rules = self.known.constraints.rules(dataset.names)
        learned = LearnResult(
            search=result,
            dataset=dataset,
            scoring=self.plan.scoring,
            parent_penalty=self.plan.parent_penalty,
            knowledge=self.known,
            columns=self.notes,
            audit=self.findings,
            gains=score.arc_gains(scorer, result.dag),
            best_rejected=score.best_addition(scorer, result.dag, rules),
            source=self.source,
            missing=missing,
        )
        return _kept(learned, dataset) if isinstance(dataset, Shards) else learned


def _kept(learned: LearnResult, shards: Shards) -> LearnResult:
    """Return what was learned from rows that will not be there for long, with its tables."""
    fitted: BayesianNetwork | NetworkError
    try:
        fitted = fit(learned.dag, shards)
    except NetworkError as error:  # to be raised when it is asked for
        fitted = error
    traffic = shards.traffic if shards.traffic.batches else None
    return replace(learned, dataset=shards.without_rows(), fitted=fitted, traffic=traffic)


@dataclass(frozen=True)
class IncompleteTask(Task):
    """A plan on a table with missing cells; `scorer` only says how much memory one takes."""

    table: IncompleteDataset

    @property
    def memory(self) -> int:
        """How many bytes the search takes at most, about."""
        n_others = N_SCORERS.get(str(self.plan.missing), 1) - 1
        return super().memory + n_others * (self.scorer.memory() - CACHE_BYTES)  # only one has it

    def progress(self) -> SearchProgress:
        """Return how far the search is, to be told of each generation."""
        return SearchProgress(self.plan.budget, None)

    def _identity(self) -> dict[str, Any]:
        """Return what tells this search from others."""
        table = {"data_hash": self.table.content_hash, "missing": self.plan.missing}
        return super()._identity() | table

    def _methods(self) -> tuple[Method, ...]:
        """Return the methods whose states a checkpoint may hold: some policies climb first."""
        return (self.plan.method, HillClimb())

    def run(
        self,
        callbacks: Iterable[Callback] = (),
        folder: Path | None = None,
        resume: bool = False,
    ) -> LearnResult:
        """Search and fill. Ctrl-C ends the search with the best so far.

        In a folder, checkpoints are kept, and gone on from if that is asked for.
        """
        kept, reached = self._checkpoints(folder, resume)
        plan = self.plan
        found = learn_incomplete(
            self.table,
            str(plan.missing),
            method=plan.method,
            score=plan.scoring,
            constraints=self.known.constraints,
            weights=self.known.weights,
            parent_penalty=plan.parent_penalty,
            start=plan.start,
            budget=plan.budget,
            random_state=plan.seed,
            n_jobs=plan.n_jobs,
            callbacks=callbacks,
            state=reached,
            keep=None if kept is None else kept.keep,
        )
        with gentle_interrupts():  # what was found is kept
            if kept is not None:
                kept.finish(found.checkpoint, found.search.stop_reason)
            missing = MissingCells(self.table, found)
            return self._learned(found.search, missing.dataset, found.scorer, missing)
