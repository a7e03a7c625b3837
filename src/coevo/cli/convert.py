"""``coevo convert``: a network or a structure in another format."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from coevo.cli.console import show_warnings
from coevo.errors import ParameterError, format_count

if TYPE_CHECKING:
    from coevo.io import Format, Model

__all__ = ["command"]

STDOUT = "-"


@click.command("convert")
@click.argument("source", metavar="IN")
@click.argument("target", metavar="OUT")
@click.option(
    "--from", "from_name", metavar="FORMAT", help="Format of IN.  [default: by its extension]"
)
@click.option(
    "--to", "to_name", metavar="FORMAT", help="Format of OUT.  [default: by its extension]"
)
def command(source: str, target: str, from_name: str | None, to_name: str | None) -> None:
    """Write a network or a structure in another format.

    IN is a file of any format or the name of a bundled network. OUT is a file, or - for
    standard output. The extension gives the format, also before .gz, unless --from or --to
    does:

    \b
    with tables      bif (.bif), xmlbif (.xmlbif, .bifxml, .xml), net (.net), json (.json)
    structure only   dot (.dot, .gv), graphml (.graphml), modelstring (.txt),
                     adjacency (.adjacency.csv), edges (.edges.csv)

    JSON also holds structures without tables. A format for structures only leaves the states
    and tables out; a message says so.

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
    target_format = _choose_format(target, to_name)
    with show_warnings():
        model = open_model(source, from_name)
    text = format_model(model, target_format.name)
    if target == STDOUT:
        click.echo(text, nl=False)
    else:
        write_text_file(Path(target), text)
    _print_summary(model, target_format, target)


def _choose_format(target: str, name: str | None) -> Format:
    """Return the format to write: that of ``--to``, or of the extension."""
    from coevo.io.formats import FORMATS, find_format, get_format

    if name is not None:
        return get_format(name, "--to", "convert")
    if target == STDOUT:
        raise ParameterError(
            f"OUT is '-', which has no extension. Name its format with --to: {', '.join(FORMATS)}."
        )
    return find_format(target)


def _print_summary(model: Model, target_format: Format, target: str) -> None:
    """Print to stderr what was written, and what was left out."""
    from coevo.graph import DAG

    is_structure = isinstance(model, DAG)
    dag = model if isinstance(model, DAG) else model.dag
    kind = "network" if target_format.has_tables and not is_structure else "structure"
    size = f"{format_count(len(dag.nodes), 'variable')}, {format_count(len(dag.arcs), 'arc')}"
    place = "standard output" if target == STDOUT else target
    has_lost_tables = not (target_format.has_tables or is_structure)
    note = " This format holds no states and no tables." if has_lost_tables else ""
    print(f"Wrote a {kind} ({size}) to {place}.{note}", file=sys.stderr)
