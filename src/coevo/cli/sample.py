"""``coevo sample``: rows from a network."""

from __future__ import annotations

import sys

import click

from coevo.cli.common import seed_option, working

__all__ = ["command"]


@click.command("sample")
@click.argument("network", metavar="FILE_OR_NETWORK")
@click.option("--rows", type=click.IntRange(min=1), required=True, help="How many rows.")
@seed_option("rows")
@click.option(
    "-o",
    "--output",
    required=True,
    metavar="FILE",
    help="Where to: .csv, .tsv, both also with .gz, or .parquet.",
)
def command(network: str, rows: int, seed: int, output: str) -> None:
    """Draw rows from a network into a file.

    \b
    coevo sample alarm --rows 5000 --seed 7 -o alarm.csv
    """
    from coevo.network import sample
    from coevo.networks import open_network

    with working(f"Sampling {rows:,} rows ..."):
        from coevo.data import check_writable, write_data

        check_writable(output)
        dataset = sample(open_network(network), rows, seed)
        write_data(dataset, output)
    print(f"Wrote {rows:,} rows of {dataset.n_variables} variables to {output}.", file=sys.stderr)
