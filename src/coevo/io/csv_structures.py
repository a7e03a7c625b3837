"""Structures as CSV: an adjacency matrix, or a list of arcs.

    ,rain,wet           from,to
    rain,0,1            rain,wet
    wet,0,0             alone,

In the matrix the names stand in the header and in the first column, and a 1 in row i and
column j is the arc i -> j. In the list a variable without arcs has a line of its own whose
`to` is empty. Written are commas; read are also semicolons and tabs, whichever the header
shows, TRUE and FALSE for 1 and 0, and the column of row numbers that R puts first.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence

from coevo.errors import FormatError, first_repeated, suggestion
from coevo.graph import DAG
from coevo.io.scanner import shown
from coevo.io.structures import Model, StructureReader, check_encodable, dag_of, unfit

__all__ = [
    "format_adjacency",
    "format_edges",
    "is_edge_list",
    "parse_adjacency",
    "parse_edges",
]

HEADER = ["from", "to"]
EMPTY = '""'  # a line of one empty cell, which would be a blank line without the quotes
_SPECIAL = re.compile('[",;\t\r\n]')
ARC = {"1": True, "1.0": True, "true": True, "0": False, "0.0": False, "false": False}

Row = tuple[int, list[str]]  # its line, and its cells


class _CsvText:
    """The rows of a CSV text, with their lines."""

    def __init__(self, text: str, source: str) -> None:
        self._source = source
        text = text.removeprefix("\ufeff")
        rows: list[Row] = []
        for delimiter in (",", ";", "\t"):
            rows = self._rows(text, delimiter)
            if not rows or len(rows[0][1]) > 1:
                break
        else:
            rows = self._rows(text, ",")
        if not rows:
            raise FormatError(f"{source}: the file is empty.")
        (_, self.header), *self.rows = rows

    def _rows(self, text: str, delimiter: str) -> list[Row]:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
        rows: list[Row] = []
        line = 1
        try:
            for cells in reader:
                if cells:
                    rows.append((line, cells))
                line = reader.line_num + 1
        except csv.Error as error:
            raise self.error(line, f"this is not CSV: {error}.") from None
        return rows

    def error(self, line: int, sentence: str) -> FormatError:
        """Return a FormatError that begins with the source and the line."""
        return FormatError(f"{self._source}, line {line}: {sentence}")

    def check_widths(self) -> None:
        """Raise `FormatError` if a row is longer or shorter than the header."""
        for line, cells in self.rows:
            if len(cells) != len(self.header):
                sentence = (
                    f"this row has {len(cells):,} cells; the header has {len(self.header):,}."
                )
                raise self.error(line, sentence)


def is_edge_list(text: str, source: str = "<text>") -> bool:
    r"""Return whether a CSV text is a list of arcs rather than an adjacency matrix.

    It is when its header is `from` and `to`, and these are not also the names of its rows.

    >>> is_edge_list("from,to\na,b\n"), is_edge_list(",a,b\na,0,1\nb,0,0\n")
    (True, False)
    """
    table = _CsvText(text, source)
    names = [cell.lower() for cell in table.header]
    labels = [cells[0].lower() for _, cells in table.rows]
    return names == HEADER or (names == ["", *HEADER] and sorted(labels) != sorted(HEADER))


def parse_adjacency(text: str, source: str = "<text>") -> DAG:
    r"""Read a structure from an adjacency matrix as CSV.

    Raises `FormatError`, with the line, when it is malformed or cyclic.

    >>> parse_adjacency(",rain,wet\nrain,0,1\nwet,0,0\n").arcs
    (('rain', 'wet'),)
    """
    table = _CsvText(text, source)
    names = table.header[1:]
    twice = first_repeated(names)
    if twice is not None:
        raise table.error(1, f"the header has the name {twice!r} twice.")
    table.check_widths()
    _check_labels(table, names)
    found: StructureReader[int] = StructureReader(table.error)
    for name in names:
        found.add_node(name)
    for line, (parent, *cells) in table.rows:
        for child, cell in zip(names, cells, strict=True):
            is_arc = ARC.get(cell.strip().lower())
            if is_arc is None:
                sentence = f"row {parent!r}, column {child!r} is {shown(cell)}; it must be 0 or 1."
                raise table.error(line, sentence)
            if is_arc:
                found.add_arc(parent, child, line)
    return found.dag()


def _check_labels(table: _CsvText, names: Sequence[str]) -> None:
    """Check that each name of the header has one row."""
    known = frozenset(names)
    seen: set[str] = set()
    for line, (label, *_) in table.rows:
        if label not in known:
            sentence = f"the row {label!r} is not a name of the header; this is no adjacency "
            sentence += f"matrix.{suggestion(label, names)}"
            raise table.error(line, sentence)
        if label in seen:
            raise table.error(line, f"the row {label!r} is given twice.")
        seen.add(label)
    for name in names:
        if name not in seen:
            raise table.error(1, f"the column {name!r} has no row of that name.")


def parse_edges(text: str, source: str = "<text>") -> DAG:
    r"""Read a structure from a list of arcs as CSV.

    Raises `FormatError`, with the line, when it is malformed or cyclic.

    >>> dag = parse_edges("from,to\nrain,wet\nalone,\n")
    >>> dag.nodes, dag.arcs
    (('rain', 'wet', 'alone'), (('rain', 'wet'),))
    """
    table = _CsvText(text, source)
    names = [cell.lower() for cell in table.header]
    if names not in (HEADER, ["", *HEADER]):
        raise table.error(1, f"the header must be from,to; got {shown(','.join(table.header))}.")
    table.check_widths()
    found: StructureReader[int] = StructureReader(table.error)
    for line, cells in table.rows:
        parent, child = cells[-2:]
        if not parent:
            raise table.error(line, "this row has nothing in 'from'.")
        if child:
            found.add_arc(parent, child, line)
        else:
            found.add_node(parent)
    return found.dag()


def format_adjacency(model: Model) -> str:
    """Return the structure of a model as an adjacency matrix.

    >>> print(format_adjacency(DAG(["rain", "wet"], [("rain", "wet")])), end="")
    ,rain,wet
    rain,0,1
    wet,0,0
    """
    dag = dag_of(model)
    cells = [_cell(name, "An adjacency matrix") for name in dag.nodes]
    rows = (["1" if is_arc else "0" for is_arc in row] for row in dag.adjacency().tolist())
    header = ",".join(["", *cells]) or EMPTY
    lines = (",".join([cell, *row]) for cell, row in zip(cells, rows, strict=True))
    return "\n".join([header, *lines, ""])


def format_edges(model: Model) -> str:
    """Return the structure of a model as a list of arcs.

    >>> print(format_edges(DAG(["rain", "wet", "alone"], [("rain", "wet")])), end="")
    from,to
    rain,wet
    alone,
    """
    dag = dag_of(model)
    if "" in dag.nodes:
        raise unfit("", "A list of arcs", "an empty cell stands for no variable")
    ends = {name for arc in dag.arcs for name in arc}
    alone = [(name, "") for name in dag.nodes if name not in ends]
    lines = (",".join(_cell(text, "A list of arcs") for text in row) for row in (*dag.arcs, *alone))
    return "\n".join([",".join(HEADER), *lines, ""])


def _cell(text: str, label: str) -> str:
    # Python's writer leaves a lone carriage return bare, and its reader ends a line there.
    check_encodable(text, label)
    escaped = text.replace('"', '""')
    return f'"{escaped}"' if _SPECIAL.search(text) else text
