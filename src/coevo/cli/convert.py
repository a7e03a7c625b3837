"""``coevo convert``: a network or a structure in another format."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from coevo.cli.output import show_warnings
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
    picture          svg (.svg), png (.png), pdf (.pdf)

    JSON also holds structures without tables. A format for structures only leaves the states
    and tables out; a message says so. A picture of the graph can be written but not read; png
    and pdf need matplotlib.

    \b
    coevo convert alarm alarm.bif
    coevo convert run/model.bif model.xmlbif
    coevo convert run/model.bif graph.svg
    coevo convert asia - --to modelstring
    """
    from coevo.bundled import open_model
    from coevo.io.formats import find_picture, get_format

    if from_name is not None:
        get_format(from_name, "--from", "convert")
    picture = find_picture(target, to_name)
    target_format = None if picture is not None else _choose_format(target, to_name)
    with show_warnings():
        model = open_model(source, from_name)
        if picture is not None:
            _write_picture(model, picture, target)
    if target_format is not None:
        _write_model(model, target_format, target)


def _choose_format(target: str, name: str | None) -> Format:
    """Return the format to write: that of ``--to``, or of the extension."""
    from coevo.io.formats import FORMATS, find_format, get_format
    from coevo.view.picture import PICTURE_FORMATS

    if name is not None:
        return get_format(name, "--to", "convert", is_output=True)
    if target == STDOUT:
        names = ", ".join((*FORMATS, *PICTURE_FORMATS))
        raise ParameterError(
            f"OUT is '-', which has no extension. Name its format with --to: {names}."
        )
    return find_format(target, is_output=True)


def _write_picture(model: Model, picture: str, target: str) -> None:
    """Write a picture of the graph, and print to stderr that it was written."""
    drawing = model.plot()
    if target == STDOUT:
        click.echo(drawing.to_bytes(picture), nl=False)
    else:
        drawing.save(target, picture)
    place = "standard output" if target == STDOUT else target
    print(f"Wrote a picture ({drawing.about}) to {place}.", file=sys.stderr)


def _write_model(model: Model, target_format: Format, target: str) -> None:
    """Write a model; print to stderr what was written, and what was left out."""
    from pathlib import Path

    from coevo.graph import DAG
    from coevo.io import format_model
    from coevo.io.scanner import write_text_file

    text = format_model(model, target_format.name)
    if target == STDOUT:
        click.echo(text, nl=False, color=True)  # unchanged
    else:
        write_text_file(Path(target), text)
    is_structure = isinstance(model, DAG)
    dag = model if isinstance(model, DAG) else model.dag
    kind = "network" if target_format.has_tables and not is_structure else "structure"
    size = f"{format_count(len(dag.nodes), 'variable')}, {format_count(len(dag.arcs), 'arc')}"
    place = "standard output" if target == STDOUT else target
    has_lost_tables = not (target_format.has_tables or is_structure)
    note = " This format holds no states and no tables." if has_lost_tables else ""
    print(f"Wrote a {kind} ({size}) to {place}.{note}", file=sys.stderr)
