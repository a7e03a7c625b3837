"""``coevo bench``: methods and other libraries on the same data sets."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from coevo.cli.console import announce_interrupt, show_run_progress
from coevo.cli.experiments import (
    add_output_options,
    describe_folder,
    make_data_set_options,
    print_result,
    split_names,
)
from coevo.cli.options import cluster_option, make_n_jobs_option, make_seed_option, score_options

if TYPE_CHECKING:
    from coevo.experiments import BenchResult
    from coevo.experiments.bench import BenchRecord

__all__ = ["command"]


def _split_names_or_none(
    ctx: click.Context, parameter: click.Parameter, value: str
) -> tuple[str, ...]:
    return () if value.strip() == "none" else split_names(ctx, parameter, value)


@click.command("bench")
@make_data_set_options("1000,5000")
@click.option(
    "--seeds",
    type=click.IntRange(min=1),
    default=5,
    show_default=True,
    help="Number of data sets for each network and number of rows. Each method runs once on "
    "each data set.",
)
@click.option(
    "--methods",
    default="ccma,ccga,k2,hill_climb,tabu",
    show_default=True,
    callback=_split_names_or_none,
    help="Methods of coevo, separated by commas, or none.",
)
@click.option(
    "--peers",
    default="pyagrum,pybnesian,pgmpy,causal-learn",
    show_default=True,
    callback=_split_names_or_none,
    help="Other libraries, separated by commas, or none. coevo[bench] installs them.",
)
@score_options
@click.option(
    "-t",
    "--max-time",
    type=float,
    default=60.0,
    show_default=True,
    metavar="SECONDS",
    help="Time limit of each run.",
)
@make_n_jobs_option("runs at the same time (1 if you compare times)", "networks")
@cluster_option
@make_seed_option("data sets and searches")
@add_output_options
def command(
    networks: tuple[str, ...],
    rows: tuple[int, ...],
    seeds: int,
    methods: tuple[str, ...],
    peers: tuple[str, ...],
    scoring: dict[str, Any],
    max_time: float,
    n_jobs: int,
    cluster: str | None,
    seed: int,
    figures: bool,
    output: str,
    output_format: str,
) -> None:
    """Compare methods and other libraries on the same data sets.

    Samples the data sets, runs each method in its own process, and scores all networks with
    the scorer of coevo. Writes one line per run (CSV), a summary (Markdown, LaTeX, CSV),
    figures (PNG, SVG) and a README into DIR. Ctrl-C stops; the runs that are done stay in
    DIR, and the same command resumes.

    \b
    coevo bench --networks asia --rows 500 --seeds 3 -o quick/
    coevo bench --networks alarm,insurance --rows 1000,5000 --max-time 120 -o bench/
    coevo bench --networks munin --methods ccma --peers none -t 600 -o munin/
    """
    from coevo.experiments import Bench, run_bench
    from coevo.experiments.bench import describe_missing_peer
    from coevo.score import make_score

    bench = Bench(
        networks=networks,
        rows=rows,
        seeds=seeds,
        methods=methods,
        peers=peers,
        score=make_score(scoring["score"], scoring["ess"], "bench"),
        max_time=max_time,
        seed=seed,
    )
    for peer in bench.missing_peers:
        print(describe_missing_peer(peer), file=sys.stderr)
    with show_run_progress("runs") as show_run:
        result = run_bench(
            bench,
            Path(output),
            n_jobs=n_jobs,
            cluster=cluster,
            figures=figures,
            on_run=lambda record, done, total: show_run(done, total, _describe_run(record)),
            on_interrupt=announce_interrupt,
        )
    footer = describe_folder(output, figures)
    print_result(result, output, output_format, lambda: _print(result, footer))


def _describe_run(record: BenchRecord) -> str:
    """Return the run with its score, or the reason why it has none."""
    run = f"{record.network} {record.rows} seed {record.repetition} {record.method}"
    if record.status == "timeout":
        return f"{run}, timed out"
    if record.score is None:
        return f"{run}, failed: {record.error}"
    return f"{run}, score {record.score:z,.1f} in {record.seconds:.2f} s"


def _print(result: BenchResult, footer: str) -> None:
    """Print the answer as text: a table for each network and number of rows."""
    from coevo.experiments.bench.tables import HEADERS, format_summary_cells

    for setting in dict.fromkeys((s.network, s.rows) for s in result.summaries):
        lines = [
            format_summary_cells(summary)
            for summary in result.summaries
            if (summary.network, summary.rows) == setting
        ]
        click.echo(f"{setting[0]}, {setting[1]:,} rows")
        widths = [max(map(len, column)) for column in zip(HEADERS, *lines, strict=True)]
        for cells in (HEADERS, *lines):
            first, *others = (
                cell.ljust(width) if place < 2 else cell.rjust(width)
                for place, (cell, width) in enumerate(zip(cells, widths, strict=True))
            )
            click.echo(f"  {first}  {'  '.join(others)}".rstrip())
        click.echo()
    click.echo(footer)
