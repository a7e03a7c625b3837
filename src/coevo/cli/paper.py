"""``coevo paper``: the experiments of the 2011 paper, repeated."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from coevo.cli.common import answer_json, format_option, n_jobs_option, seed_option
from coevo.cli.progress import runs_progress

if TYPE_CHECKING:
    from coevo.experiments import PaperResult

__all__ = ["command"]


def _numbers(ctx: click.Context, parameter: click.Parameter, value: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in value.split(","))
    except ValueError:
        raise click.BadParameter(
            f"{value!r} is not a list of whole numbers, as in 1000,5000."
        ) from None


@click.command("paper")
@click.option(
    "--networks",
    default="alarm,insurance",
    show_default=True,
    help="Bundled networks or BIF files, separated by commas.",
)
@click.option(
    "--rows",
    default="1000,3000,5000",
    show_default=True,
    callback=_numbers,
    help="Sizes of the data sets.",
)
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
@n_jobs_option("Processes", "numbers")
@seed_option("tables and figures")
@click.option("--figures/--no-figures", default=True, help="Figures need matplotlib: coevo[plot].")
@click.option("-o", "--output", metavar="DIR", required=True, help="Where to write everything.")
@format_option
def command(
    networks: str,
    rows: tuple[int, ...],
    runs: int,
    max_generations: int,
    population: int,
    n_jobs: int,
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
        networks=tuple(name.strip() for name in networks.split(",") if name.strip()),
        rows=rows,
        runs=runs,
        seed=seed,
        generations=max_generations,
        population=population,
    )
    with runs_progress("runs") as tell:
        result = run_paper(
            paper,
            Path(output),
            n_jobs=n_jobs,
            figures=figures,
            tell=lambda record, done, total: tell(
                done,
                total,
                f"{record.network} {record.rows} {record.algorithm}, score {record.score:,.1f}",
            ),
            heard=lambda: print("Stopping after the runs under way ...", file=sys.stderr),
        )
    if not result.is_complete:
        print(
            f"Interrupted; {result.n_done} of {result.n_runs} runs are kept in {output}. "
            "The same command goes on.",
            file=sys.stderr,
        )
        raise click.exceptions.Exit(130)
    if output_format == "json":
        answer_json([summary.as_dict() for summary in result.summaries])
    else:
        _print(result, f"Tables{', figures' if figures else ''} and a README are in {output}.")


def _print(result: PaperResult, where: str) -> None:
    """Print the answer for people: ours, one line a data set."""
    from coevo.experiments.paper.tables import p_text

    click.echo(
        "data set          original DAG     CCGA mean (sd)       K2 mean (sd)        p  crossing"
    )
    for summary in result.summaries:
        ccga, k2 = summary.ccga, summary.k2
        crossing = summary.crossing_generation
        click.echo(
            f"{summary.data.label:<16} {summary.original:>13,.1f} "
            f"{ccga.mean:>11,.1f} ({ccga.sd:>5.1f}) {k2.mean:>10,.1f} ({k2.sd:>6.1f}) "
            f"{p_text(summary.p_value):>8} {'never' if crossing is None else crossing:>9}"
        )
    click.echo(f"\n{where}")
