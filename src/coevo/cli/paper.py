"""``coevo paper``: the experiments of the 2011 paper, repeated."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from coevo.cli.console import announce_interrupt, show_run_progress
from coevo.cli.experiments import (
    answer,
    data_set_options,
    folder_options,
    where,
)
from coevo.cli.options import cluster_option, make_n_jobs_option, make_seed_option

if TYPE_CHECKING:
    from coevo.experiments import PaperResult

__all__ = ["command"]


@click.command("paper")
@data_set_options("1000,3000,5000")
@click.option(
    "--runs",
    type=click.IntRange(min=2),
    default=100,
    show_default=True,
    help="Runs of each algorithm on each data set.",
)
@click.option(
    "--max-generations",
    type=click.IntRange(min=0),
    default=250,
    show_default=True,
    help="Generations of CCGA.",
)
@click.option(
    "--population",
    type=click.IntRange(min=2),
    default=100,
    show_default=True,
    help="Individuals of each species of CCGA.",
)
@make_n_jobs_option("Processes", "numbers")
@cluster_option
@make_seed_option("tables and figures")
@folder_options
def command(
    networks: tuple[str, ...],
    rows: tuple[int, ...],
    runs: int,
    max_generations: int,
    population: int,
    n_jobs: int,
    cluster: str | None,
    seed: int,
    figures: bool,
    output: str,
    output_format: str,
) -> None:
    """Repeat the experiments of the 2011 paper: CCGA against K2.

    Samples the data sets, runs both algorithms and writes tables 3 and 4 (Markdown, LaTeX,
    CSV) with the published values beside ours, figures 5 and 6 (PNG, SVG), one line a run,
    and a README into DIR. Ctrl-C keeps the runs that are done, and the same command goes on.

    \b
    coevo paper -j 2 -o paper/
    coevo paper --networks alarm --rows 1000 --runs 10 -o quick/
    """
    from coevo.experiments import Paper, run_paper

    paper = Paper(
        networks=networks,
        rows=rows,
        runs=runs,
        seed=seed,
        generations=max_generations,
        population=population,
    )
    with show_run_progress("runs") as show_run:
        result = run_paper(
            paper,
            Path(output),
            n_jobs=n_jobs,
            cluster=cluster,
            figures=figures,
            on_run=lambda record, done, total: show_run(
                done,
                total,
                f"{record.network} {record.rows} {record.algorithm}, score {record.score:,.1f}",
            ),
            on_interrupt=announce_interrupt,
        )
    answer(result, output, output_format, lambda: _print(result, where(figures, output)))


def _print(result: PaperResult, last: str) -> None:
    """Print the answer for people: ours, one line a data set."""
    from coevo.experiments.paper.tables import format_p_value

    click.echo(
        "data set          original DAG     CCGA mean (sd)       K2 mean (sd)        p  crossing"
    )
    for summary in result.summaries:
        ccga, k2 = summary.ccga, summary.k2
        crossing = summary.crossing_generation
        click.echo(
            f"{summary.data.label:<16} {summary.original:>13,.1f} "
            f"{ccga.mean:>11,.1f} ({ccga.sd:>5.1f}) {k2.mean:>10,.1f} ({k2.sd:>6.1f}) "
            f"{format_p_value(summary.p_value):>8} {'never' if crossing is None else crossing:>9}"
        )
    click.echo(f"\n{last}")
