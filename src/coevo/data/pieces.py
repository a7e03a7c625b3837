"""Parquet in pieces, for tables that are larger than memory.

A *piece* is some row groups of a file, the least that is read at once; anyone who can open
the file can read it, in any order. Two passes make codes of a table: `survey` says which
states the columns of a piece show and how often, `layout.agree` settles from all surveys what
the variables are, and `encode` turns a piece into codes that mean the same in every piece. What
is refused is what `read_data` refuses. Numbers are cut where cut points are given; nobody
looks for some, because that takes the whole table.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import narwhals as nw
import numpy as np

from coevo.data.column_types import ColumnNote
from coevo.data.columns import (
    Column,
    check_cells,
    check_states,
    recoded,
)
from coevo.data.dataset import Codes
from coevo.data.frame_reader import read_series
from coevo.data.layout import ColumnSurvey, Layout, check_cuts, held, overflow, say_cuts
from coevo.data.parquet import column_names, open_parquet
from coevo.data.request import Request
from coevo.data.settle import settle
from coevo.data.variable import MAX_STATES
from coevo.errors import DataError, FileError, require

__all__ = ["Piece", "encode", "find_pieces", "survey"]

ROWS_A_READ = 1 << 16  # of a piece that stand in memory as a table
SUFFIXES = (".parquet", ".pq")


@dataclass(frozen=True)
class Piece:
    """Some row groups of a Parquet file."""

    path: str
    groups: tuple[int, ...]
    first_row: int  # of the file, counted from 0
    n_rows: int


def find_pieces(source: str | Path, rows: int, request: Request) -> list[Piece]:
    """Return the pieces of a Parquet file, or of all in a folder, of about so many rows."""
    check_cuts(request)
    path = Path(source)
    files = [path]
    if not path.exists():
        raise FileError(f"There is no file or folder {str(path)!r}.")
    if path.is_dir():
        files = sorted(file for file in path.iterdir() if file.suffix.lower() in SUFFIXES)
        if not files:
            raise FileError(f"There is no Parquet file in {str(path)!r}.")
    found: list[Piece] = []
    names: set[str] = set()
    for file in files:
        with open_parquet(file) as parquet:
            own = column_names(parquet)
            sizes = [parquet.metadata.row_group(i).num_rows for i in range(parquet.num_row_groups)]
        request.kept(own)
        if names and set(own) != names:
            odd = min(set(own) ^ names)
            raise DataError(f"{str(file)!r} and {str(files[0])!r} do not both have {odd!r}.")
        names = set(own)
        found += _pieces_of(str(file.resolve()), sizes, rows)
    if not found:
        raise DataError("The table has no rows. Give at least one observation.")
    return found


def _pieces_of(path: str, sizes: Sequence[int], rows: int) -> Iterator[Piece]:
    """Yield neighbouring row groups, together until they have enough rows."""
    groups: list[int] = []
    first = n_rows = 0
    for group, size in enumerate(sizes):
        groups.append(group)
        n_rows += size
        if n_rows and (n_rows >= rows or group == len(sizes) - 1):
            yield Piece(path, tuple(groups), first, n_rows)
            first, n_rows, groups = first + n_rows, 0, []


def survey(request: Request, piece: Piece) -> list[ColumnSurvey]:
    """Return what the columns of a piece show, or refuse what they must not."""
    counts: dict[str, Counter[str]] = {}
    declared: dict[str, dict[str, None] | None] = {}
    holds: dict[str, str] = {}
    for columns, notes in _tables(request, piece):
        for column, note in zip(columns, notes, strict=False):  # the last are on other columns
            seen = counts.setdefault(column.name, Counter())
            for code in np.flatnonzero(column.counts).tolist():
                seen[str(column.labels[code])] += int(column.counts[code])
            before = declared.setdefault(column.name, {})
            own = column.declared
            both = None if own is None or before is None else {**before, **dict.fromkeys(own)}
            declared[column.name] = both
            holds[column.name] = held([holds.get(column.name, ""), note.holds])
            if len(seen) > MAX_STATES:
                raise overflow(column.name, seen, sum(seen.values()))
    return [
        ColumnSurvey(
            name,
            dict(seen),
            None if (states := declared[name]) is None else (*states,),
            holds[name],
        )
        for name, seen in counts.items()
    ]


def encode(layout: Layout, request: Request, piece: Piece) -> Codes:
    """Return the codes of a piece: (n_variables, n_rows), in canonical order."""
    codes = np.empty((len(layout.variables), piece.n_rows), dtype=layout.dtype)
    place = {variable.name: i for i, variable in enumerate(layout.variables)}
    begin = 0
    for columns, _ in _tables(request, piece):
        end = begin + len(columns[0].codes)
        for column in columns:
            i = place[column.name]
            codes[i, begin:end] = recoded(column, layout.variables[i])
        begin = end
    return codes


def _tables(
    request: Request, piece: Piece
) -> Iterator[tuple[list[Column], tuple[ColumnNote, ...]]]:
    """Yield the rows of a piece, a few at a time, as columns of states, with notes on them."""
    arrow = require("pyarrow", "PyArrow", "parquet")
    with open_parquet(Path(piece.path)) as parquet:
        names = column_names(parquet)
        kept = [names[i] for i in request.kept(names)]
        first = piece.first_row
        options = {"batch_size": ROWS_A_READ, "row_groups": list(piece.groups), "columns": kept}
        for batch in parquet.iter_batches(**options):
            with _located(piece, first):
                table = nw.from_native(arrow.Table.from_batches([batch]), eager_only=True)
                columns = [read_series(name, table[name], request) for name in kept]
                check_cells(columns)
                settled, notes = settle(columns, request)
                for column in settled:
                    _refuse_decimals(column)
                    check_states(column)
            yield settled, notes
            first += batch.num_rows
    arrow.default_memory_pool().release_unused()  # which would stay beside all codes


def _refuse_decimals(column: Column) -> None:
    if column.declared is None and column.decimal is not None:
        raise DataError(
            f"Column {column.name!r} holds decimal numbers, the first is "
            f"{column.labels[column.decimal]} in row {column.first_row(column.decimal)}. "
            f"{say_cuts(column.name)}"
        )


@contextlib.contextmanager
def _located(piece: Piece, first: int) -> Iterator[None]:
    """Say in which rows of which file something was found; a sentence counts from there."""
    try:
        yield
    except DataError as error:
        raise DataError(f"In {piece.path!r}, counted from row {first + 1:,}: {error}") from None
