"""``coevo bench``: methods and other libraries on the same data sets."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from coevo.cli.experiments import (
    add_output_options,
    describe_folder,
    make_data_set_options,
    print_result,
    split_names,
)
from coevo.cli.options import (
    bundle_options,
    cluster_option,
    make_n_jobs_option,
    make_seed_option,
    score_options,
)
from coevo.cli.output import announce_interrupt, show_run_progress, show_status
from coevo.cli.run_folder import hold_folder
from coevo.cli.tables import list_reading_options, read_declared_states, reading_options
from coevo.errors import format_count

if TYPE_CHECKING:
    from coevo.experiments import BenchResult, BenchTable
    from coevo.experiments.bench import BenchRecord

__all__ = ["command"]

DEFAULT_METHODS = ("ccma,ccga,k2,hill_climb,tabu",)


def _split_peers(ctx: click.Context, parameter: click.Parameter, value: str) -> tuple[str, ...]:
    return () if value.strip() == "none" else split_names(ctx, parameter, value)


def _split_methods(
    ctx: click.Context, parameter: click.Parameter, values: tuple[str, ...]
) -> tuple[str, ...]:
    """Return all methods; settings with commas belong to the method before them.

    ``none`` discards what stands before it.
    """
    from coevo.search.registry import split_methods

    names = split_methods(values)
    is_none = [name == "none" for name in names]
    return names[len(names) - is_none[::-1].index(True) :] if any(is_none) else names


_table_options = bundle_options(
    "table_options",
    click.option(
        "--truth",
        metavar="MODEL",
        help="True structure of the tables, in any format; adds SHD, SID and F1.  [default: none]",
    ),
    click.option(
        "--held-out",
        type=click.FloatRange(min=0, max=1, min_open=True, max_open=True),
        default=0.2,
        show_default=True,
        help="Share of the rows of a table that each seed holds out. The methods learn from the "
        "others.",
    ),
    click.option(
        "--missing",
        type=click.Choice(["drop", "state"], case_sensitive=False),
        default="drop",
        show_default=True,
        help="Missing values of a table: leave out incomplete rows, or make missing a state.",
    ),
)


@click.command("bench")
@click.argument("tables", metavar="[TABLE]...", nargs=-1)
@make_data_set_options("1000,5000")
@click.option(
    "--seeds",
    type=click.IntRange(min=1),
    default=5,
    show_default=True,
    help="Number of data sets for each network and number of rows, and of splits of each table. "
    "Each method runs once on each data set.",
)
@click.option(
    "-m",
    "--methods",
    "--method",
    "methods",
    multiple=True,
    default=DEFAULT_METHODS,
    callback=_split_methods,
    help="Methods, separated by commas (or repeat the option), or none. With settings: "
    "hill_climb:restarts=5. A method of your own: MODULE:CLASS or FILE.py:CLASS.  "
    f"[default: {DEFAULT_METHODS[0]}]",
)
@click.option(
    "--peers",
    default="pyagrum,pybnesian,pgmpy,causal-learn",
    show_default=True,
    callback=_split_peers,
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
@_table_options
@reading_options
@make_n_jobs_option("runs at the same time (1 if you compare times)", "networks")
@cluster_option
@make_seed_option("data sets and searches")
@add_output_options
@click.pass_context
def command(
    context: click.Context,
    tables: tuple[str, ...],
    networks: tuple[str, ...],
    rows: tuple[int, ...],
    seeds: int,
    methods: tuple[str, ...],
    peers: tuple[str, ...],
    scoring: dict[str, Any],
    max_time: float,
    table_options: dict[str, Any],
    columns: dict[str, Any],
    n_jobs: int,
    cluster: str | None,
    seed: int,
    figures: bool,
    output: str,
    output_format: str,
) -> None:
    """Compare methods and other libraries on the same data sets.

    A data set is a sample from a network (--networks), or a part of a TABLE, which is read as by
    coevo learn. With a TABLE, no network is sampled unless --networks is given. Each run has its
    own process, and all networks are scored with the scorer of coevo. A network is compared with
    the true one. For a table, the measure is the log-likelihood of rows that were held out.

    Writes one line per run (CSV), a summary (Markdown, LaTeX, CSV), figures (PNG, SVG) and a README
    into DIR. Ctrl-C stops; the runs that are done stay in DIR, and the same command resumes.

    \b
    coevo bench --networks asia --rows 500 --seeds 3 -o quick/
    coevo bench --networks alarm,insurance --rows 1000,5000 --max-time 120 -o bench/
    coevo bench patients.csv -m ccma,tabu --peers none -o patients-bench/
    coevo bench sachs.csv --truth sachs -m ccma,ccma:orders=40,patience=50 -o sachs-bench/
    coevo bench patients.csv -m hill_climb -m lab/search.py:MySearch:depth=3 -o mine/
    """
    is_default = context.get_parameter_source("networks") is ParameterSource.DEFAULT
    _check_table_options(context, tables)
    from coevo.experiments import Bench, run_bench
    from coevo.experiments.bench import describe_missing_peer
    from coevo.score import make_score

    bench = Bench(
        networks=() if tables and is_default else networks,
        rows=rows,
        seeds=seeds,
        methods=methods,
        peers=peers,
        score=make_score(scoring["score"], scoring["ess"], "bench"),
        max_time=max_time,
        seed=seed,
        tables=_read_tables(tables, columns, table_options),
        held_out=table_options["held_out"],
        table_options=_format_table_options(columns, table_options) if tables else "",
    )
    for peer in bench.missing_peers:
        print(describe_missing_peer(peer), file=sys.stderr)
    hold_folder(output, ("README.md", "results.csv"))
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


def _check_table_options(context: click.Context, tables: tuple[str, ...]) -> None:
    """Raise a usage error for options that need a table."""
    if tables:
        return
    others = {"networks", "rows", "seeds", "methods", "peers", "score", "ess", "max_time"}
    others |= {"n_jobs", "cluster", "seed", "figures", "output", "output_format", "tables", "help"}
    for parameter in context.command.params:
        name = parameter.name or ""
        is_given = context.get_parameter_source(name) is not ParameterSource.DEFAULT
        if name not in others and is_given:
            raise click.UsageError(
                f"{parameter.opts[0]} needs a TABLE, as in coevo bench rows.csv."
            )


def _read_tables(
    paths: tuple[str, ...], columns: dict[str, Any], options: dict[str, Any]
) -> tuple[BenchTable, ...]:
    """Read the tables as ``coevo learn`` does; say on stderr what was decided about them."""
    if not paths:
        return ()
    from coevo.bundled import open_structure
    from coevo.data import IncompleteDataset
    from coevo.experiments import BenchTable
    from coevo.learning import check_settings

    true = None if options["truth"] is None else open_structure(options["truth"])
    declared = read_declared_states(columns["states"])
    settings = check_settings("bench", **declared.complete(columns), missing=options["missing"])
    found = []
    for path in paths:
        with show_status(f"Reading {path} ..."):
            table, info = settings.read_table(path)
            declared.check(tuple(column.name for column in info.columns))
        for decision in info.decisions:
            print(f"{path}: {decision}", file=sys.stderr)
        if isinstance(table, IncompleteDataset):
            print(f"{path}: {_describe_missing(table, options['missing'])}", file=sys.stderr)
            is_state = options["missing"] == "state"
            table = table.add_missing_state() if is_state else table.drop_incomplete_rows()
        found.append(BenchTable(path, table, true))
    return tuple(found)


def _describe_missing(table: Any, policy: str) -> str:
    """Return what is done with missing values."""
    values = format_count(table.n_missing, "missing value")
    if policy == "state":
        return f"{values}: missing is a state (--missing state)."
    n_left_out = table.n_rows - table.n_complete_rows
    return (
        f"{values}: {format_count(n_left_out, 'row')} of {table.n_rows:,} "
        f"{'is' if n_left_out == 1 else 'are'} left out (--missing state keeps them)."
    )


def _format_table_options(columns: dict[str, Any], options: dict[str, Any]) -> str:
    """Return the options of the tables as words of a command."""
    words = list_reading_options(columns)
    if options["truth"] is not None:
        words += ["--truth", options["truth"]]
    return shlex.join([*words, "--missing", options["missing"]])


def _describe_run(record: BenchRecord) -> str:
    """Return the run with its score, or the reason why it has none."""
    run = f"{record.network} {record.rows} seed {record.repetition} {record.method}"
    if record.status == "timeout":
        return f"{run}, timed out"
    if record.score is None:
        return f"{run}, failed: {record.error}"
    return f"{run}, score {record.score:z,.1f} in {record.seconds:.2f} s"


def _print(result: BenchResult, footer: str) -> None:
    """Print the answer as text: a table for each network or table, and number of rows."""
    from coevo.experiments.bench.report import format_summary_rows

    for setting in dict.fromkeys((s.network, s.rows) for s in result.summaries):
        rows = format_summary_rows([s for s in result.summaries if (s.network, s.rows) == setting])
        click.echo(f"{setting[0]}, {setting[1]:,} rows")
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        for cells in rows:
            first, *others = (
                cell.ljust(width) if place < 2 else cell.rjust(width)
                for place, (cell, width) in enumerate(zip(cells, widths, strict=True))
            )
            click.echo(f"  {first}  {'  '.join(others)}".rstrip())
        click.echo()
    click.echo(footer)
