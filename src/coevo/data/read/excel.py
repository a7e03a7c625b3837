"""Read spreadsheets: xlsx, xls, xlsb and ods, with python-calamine.

The table of a sheet starts at the first row that fills most of its columns. Titles above it and
empty rows and columns around it are left out.
"""

from __future__ import annotations

import datetime
import io
import shlex
from collections.abc import Sequence
from typing import Any

from coevo.data.decisions import Decision, RawTable
from coevo.data.read.arrays import collect_columns, read_cells
from coevo.data.read.csv_layout import lacks_header
from coevo.data.read.csv_start import decide_empty_rows
from coevo.data.read.header_names import clean_names, drop_unnamed
from coevo.data.read_options import ReadPlan
from coevo.data.source_options import SourceOptions
from coevo.errors import (
    CoevoError,
    DataError,
    format_count,
    format_list,
    import_optional,
    suggest_match,
)
from coevo.files.files import ByteSource

__all__ = ["read_excel"]

Rows = list[list[Any]]
_SAMPLE = 100  # rows that are examined for the header


def read_excel(source: ByteSource, options: ReadPlan) -> RawTable:
    """Read a sheet of a spreadsheet."""
    calamine = import_optional("python_calamine", "python-calamine", "excel")
    path, opening = str(source.path), options.opening
    file = io.BytesIO(source.read_all())
    try:
        workbook = calamine.CalamineWorkbook.from_filelike(file)
        rows, decisions = _choose_sheet(workbook, path, opening)
    except CoevoError:
        raise
    except BaseException as error:  # calamine has no base class, and its panics are no Exception
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        reason = " ".join(str(error).split()).rstrip(".") or type(error).__name__
        raise DataError(
            f"{path!r} is not a spreadsheet, or is damaged ({reason}). Save it again."
        ) from None
    header, rows, found = _find_table(rows, opening)
    if not header:
        raise DataError(f"{path!r} is empty. It needs a header and rows below it.")
    clean = clean_names(header, opening)
    columns = [[row[i] for row in rows] for i in range(len(header))]
    selected = [(clean.names[i], columns[i]) for i in clean.select(options)]
    table = collect_columns(selected, read_cells, options)
    named = drop_unnamed(table.columns, clean, options)
    return RawTable(named.columns, [*decisions, *found, *named.decisions, *table.decisions])


def _choose_sheet(workbook: Any, path: str, opening: SourceOptions) -> tuple[Rows, list[Decision]]:
    """Return the rows of the given sheet, or of the first one with more than one row."""
    names: list[str] = list(workbook.sheet_names)
    if not names:
        raise DataError(f"{path!r} has no sheets.")
    wanted = opening.sheet
    if isinstance(wanted, int):
        if wanted > len(names):
            raise DataError(f"{path!r} has {format_count(len(names), 'sheet')}; got {wanted}.")
        wanted = names[wanted - 1]
    if wanted is not None:
        if wanted not in names:
            listed = format_list([repr(name) for name in names])
            raise DataError(
                f"{path!r} has no sheet {wanted!r}; it has {listed}.{suggest_match(wanted, names)}"
            )
        return _read_rows(workbook, wanted), []
    for name in names:
        rows = _read_rows(workbook, name)
        if len(rows) > 1:
            break
    else:
        name, rows = names[0], _read_rows(workbook, names[0])
    if len(names) == 1:
        return rows, []
    others = [other for other in names if other != name]
    listed = format_list([repr(other) for other in others])
    sentence = f"The sheet {name!r} was read; the file also has {listed}."
    undo = f"sheet={others[0]!r}, or --sheet {shlex.quote(others[0])}"
    return rows, [Decision("sheet", (), sentence, undo)]


def _read_rows(workbook: Any, name: str) -> Rows:
    """Return the cells of a sheet without the empty rows and columns at its edges."""
    cells = workbook.get_sheet_by_name(name).to_python()
    rows = [[_convert_cell(cell) for cell in row] for row in cells]
    while rows and _is_blank(rows[-1]):
        rows.pop()
    used = [
        i for i in range(max(map(len, rows), default=0)) if any(row[i] is not None for row in rows)
    ]
    first, stop = (used[0], used[-1] + 1) if used else (0, 0)
    return [row[first:stop] for row in rows]


def _convert_cell(cell: Any) -> Any:
    """Return a cell of calamine; an empty one is None."""
    if cell == "" or (isinstance(cell, str) and not cell.strip()):
        return None
    if isinstance(cell, datetime.datetime) and cell.year == 1899:
        return cell.time()  # a time without a date
    return cell


def _is_blank(row: Sequence[Any]) -> bool:
    return all(cell is None for cell in row)


def _find_table(rows: Rows, opening: SourceOptions) -> tuple[list[str], Rows, list[Decision]]:
    """Return the names and the rows of the table of a sheet."""
    skipped = _find_header(rows) if opening.skiprows is None else opening.skiprows
    decisions = []
    titles = [row for row in rows[:skipped] if not _is_blank(row)]
    if titles and opening.skiprows is None:
        text = next(str(cell) for cell in titles[0] if cell is not None)
        were = "row above the table was" if len(titles) == 1 else "rows above the table were"
        sentence = f"{len(titles):,} {were} skipped ({text!r})."
        decisions.append(Decision("titles", (), sentence, "skiprows=0, or --skiprows 0"))
    table = rows[skipped:]
    if opening.skipfooter:
        table = table[: max(0, len(table) - opening.skipfooter)]
    if not table:
        return [], [], decisions
    texts = [["" if cell is None else str(cell) for cell in row] for row in table[:_SAMPLE]]
    if opening.header is False or (opening.header is None and lacks_header(texts)):
        if opening.header is None:
            sentence = (
                "The first row holds values, not names; the columns are called column_1, column_2 "
                "and so on."
            )
            decisions.append(Decision("header", (), sentence, "header=True, or --header"))
        header, body = [f"column_{i + 1}" for i in range(len(table[0]))], table
    else:
        header, body = [_format_name(cell) for cell in table[0]], table[1:]
    if opening.keep_empty_rows:
        return header, body, decisions
    filled = [row for row in body if not _is_blank(row)]
    if len(filled) < len(body):
        decisions.append(decide_empty_rows(len(body) - len(filled)))
    return header, filled, decisions


def _find_header(rows: Rows) -> int:
    """Return the position of the header: the first row that is nearly as full as the others."""
    counts = [sum(cell is not None for cell in row) for row in rows[:_SAMPLE]]
    usual = sorted(count for count in counts if count)
    if not usual:
        return 0
    enough = max(1, min(usual[len(usual) // 2], max(2, (len(rows[0]) + 1) // 2)))
    first = next(i for i, count in enumerate(counts) if count >= enough)
    is_group = 2 * counts[first] <= len(rows[0]) and first + 2 < len(rows)
    below = rows[first + 1] if is_group else []
    if is_group and all(isinstance(cell, str) for cell in below):
        return first + 1  # merged cells, each above the names of several columns
    return first


def _format_name(cell: Any) -> str:
    """Return the name in a cell of the header; the number 2001.0 is the name 2001."""
    if cell is None:
        return ""
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return str(cell)
