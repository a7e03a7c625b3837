"""``coevo inspect``: what a table holds, and its problems, without learning."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from coevo.cli.console import print_json, show_status
from coevo.cli.inspect_output import format_inspection
from coevo.cli.options import format_option
from coevo.cli.table_options import reading_options
from coevo.cli.tables import list_reading_options, read_declared_states, refuse_overwriting

if TYPE_CHECKING:
    from coevo.view.inspection import TableInspection

__all__ = ["command"]

PAGE = "inspect.html"
# Options that a types file replaces.
REPLACED = ("states", "drop", "types", "column_types", "discretise", "bins")
DEFAULT_WIDTH = 120  # characters, if the output is no terminal


@click.command("inspect")
@click.argument("data", metavar="DATA")
@reading_options
@click.option(
    "-o",
    "--output",
    metavar="FILE_OR_DIR",
    help=f"Write a page: an HTML file, or {PAGE} in a folder.",
)
@click.option(
    "--write-types",
    metavar="FILE",
    help="Write the type of each column to a JSON or CSV file. Edit it, and give it to coevo learn "
    "--types.",
)
@click.option("--force", is_flag=True, help="Replace an existing file of --write-types.")
@format_option
def command(
    data: str,
    columns: dict[str, Any],
    output: str | None,
    write_types: str | None,
    force: bool,
    output_format: str,
) -> None:
    """Show what a table holds, and its problems, without learning.

    DATA is a table, as for coevo learn. For each column this shows its type, its values, its
    missing values and its outcome: states, or bins between cut points. It then lists what
    coevo decided about the table and how to undo it, and all problems.

    \b
    coevo inspect patients.csv
    coevo inspect patients.csv -o patients.html
    coevo inspect patients.csv --write-types types.json
    coevo learn patients.csv --types types.json -o run/
    """
    if force and write_types is None:
        raise click.UsageError("--force needs --write-types.")
    with show_status(f"Reading {data} ..."):
        from coevo.view.inspection import inspect_table
        from coevo.view.inspection.result import make_learn_command

        page = None if output is None else _choose_page(Path(output))
        _check_types_file(write_types, data, force)
        declared = read_declared_states(columns["states"])
        inspection = inspect_table(data, **declared.complete(columns))
        declared.check(tuple(inspection.by_name))
        replaced = () if write_types is None else REPLACED
        kept = {name: value for name, value in columns.items() if name not in replaced}
        next_command = make_learn_command(inspection, data, list_reading_options(kept), write_types)
        files = _write_files(inspection, page, write_types, force, next_command)
    if output_format == "json":
        answer = inspection.as_dict() | {"next": next_command}
        print_json(answer | ({"files": files} if files else {}))
        return
    width = shutil.get_terminal_size((DEFAULT_WIDTH, 24)).columns
    for line in format_inspection(inspection, width, can_print_unicode()):
        click.echo(line)
    for path in files.values():
        click.echo(f"wrote       {path}")
    click.echo(f"next        {next_command}")


def can_print_unicode() -> bool:
    """Return whether standard output can print block characters."""
    try:
        "▁█…".encode(getattr(sys.stdout, "encoding", None) or "ascii")  # stdout may be closed
    except (LookupError, UnicodeEncodeError):
        return False
    return True


def _choose_page(output: Path) -> Path:
    """Return the file of the page; raise an error if it cannot be written."""
    from coevo.files import check_output_path
    from coevo.io import check_run_folder

    if output.suffix.lower() in (".html", ".htm") and not output.is_dir():
        check_output_path(output)
        return output
    check_run_folder(output)
    return output / PAGE


def _check_types_file(path: str | None, data: str, force: bool) -> None:
    if path is None:
        return
    from coevo.files import check_output_path
    from coevo.view.inspection.read import check_types_path

    refuse_overwriting("--write-types", path, data)
    check_types_path(Path(path), force)
    check_output_path(Path(path))


def _write_files(
    inspection: TableInspection,
    page: Path | None,
    types: str | None,
    force: bool,
    next_command: str,
) -> dict[str, str]:
    """Write the page and the types file, if they are wanted; return them by content."""
    files = {}
    if page is not None:
        page.parent.mkdir(parents=True, exist_ok=True)
        inspection.save_page(page, command=next_command)
        files["page"] = str(page)
    if types is not None:
        inspection.write_types(types, force=force)
        files["types"] = types
    return files
