"""``coevo paper``: the experiments of the 2011 paper."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from coevo.cli.experiments import (
    add_output_options,
    describe_folder,
    make_data_set_options,
    print_result,
    split_names,
)
from coevo.cli.options import cluster_option, make_n_jobs_option, make_seed_option
from coevo.cli.output import announce_interrupt, show_run_progress
from coevo.cli.run_folder import hold_folder

if TYPE_CHECKING:
    from coevo.experiments import Paper, PaperResult, Reviewed, ReviewedResult

__all__ = ["command"]


RUNS, REVIEWED_RUNS = 100, 20  # default numbers of runs


@click.command("paper")
@click.option(
    "--reviewed",
    is_flag=True,
    help="Compare all systems that the paper reviews or names, and CCMA, with the same number of "
    "evaluations.",
)
@click.option(
    "--systems",
    default=None,
    metavar="NAMES",
    show_default="all",
    callback=lambda ctx, parameter, value: value and split_names(ctx, parameter, value),
    help="Systems of --reviewed, separated by commas.",
)
@make_data_set_options("1000,3000,5000")
@click.option(
    "--runs",
    type=click.IntRange(min=2),
    default=None,
    show_default="100, with --reviewed 20",
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
    reviewed: bool,
    systems: tuple[str, ...] | None,
    networks: tuple[str, ...],
    rows: tuple[int, ...],
    runs: int | None,
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

    With --reviewed, all systems that the paper reviews or names run on the same data sets. Those
    that evolve get as many evaluations as CCGA. The README has scores, distances, paired tests and
    what comes out.

    \b
    coevo paper -j 2 -o paper/
    coevo paper --networks alarm --rows 1000 --runs 10 -o quick/
    coevo paper --reviewed -j 2 -o reviewed/
    """
    if systems is not None and not reviewed:
        raise click.UsageError("--systems needs --reviewed.")
    common: dict[str, Any] = {
        "networks": networks,
        "rows": rows,
        "seed": seed,
        "generations": max_generations,
        "population": population,
    }
    options = {"n_jobs": n_jobs, "cluster": cluster, "figures": figures}
    hold_folder(output, ("README.md", "results.csv"))
    if reviewed:
        from coevo.experiments import Reviewed

        chosen: dict[str, Any] = {} if systems is None else {"systems": systems}
        plan = Reviewed(**common, **chosen, runs=runs or REVIEWED_RUNS)
        _run_reviewed(plan, output, output_format, options)
    else:
        from coevo.experiments import Paper

        _run_paper(Paper(**common, runs=runs or RUNS), output, output_format, options)


def _run_paper(paper: Paper, output: str, output_format: str, options: dict[str, Any]) -> None:
    from coevo.experiments import run_paper

    with show_run_progress("runs") as show_run:
        result = run_paper(
            paper,
            Path(output),
            on_run=lambda record, done, total: show_run(
                done,
                total,
                f"{record.network} {record.rows} {record.algorithm}, score {record.score:z,.1f}",
            ),
            on_interrupt=announce_interrupt,
            **options,
        )
    footer = describe_folder(output, options["figures"])
    print_result(result, output, output_format, lambda: _print(result, footer))


def _run_reviewed(
    reviewed: Reviewed, output: str, output_format: str, options: dict[str, Any]
) -> None:
    from coevo.experiments import run_reviewed

    with show_run_progress("runs") as show_run:
        result = run_reviewed(
            reviewed,
            Path(output),
            on_run=lambda record, done, total: show_run(
                done,
                total,
                f"{record.network} {record.rows} {record.system}, score {record.score:z,.1f}",
            ),
            on_interrupt=announce_interrupt,
            **options,
        )
    footer = describe_folder(output, options["figures"])
    print_result(result, output, output_format, lambda: _print_reviewed(result, footer))


def _print(result: PaperResult, footer: str) -> None:
    """Print the answer as text: one line per data set, without the published values."""
    from coevo.experiments.paper.report import format_p_value

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


def _print_reviewed(result: ReviewedResult, footer: str) -> None:
    """Print the answer as text: one line per data set and system."""
    click.echo("data set         system            runs   score - true (sd)     SHD   seconds")
    label = ""
    for summary in result.summaries:
        data = f"{summary.network.capitalize()} {summary.rows}"
        sd = "" if summary.sd is None else f"({summary.sd:,.1f})"
        click.echo(
            f"{'' if data == label else data:<16} {summary.system:<16} {summary.runs:>5} "
            f"{summary.mean:>+z11,.1f} {sd:>9} {summary.mean_shd:>7.1f} "
            f"{summary.mean_seconds:>9.3f}".rstrip()
        )
        label = data
    click.echo(f"\n{footer}")
