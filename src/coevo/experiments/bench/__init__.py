"""A comparison of methods, ours and the peers', on the same rows and under one judge.

`run_bench` does the runs that a folder does not hold yet, each in a process of its own,
keeps each as it ends, and writes tables, figures and a page about them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from coevo.bundled import open_network
from coevo.experiments.bench.figures import FIGURES, figure_of
from coevo.experiments.bench.journal import bench_journal
from coevo.experiments.bench.page import bench_command, figure_stem, folder_page, not_installed
from coevo.experiments.bench.plan import Bench
from coevo.experiments.bench.records import RunRecord, record_of, true_score
from coevo.experiments.bench.results import Result, results_of
from coevo.experiments.bench.runs import ENVIRONMENT, load_kernels, run_one, seconds_allowed
from coevo.experiments.bench.summary import Summary, summarise
from coevo.experiments.bench.tables import numbers_table, results_table, summary_table
from coevo.experiments.start import check_start
from coevo.files import write_text
from coevo.interrupts import gentle_interrupts
from coevo.io.journal import Tell
from coevo.parallel import Cluster, open_workers
from coevo.report import write_figure

__all__ = ["Bench", "BenchResult", "RunRecord", "not_installed", "run_bench"]


@dataclass(frozen=True)
class BenchResult:
    """What came out; `summaries` and `results` are empty if the runs were interrupted."""

    summaries: tuple[Summary, ...]
    results: tuple[Result, ...]
    n_done: int
    n_runs: int

    @property
    def is_complete(self) -> bool:
        """Whether every run was done."""
        return self.n_done == self.n_runs


def run_bench(
    bench: Bench,
    folder: Path,
    *,
    n_jobs: int = 1,
    cluster: Cluster = None,
    figures: bool = True,
    tell: Tell[RunRecord] = lambda record, done, total: None,
    heard: Callable[[], object] = lambda: None,
) -> BenchResult:
    """Do the comparison, or what is left of it, and write its tables and figures.

    Everything is checked before the first run. Ctrl-C ends after the runs under way and
    keeps them; the same call then goes on. `heard` is called at once. With a `cluster` the
    process of a run is a child of a worker, and times are those of its machine.
    """
    bench.check_runners()
    check_start("bench", bench.networks, folder, n_jobs, figures, cluster)
    journal = bench_journal(folder, bench, bench_command(bench))
    journal.open()
    jobs = bench.jobs()
    missing = [job for job in jobs if job.key not in journal.records]
    for method in sorted({job.method for job in missing if job.kind == "ours"}):
        load_kernels(method, bench.score)  # compiled here, so that each process only loads them
    if missing:
        with open_workers(n_jobs, cluster) as workers, gentle_interrupts(heard) as interrupts:
            endings = workers.run_isolated(
                run_one,
                missing,
                seconds_allowed,
                stop=lambda: interrupts.asked,
                environment=ENVIRONMENT,
            )
            with contextlib.closing(endings):  # whatever happens, no process is left behind
                journal.keep(map(record_of, endings), len(jobs) - len(missing), len(jobs), tell)
    records = [journal.records[job.key] for job in jobs if job.key in journal.records]
    if len(records) < len(jobs):
        return BenchResult((), (), len(records), len(jobs))
    results = _results(bench, records)
    summaries = summarise(results)
    _write(bench, folder, records, results, summaries, figures)
    return BenchResult(tuple(summaries), tuple(results), len(records), len(jobs))


def _results(bench: Bench, records: list[RunRecord]) -> list[Result]:
    """Return the row of each run, in the order of the runs."""
    n_runners = len(bench.runners)
    results: list[Result] = []
    for place, data in enumerate(bench.data_sets()):
        own = records[place * n_runners : (place + 1) * n_runners]
        true = open_network(data.setting.network).dag
        results += results_of(data, own, true, true_score(data, bench.score))
    return results


def _write(
    bench: Bench,
    folder: Path,
    records: list[RunRecord],
    results: list[Result],
    summaries: list[Summary],
    figures: bool,
) -> None:
    """Write tables, figures and the page of the folder."""
    kinds = list(FIGURES) if figures else []
    rows = list(zip(records, results, strict=True))
    for network in bench.networks:
        own = [row for row in rows if row[0].network == network]
        for kind in kinds:
            write_figure(figure_of(kind, bench, network, own), folder / figure_stem(kind, network))
    table = summary_table(summaries, bench.score.label)
    for name, text in (
        ("results.csv", results_table(results).csv()),
        ("summary.csv", numbers_table(summaries).csv()),
        ("summary.md", table.markdown()),
        ("summary.tex", table.latex()),
        ("README.md", folder_page(bench, summaries, results, kinds)),
    ):
        write_text(folder / name, text)
