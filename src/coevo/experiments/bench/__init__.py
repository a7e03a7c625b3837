"""A comparison of coevo's methods and the peers on the same rows, with the same scorer.

`run_bench` does the runs that are missing in a folder, each in its own process. It saves each
run when it ends, and then writes tables, figures and a README.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from coevo.errors import FileError
from coevo.experiments.bench.plan import Bench, BenchJob, BenchTable, find_true_structure
from coevo.experiments.bench.report import (
    BenchSummary,
    describe_missing_peer,
    draw_figure,
    format_bench_command,
    format_readme,
    list_figures,
    make_summary_table,
    summarise,
)
from coevo.experiments.bench.runs import (
    ENVIRONMENT,
    BenchRecord,
    BenchRun,
    evaluate_runs,
    find_method_hash,
    get_time_limit,
    make_bench_journal,
    make_record,
    run_bench_job,
    score_true_network,
    try_method,
)
from coevo.experiments.experiment import (
    ExperimentResult,
    check_experiment,
    make_figure_stem,
    make_numbers_table,
    run_missing_jobs,
)
from coevo.files.checkpoints import write_or_raise
from coevo.files.files import write_text
from coevo.io.journal import Journal, RunCallback
from coevo.parallel import Cluster, Workers
from coevo.view.figures import write_figure

__all__ = [
    "Bench",
    "BenchRecord",
    "BenchResult",
    "BenchTable",
    "describe_missing_peer",
    "run_bench",
]


@dataclass(frozen=True)
class BenchResult(ExperimentResult[BenchSummary]):
    """The result of `run_bench`; `results` is empty after an interrupt, too."""

    results: tuple[BenchRun, ...]


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

    def run_all(
        workers: Workers, jobs: list[BenchJob], should_stop: Callable[[], bool]
    ) -> Iterator[BenchRecord]:
        outcomes = workers.run_isolated(
            run_bench_job, jobs, get_time_limit, should_stop=should_stop, environment=ENVIRONMENT
        )
        with contextlib.closing(outcomes):  # on an error, kill the running processes
            yield from map(make_record, outcomes)

    records = run_missing_jobs(jobs, journal, run_all, n_jobs, cluster, on_run, on_interrupt)
    if len(records) < len(jobs):
        return BenchResult((), len(records), len(jobs), ())

    results: list[BenchRun] = []
    n_runners = len(bench.runners)
    for i, data in enumerate(bench.list_data_sets()):
        of_data = records[i * n_runners : (i + 1) * n_runners]
        true, true_score = find_true_structure(data), score_true_network(data, bench.score)
        results += evaluate_runs(data, of_data, true, true_score)
    summaries = summarise(results)
    write_or_raise(lambda: _write_folder(bench, folder, records, results, summaries, figures))
    return BenchResult(tuple(summaries), len(records), len(jobs), tuple(results))


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
        ("results.csv", make_numbers_table(results).to_csv()),
        ("summary.csv", make_numbers_table(summaries).to_csv()),
        ("summary.md", table.to_markdown()),
        ("summary.tex", table.to_latex()),
        ("README.md", format_readme(bench, summaries, results, kinds)),
    ):
        write_text(folder / name, text)
