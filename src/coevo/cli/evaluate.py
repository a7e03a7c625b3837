"""``coevo evaluate``: how probable the rows of a table are under a network."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import click

from coevo.cli.console import finite_or_none, print_json, show_status
from coevo.cli.options import format_option

if TYPE_CHECKING:
    from coevo.data import Dataset
    from coevo.network import RowLikelihood

__all__ = ["command"]


@click.command("evaluate")
@click.argument("model", metavar="FILE_OR_NETWORK")
@click.argument("data", metavar="DATA")
@click.option(
    "--per-variable", is_flag=True, help="Print what each variable, given its parents, adds."
)
@format_option
def command(model: str, data: str, per_variable: bool, output_format: str) -> None:
    """Say how probable the rows of a table are under a network.

    DATA is a CSV or Parquet file with a column for each variable; numbers go into the bins of
    the network, and other columns are left alone. Rows that the network was not learned from
    show how well it generalises. The answer is the log-likelihood, a natural logarithm; higher
    is better. A single row that is impossible makes it -inf (null in JSON), so that the rows
    that are possible are also told by themselves.

    \b
    coevo evaluate run/model.bif held_out.csv
    coevo evaluate alarm alarm.csv --per-variable
    """
    with show_status(f"Reading {data} ..."):
        from coevo.bundled import open_network
        from coevo.network import read_rows

        network = open_network(model)
        dataset = read_rows(network, data)
        answer = _answer(network.log_likelihood(dataset), dataset)
    if output_format == "json":
        print_json({**answer, "data_hash": dataset.content_hash})
        return
    total, n_rows = answer["log_likelihood"], answer["n_rows"]
    click.echo(f"total       {_number(total)}  (log-likelihood; higher is better)")
    click.echo(f"mean        {_number(answer['mean'])} a row")
    click.echo(f"rows        {n_rows:,}")
    if answer["impossible_rows"]:
        possible = answer["possible_rows"]
        click.echo(f"impossible  {answer['impossible_rows']:,}")
        if possible["n_rows"]:
            click.echo(
                f"possible    {possible['n_rows']:,}: total {_number(possible['log_likelihood'])}, "
                f"mean {_number(possible['mean'])} a row"
            )
    click.echo(f"variables   {answer['n_variables']:,}")
    if per_variable:
        click.echo("\n          total       mean a row variable")
        for name, value in answer["per_variable"].items():
            mean = None if value is None else value / n_rows
            click.echo(f"{_number(value):>15} {_number(mean):>16} {name}")


def _answer(found: RowLikelihood, dataset: Dataset) -> dict[str, Any]:
    """Return the numbers of the answer, variables in the order of the table."""
    n_rows = dataset.n_rows
    possible = [value for value in found.per_row.tolist() if value > -math.inf]
    total = math.fsum(possible)
    return {
        "log_likelihood": finite_or_none(found.total),
        "mean": finite_or_none(found.total / n_rows),
        "n_rows": n_rows,
        "n_variables": len(found.per_variable),
        "impossible_rows": n_rows - len(possible),
        "possible_rows": {
            "n_rows": len(possible),
            "log_likelihood": total,
            "mean": total / len(possible) if possible else None,
        },
        "per_variable": {
            variable.name: finite_or_none(found.per_variable[variable.name])
            for variable in dataset.source_variables
        },
    }


def _number(value: float | None) -> str:
    return "-inf" if value is None else f"{value:.6f}"
