"""``coevo convert``: the same network in another format."""

from __future__ import annotations

import sys

import click

from coevo.cli.common import plain_warnings
from coevo.errors import ParameterError

__all__ = ["command"]

SUFFIXES = (".bif", ".bif.gz")


@click.command("convert")
@click.argument("source", metavar="IN")
@click.argument("target", metavar="OUT")
def command(source: str, target: str) -> None:
    """Write a network in another format.

    IN is a BIF file of any dialect or the name of a bundled network; OUT ends in .bif or
    .bif.gz.

    \b
    coevo convert alarm alarm.bif
    """
    from coevo.io import write_bif
    from coevo.networks import open_network

    if not target.lower().endswith(SUFFIXES):
        listed = ", ".join(SUFFIXES)
        raise ParameterError(f"'OUT' of convert must end in one of {listed}; got {target!r}.")
    with plain_warnings():
        network = open_network(source)
    write_bif(network, target)
    n_variables, n_arcs = len(network.variables), len(network.dag.arcs)
    print(
        f"Wrote a network ({n_variables:,} variables, arcs: {n_arcs:,}) to {target}.",
        file=sys.stderr,
    )
