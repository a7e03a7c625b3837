"""``coevo evaluate``: the log-likelihood of a table under a network."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import click

from coevo.cli.console import finite_or_none, print_json, show_status
from coevo.cli.options import format_option, source_options

if TYPE_CHECKING:
    from coevo.data import Dataset
    from coevo.network import RowLikelihood

__all__ = ["command"]


@click.command("evaluate")
@click.argument("model", metavar="FILE_OR_NETWORK")
@click.argument("data", metavar="DATA")
@click.option(
    "--per-variable",
    is_flag=True,
    help="Also print the log-likelihood of each variable given its parents.",
)
@source_options
@format_option
def command(
    model: str, data: str, per_variable: bool, opening: dict[str, Any], output_format: str
) -> None:
    """Compute the log-likelihood of a table under a network.

    DATA is a table, as for coevo learn, with a column for each variable. Numbers are put into the
    bins of the network; other columns are ignored. The log-likelihood is a natural logarithm;
    higher is better. On held-out rows, which the network was not learned from, it shows how
    well the network generalises. One impossible row makes the total -inf (null in JSON); the
    answer then also has the log-likelihood of the possible rows alone.

    \b
    coevo evaluate run/model.bif held_out.csv
    coevo evaluate alarm alarm.csv --per-variable
    """
    with show_status(f"Reading {data} ..."):
        from coevo.bundled import open_network
        from coevo.network import read_rows

        network = open_network(model)
        dataset = read_rows(network, data, **opening)
        answer = _make_answer(network.log_likelihood(dataset), dataset)
    if output_format == "json":
        print_json({**answer, "data_hash": dataset.content_hash})
        return
    total, n_rows = answer["log_likelihood"], answer["n_rows"]
    click.echo(f"total       {_format(total)}  (log-likelihood; higher is better)")
    click.echo(f"mean        {_format(answer['mean'])} per row")
    click.echo(f"rows        {n_rows:,}")
    if answer["impossible_rows"]:
        possible = answer["possible_rows"]
        click.echo(f"impossible  {answer['impossible_rows']:,}")
        if possible["n_rows"]:
            click.echo(
                f"possible    {possible['n_rows']:,}: total {_format(possible['log_likelihood'])}, "
                f"mean {_format(possible['mean'])} per row"
            )
    click.echo(f"variables   {answer['n_variables']:,}")
    if per_variable:
        click.echo("\n          total     mean per row variable")
        for name, value in answer["per_variable"].items():
            mean = None if value is None else value / n_rows
            click.echo(f"{_format(value):>15} {_format(mean):>16} {name}")


def _make_answer(likelihood: RowLikelihood, dataset: Dataset) -> dict[str, Any]:
    """Return the numbers of the answer, variables in the order of the table."""
    n_rows = dataset.n_rows
    possible = [value for value in likelihood.per_row.tolist() if value > -math.inf]
    total = math.fsum(possible)
    return {
        "log_likelihood": finite_or_none(likelihood.total),
        "mean": finite_or_none(likelihood.total / n_rows),
        "n_rows": n_rows,
        "n_variables": len(likelihood.per_variable),
        "impossible_rows": n_rows - len(possible),
        "possible_rows": {
            "n_rows": len(possible),
            "log_likelihood": total,
            "mean": total / len(possible) if possible else None,
        },
        "per_variable": {
            variable.name: finite_or_none(likelihood.per_variable[variable.name])
            for variable in dataset.source_variables
        },
    }


def _format(value: float | None) -> str:
    return "-inf" if value is None else f"{value:z.6f}"
