"""``coevo convert``: the same network, or structure, in another format."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from coevo.cli.console import show_warnings
from coevo.errors import ParameterError

if TYPE_CHECKING:
    from coevo.io import Format, Model

__all__ = ["NAMES", "command"]

STDOUT = "-"
NAMES = "bif, xmlbif, net, json, dot, graphml, adjacency, edges, modelstring"


@click.command("convert")
@click.argument("source", metavar="IN")
@click.argument("target", metavar="OUT")
@click.option(
    "--from", "from_name", metavar="FORMAT", help="The format of IN, whatever its ending."
)
@click.option("--to", "to_name", metavar="FORMAT", help="The format of OUT, whatever its ending.")
def command(source: str, target: str, from_name: str | None, to_name: str | None) -> None:
    """Write a network or a structure in another format.

    IN is a file of any format or the name of a bundled network; OUT is a file, or - for the
    standard output. Endings decide, also with .gz behind them, unless a format is named:

    \b
    with tables      bif (.bif), xmlbif (.xmlbif, .bifxml, .xml), net (.net), json (.json)
    structure only   dot (.dot, .gv), graphml (.graphml), modelstring (.txt),
                     adjacency (.adjacency.csv), edges (.edges.csv)

    JSON also holds structures without tables. Where OUT has no place for tables, they are
    left out and that is said.

    \b
    coevo convert alarm alarm.bif
    coevo convert run/model.bif model.xmlbif
    coevo convert asia - --to modelstring
    """
    from pathlib import Path

    from coevo.bundled import open_model
    from coevo.io import format_model
    from coevo.io.formats import get_format
    from coevo.io.text_files import write_text_file

    if from_name is not None:
        get_format(from_name, "--from", "convert")
    known = _target_format(target, to_name)
    with show_warnings():
        model = open_model(source, from_name)
    text = format_model(model, known.name)
    if target == STDOUT:
        click.echo(text, nl=False)
    else:
        write_text_file(Path(target), text)
    _report(model, known, target)


def _target_format(target: str, name: str | None) -> Format:
    """Return the format to write, or say that nothing names it."""
    from coevo.io.formats import find_format, get_format

    if name is not None:
        return get_format(name, "--to", "convert")
    if target == STDOUT:
        raise ParameterError(f"'--to' of convert must be given where OUT is '-': one of {NAMES}.")
    return find_format(target)


def _report(model: Model, known: Format, target: str) -> None:
    """Say on stderr what was written, and what was left out."""
    from coevo.graph import DAG

    is_structure = isinstance(model, DAG)
    dag = model if isinstance(model, DAG) else model.dag
    kind = "network" if known.has_tables and not is_structure else "structure"
    size = f"{len(dag.nodes):,} variables, arcs: {len(dag.arcs):,}"
    where = "the standard output" if target == STDOUT else target
    left_out = "" if known.has_tables or is_structure else " Its states and tables were left out."
    print(f"Wrote a {kind} ({size}) to {where}.{left_out}", file=sys.stderr)
