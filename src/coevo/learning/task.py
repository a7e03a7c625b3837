"""The steps of learning, shared by `learn` and ``coevo learn``.

`open_task` reads the table, validates the settings against it and yields a `LearnTask`. Its
`search` runs the search, with checkpoints; its `run_bootstraps` adds the bootstrap. Both write the
run folder, once if the bootstrap is a quick one. A caller only shows progress in between.
"""

from __future__ import annotations

import contextlib
import math
import os
import pathlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, cast

from coevo import data, score
from coevo.data import Finding, IncompleteDataset, Rows, Table, TableInfo
from coevo.errors import NetworkError
from coevo.files.checkpoints import write_with_retries
from coevo.files.run_folder import lock_run_folder
from coevo.graph import DAG, ArcRules
from coevo.io import check_run_folder
from coevo.io.journal import Journal, RunCallback
from coevo.learning.checkpoints import CheckpointFile
from coevo.learning.result import STRENGTH, LearnResult
from coevo.learning.settings import LearnSettings
from coevo.network.fit import fit_and_count
from coevo.options import ScorerOptions, get_defaults
from coevo.progress import SearchProgress
from coevo.runtime.deadline import OutOfTime, defer_interrupts, limit_work_time, measure_work_time
from coevo.score import Scorer
from coevo.search import (
    CCMA,
    Callback,
    Checkpoint,
    CheckpointCallback,
    Islands,
    Problem,
    SearchResult,
    SearchSpec,
)

if TYPE_CHECKING:
    from coevo.missing import ImputationResult
    from coevo.parallel import Shards
    from coevo.posteriors import BootstrapRun

__all__ = ["LearnTask", "open_task"]

SHARE_OF_GRACE = 0.3  # beyond a time limit, for each part of the answer beside the search
TOO_COSTLY = (
    "samples would take much longer than the search; --bootstraps 100 measures the strength of "
    "each arc"
)
NOT_IN_MEMORY = "the rows are not in this process; coevo strength on some of them measures it"
NO_TIME_FOR_SAMPLES = (
    "the time limit leaves no time for samples; --bootstraps 100 measures the strength of each arc"
)
NO_GENERATION = (
    "The time limit ended the search before its first generation. Give a larger limit, or leave "
    "columns out."
)


@contextlib.contextmanager
def open_task(
    settings: LearnSettings,
    table: Any,
    *,
    source: str | None = None,
    output: str | os.PathLike[str] | None = None,
    resume: bool = False,
    command: Sequence[str] | None = None,
) -> Iterator[LearnTask]:
    """Read a table and validate the settings against it; yield the task.

    Parameters
    ----------
    settings : LearnSettings
        The validated options.
    table : Any
        The table, as for `read_data`; rows in shards last as long as the context.
    source : str, optional
        The name of the table, for the report.
    output : path, optional
        The run folder. It receives checkpoints while the search runs, and the results.
    resume : bool
        Resume from the checkpoint of `output`.
    command : sequence of str, optional
        The arguments of ``coevo``, for run.json.
    """
    folder = None if output is None else pathlib.Path(output)
    if folder is not None:
        check_run_folder(folder)
    with settings.open_table(table) as (rows, info):
        task = _make_task(settings, rows, info, source, folder, command)
        with lock_run_folder(folder, ("model.bif", "run.json")):
            yield task._open_folder(resume)


def _make_task(
    settings: LearnSettings,
    rows: Rows | Shards,
    info: TableInfo,
    source: str | None,
    folder: pathlib.Path | None,
    command: Sequence[str] | None,
) -> LearnTask:
    """Validate the settings and the table against each other."""
    incomplete = rows if isinstance(rows, IncompleteDataset) else None
    dataset = rows.dataset if isinstance(rows, IncompleteDataset) else rows
    spec = settings.resolve_spec(dataset.names)
    scorer: Scorer
    if isinstance(dataset, data.Dataset):
        scorer = spec.make_scorer(dataset, settings.n_jobs)
    else:
        from coevo.parallel import ShardedScorer

        options = spec.make_scorer_options(settings.n_jobs)
        scorer = ShardedScorer(dataset, spec.score, **options)
    start = spec.start if isinstance(spec.start, DAG) else None
    problem = Problem.from_scorer(scorer, spec.constraints, start)  # raises if it is illegal
    spec.method.make_search(problem)  # raises if the settings of the method do not fit the table
    audited = _choose_audited_table(settings.missing, dataset, incomplete)
    findings = data.audit(audited, info.columns, info.findings)
    return LearnTask(
        settings=settings,
        spec=spec,
        dataset=dataset,
        incomplete=incomplete,
        info=info,
        audit=(*findings, *info.findings),
        scorer=scorer,
        source=source,
        folder=folder,
        command=command,
    )


