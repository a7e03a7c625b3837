"""Structures as CSV: an adjacency matrix, or a list of arcs.

    ,rain,wet           from,to
    rain,0,1            rain,wet
    wet,0,0             alone,

The names of a matrix stand in its header and in its first column. A 1 in row i and column j
is the arc i -> j. In a list, a variable without arcs has its own line with an empty `to`.
The writer uses commas. The reader also accepts semicolons and tabs (it looks at the
header), TRUE and FALSE for 1 and 0, and the column of row numbers that R puts first.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Generic, TypeVar

from coevo.errors import FormatError, GraphError, bad_parameter, find_duplicate, suggest_match
from coevo.graph import DAG, Arc
from coevo.io.network_builder import uncapitalise
from coevo.io.scanner import shorten_repr
from coevo.network import BayesianNetwork

__all__ = [
    "Model",
    "StructureBuilder",
    "check_encodable",
    "format_adjacency",
    "format_edges",
    "get_dag",
    "is_edge_list",
    "iterate_texts",
    "make_name_error",
    "parse_adjacency",
    "parse_edges",
    "require_network",
]


# Structures in files: build a DAG from the arcs of a file; check names before writing.


Model = BayesianNetwork | DAG  # a network with tables, or a structure only

Place = TypeVar("Place")


class StructureBuilder(Generic[Place]):
    """Collect the variables and arcs of one file, in the order of the file.

    `make_error` returns the exception for a place in the file and a sentence.
    """

    def __init__(self, make_error: Callable[[Place, str], FormatError]) -> None:
        self._make_error = make_error
        self._nodes: dict[str, None] = {}
        self._arcs: dict[Arc, Place] = {}

    def add_node(self, name: str) -> None:
        """Add a variable; do nothing if it was added before."""
        self._nodes.setdefault(name)

    def add_arc(self, parent: str, child: str, place: Place) -> None:
        """Add an arc and its two variables."""
        if (parent, child) in self._arcs:
            raise self._make_error(place, f"the arc {parent!r} -> {child!r} is given twice.")
        self.add_node(parent)
        self.add_node(child)
        self._arcs[parent, child] = place

    def has_arc(self, parent: str, child: str) -> bool:
        """Return whether an arc was added before."""
        return (parent, child) in self._arcs

    def build_dag(self) -> DAG:
        """Return the structure; raise `FormatError` if it has a cycle."""
        try:
            return DAG(tuple(self._nodes), self._arcs)
        except GraphError as error:  # there is a cycle: all other reasons were excluded before
            message = str(error)
            in_cycle = (
                place for (a, b), place in self._arcs.items() if f"{a!r} -> {b!r}" in message
            )
            raise self._make_error(next(in_cycle), uncapitalise(message)) from None


def get_dag(model: Model) -> DAG:
    """Return the structure of a model: the DAG of a network, or the DAG itself."""
    return model.dag if isinstance(model, BayesianNetwork) else model


def require_network(model: Model, source: str) -> BayesianNetwork:
    """Return a model that is a network; raise `FormatError` if it is a structure without tables."""
    if isinstance(model, DAG):
        raise FormatError(
            f"{source!r} holds a structure without tables, but a network is needed. Name "
            "a file with tables, such as BIF, or fit tables to the structure first."
        )
    return model


def check_model(model: object, owner: str) -> None:
    """Raise `ParameterError` unless this is a network or a structure."""
    if not isinstance(model, BayesianNetwork | DAG):
        raise bad_parameter("model", owner, "a BayesianNetwork or a DAG", model)


def iterate_texts(model: Model) -> Iterator[str]:
    """Yield the name of a model and the names and states of its variables."""
    if isinstance(model, DAG):
        yield from model.nodes
        return
    yield model.name
    for variable in model.variables:
        yield from (variable.name, *variable.states)


def make_name_error(name: str, label: str, reason: str) -> FormatError:
    """Return the error for a name or state that a format cannot hold.

    >>> print(make_name_error("a|b", "A model string", "it has a '|'"))
    A model string cannot hold the name or state 'a|b': it has a '|'. Rename it, or write JSON.
    """
    return FormatError(
        f"{label} cannot hold the name or state {name!r}: {reason}. Rename it, or write JSON."
    )


def check_encodable(name: str, label: str) -> None:
    """Raise `FormatError` if UTF-8 cannot encode a name."""
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        raise FormatError(
            f"{label} cannot hold the name or state {name!r}: it has half of a surrogate pair, "
            "which UTF-8 cannot hold. Rename it, or write BIF."
        ) from None


HEADER = ["from", "to"]
EMPTY = '""'  # a line of one empty cell; without quotes it would be a blank line
_SPECIAL = re.compile('[",;\t\r\n]')
ARC = {"1": True, "1.0": True, "true": True, "0": False, "0.0": False, "false": False}

NumberedRow = tuple[int, list[str]]  # line number and cells


class _CsvText:
    """The header and the rows of a CSV text, with line numbers."""

    def __init__(self, text: str, source: str) -> None:
        self._source = source
        text = text.removeprefix("\ufeff")
        rows: list[NumberedRow] = []
        for delimiter in (",", ";", "\t"):
            rows = self._read_rows(text, delimiter)
            if not rows or len(rows[0][1]) > 1:
                break
        else:
            rows = self._read_rows(text, ",")
        if not rows:
            raise FormatError(f"{source}: the file is empty.")
        (_, self.header), *self.rows = rows

    def _read_rows(self, text: str, delimiter: str) -> list[NumberedRow]:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
        rows: list[NumberedRow] = []
        line = 1
        try:
            for cells in reader:
                if cells:
                    rows.append((line, cells))
                line = reader.line_num + 1
        except csv.Error as error:
            raise self.make_error(line, f"this is not CSV: {error}.") from None
        return rows

    def make_error(self, line: int, sentence: str) -> FormatError:
        """Return a FormatError that begins with the source and the line."""
        return FormatError(f"{self._source}, line {line}: {sentence}")

    def check_widths(self) -> None:
        """Raise `FormatError` if a row is longer or shorter than the header."""
        for line, cells in self.rows:
            if len(cells) != len(self.header):
                sentence = (
                    f"this row has {len(cells):,} cells; the header has {len(self.header):,}."
                )
                raise self.make_error(line, sentence)


def is_edge_list(text: str, source: str = "<text>") -> bool:
    r"""Return whether a CSV text is a list of arcs rather than an adjacency matrix.

    A list of arcs has the header `from` and `to`. With an empty cell before it, the same
    header may also belong to a matrix of two variables with these names; then the names of
    the rows decide.

    >>> is_edge_list("from,to\na,b\n"), is_edge_list(",a,b\na,0,1\nb,0,0\n")
    (True, False)
    """
    table = _CsvText(text, source)
    names = [cell.lower() for cell in table.header]
    labels = [cells[0].lower() for _, cells in table.rows]
    return names == HEADER or (names == ["", *HEADER] and sorted(labels) != sorted(HEADER))


def parse_adjacency(text: str, source: str = "<text>") -> DAG:
    r"""Read a structure from an adjacency matrix as CSV.

    Raises `FormatError`, with the line, when the text is malformed or has a cycle.

    >>> parse_adjacency(",rain,wet\nrain,0,1\nwet,0,0\n").arcs
    (('rain', 'wet'),)
    """
    table = _CsvText(text, source)
    names = table.header[1:]
    duplicate = find_duplicate(names)
    if duplicate is not None:
        raise table.make_error(1, f"the header has the name {duplicate!r} twice.")
    table.check_widths()
    _check_labels(table, names)
    builder: StructureBuilder[int] = StructureBuilder(table.make_error)
    for name in names:
        builder.add_node(name)
    for line, (parent, *cells) in table.rows:
        for child, cell in zip(names, cells, strict=True):
            is_arc = ARC.get(cell.strip().lower())
            if is_arc is None:
                sentence = (
                    f"row {parent!r}, column {child!r} is {shorten_repr(cell)}; it must be 0 or 1."
                )
                raise table.make_error(line, sentence)
            if is_arc:
                builder.add_arc(parent, child, line)
    return builder.build_dag()


def _check_labels(table: _CsvText, names: Sequence[str]) -> None:
    """Check that each name of the header has one row."""
    known = frozenset(names)
    seen: set[str] = set()
    for line, (label, *_) in table.rows:
        if label not in known:
            sentence = f"the row {label!r} is not a name of the header, so this is not an "
            sentence += f"adjacency matrix.{suggest_match(label, names)}"
            raise table.make_error(line, sentence)
        if label in seen:
            raise table.make_error(line, f"the row {label!r} is given twice.")
        seen.add(label)
    for name in names:
        if name not in seen:
            raise table.make_error(1, f"the column {name!r} has no row of that name.")


def parse_edges(text: str, source: str = "<text>") -> DAG:
    r"""Read a structure from a list of arcs as CSV.

    Raises `FormatError`, with the line, when the text is malformed or has a cycle.

    >>> dag = parse_edges("from,to\nrain,wet\nalone,\n")
    >>> dag.nodes, dag.arcs
    (('rain', 'wet', 'alone'), (('rain', 'wet'),))
    """
    table = _CsvText(text, source)
    names = [cell.lower() for cell in table.header]
    if names not in (HEADER, ["", *HEADER]):
        raise table.make_error(
            1, f"the header must be from,to; got {shorten_repr(','.join(table.header))}."
        )
    table.check_widths()
    builder: StructureBuilder[int] = StructureBuilder(table.make_error)
    for line, cells in table.rows:
        parent, child = cells[-2:]
        if not parent:
            raise table.make_error(line, "this row has nothing in 'from'.")
        if child:
            builder.add_arc(parent, child, line)
        else:
            builder.add_node(parent)
    return builder.build_dag()


def format_adjacency(model: Model) -> str:
    """Return the structure of a model as an adjacency matrix.

    >>> print(format_adjacency(DAG(["rain", "wet"], [("rain", "wet")])), end="")
    ,rain,wet
    rain,0,1
    wet,0,0
    """
    dag = get_dag(model)
    cells = [_format_cell(name, "An adjacency matrix") for name in dag.nodes]
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
    dag = get_dag(model)
    if "" in dag.nodes:
        raise make_name_error("", "A list of arcs", "an empty cell means that there is no variable")
    ends = {name for arc in dag.arcs for name in arc}
    alone = [(name, "") for name in dag.nodes if name not in ends]
    lines = (
        ",".join(_format_cell(text, "A list of arcs") for text in row)
        for row in (*dag.arcs, *alone)
    )
    return "\n".join([",".join(HEADER), *lines, ""])


def _format_cell(text: str, label: str) -> str:
    # Python's CSV writer does not quote a lone carriage return, but its reader ends a line there.
    check_encodable(text, label)
    escaped = text.replace('"', '""')
    return f'"{escaped}"' if _SPECIAL.search(text) else text
