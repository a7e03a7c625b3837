"""``coevo sample``: rows sampled from a network."""

from __future__ import annotations

import sys

import click

from coevo.cli.evidence_args import exact_option, given_option, read_given
from coevo.cli.options import make_seed_option
from coevo.cli.output import show_status
from coevo.errors import format_count

__all__ = ["command"]


@click.command("sample")
@click.argument("network", metavar="MODEL")
@click.option("--rows", type=click.IntRange(min=1), required=True, help="Number of rows.")
@make_seed_option("rows")
@given_option
@exact_option
@click.option(
    "-o",
    "--output",
    required=True,
    metavar="FILE",
    help="File to write: .csv, .tsv, .csv.gz, .tsv.gz or .parquet.",
)
def command(
    network: str, rows: int, seed: int, given: tuple[str, ...], exact: bool, output: str
) -> None:
    """Sample rows from a network into a file.

    With --given, the rows come from the distribution given the evidence: the named variables
    have the given states in every row.

    \b
    coevo sample alarm --rows 5000 --seed 7 -o alarm.csv
    coevo sample alarm --rows 5000 --given HR=HIGH,CO=LOW -o high.csv
    """
    from coevo.bundled import open_network
    from coevo.network import sample

    with show_status(f"Sampling {rows:,} rows ..."):
        from coevo.data import check_writable, write_data

        check_writable(output)
        source = open_network(network)
        dataset = sample(source, rows, seed, read_given(source, given), exact)
        write_data(dataset, output)
    size = f"{format_count(rows, 'row')} of {format_count(dataset.n_variables, 'variable')}"
    print(f"Wrote {size} to {output}.", file=sys.stderr)
