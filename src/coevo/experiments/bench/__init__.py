"""A comparison of coevo's methods and the peers on the same rows, with the same scorer.

`run_bench` does the runs that are missing in a folder, each in its own process. It saves each
run when it ends, and then writes tables, figures and a README.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from coevo.checkpoints import write_or_raise
from coevo.errors import FileError
from coevo.experiments.bench.data import BenchTable, find_true_structure
from coevo.experiments.bench.figures import draw_figure, list_figures
from coevo.experiments.bench.journal import make_bench_journal
from coevo.experiments.bench.own_methods import find_method_hash, try_method
from coevo.experiments.bench.plan import Bench, BenchJob
from coevo.experiments.bench.readme import (
    describe_missing_peer,
    format_bench_command,
    format_readme,
    make_figure_stem,
)
from coevo.experiments.bench.records import BenchRecord, make_record, score_true_network
from coevo.experiments.bench.results import BenchRun, evaluate_runs
from coevo.experiments.bench.runs import ENVIRONMENT, get_time_limit, run_bench_job
from coevo.experiments.bench.summary import BenchSummary, summarise
from coevo.experiments.bench.tables import (
    make_numbers_table,
    make_results_table,
    make_summary_table,
)
from coevo.experiments.check_experiment import check_experiment
from coevo.files import write_text
from coevo.interrupts import defer_interrupts
from coevo.io.journal import Journal, RunCallback
from coevo.parallel import Cluster, open_workers
from coevo.report import write_figure

__all__ = [
    "Bench",
    "BenchRecord",
    "BenchResult",
    "BenchTable",
    "describe_missing_peer",
    "run_bench",
]


@dataclass(frozen=True)
class BenchResult:
    """The result of a comparison. `summaries` and `results` are empty after an interrupt."""

    summaries: tuple[BenchSummary, ...]
    results: tuple[BenchRun, ...]
    n_done: int
    n_runs: int

    @property
    def is_complete(self) -> bool:
        """Whether every run is done."""
        return self.n_done == self.n_runs


def run_bench(
    bench: Bench,
    folder: Path,
    *,
    n_jobs: int = 1,
    cluster: Cluster = None,
    figures: bool = True,
    on_run: RunCallback[BenchRecord] = lambda record, done, total: None,
    on_interrupt: Callable[[], object] = lambda: None,
) -> BenchResult:
    """Run the comparison, or the rest of it, and write its tables and figures.

    All parameters are checked before the first run. After Ctrl-C the running jobs finish and are
    saved; the same call then continues. `on_run` is called after each run with the record, the
    number of finished runs and the number of all runs. `on_interrupt` is called as soon as Ctrl-C
    is pressed. With a `cluster`, the process of a run is a child of a worker, and the times are
    those of the worker's machine. The runs of a method from outside coevo are repeated if its code
    has changed.
    """
    bench.check_runners()
    check_experiment("bench", bench.networks, folder, n_jobs, figures, cluster)
    journal = make_bench_journal(folder, bench, format_bench_command(bench))
    jobs = bench.list_jobs()
    _open_journal(journal, jobs, folder)
    missing = [job for job in jobs if job.key not in journal.records]
    for method in sorted({job.text for job in missing if job.kind == "ours"}):
        try_method(method, bench.score)
    if missing:
        with open_workers(n_jobs, cluster) as workers, defer_interrupts(on_interrupt) as interrupts:
            outcomes = workers.run_isolated(
                run_bench_job,
                missing,
                get_time_limit,
                should_stop=lambda: interrupts.is_pending,
                environment=ENVIRONMENT,
            )
            with contextlib.closing(outcomes):  # on an error, kill the running processes
                journal.save_runs(
                    map(make_record, outcomes), len(jobs) - len(missing), len(jobs), on_run
                )
    records = [journal.records[job.key] for job in jobs if job.key in journal.records]
    if len(records) < len(jobs):
        return BenchResult((), (), len(records), len(jobs))
    results = _evaluate(bench, records)
    summaries = summarise(results)
    write_or_raise(lambda: _write_folder(bench, folder, records, results, summaries, figures))
    return BenchResult(tuple(summaries), tuple(results), len(records), len(jobs))


def _open_journal(journal: Journal[BenchRecord], jobs: list[BenchJob], folder: Path) -> None:
    """Read the runs of the folder, without those of a method whose code has changed.

    Raise `FileError` if it holds runs on other rows of a table with the same name.
    """
    journal.open()
    hashes = {job.method: find_method_hash(job.text) for job in jobs if job.kind == "ours"}
    changed = []
    for job in jobs:
        record, table = journal.records.get(job.key), job.data.table
        if record is None:
            continue
        if table is not None and record.data_hash != table.dataset.content_hash:
            raise FileError(
                f"{str(folder)!r} holds runs on other rows of {table.name!r}. Give another folder."
            )
        if record.code_hash != hashes.get(job.method):
            changed.append(job.key)
    journal.remove(changed)


def _evaluate(bench: Bench, records: list[BenchRecord]) -> list[BenchRun]:
    """Return the evaluation of each run, in the order of the runs."""
    n_runners = len(bench.runners)
    results: list[BenchRun] = []
    for i, data in enumerate(bench.list_data_sets()):
        data_records = records[i * n_runners : (i + 1) * n_runners]
        true, true_score = find_true_structure(data), score_true_network(data, bench.score)
        results += evaluate_runs(data, data_records, true, true_score)
    return results


def _write_folder(
    bench: Bench,
    folder: Path,
    records: list[BenchRecord],
    results: list[BenchRun],
    summaries: list[BenchSummary],
    figures: bool,
) -> None:
    """Write the tables, figures and README of the folder."""
    kinds = {source: list_figures(bench, source) if figures else [] for source in bench.sources}
    rows = list(zip(records, results, strict=True))
    for source in bench.sources:
        source_rows = [row for row in rows if row[0].network == source]
        for kind in kinds[source]:
            figure = draw_figure(kind, bench, source, source_rows)
            write_figure(figure, folder / make_figure_stem(kind, source))
    table = make_summary_table(summaries, bench.score.label)
    for name, text in (
        ("results.csv", make_results_table(results).to_csv()),
        ("summary.csv", make_numbers_table(summaries).to_csv()),
        ("summary.md", table.to_markdown()),
        ("summary.tex", table.to_latex()),
        ("README.md", format_readme(bench, summaries, results, kinds)),
    ):
        write_text(folder / name, text)
