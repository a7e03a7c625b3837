"""The experiments of the 2011 paper: CCGA against K2 on Alarm and Insurance.

`run_paper` does the runs that are missing in a folder. It saves each run when it ends, and then
writes tables, figures and a README. The module `summary` defines every number, and the module
`published` holds the numbers of the paper.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from coevo.checkpoints import write_or_raise
from coevo.experiments.check_experiment import check_experiment
from coevo.experiments.paper.figures import draw_convergence_figure
from coevo.experiments.paper.journal import make_paper_journal
from coevo.experiments.paper.plan import Paper, PaperDataSet, PaperJob
from coevo.experiments.paper.readme import format_readme, make_figure_stem, make_table_stem
from coevo.experiments.paper.runs import (
    PaperRecord,
    run_paper_job,
    score_original_dag,
)
from coevo.experiments.paper.summary import PaperSummary, summarise
from coevo.experiments.paper.tables import (
    make_convergence_table,
    make_numbers_table,
    make_result_table,
    make_times_table,
)
from coevo.experiments.run_jobs import run_missing_jobs
from coevo.files import write_text
from coevo.io.journal import Journal, RunCallback
from coevo.parallel import Cluster, Workers, open_workers
from coevo.report import write_figure

__all__ = ["Paper", "PaperRecord", "PaperResult", "run_paper"]


@dataclass(frozen=True)
class PaperResult:
    """The result of the experiment. `summaries` is empty after an interrupt."""

    summaries: tuple[PaperSummary, ...]
    n_done: int
    n_runs: int

    @property
    def is_complete(self) -> bool:
        """Whether every run is done."""
        return self.n_done == self.n_runs


def run_paper(
    paper: Paper,
    folder: Path,
    *,
    n_jobs: int = 1,
    cluster: Cluster = None,
    figures: bool = True,
    on_run: RunCallback[PaperRecord] = lambda record, done, total: None,
    on_interrupt: Callable[[], object] = lambda: None,
) -> PaperResult:
    """Run the experiment, or the rest of it, and write its tables and figures.

    All parameters are checked before the first run. After Ctrl-C the running jobs finish and are
    saved; the same call then continues. `on_run` is called after each run with the record, the
    number of finished runs and the number of all runs. `on_interrupt` is called as soon as Ctrl-C
    is pressed. `n_jobs` processes or the workers of a `cluster` do the runs; see
    `coevo.parallel.open_workers`.
    """
    check_experiment("paper", paper.networks, folder, n_jobs, figures, cluster)
    journal = make_paper_journal(folder, paper)
    journal.open()
    jobs = paper.list_jobs()

    def open_all_workers() -> AbstractContextManager[Workers]:
        return open_workers(n_jobs, cluster)

    n_done = run_missing_jobs(run_paper_job, jobs, journal, open_all_workers, on_run, on_interrupt)
    if n_done < len(jobs):
        return PaperResult((), n_done, len(jobs))
    summaries = tuple(
        _summarise_data_set(data, jobs, journal, paper) for data in paper.list_data_sets()
    )
    write_or_raise(lambda: _write_folder(paper, summaries, folder, figures))
    return PaperResult(summaries, n_done, len(jobs))


def _summarise_data_set(
    data: PaperDataSet, jobs: list[PaperJob], journal: Journal[PaperRecord], paper: Paper
) -> PaperSummary:
    records = [journal.records[job.key] for job in jobs if job.data == data]
    return summarise(data, score_original_dag(data), records, paper.generations)


def _write_folder(
    paper: Paper, summaries: tuple[PaperSummary, ...], folder: Path, figures: bool
) -> None:
    """Write the tables, figures and README of the folder."""
    tables = {}
    for network in paper.networks:
        selected = [summary for summary in summaries if summary.data.network == network]
        tables[network] = make_result_table(network, selected)
        tables[network].write(folder / make_table_stem(network))
        if figures:
            write_figure(
                draw_convergence_figure(selected, paper.runs), folder / make_figure_stem(network)
            )
    make_times_table(summaries).write(folder / "times")
    for name, text in (
        ("results.csv", make_numbers_table(summaries).to_csv()),
        ("convergence.csv", make_convergence_table(summaries).to_csv()),
        ("README.md", format_readme(paper, summaries, tables, figures)),
    ):
        write_text(folder / name, text)
