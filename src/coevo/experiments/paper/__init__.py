"""The experiments of the 2011 paper: CCGA against K2 on Alarm and Insurance.

`run_paper` does the runs that are missing in a folder. It saves each run when it ends, and then
writes tables, figures and a README. The module `plan` defines the runs, and the module `report`
every number, beside the published one.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from coevo.experiments.experiment import (
    ExperimentResult,
    check_experiment,
    make_numbers_table,
    run_missing_jobs,
)
from coevo.experiments.paper.plan import (
    Paper,
    PaperRecord,
    make_paper_journal,
    run_paper_job,
    score_original_dag,
)
from coevo.experiments.paper.report import (
    PaperSummary,
    draw_convergence_figure,
    format_readme,
    make_convergence_table,
    make_figure_stem,
    make_result_table,
    make_table_stem,
    make_times_table,
    summarise,
)
from coevo.files.checkpoints import write_or_raise
from coevo.files.files import write_text
from coevo.io.journal import RunCallback
from coevo.parallel import Cluster
from coevo.view.figures import write_figure

__all__ = ["Paper", "PaperRecord", "PaperResult", "run_paper"]


class PaperResult(ExperimentResult[PaperSummary]):
    """The result of `run_paper`."""


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
    records = run_missing_jobs(
        jobs,
        journal,
        lambda workers, missing, should_stop: workers.run(run_paper_job, missing, should_stop),
        n_jobs,
        cluster,
        on_run,
        on_interrupt,
    )
    if len(records) < len(jobs):
        return PaperResult((), len(records), len(jobs))
    summaries = tuple(
        summarise(
            data,
            score_original_dag(data),
            [record for job, record in zip(jobs, records, strict=True) if job.data == data],
            paper.generations,
        )
        for data in paper.list_data_sets()
    )
    write_or_raise(lambda: _write_folder(paper, summaries, folder, figures))
    return PaperResult(summaries, len(jobs), len(jobs))


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
        ("results.csv", make_numbers_table(summaries, ("ccga_seconds", "k2_seconds")).to_csv()),
        ("convergence.csv", make_convergence_table(summaries).to_csv()),
        ("README.md", format_readme(paper, summaries, tables, figures)),
    ):
        write_text(folder / name, text)
