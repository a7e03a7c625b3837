"""The experiments of the 2011 paper: CCGA against K2 on Alarm and Insurance.

`run_paper` does the runs that a folder does not hold yet, keeps each as it ends, and writes
tables, figures and a page about them. What every number means stands in `summary`, what the
paper printed in `published`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from coevo.experiments.paper.figures import convergence_figure
from coevo.experiments.paper.journal import paper_journal
from coevo.experiments.paper.page import figure_stem, folder_page, table_stem
from coevo.experiments.paper.plan import DataSet, Job, Paper
from coevo.experiments.paper.runs import RunRecord, load_kernels, original_score, run_one
from coevo.experiments.paper.summary import Summary, summarise
from coevo.experiments.paper.tables import (
    convergence_table,
    numbers_table,
    result_table,
    times_table,
)
from coevo.experiments.start import check_start
from coevo.files import write_text
from coevo.interrupts import gentle_interrupts
from coevo.io.journal import Journal, Tell
from coevo.parallel import Cluster, open_workers
from coevo.report import write_figure

__all__ = ["Paper", "PaperResult", "RunRecord", "run_paper"]


@dataclass(frozen=True)
class PaperResult:
    """What came out; `summaries` are empty if the runs were interrupted."""

    summaries: tuple[Summary, ...]
    n_done: int
    n_runs: int

    @property
    def is_complete(self) -> bool:
        """Whether every run was done."""
        return self.n_done == self.n_runs


def run_paper(
    paper: Paper,
    folder: Path,
    *,
    n_jobs: int = 1,
    cluster: Cluster = None,
    figures: bool = True,
    tell: Tell[RunRecord] = lambda record, done, total: None,
    heard: Callable[[], object] = lambda: None,
) -> PaperResult:
    """Do the experiment, or what is left of it, and write its tables and figures.

    Everything is checked before the first run. Ctrl-C ends after the runs under way and
    keeps them; the same call then goes on. `heard` is called at once. Runs are done by
    `n_jobs` processes or by the workers of a `cluster`; see `coevo.parallel.open_workers`.
    """
    check_start("paper", paper.networks, folder, n_jobs, figures, cluster)
    journal = paper_journal(folder, paper)
    journal.open()
    jobs = paper.jobs()
    missing = [job for job in jobs if job.key not in journal.records]
    if missing:
        load_kernels()  # here first, so that several processes do not compile the same
        with open_workers(n_jobs, cluster) as workers, gentle_interrupts(heard) as interrupts:
            runs = workers.run(run_one, missing, stop=lambda: interrupts.asked)
            journal.keep(runs, len(jobs) - len(missing), len(jobs), tell)
    n_done = sum(job.key in journal.records for job in jobs)
    if n_done < len(jobs):
        return PaperResult((), n_done, len(jobs))
    summaries = tuple(_summary(data, jobs, journal, paper) for data in paper.data_sets())
    _write(paper, summaries, folder, figures)
    return PaperResult(summaries, n_done, len(jobs))


def _summary(data: DataSet, jobs: list[Job], journal: Journal[RunRecord], paper: Paper) -> Summary:
    records = [journal.records[job.key] for job in jobs if job.data == data]
    return summarise(data, original_score(data), records, paper.generations)


def _write(paper: Paper, summaries: tuple[Summary, ...], folder: Path, figures: bool) -> None:
    """Write tables, figures and the page of the folder."""
    tables = {}
    for network in paper.networks:
        own = [summary for summary in summaries if summary.data.network == network]
        tables[network] = result_table(network, own)
        tables[network].write(folder / table_stem(network))
        if figures:
            write_figure(convergence_figure(own, paper.runs), folder / figure_stem(network))
    times_table(summaries).write(folder / "times")
    for name, text in (
        ("results.csv", numbers_table(summaries).csv()),
        ("convergence.csv", convergence_table(summaries).csv()),
        ("README.md", folder_page(paper, summaries, tables, figures)),
    ):
        write_text(folder / name, text)
