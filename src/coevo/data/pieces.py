"""Parquet in pieces, for tables that are larger than memory.

A *piece* is some row groups of a file, the least that is read at once; anyone who can open
the file can read it, in any order. Two passes make codes of a table: `survey` says which
states the columns of a piece show and how often, `agree` settles from all surveys what the
variables are, and `encode` turns a piece into codes that mean the same in every piece. What
is refused is what `read_data` refuses; numbers are not cut into bins here.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np

from coevo.data.columns import (
    Column,
    check_cells,
    check_states,
    recoded,
    refuse_overflow,
    variable_of,
)
from coevo.data.dataset import Codes
from coevo.data.frame_reader import read_series
from coevo.data.parquet import column_names, open_parquet
from coevo.data.request import Request
from coevo.data.settle import settle
from coevo.data.variable import MAX_STATES, Variable
from coevo.errors import DataError, FileError, require

__all__ = ["ColumnSurvey", "Layout", "Piece", "agree", "encode", "find_pieces", "survey"]

ROWS_A_READ = 1 << 16  # of a piece that stand in memory as a table
SUFFIXES = (".parquet", ".pq")


@dataclass(frozen=True)
class Piece:
    """Some row groups of a Parquet file."""

    path: str
    groups: tuple[int, ...]
    first_row: int  # of the file, counted from 0
    n_rows: int


@dataclass(frozen=True)
class ColumnSurvey:
    """Which labels a column shows, and how often; the states that it declares, if it does."""

    name: str
    counts: dict[str, int]
    declared: tuple[str, ...] | None


@dataclass(frozen=True)
class Layout:
    """What all pieces agree on.

    `source` are the variables as people see them, `variables` the same in canonical order,
    and `counts` the rows of each state of those.
    """

    source: tuple[Variable, ...]
    variables: tuple[Variable, ...]
    counts: tuple[tuple[int, ...], ...]
    n_rows: int

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of a code."""
        return np.dtype(np.uint8 if max(v.arity for v in self.variables) <= 256 else np.uint16)


def find_pieces(source: str | Path, rows: int, request: Request) -> list[Piece]:
    """Return the pieces of a Parquet file, or of all in a folder, of about so many rows."""
    path = Path(source)
    files = [path]
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
    for columns in _tables(request, piece):
        for column in columns:
            seen = counts.setdefault(column.name, Counter())
            for code in np.flatnonzero(column.counts).tolist():
                seen[str(column.labels[code])] += int(column.counts[code])
            before = declared.setdefault(column.name, {})
            own = column.declared
            both = None if own is None or before is None else {**before, **dict.fromkeys(own)}
            declared[column.name] = both
            if both is None and len(seen) > MAX_STATES:
                raise _overflow(column.name, seen, sum(seen.values()))
    return [
        ColumnSurvey(name, dict(seen), None if (states := declared[name]) is None else (*states,))
        for name, seen in counts.items()
    ]


def agree(surveys: Sequence[Sequence[ColumnSurvey]]) -> Layout:
    """Return the variables that the surveys of all pieces, in their order, make together."""
    source, totals = [], {}
    for name in [column.name for column in surveys[0]]:
        own = [column for piece in surveys for column in piece if column.name == name]
        seen: Counter[str] = Counter()
        for column in own:
            seen.update(column.counts)
        n_rows = sum(seen.values())
        if all(column.declared is not None for column in own):
            states = dict.fromkeys(state for c in own for state in c.declared or ())
            source.append(Variable(name, tuple(states)))
        elif len(seen) == n_rows or len(seen) <= MAX_STATES:
            is_identifier = len(seen) == n_rows
            rows = np.arange(len(seen) + (not is_identifier)) % len(seen)
            source.append(variable_of(Column(name, list(seen), rows)))
        else:
            raise _overflow(name, seen, n_rows)
        totals[name] = seen
    variables = tuple(v.canonical() for v in sorted(source, key=lambda v: v.name))
    counts = tuple(tuple(totals[v.name][state] for state in v.states) for v in variables)
    return Layout(tuple(source), variables, counts, n_rows)


def _overflow(name: str, seen: Counter[str], n_rows: int) -> DataError:
    """Return what is wrong with a column of more labels than there can be states."""
    rows = np.arange(len(seen) + (len(seen) < n_rows)) % len(seen)
    return refuse_overflow(Column(name, list(seen), rows))


def encode(layout: Layout, request: Request, piece: Piece) -> Codes:
    """Return the codes of a piece: (n_variables, n_rows), in canonical order."""
    codes = np.empty((len(layout.variables), piece.n_rows), dtype=layout.dtype)
    place = {variable.name: i for i, variable in enumerate(layout.variables)}
    begin = 0
    for columns in _tables(request, piece):
        end = begin + len(columns[0].codes)
        for column in columns:
            i = place[column.name]
            codes[i, begin:end] = recoded(column, layout.variables[i])
        begin = end
    return codes


def _tables(request: Request, piece: Piece) -> Iterator[list[Column]]:
    """Yield the rows of a piece, a few at a time, as columns of states."""
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
                settled, _ = settle(columns, request)
                for column in settled:
                    check_states(column)
            yield settled
            first += batch.num_rows


@contextlib.contextmanager
def _located(piece: Piece, first: int) -> Iterator[None]:
    """Say in which rows of which file something was found; a sentence counts from there."""
    try:
        yield
    except DataError as error:
        raise DataError(f"In {piece.path!r}, counted from row {first + 1:,}: {error}") from None
