"""A table in pieces, of which only one need be in memory.

A *piece* gives its rows a few at a time, as data frames; anyone who has it can read it, in any
order (see `parquet_pieces` and `partitions`). Two passes make codes of a table: `survey` says which
states the columns of a piece show and how often, `layout.agree` settles from all surveys what
the variables are, and `encode` turns a piece into codes that mean the same in every piece. What
is refused is what `read_data` refuses. Numbers are cut where cut points are given; nobody
looks for some, because that takes the whole table.
"""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator
from typing import Any

import narwhals as nw
import numpy as np

from coevo.data.column_types import ColumnInfo
from coevo.data.columns import (
    Column,
    check_cells,
    check_states,
    recoded,
)
from coevo.data.dataset import Codes
from coevo.data.frame_reader import read_series
from coevo.data.infer_columns import settle
from coevo.data.read_options import ReadOptions
from coevo.data.variable import MAX_STATES
from coevo.errors import DataError
from coevo.outofcore.schema import ColumnSurvey, Schema, held, overflow, say_cuts

__all__ = ["Chunk", "encode", "survey"]


class Chunk(ABC):
    """Some rows of a table."""

    @abstractmethod
    def frames(self, request: ReadOptions) -> Iterator[tuple[str, nw.DataFrame[Any]]]:
        """Yield the columns that are asked for, a few rows at a time, and where those are."""


def survey(request: ReadOptions, piece: Chunk) -> list[ColumnSurvey]:
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


def encode(layout: Schema, request: ReadOptions, piece: Chunk) -> Codes:
    """Return the codes of a piece: (n_variables, n_rows), in canonical order."""
    place = {variable.name: i for i, variable in enumerate(layout.variables)}
    parts = [np.empty((len(layout.variables), 0), dtype=layout.dtype)]
    for columns, _ in _tables(request, piece):
        codes = np.empty((len(layout.variables), len(columns[0].codes)), dtype=layout.dtype)
        for column in columns:
            i = place[column.name]
            codes[i] = recoded(column, layout.variables[i])
        parts.append(codes)
    return np.concatenate(parts, axis=1)


def _tables(
    request: ReadOptions, piece: Chunk
) -> Iterator[tuple[list[Column], tuple[ColumnInfo, ...]]]:
    """Yield the rows of a piece, a few at a time, as columns of states, with notes on them."""
    for where, frame in piece.frames(request):
        with _located(where):
            named = zip(frame.columns, frame.iter_columns(), strict=True)
            columns = [read_series(str(name), series, request) for name, series in named]
            check_cells(columns, way_out=" where the table is made")
            settled, notes = settle(columns, request)
            for column in settled:
                _refuse_decimals(column)
                check_states(column)
        yield settled, notes


def _refuse_decimals(column: Column) -> None:
    if column.declared is None and column.decimal is not None:
        raise DataError(
            f"Column {column.name!r} holds decimal numbers, the first is "
            f"{column.labels[column.decimal]} in row {column.first_row(column.decimal)}. "
            f"{say_cuts(column.name)}"
        )


@contextlib.contextmanager
def _located(where: str) -> Iterator[None]:
    """Say in which rows something was found; a sentence counts from there."""
    try:
        yield
    except DataError as error:
        raise DataError(f"In {where}: {error}") from None
