"""``coevo strength``: how sure each arc is, over bootstrap samples of the rows."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from coevo.cli.bootstrap import bootstraps_progress, said_of_interrupt
from coevo.cli.column_options import bin_options
from coevo.cli.common import (
    answer_json,
    cluster_option,
    format_option,
    n_jobs_option,
    read_columns,
    search_options,
    seed_option,
    table_options,
    working,
)
from coevo.cli.experiments import say_stopping
from coevo.cli.missing import check_missing, lines_on_missing, missing_options

if TYPE_CHECKING:
    from coevo.bootstrap import ArcStrength, BootstrapResult
    from coevo.data import Rows
    from coevo.io import Knowledge

__all__ = ["command"]

SHOWN = 10  # arcs below the consensus that are printed, before it is said how many more


@click.command("strength")
@click.argument("data", metavar="DATA")
@click.option(
    "--bootstraps",
    type=click.IntRange(min=1),
    default=200,
    show_default=True,
    help="How many samples of the rows to learn from.",
)
@search_options("Stop each bootstrap", "; what it finds may then differ next time")
@table_options
@missing_options
@bin_options
@seed_option("answer")
@n_jobs_option("Processes", "answer")
@cluster_option
@click.option(
    "--figures/--no-figures", default=True, help="The figure needs matplotlib: coevo[plot]."
)
@click.option(
    "-o",
    "--output",
    metavar="DIR",
    help="Write the table, a figure and the consensus into this folder, and keep each "
    "bootstrap, so that the same command goes on.",
)
@format_option
def command(
    data: str,
    bootstraps: int,
    method: str,
    score_name: str,
    ess: float | None,
    max_parents: int | None,
    parent_penalty: float,
    max_time: float | None,
    max_generations: int | None,
    states: str | None,
    drop: tuple[str, ...],
    missing: str | None,
    missing_labels: tuple[str, ...],
    types: str | None,
    discretise: str | None,
    bins: int | None,
    constraints_file: str | None,
    seed: int,
    n_jobs: int,
    cluster: str | None,
    figures: bool,
    output: str | None,
    output_format: str,
) -> None:
    """Measure how sure each arc is.

    Learns a network from each of many bootstrap samples (as many rows, drawn with
    replacement) and one from DATA itself. The strength of an arc is the share of samples
    whose networks join its two variables; its direction is the share of these that lead from
    the first to the second, where what data cannot direct counts half. Arcs above a threshold
    found from the strengths (Scutari and Nagarajan 2013) make the consensus, strongest first,
    without cycles. The support of an arc is the share of the last population of ccma or ccga
    that joins the two: a hint, no probability. Ctrl-C ends with the bootstraps that are done.

    \b
    coevo strength patients.csv -j 2 -o sure/
    coevo strength alarm.csv --bootstraps 50 -m hill_climb -s bic --format json
    coevo strength gaps.csv --missing evolve -j 2 -o sure/
    """
    check_missing(missing, missing_labels)
    with working(f"Reading {data} ..."):
        from coevo.io import check_run_folder
        from coevo.learning import Plan
        from coevo.report import require_matplotlib
        from coevo.search import Budget

        plan = Plan(
            method=method,
            score=score_name,
            ess=ess,
            max_parents=max_parents,
            parent_penalty=parent_penalty,
            constraints=constraints_file,
            types=types,
            discretise=discretise,
            bins=bins,
            missing=missing,
            missing_labels=missing_labels or None,
            owner="strength",
            limit_place="--max-parents",
        )
        scoring, chosen = plan.scoring, plan.method
        budget = Budget(max_time=max_time, max_generations=max_generations)
        if output is not None:
            check_run_folder(Path(output))
            if figures:
                require_matplotlib()
        table, _ = read_columns(data, drop, states, reader=plan.read)
        known = plan.knowledge(table.names)
    options = {
        "bootstraps": bootstraps,
        "missing": missing,
        "method": chosen,
        "score": scoring,
        "budget": budget,
        "random_state": seed,
        "n_jobs": n_jobs,
        "cluster": cluster,
        "folder": output,
    }
    result = _measured(table, known, parent_penalty, options)
    facts = {
        "method": chosen.name,
        "scoring": scoring.name,
        "ess": getattr(scoring, "ess", None),
        "n_rows": table.n_rows,
        "n_variables": table.n_variables,
        "data_hash": table.content_hash,
        **_on_missing(table, missing),
    }
    files = {} if output is None else _write(result, output, figures, facts)
    if output_format == "json":
        answer_json({**facts, **result.as_dict(), **({"files": files} if files else {})})
    else:
        _print(result, facts, files)
    if not result.is_complete:
        print(said_of_interrupt(result, output, "this rests"), file=sys.stderr)
        raise click.exceptions.Exit(130)


def _on_missing(table: Rows, policy: str | None) -> dict[str, Any]:
    """Return how much is missing where, if anything is."""
    from coevo.data import IncompleteDataset

    if not isinstance(table, IncompleteDataset) or not table.n_missing:
        return {}
    return {"missing": {"policy": policy, **table.missing_facts()}}


def _measured(
    table: Rows, known: Knowledge, parent_penalty: float, options: dict[str, Any]
) -> BootstrapResult:
    """Do the bootstraps, telling of each."""
    from coevo.bootstrap import strength

    with bootstraps_progress() as tell:
        return strength(
            table,
            weights=known.weights,
            parent_penalty=parent_penalty,
            constraints=known.constraints,
            tell=tell,
            heard=say_stopping,
            **options,
        )


def _write(
    result: BootstrapResult, output: str, figures: bool, facts: dict[str, Any]
) -> dict[str, str]:
    from coevo import __version__
    from coevo.bootstrap import write_strength
    from coevo.interrupts import gentle_interrupts

    with gentle_interrupts():  # what was found is kept
        facts = {"version": __version__, "command": sys.argv[1:], **facts}
        return write_strength(result, output, figures=figures, facts=facts)


def _print(result: BootstrapResult, facts: dict[str, Any], files: dict[str, str]) -> None:
    """Print the answer for people."""
    prior = "" if facts["ess"] is None else f", ess {facts['ess']:g}"
    undirected = len(result.cpdag.edges)
    click.echo(
        f"bootstraps  {result.n_bootstraps:,} of {_n_drawn(facts):,} rows, by {facts['method']}, "
        f"{facts['scoring']}{prior}, seed {result.seed}"
    )
    for line in lines_on_missing(facts["missing"]) if "missing" in facts else ():
        click.echo(line)
    click.echo(f"threshold   {result.threshold:.4f}, found from the strengths")
    click.echo(
        f"consensus   arcs: {len(result.consensus.arcs):,}, of which data cannot direct: "
        f"{undirected:,}"
    )
    inside = [arc for arc in result.arcs if arc.in_consensus]
    outside = [arc for arc in result.arcs if not arc.in_consensus]
    supported = any(arc.support is not None for arc in result.arcs)
    click.echo("  strength  direction        gain" + "  support" * supported)
    for arc in inside:
        click.echo(_line(arc))
    if outside:
        click.echo(f"not in it   {len(outside):,}")
        for arc in outside[:SHOWN]:
            click.echo(_line(arc))
        if len(outside) > SHOWN:
            click.echo(f"  and {len(outside) - SHOWN:,} more, all in --format json")
    for path in files.values():
        click.echo(f"wrote       {path}")


def _n_drawn(facts: dict[str, Any]) -> int:
    """Return how many rows a bootstrap draws: those that are left, where some are dropped."""
    missing = facts.get("missing", {})
    n_rows: int = missing["n_complete_rows"] if missing.get("policy") == "drop" else facts["n_rows"]
    return n_rows


def _line(arc: ArcStrength) -> str:
    gain = "-" if arc.gain is None else f"{arc.gain:,.2f}"
    support = "" if arc.support is None else f"  {arc.support:>7.3f}"
    numbers = f"  {arc.strength:>8.3f}  {arc.direction:>9.3f}  {gain:>10}{support}"
    return f"{numbers}  {arc.parent} -> {arc.child}"
