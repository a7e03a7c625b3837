"""``coevo networks``: the list of bundled networks."""

from __future__ import annotations

from dataclasses import asdict

import click

from coevo.cli.options import format_option
from coevo.cli.output import print_json

__all__ = ["command"]


@click.command("networks")
@format_option
def command(output_format: str) -> None:
    """List the bundled networks.

    These are published networks that come with coevo. Give the name of one to any command
    that takes MODEL.

    \b
    coevo networks
    coevo sample asia --rows 1000 -o asia.csv
    """
    from coevo.bundled import read_network_index

    index = read_network_index()
    if output_format == "json":
        print_json({"networks": [asdict(info) for info in index]})
        return
    click.echo("name        variables   arcs  parameters   max parents  states  about")
    for info in index:
        states = f"{info.min_states}-{info.max_states}"
        click.echo(
            f"{info.name:<12}{info.n_variables:>9,}{info.n_arcs:>7,}{info.n_parameters:>12,}"
            f"{info.max_parents:>14}{states:>8}  {info.domain}"
        )
