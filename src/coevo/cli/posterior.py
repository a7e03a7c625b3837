"""``coevo posterior``: the posterior probability of every arc."""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING, Any

import click

from coevo.cli.missing import check_missing_options
from coevo.cli.options import (
    bundle_options,
    check_resume,
    format_option,
    make_cluster_option,
    make_n_jobs_option,
    make_plain_options,
    make_search_options,
    make_seed_option,
)
from coevo.cli.output import format_decisions, print_json, show_status
from coevo.cli.tables import column_options, read_declared_states
from coevo.errors import format_count
from coevo.options import ChainOptions

if TYPE_CHECKING:
    from coevo.learning.task import LearnTask
    from coevo.posteriors.result import Posterior

__all__ = ["command"]

SHOWN = 10  # edges outside the median probability graph that are printed


posterior_options = bundle_options("chosen", *make_plain_options(ChainOptions))


@click.command("posterior")
@click.argument("data", metavar="DATA")
@posterior_options
@make_search_options("Stop the chains", " (and the search before them); without it, after 60")
@column_options
@make_seed_option("answer")
@make_n_jobs_option("threads", "answer")
@make_cluster_option("Run the chains")
@click.option(
    "-o",
    "--output",
    metavar="DIR",
    help="Run folder as of coevo learn, with the posterior in DIR/posterior. It holds a checkpoint "
    "while the chains run.",
)
@click.option("--resume", is_flag=True, help="Resume the chains of the run folder, or extend them.")
@format_option
def command(
    data: str,
    chosen: dict[str, Any],
    search: dict[str, Any],
    columns: dict[str, Any],
    seed: int,
    n_jobs: int,
    cluster: str | None,
    output: str | None,
    resume: bool,
    output_format: str,
) -> None:
    """Compute the posterior probability of every arc.

    Not one network but all of them: how probable is each arc, given these rows? A network
    counts by the exponential of its score. Up to about a dozen variables all networks are summed
    exactly. Larger tables are sampled by several chains, which start from the network that a
    search finds; the answer says whether the chains agree. Edges with a probability above one
    half form the median probability graph. Ctrl-C stops the chains with what they have.

    \b
    coevo posterior patients.csv -o run/
    coevo posterior alarm.csv -s bdeu -t 300 -j 2 -o run/
    coevo posterior alarm.csv -t 600 -o run/ --resume
    coevo posterior survey.csv --prior order --format json
    """
    check_missing_options(columns)
    check_resume(resume, output)
    with show_status(f"Reading {data} ...") as show:
        from coevo.learning import check_settings, open_task
        from coevo.learning.structure_posterior import (
            describe_step,
            limit_search,
            run_posterior,
        )
        from coevo.parallel import check_cluster
        from coevo.posteriors.settings import PosteriorSettings

        check_cluster("posterior", cluster)
        declared = read_declared_states(columns["states"])
        wanted = PosteriorSettings(**chosen)
        settings = check_settings(
            "posterior",
            "--max-parents",
            **search,
            **declared.complete(columns),
            random_state=seed,
            n_jobs=n_jobs,
            bootstraps=0,
            posterior=True,
        )
        settings = limit_search(settings)
        with open_task(
            settings, data, source=data, output=output, resume=resume, command=sys.argv[1:]
        ) as task:
            declared.check(tuple(column.name for column in task.info.columns))
            show(f"Learning by {task.spec.method.name} ...")
            learned = task.search([task.make_progress().as_callback(show)])
            learned = run_posterior(
                task, learned, wanted, resume, [describe_step(show)], cluster=cluster
            )
    result = learned.posterior
    assert result is not None
    for notice in task.notices:
        print(f"Warning: {notice}", file=sys.stderr)
    if not result.is_converged:
        how = "Run on with --resume" if output else "Name a folder (-o), run on with --resume"
        print(f"{how} and a larger limit (-t, --max-steps).", file=sys.stderr)
    if output_format == "json":
        print_json(_describe(task, result))
    else:
        _print(task, result)
    for failure in task.failures.values():
        raise failure
    if result.stop_reason == "interrupt":
        print("Interrupted. The answer is based on the steps so far.", file=sys.stderr)
        raise click.exceptions.Exit(130)


def _describe(task: LearnTask, result: Posterior) -> dict[str, Any]:
    """Return the answer as plain values."""
    decisions = [decision.as_dict() for decision in task.info.decisions]
    facts = {"n_rows": task.dataset.n_rows, "n_variables": len(result.names)}
    return {**facts, "decisions": decisions, **result.as_dict()}


def _print(task: LearnTask, result: Posterior) -> None:
    """Print the answer as text."""
    spec, wanted = task.spec, result.settings
    ess = getattr(spec.score, "ess", None)
    prior = "" if ess is None else f", ess {ess:g}"
    if spec.parent_penalty:
        prior += f", {spec.parent_penalty:g} nats for each parent"
    rows = format_count(task.dataset.n_rows, "row")
    click.echo(f"table       {rows}, {format_count(len(result.names), 'variable')}")
    for line in format_decisions([decision.as_dict() for decision in task.info.decisions]):
        click.echo(line)
    over = "DAGs" if wanted.prior == "uniform" else "orders"
    click.echo(f"posterior   {result.scoring}{prior}, uniform over {over}, seed {result.seed}")
    click.echo(f"computed    {_describe_work(result)}")
    click.echo(f"            {result.verdict}")
    if result.sampler == "chains":
        click.echo(f"            {result.coverage}")
    inside = [edge for edge in result.edges if edge.probability > 0.5]
    outside = [edge for edge in result.edges if edge.probability <= 0.5]
    directed, undirected = result.median_graph
    click.echo(
        f"graph       {format_count(len(inside), 'edge')} above 0.5: "
        f"{format_count(len(directed), 'arc')}, and {len(undirected):,} without a direction"
    )
    click.echo("  probability  direction" + "  error" * (result.sampler == "chains"))
    shown = [*inside, *outside[:SHOWN]]
    arcs = set(directed)
    for edge in shown:
        known = f"{edge.error:.3f}" if math.isfinite(edge.error) else "-"
        error = f"  {known:>5}" if result.sampler == "chains" else ""
        link = "->" if (edge.parent, edge.child) in arcs else "--"
        numbers = f"  {edge.probability:>11.3f}  {edge.direction:>9.3f}{error}"
        click.echo(f"{numbers}  {edge.parent} {link} {edge.child}")
    if len(outside) > SHOWN:
        click.echo(f"  and {len(outside) - SHOWN:,} more, all in --format json")
    if task.folder is not None:
        click.echo(f"wrote       {task.folder / 'posterior'}")


def _describe_work(result: Posterior) -> str:
    """Return how the posterior was computed, and in what time."""
    families = format_count(result.n_families, "family", "families")
    if result.sampler == "exact":
        return f"exactly, from {families}, in {result.seconds:.1f} s"
    chosen, moves = result.settings, format_count(result.n_moves, "move")
    chains = f"{chosen.chains} chains"
    if result.exchange_rate is not None:
        chains += f" at {chosen.temperatures} temperatures ({result.exchange_rate:.0%} exchanged)"
    return f"by {chains}, {moves}, {families}, in {result.seconds:.1f} s"
