"""The systems that the 2011 paper reviews or names, on its data sets, with the same evaluations.

`run_reviewed` does the runs that are missing in a folder. It saves each run when it ends, and then
writes tables, figures and a page that says what comes out. The module `plan` lists the systems and
their runs, `summary` defines every number, and `findings` makes the sentences from the numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from coevo.experiments.experiment import (
    ExperimentResult,
    check_experiment,
    make_figure_stem,
    make_numbers_table,
    run_missing_jobs,
)
from coevo.experiments.related_methods.plan import (
    Reviewed,
    ReviewedRecord,
    make_reviewed_journal,
    run_reviewed_job,
    score_true_network,
)
from coevo.experiments.related_methods.report import (
    CURVES,
    draw_curve_figure,
    draw_score_figure,
    format_readme,
    make_evaluations_table,
    make_score_table,
    make_shd_table,
    make_test_table,
    make_times_table,
)
from coevo.experiments.related_methods.summary import (
    ReviewedResults,
    ReviewedSummary,
    make_results,
    summarise,
)
from coevo.files.checkpoints import write_or_raise
from coevo.files.files import write_text
from coevo.io.journal import RunCallback
from coevo.parallel import Cluster
from coevo.view.figures import write_figure

__all__ = ["Reviewed", "ReviewedRecord", "ReviewedResult", "run_reviewed"]


class ReviewedResult(ExperimentResult[ReviewedSummary]):
    """The result of `run_reviewed`."""


def run_reviewed(
    reviewed: Reviewed,
    folder: Path,
    *,
    n_jobs: int = 1,
    cluster: Cluster = None,
    figures: bool = True,
    on_run: RunCallback[ReviewedRecord] = lambda record, done, total: None,
    on_interrupt: Callable[[], object] = lambda: None,
) -> ReviewedResult:
    """Run the comparison, or the rest of it, and write its tables, figures and page.

    The parameters are those of `run_paper`.
    """
    check_experiment("paper", reviewed.networks, folder, n_jobs, figures, cluster)
    journal = make_reviewed_journal(folder, reviewed)
    journal.open()
    jobs = reviewed.list_jobs()
    records = run_missing_jobs(
        jobs,
        journal,
        lambda workers, missing, should_stop: workers.run(run_reviewed_job, missing, should_stop),
        n_jobs,
        cluster,
        on_run,
        on_interrupt,
    )
    if len(records) < len(jobs):
        return ReviewedResult((), len(records), len(jobs))
    data_sets = reviewed.list_data_sets()
    results = make_results(
        data_sets,
        reviewed.systems,
        {data: score_true_network(data) for data in data_sets},
        {network: reviewed.count_evaluations(network) for network in reviewed.networks},
        records,
    )
    summaries = summarise(results)
    write_or_raise(lambda: _write_folder(reviewed, results, summaries, folder, figures))
    return ReviewedResult(summaries, len(jobs), len(jobs))


def _write_folder(
    reviewed: Reviewed,
    results: ReviewedResults,
    summaries: tuple[ReviewedSummary, ...],
    folder: Path,
    figures: bool,
) -> None:
    """Write the tables, figures and page of the folder."""
    tables = {
        "scores": make_score_table(summaries),
        "shd": make_shd_table(summaries),
        "evaluations": make_evaluations_table(summaries),
        **{f"tests-{other}": make_test_table(summaries, other) for other in results.comparisons},
    }
    for name, table in {**tables, "times": make_times_table(summaries)}.items():
        table.write(folder / name)
    kinds = _write_figures(results, reviewed, folder) if figures else []
    for name, text in (
        ("results.csv", make_numbers_table(summaries, ("mean_seconds",), n_labels=3).to_csv()),
        ("README.md", format_readme(reviewed, results, tables, kinds)),
    ):
        write_text(folder / name, text)


def _write_figures(results: ReviewedResults, reviewed: Reviewed, folder: Path) -> list[str]:
    """Write the figures of each network; return their kinds."""
    draw = {"scores": draw_score_figure}
    if set(CURVES) & set(reviewed.systems):
        draw["curves"] = draw_curve_figure
    for network in reviewed.networks:
        data_sets = [data for data in results.data_sets if data.network == network]
        for kind, draw_kind in draw.items():
            write_figure(draw_kind(results, data_sets), folder / make_figure_stem(kind, network))
    return list(draw)
