"""``coevo strength``: the strength of each arc over bootstrap samples of the rows."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from coevo.cli.learn_output import format_clusters
from coevo.cli.missing import check_missing_options, format_missing
from coevo.cli.options import (
    cluster_option,
    format_option,
    make_n_jobs_option,
    make_search_options,
    make_seed_option,
)
from coevo.cli.output import (
    announce_interrupt,
    format_decisions,
    print_json,
    show_run_progress,
    show_status,
)
from coevo.cli.run_folder import hold_folder
from coevo.cli.tables import column_options, read_declared_states
from coevo.errors import DependencyError, format_count

if TYPE_CHECKING:
    from coevo.data import Rows
    from coevo.posteriors import ArcStrength, BootstrapResult, BootstrapRun
    from coevo.search import SearchSpec

__all__ = ["command", "describe_interrupt", "show_bootstrap_progress"]


# What ``coevo strength`` and ``coevo learn --bootstraps`` share: progress and interrupts.


@contextlib.contextmanager
def show_bootstrap_progress() -> Iterator[Callable[[BootstrapRun, int, int], None]]:
    """Show a progress bar; yield a function to call after each run of a bootstrap."""
    with show_run_progress("networks") as show:

        def show_run(run: BootstrapRun, done: int, total: int) -> None:
            name = f"sample {run.bootstrap:,}" if run.bootstrap else "the original table"
            show(
                done,
                total,
                f"{name}, score {run.score:z,.1f}, {format_count(len(run.arcs), 'arc')}",
            )

        yield show_run


def describe_interrupt(result: BootstrapResult, output: str | None, subject: str) -> str:
    """Return the sentence after Ctrl-C: the number of samples that `subject` is based on."""
    done, asked = result.n_bootstraps, result.n_asked
    sentence = f"Interrupted. {subject} on {done:,} of {asked:,} bootstrap samples."
    return sentence if output is None else f"{sentence} Repeat the command to resume."


SHOWN = 10  # arcs outside the consensus that are printed before the rest is only counted


@click.command("strength")
@click.argument("data", metavar="DATA")
@click.option(
    "--bootstraps",
    type=click.IntRange(min=1),
    default=200,
    show_default=True,
    help="Number of bootstrap samples.",
)
@make_search_options("Stop each sample", "; its network may then differ from run to run")
@column_options
@make_seed_option("answer")
@make_n_jobs_option("processes", "answer")
@cluster_option
@click.option(
    "--figures/--no-figures",
    default=None,
    help="Whether to draw the figure.  [default: if matplotlib is installed, see coevo[plot]]",
)
@click.option(
    "-o",
    "--output",
    metavar="DIR",
    help="Write the table, a figure and the consensus into this folder, and store each sample, so "
    "that the same command resumes.",
)
@format_option
def command(
    data: str,
    bootstraps: int,
    search: dict[str, Any],
    columns: dict[str, Any],
    seed: int,
    n_jobs: int,
    cluster: str | None,
    figures: bool | None,
    output: str | None,
    output_format: str,
) -> None:
    """Measure the strength of each arc over bootstrap samples.

    Learns a network from each of many bootstrap samples (as many rows, drawn with
    replacement) and one from DATA itself. The strength of an arc is the share of samples
    whose networks join its two variables, with its 95 % interval. -> is the share of these
    samples in which the data direct the edge this way (in the CPDAG), <- the share of the
    other way; the others leave it undirected. Arcs above a threshold estimated from the
    strengths (Scutari and Nagarajan 2013) form the consensus, strongest first, without
    cycles. The support of an arc is the share of the last population of ccma or ccga that
    joins its two variables; it is not a probability. Ctrl-C stops with the samples that are
    done.

    \b
    coevo strength patients.csv -j 2 -o strength/
    coevo strength alarm.csv --bootstraps 50 -m hill_climb -s bic --format json
    coevo strength incomplete.csv -j 2 -o strength/
    """
    check_missing_options(columns)
    with show_status(f"Reading {data} ..."):
        from coevo.data import IncompleteDataset
        from coevo.io import check_run_folder
        from coevo.learning import check_settings
        from coevo.parallel import check_cluster
        from coevo.posteriors import open_journal, run_bootstraps

        declared = read_declared_states(columns["states"])
        settings = check_settings(
            "strength",
            "--max-parents",
            **search,
            **declared.complete(columns),
            random_state=seed,
            n_jobs=n_jobs,
        )
        check_cluster("strength", cluster)
        if output is not None:
            check_run_folder(Path(output))
            figures = _choose_figures(figures)
            hold_folder(output, ("strength.csv", "strength.md", "runs.jsonl"))
        table, info = settings.read_table(data)
        declared.check(tuple(column.name for column in info.columns))
        spec = settings.resolve_spec(table.names)
        missing = settings.missing
        journal = None if output is None else open_journal(Path(output), table, spec, missing)
    with show_bootstrap_progress() as show_run:
        result = run_bootstraps(
            table,
            spec,
            bootstraps,
            missing=missing,
            workers=(n_jobs, cluster),
            journal=journal,
            on_run=show_run,
            on_interrupt=announce_interrupt,
        )
    facts = _describe(table, spec, missing)
    if info.cluster_by is not None:
        rows = table.dataset if isinstance(table, IncompleteDataset) else table
        facts["clusters"] = {"column": info.cluster_by, "n_clusters": rows.n_clusters}
    facts["decisions"] = [decision.as_dict() for decision in info.decisions]
    files, failure = _write(result, output, bool(figures), facts)
    if output_format == "json":
        print_json({**facts, **result.as_dict(), **({"files": files} if files else {})})
    else:
        _print(result, facts, files)
    if failure is not None:
        raise failure
    if not result.is_complete:
        print(describe_interrupt(result, output, "The answer is based"), file=sys.stderr)
        raise click.exceptions.Exit(130)


def _choose_figures(figures: bool | None) -> bool:
    """Return whether to draw the figure; warn if nobody asked for it and the library is missing."""
    from coevo.view.figures import require_matplotlib

    if figures is False:
        return False
    try:
        require_matplotlib()
    except DependencyError as error:
        if figures:
            raise
        print(f"Warning: The figure of arc strengths is not written. {error}", file=sys.stderr)
        return False
    return True


def _describe(table: Rows, spec: SearchSpec, missing: str) -> dict[str, Any]:
    """Return the facts about the table and the search; with missing values, how many."""
    from coevo.data import IncompleteDataset

    facts = {
        "method": spec.method.name,
        "scoring": spec.score.name,
        "ess": getattr(spec.score, "ess", None),
        "parent_penalty": spec.parent_penalty,
        "sparse_penalty": spec.sparse_penalty,
        "n_rows": table.n_rows,
        "n_variables": table.n_variables,
        "data_hash": table.content_hash,
    }
    if isinstance(table, IncompleteDataset) and table.n_missing:
        facts["missing"] = {"policy": missing, **table.summarise_missing()}
    return facts


def _write(
    result: BootstrapResult, output: str | None, figures: bool, facts: dict[str, Any]
) -> tuple[dict[str, str], OSError | None]:
    """Write the files; return them, or the error: the answer is printed all the same."""
    from coevo import __version__
    from coevo.files.checkpoints import write_with_retries
    from coevo.posteriors import write_strength
    from coevo.runtime.deadline import defer_interrupts

    files = dict[str, str]()
    if output is None:
        return files, None
    folder, facts = output, {"version": __version__, "command": sys.argv[1:], **facts}
    with defer_interrupts():  # keep the result even if Ctrl-C comes now
        failure = write_with_retries(
            lambda: files.update(write_strength(result, folder, figures=figures, facts=facts))
        )
    return files, failure


def _print(result: BootstrapResult, facts: dict[str, Any], files: dict[str, str]) -> None:
    """Print the answer as text."""
    prior = "" if facts["ess"] is None else f", ess {facts['ess']:g}"
    if facts["parent_penalty"]:
        prior += f", {facts['parent_penalty']:g} nats for each parent"
    n_arcs, n_edges = len(result.consensus.arcs), len(result.cpdag.edges)
    click.echo(
        f"bootstraps  {format_count(result.n_bootstraps, 'sample')} of "
        f"{format_count(_count_drawn(facts), 'row')}, by {facts['method']}, "
        f"{facts['scoring']}{prior}, seed {result.seed}"
    )
    if "clusters" in facts:
        click.echo(format_clusters(facts["clusters"]))
    for line in format_decisions(facts["decisions"]):
        click.echo(line)
    for line in format_missing(facts["missing"]) if "missing" in facts else ():
        click.echo(line)
    click.echo(f"threshold   {result.threshold:.4f}, estimated from the strengths")
    click.echo(
        f"consensus   {format_count(n_arcs, 'arc')}, of which data alone cannot direct {n_edges:,}"
    )
    inside = [arc for arc in result.arcs if arc.in_consensus]
    outside = [arc for arc in result.arcs if not arc.in_consensus]
    has_support = any(arc.support is not None for arc in result.arcs)
    click.echo("  strength                    ->     <-        gain" + "  support" * has_support)
    for arc in inside:
        click.echo(_format_arc(arc))
    if outside:
        click.echo(f"outside     {format_count(len(outside), 'arc')} not in the consensus")
        for arc in outside[:SHOWN]:
            click.echo(_format_arc(arc))
        if len(outside) > SHOWN:
            click.echo(f"  and {len(outside) - SHOWN:,} more, all in --format json")
    for path in files.values():
        click.echo(f"wrote       {path}")


def _count_drawn(facts: dict[str, Any]) -> int:
    """Return the number of rows of a sample: the complete rows, if others are dropped."""
    missing = facts.get("missing", {})
    n_rows: int = missing["n_complete_rows"] if missing.get("policy") == "drop" else facts["n_rows"]
    return n_rows


def _format_arc(arc: ArcStrength) -> str:
    gain = "-" if arc.gain is None else f"{arc.gain:z,.2f}"
    support = "" if arc.support is None else f"  {arc.support:>7.3f}"
    low, high = arc.interval
    strength = f"{arc.strength:>8.3f} ({low:.2f} to {high:.2f})"
    shares = f"{arc.direction:>5.3f}  {arc.reverse:>5.3f}"
    return f"  {strength}  {shares}  {gain:>10}{support}  {arc.parent} -> {arc.child}"
