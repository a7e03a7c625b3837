"""``coevo inspect``: what a table holds, and its problems, without learning."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from coevo.cli.options import format_option
from coevo.cli.output import print_json, show_status
from coevo.cli.tables import (
    list_reading_options,
    read_declared_states,
    reading_options,
    refuse_overwriting,
)
from coevo.errors import format_count

if TYPE_CHECKING:
    from coevo.view.inspection import InspectedColumn, TableInspection

__all__ = ["command", "format_inspection", "format_sparkline"]


# The answer of ``coevo inspect`` as text: a table of columns, decisions and problems.
#
# Lines fit the width of the terminal. A terminal shows some characters in two cells, so widths are
# counted in cells.


BLOCKS = "▁▂▃▄▅▆▇█"
ASCII_BLOCKS = ".:-=+*#@"
MAX_NAME = 28
MIN_OUTCOME = 26  # characters for the outcome of a column
GAP = "  "


def format_inspection(
    inspection: TableInspection, width: int = 120, is_unicode: bool = True
) -> Iterator[str]:
    """Yield the lines of an inspection."""
    from coevo.view.inspection.page import format_share

    size = f"{format_count(inspection.n_rows, 'row')}, "
    size += format_count(inspection.n_columns, "column")
    missing = "no missing values"
    if inspection.n_missing:
        share = format_share(inspection.missing_share)
        missing = f"{format_count(inspection.n_missing, 'missing value')} ({share})"
    yield f"table       {inspection.source}: {size}, {missing}"
    counts = [f"{n:,} {kind}" for kind, n in inspection.count_kinds().items()]
    yield f"columns     {', '.join(counts)}"
    yield from _format_columns(inspection.columns, width, is_unicode)
    if inspection.decisions:
        yield f"decisions   {len(inspection.decisions):,}"
        yield from (f"  {decision}" for decision in inspection.decisions)
    yield f"problems    {len(inspection.findings) or 'none'}"
    yield from (f"  {finding.sentence}" for finding in inspection.findings)


def _format_columns(
    columns: Sequence[InspectedColumn], width: int, is_unicode: bool
) -> Iterator[str]:
    """Yield the table of columns, with a header."""
    from rich.cells import cell_len

    from coevo.view.inspection.page import format_share, shorten_middle

    dots = "…" if is_unicode else "..."
    rows = [["name", "type", "holds", "distinct", "missing"]]
    for column in columns:
        summary = column.summary
        numbers = ["", ""]
        if summary is not None:
            numbers = [f"{summary.n_distinct:,}", format_share(summary.missing_share)]
        name = shorten_middle(_clean(column.name), MAX_NAME, dots)
        rows.append([name, column.kind, column.info.holds, *numbers])
    widths = [max(cell_len(row[i]) for row in rows) for i in range(5)]
    shown = [0, 1, 2, 3, 4]
    if _measure(widths) + 10 + MIN_OUTCOME > width:
        shown.remove(2)  # a narrow terminal has no room for the kind of values
    used = _measure([widths[i] for i in shown])
    bars = 20 if used + 20 + len(GAP) + MIN_OUTCOME <= width else 10
    rest = max(MIN_OUTCOME, width - used - bars - len(GAP))
    sketches = ["values", *(_sketch_values(column, bars, is_unicode) for column in columns)]
    outcomes = ["becomes", *(_describe(column, rest, dots) for column in columns)]
    for row, sketch, outcome in zip(rows, sketches, outcomes, strict=True):
        cells = [_align(row[i], widths[i], is_number=i > 2) for i in shown]
        yield f"  {GAP.join([*cells, f'{sketch:<{bars}}', outcome])}".rstrip()


def _measure(widths: Sequence[int]) -> int:
    """Return the characters of some cells, the indentation, and the gap after each."""
    return 2 + sum(widths) + len(GAP) * len(widths)


def _align(text: str, width: int, *, is_number: bool) -> str:
    from rich.cells import cell_len

    blanks = " " * (width - cell_len(text))
    return blanks + text if is_number else text + blanks


def _clean(text: str) -> str:
    """Return a text on one line, without characters that a terminal obeys."""
    return "".join(c if c.isprintable() else " " for c in text)


def _sketch_values(column: InspectedColumn, length: int, is_unicode: bool) -> str:
    """Return the histogram of a column as a line of characters."""
    summary, info = column.summary, column.info
    if summary is None or not column.is_variable:
        return ""
    numbers = summary.numbers
    if numbers is not None and (info.type == "continuous" or summary.n_other_states):
        histogram = numbers.histogram
        tails = [[n] if n else [] for n in (histogram.n_below, histogram.n_above)]
        return format_sparkline([*tails[0], *histogram.counts, *tails[1]], length, is_unicode)
    counts = [one.count for one in summary.states]
    if summary.n_other_states:
        counts.append(summary.n_other_rows)
    return format_sparkline(counts[:length], length, is_unicode)


def format_sparkline(counts: Sequence[int], length: int, is_unicode: bool = True) -> str:
    """Return counts as a line of at most `length` characters; more counts are added up.

    >>> format_sparkline([1, 4, 8, 0, 2], 20), format_sparkline([1, 4, 8, 0, 2], 20, False)
    ('▁▄█ ▂', '.=@ :')
    """
    if not counts:
        return ""
    group = -(-len(counts) // length)
    merged = [sum(counts[i : i + group]) for i in range(0, len(counts), group)]
    blocks = BLOCKS if is_unicode else ASCII_BLOCKS
    tallest = max(merged) or 1
    levels = (-(-n * len(blocks) // tallest) - 1 for n in merged)
    return "".join(" " if n == 0 else blocks[i] for n, i in zip(merged, levels, strict=True))


def _describe(column: InspectedColumn, length: int, dots: str) -> str:
    """Return the outcome of a column, in one line."""
    from coevo.view.inspection.page import format_value

    info, summary = column.info, column.summary
    if not column.is_variable:
        return _list_items(
            "" if summary else "not read", _list_examples(column, dots), length, dots
        )
    if info.cuts is None:
        from coevo.data.summary import shorten_states

        text = f"{format_count(len(info.states), 'state')}: "
        return _list_items(
            text, [_clean(state) for state in shorten_states(info.states).values()], length, dots
        )
    points = [format_value(point) for point in info.cuts.points]
    noun = {0: "no cut point", 1: "cut point "}.get(len(points), "cut points ")
    return _list_items(noun, points, length, dots)


def _list_examples(column: InspectedColumn, dots: str) -> list[str]:
    if column.summary is None:
        return []
    more = [dots] if column.summary.n_distinct > len(column.summary.examples) else []
    return [*map(_clean, column.summary.examples), *more]


def _list_items(text: str, items: Sequence[str], length: int, dots: str) -> str:
    """Return a text and as many items as fit; the last item says that there are more.

    >>> _list_items("3 states: ", ["low", "middle", "high"], 22, "...")
    '3 states: low, ...'
    """
    line = f"{text}{', '.join(items)}"
    if len(line) <= length:
        return line
    kept = list(items)
    while kept and len(f"{text}{', '.join(kept)}, {dots}") > length:
        kept.pop()
    if kept:
        return f"{text}{', '.join(kept)}, {dots}"
    return f"{text}{items[0] if items else ''}"[: length - len(dots)] + dots


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
    from coevo.files.files import check_output_path
    from coevo.io import check_run_folder

    if output.suffix.lower() in (".html", ".htm") and not output.is_dir():
        check_output_path(output)
        return output
    check_run_folder(output)
    return output / PAGE


def _check_types_file(path: str | None, data: str, force: bool) -> None:
    if path is None:
        return
    from coevo.files.files import check_output_path
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
