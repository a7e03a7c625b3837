"""``coevo paper``: the experiments of the 2011 paper."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from coevo.cli.console import announce_interrupt, show_run_progress
from coevo.cli.experiments import (
    add_output_options,
    describe_folder,
    make_data_set_options,
    print_result,
)
from coevo.cli.options import cluster_option, make_n_jobs_option, make_seed_option

if TYPE_CHECKING:
    from coevo.experiments import PaperResult

__all__ = ["command"]


@click.command("paper")
@make_data_set_options("1000,3000,5000")
@click.option(
    "--runs",
    type=click.IntRange(min=2),
    default=100,
    show_default=True,
    help="Number of runs of each algorithm on each data set.",
)
@click.option(
    "--max-generations",
    type=click.IntRange(min=0),
    default=250,
    show_default=True,
    help="Number of generations of CCGA.",
)
@click.option(
    "--population",
    type=click.IntRange(min=2),
    default=100,
    show_default=True,
    help="Number of individuals of each species of CCGA.",
)
@make_n_jobs_option("processes", "results")
@cluster_option
@make_seed_option("tables and figures")
@add_output_options
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
    """Reproduce the experiments of the 2011 paper: CCGA against K2.

    Samples the data sets and runs both algorithms. Writes tables 3 and 4 (Markdown, LaTeX,
    CSV) with the published values beside the new ones, figures 5 and 6 (PNG, SVG), one line
    per run, and a README into DIR. Ctrl-C stops; the runs that are done stay in DIR, and the
    same command resumes.

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
                f"{record.network} {record.rows} {record.algorithm}, score {record.score:z,.1f}",
            ),
            on_interrupt=announce_interrupt,
        )
    footer = describe_folder(output, figures)
    print_result(result, output, output_format, lambda: _print(result, footer))


def _print(result: PaperResult, footer: str) -> None:
    """Print the answer as text: one line per data set, without the published values."""
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
    click.echo(f"\n{footer}")
