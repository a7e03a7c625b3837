"""``coevo score``: the score of a structure on a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from coevo.cli.options import format_option, make_n_jobs_option, score_options
from coevo.cli.output import print_json, show_status
from coevo.cli.tables import read_table, split_model, table_options

if TYPE_CHECKING:
    from coevo.graph import DAG
    from coevo.score import FamilyScorer

__all__ = ["command"]


@click.command("score")
@click.argument("data", metavar="DATA")
@click.option(
    "--structure",
    required=True,
    metavar="MODEL",
    help="Structure to score, in any format. States of a network count as declared, also those "
    "that do not occur in the rows.",
)
@score_options
@click.option("--per-variable", is_flag=True, help="Also print the local score of each variable.")
@make_n_jobs_option("threads", "answer")
@table_options
@format_option
def command(
    data: str,
    structure: str,
    scoring: dict[str, Any],
    per_variable: bool,
    n_jobs: int,
    reading: dict[str, Any],
    output_format: str,
) -> None:
    """Score a structure on a table.

    DATA is a table, as for coevo learn. Columns that the structure does not have are ignored.
    Scores are natural logarithms; higher is better.

    \b
    coevo score alarm.csv --structure alarm --score k2
    """
    from coevo.bundled import open_model
    from coevo.score import FamilyScorer, make_score

    score = make_score(scoring["score"], scoring["ess"], "score")
    with show_status(f"Reading {data} ..."):
        dag, declared = split_model(open_model(structure))
        dataset = read_table(data, reading, dag.nodes, declared)
        scorer = FamilyScorer(dataset, score, n_jobs=n_jobs)
        answer = _make_answer(scorer, dag)
    if output_format == "json":
        print_json({**answer, "data_hash": dataset.content_hash})
        return
    click.echo(f"score       {answer['score']:z.6f}")
    prior = "" if answer["ess"] is None else f", ess {answer['ess']:g}"
    click.echo(f"scoring     {score.name}{prior}: {score.formula}")
    click.echo(f"rows        {answer['n_rows']:,}")
    click.echo(f"variables   {answer['n_variables']:,}")
    click.echo(f"arcs        {answer['n_arcs']:,}")
    if per_variable:
        click.echo("\nlocal score     variable")
        for name, value in answer["per_variable"].items():
            click.echo(f"{value:>15.6f} {name}")


def _make_answer(scorer: FamilyScorer, dag: DAG) -> dict[str, Any]:
    """Return the numbers of the answer, variables in the order of the table."""
    dataset = scorer.dataset
    per_variable = scorer.score_per_variable(dag)
    return {
        "score": scorer.score(dag),
        "scoring": scorer.scoring.name,
        "ess": getattr(scorer.scoring, "ess", None),
        "n_rows": dataset.n_rows,
        "n_variables": dataset.n_variables,
        "n_arcs": len(dag.arcs),
        "per_variable": {v.name: per_variable[v.name] for v in dataset.source_variables},
    }