def _choose_audited_table(
    missing: str, dataset: Table, incomplete: IncompleteDataset | None
) -> Table | IncompleteDataset:
    """Return the table as the search sees it: missing is a state where that is the policy."""
    if incomplete is None:
        return dataset
    return incomplete.add_missing_state() if missing == "state" else incomplete


@dataclass(frozen=True, eq=False)
class LearnTask:
    """A search on a table, validated and ready to run.

    `incomplete` is the table with missing values, if some are missing; `scorer` then only
    estimates the memory. `checkpoint` is the one to resume from. `notices` are sentences that the
    caller shows as warnings. `failures` has the errors of files that could not be written; the
    result is there all the same.
    """

    settings: LearnSettings
    spec: SearchSpec
    dataset: Table
    incomplete: IncompleteDataset | None
    info: TableInfo
    audit: tuple[Finding, ...]
    scorer: Scorer
    source: str | None = None
    folder: pathlib.Path | None = None
    command: Sequence[str] | None = None
    checkpoint_file: CheckpointFile | None = None
    checkpoint: Checkpoint | None = None
    journal: Journal[BootstrapRun] | None = None
    notices: list[str] = field(default_factory=list)
    failures: dict[str, OSError] = field(default_factory=dict)

    def _open_folder(self, resume: bool) -> LearnTask:
        """Return the task with the checkpoint and the journal of its folder, validated."""
        if self.folder is None:
            return self
        methods = [self.spec.method]
        if self.incomplete is not None:
            from coevo.search import HillClimb

            methods.append(HillClimb())
        checkpoint_file = CheckpointFile(self.folder, self._fingerprint(), *methods)
        checkpoint = None
        if resume:
            checkpoint = checkpoint_file.load()
        else:
            checkpoint_file.check_replaceable()
        if resume and checkpoint is None:
            self.notices.append(checkpoint_file.describe_missing())
        journal = None
        if self.settings.bootstraps:
            from coevo.posteriors import open_journal

            folder, missing = self.folder / STRENGTH, self.settings.missing
            journal = open_journal(folder, self._bootstrap_table, self._bootstrap_spec, missing)
        return replace(
            self, checkpoint_file=checkpoint_file, checkpoint=checkpoint, journal=journal
        )

    def _fingerprint(self) -> dict[str, Any]:
        """Return the fingerprint of the search on this table."""
        if self.incomplete is None:
            return self.spec.fingerprint(self.dataset.content_hash)
        missing = self.settings.missing
        return self.spec.fingerprint(self.incomplete.content_hash, missing=missing)

    @property
    def memory(self) -> int:
        """An upper estimate of the memory of the search, in bytes."""
        own = self.scorer.estimate_memory()
        cache: int = get_defaults(ScorerOptions)["cache_bytes"]
        needed = own + self.spec.method.estimate_memory(self.dataset.n_variables)
        if self.incomplete is None:
            return needed
        from coevo.missing import N_IMPUTATIONS

        # this policy holds a scorer for each imputation at a time
        n_others = N_IMPUTATIONS - 1 if self.settings.missing == "evolve" else 0
        return needed + n_others * (own - cache)  # only one of them has a cache

    def make_progress(self) -> SearchProgress:
        """Return the progress of the search, to be updated after each generation."""
        if self.incomplete is None:
            spec = self.spec
            least = None if spec.budget.is_bounded else spec.method.least_patience
            return SearchProgress(spec.limits, self.scorer, least_patience=least)
        return SearchProgress(self.spec.budget, None)

    def search(
        self, callbacks: Iterable[Callback] = (), watch: CheckpointCallback | None = None
    ) -> LearnResult:
        """Search; Ctrl-C stops with the best network so far.

        Write the run folder, unless `run_bootstraps` will do so at once: by default it takes no
        longer than the search did. `watch` is called with the state of each generation, before the
        callbacks. It only looks.
        """
        if self.incomplete is None:
            return self._search_complete(callbacks, self._combine(watch))
        return self._search_incomplete(self.incomplete, callbacks, self._combine(watch))

    def _search_complete(
        self, callbacks: Iterable[Callback], on_checkpoint: CheckpointCallback | None
    ) -> LearnResult:
        with self._open_spec() as spec:
            result = spec.run(
                self.scorer,
                callbacks=callbacks,
                state=self.checkpoint,
                on_checkpoint=on_checkpoint,
            )
        is_empty = result.state is None or (result.generations == 0 and spec.budget.max_time)
        if is_empty and result.stop_reason == "time":
            self.notices.append(NO_GENERATION)
        with defer_interrupts():  # keep the result even if Ctrl-C comes now
            self._finish_checkpoints(result.checkpoint, result)
            return self._finish_search(self._describe(result, self.dataset, self.scorer))

    def _search_incomplete(
        self,
        table: IncompleteDataset,
        callbacks: Iterable[Callback],
        on_checkpoint: CheckpointCallback | None,
    ) -> LearnResult:
        from coevo.missing import PolicyInput, learn_with_policy

        inputs = PolicyInput(
            table,
            self.spec,
            n_jobs=self.settings.n_jobs,
            callbacks=tuple(callbacks),
            resume_from=self.checkpoint,
            on_checkpoint=on_checkpoint,
        )
        found = learn_with_policy(str(self.settings.missing), inputs)
        with defer_interrupts():  # keep the result even if Ctrl-C comes now
            self._finish_checkpoints(found.checkpoint, found.search)
            imputation = found.imputation
            return self._finish_search(
                self._describe(found.search, imputation.dataset, found.scorer, imputation)
            )

    def _finish_search(self, result: LearnResult) -> LearnResult:
        return result if self.settings.bootstraps is None else self.write(result)

    @contextlib.contextmanager
    def _open_spec(self) -> Iterator[SearchSpec]:
        """Yield the search; its islands evolve on the cluster if there is one."""
        method = self.spec.method
        if not isinstance(method, Islands):
            yield self.spec
            return
        from coevo.parallel import distribute_islands

        with distribute_islands(method, cluster=self.settings.cluster) as islands:
            yield replace(self.spec, method=islands)

    def _combine(self, watch: CheckpointCallback | None) -> CheckpointCallback | None:
        """Return what is called with each checkpoint: the file of the folder, then `watch`."""
        write = None if self.checkpoint_file is None else self.checkpoint_file.write_if_due
        if write is None or watch is None:
            return write or watch

        def call_both(checkpoint: Checkpoint) -> None:
            write(checkpoint)
            watch(checkpoint)

        return call_both

    def _finish_checkpoints(self, last: Checkpoint | None, result: SearchResult) -> None:
        if self.checkpoint_file is not None:
            self.note_failure("checkpoint", self.checkpoint_file.finish(last, result.stop_reason))

    def describe_failures(self) -> list[str]:
        """Return a sentence about each file that could not be written."""
        return [f"The run folder is not complete: {failure}" for failure in self.failures.values()]

    def note_failure(self, what: str, error: OSError | None) -> None:
        """Note whether files could be written, at the last attempt."""
        self.failures.pop(what, None)
        if error is not None:
            self.failures[what] = error

    def _describe(
        self,
        result: SearchResult,
        dataset: Table,
        scorer: Scorer,
        imputation: ImputationResult | None = None,
    ) -> LearnResult:
        """Return the result with the gains of its arcs."""
        rules = self.spec.constraints.to_rules(dataset.names)
        gains = score.arc_gains(scorer, result.dag)
        best, near_misses = self._find_rejected(result, scorer, rules)
        learned = LearnResult(
            search=result,
            spec=self.spec,
            dataset=dataset,
            columns=self.info.columns,
            decisions=self.info.decisions,
            audit=self.audit,
            gains=gains,
            effects=score.find_arc_effects(dataset, result.dag, gains),
            best_rejected=best,
            near_misses=near_misses,
            imputation=imputation,
            source=self.source,
            cluster_by=self.info.cluster_by,
        )
        if not isinstance(dataset, data.Dataset):
            learned = _detach_shards(learned, cast("Shards", dataset))
        return learned

    def adopt(self, learned: LearnResult, dag: DAG) -> LearnResult:
        """Return the result for a better structure, and write it."""
        search = replace(
            learned.search,
            dag=dag,
            score=self.scorer.score(dag),
            per_variable=self.scorer.score_per_variable(dag),
        )
        return self.write(self._describe(search, self.dataset, self.scorer))

    def _find_deadline(self, result: SearchResult) -> float:
        """Return when everything beside the search must have ended, under a time limit."""
        budget = self.spec.budget
        if budget.max_time is None:
            return math.inf
        left = max(0.0, budget.max_time - result.seconds)
        return measure_work_time() + left + SHARE_OF_GRACE * budget.grace

    def _find_rejected(
        self, result: SearchResult, scorer: Scorer, rules: ArcRules
    ) -> tuple[score.Addition | None, tuple[score.NearMiss, ...]]:
        """Return the best arc outside the network and the near misses, if there is time for it."""
        try:
            with limit_work_time(self._find_deadline(result)):
                best = score.find_best_addition(scorer, result.dag, rules)
                return best, score.find_near_misses(scorer, result.dag, rules)
        except OutOfTime:
            return None, ()

    def write(self, result: LearnResult) -> LearnResult:
        """Write the run folder, if there is one. A failure does not lose the result."""
        folder, files = self.folder, dict[str, str]()
        if folder is None:
            return result

        def write() -> None:
            written, notices = result.write(folder, self.command)
            files.update(written)
            self.notices.extend(notice for notice in notices if notice not in self.notices)

        self.note_failure("run", write_with_retries(write))
        return replace(result, files=files)

    @property
    def _bootstrap_table(self) -> Rows:
        if self.incomplete is not None:
            return self.incomplete
        assert isinstance(self.dataset, data.Dataset)  # bootstraps need the rows in memory
        return self.dataset

    @property
    def _bootstrap_spec(self) -> SearchSpec:
        """The search of each sample: without a start structure, which would favour its own arcs.

        A method that finds the start runs on each sample.
        """
        return replace(self.spec, start=None) if isinstance(self.spec.start, DAG) else self.spec

    def run_bootstraps(
        self,
        result: LearnResult,
        on_run: RunCallback[BootstrapRun] = lambda run, done, total: None,
        on_interrupt: Callable[[], object] = lambda: None,
    ) -> LearnResult:
        """Return the result with the bootstrap that the settings ask for, and write it.

        By default it is the quick one, where it does not cost too much. The full one does not
        search the original table again. A limit of the search is a limit of each sample. After an
        interrupted search no sample is run. Ctrl-C stops with the samples that are done (the quick
        one: without samples); before the first one the result is returned as it was.
        """
        n_samples = self.settings.bootstraps
        if n_samples is None:
            return self._run_quick_bootstrap(result, on_interrupt)
        if n_samples == 0 or result.search.stop_reason == "interrupt":
            return result
        from coevo.posteriors import record_original, run_bootstraps

        seconds = round(result.search.seconds, 4)
        try:
            bootstrap = run_bootstraps(
                self._bootstrap_table,
                self._bootstrap_spec,
                n_samples,
                missing=self.settings.missing,
                workers=(self.settings.n_jobs, None),
                journal=self.journal,
                original=record_original(result.search, seconds, result.gains),
                on_run=on_run,
                on_interrupt=on_interrupt,
            )
        except KeyboardInterrupt:
            return result
        with defer_interrupts():  # keep the result even if Ctrl-C comes now
            return self.write(replace(result, bootstrap=bootstrap))

    def count_quick_samples(self, result: LearnResult) -> int:
        """Return the number of samples of the quick bootstrap; 0 if there is none."""
        if self.settings.bootstraps is not None or not self._has_rows(result):
            return 0
        from coevo.posteriors import count_quick_samples

        return count_quick_samples(self._bootstrap_table, self._bootstrap_spec, result.search)

    def _has_rows(self, result: LearnResult) -> bool:
        """Return whether samples of the rows can be drawn in this process."""
        return isinstance(result.dataset, data.Dataset) and self.settings.cluster is None

    def _run_quick_bootstrap(
        self, result: LearnResult, on_interrupt: Callable[[], object]
    ) -> LearnResult:
        """Return the result with the quick bootstrap, and write it, whatever happens."""
        try:
            result = self._add_quick_bootstrap(result, on_interrupt)
        finally:
            with defer_interrupts():
                result = self.write(result)
        return result

    def _add_quick_bootstrap(
        self, result: LearnResult, on_interrupt: Callable[[], object]
    ) -> LearnResult:
        """Return the result with the quick bootstrap, where the rows are in this process."""
        if not self._has_rows(result):
            return self._note_missing_strengths(result, NOT_IN_MEMORY)
        if not self.count_quick_samples(result):
            return self._note_missing_strengths(result, TOO_COSTLY)
        from coevo.posteriors import run_quick_bootstrap

        try:
            with limit_work_time(self._find_deadline(result.search)):
                quick = run_quick_bootstrap(
                    self._bootstrap_table,
                    self._bootstrap_spec,
                    result.search,
                    result.gains,
                    self.settings.missing,
                    on_interrupt,
                )
        except OutOfTime:
            return self._note_missing_strengths(result, NO_TIME_FOR_SAMPLES)
        return replace(result, quick_bootstrap=quick)

    def _note_missing_strengths(self, result: LearnResult, reason: str) -> LearnResult:
        """Return the result with the reason, where strengths would be expected."""
        is_wanted = isinstance(self.spec.method, CCMA | Islands) and bool(result.dag.arcs)
        if not is_wanted or result.search.stop_reason == "interrupt":
            return result
        return replace(result, no_strengths=reason)


def _detach_shards(result: LearnResult, shards: Shards) -> LearnResult:
    """Return a result that stays valid when the shards are gone: with its tables fitted."""
    network, counts = None, None
    with contextlib.suppress(NetworkError):  # raised again when the network is asked for
        network, counts = fit_and_count(result.dag, shards)
    return replace(
        result,
        dataset=shards.without_rows(),
        fitted_network=network,
        fitted_counts=counts,
        traffic=shards.traffic if shards.traffic.batches else None,
    )
