"""The table that observations were read from, with its missing cells filled.

All else stays as it was: columns that were left out, numbers that were cut into bins, and the
order of both rows and columns. A missing number becomes the middle one of those that its bin
shows, so that it is a number of the table.
"""

from __future__ import annotations

import contextlib
import csv
import io
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from coevo.data.csv_dialect import HEAD_BYTES, detect_delimiter
from coevo.data.cut_points import CutPoints
from coevo.data.frame_reader import as_frame
from coevo.data.parquet import open_parquet
from coevo.data.writer import delimiter_of
from coevo.errors import DataError, bad_parameter, require
from coevo.files import ByteSource, open_source, replacing

__all__ = ["Patch", "filled_frame", "write_filled"]

LONGEST_FIELD = 1 << 30
AS_THEY_ARE = "surrogateescape"  # bytes of columns that nobody reads as text need not be UTF-8


@dataclass(frozen=True)
class Patch:
    """What a column is once it is complete.

    Attributes
    ----------
    name : str
        The column.
    states : tuple of str
        What codes stand for.
    codes : array of int, (n_rows,)
        The state of each row.
    missing : array of bool, (n_rows,)
        Which cells are to be filled.
    """

    name: str
    states: tuple[str, ...]
    codes: NDArray[np.integer]
    missing: NDArray[np.bool_]

    @cached_property
    def cuts(self) -> CutPoints | None:
        """Where numbers were cut, if the states are bins."""
        return CutPoints.from_states(self.states)

    def values(self, cells: Sequence[Any]) -> list[Any]:
        """Return what fills a missing cell, for each state, given all cells of the column.

        It is a cell with that state, so that it has the type of the others.

        >>> cells = ["36.6", "?", "36.9", "36.8", "39.5"]
        >>> missing = np.array([False, True, False, False, False])
        >>> states = ("below_37", "from_37")
        >>> Patch("temperature", states, np.array([0, 0, 0, 0, 1]), missing).values(cells)
        ['36.8', '39.5']
        """
        seen = np.flatnonzero(~self.missing)
        by_code: list[list[Any]] = [[] for _ in self.states]
        for row, code in zip(seen.tolist(), self.codes[seen].tolist(), strict=True):
            by_code[code].append(cells[row])
        like = cells[seen[0]] if len(seen) else ""
        is_cut = self.cuts is not None and str(like) not in self.states
        found = []
        for own, state in zip(by_code, self.states, strict=True):
            if not own:
                found.append(self._unseen(state, like, is_cut))
            else:
                found.append(_middle(own) if is_cut else _one_of(own, state))
        return found

    def _unseen(self, state: str, like: Any, is_cut: bool) -> Any:
        """Return a cell for a state that no cell has; of a bin, one of its ends."""
        if is_cut and self.cuts is not None:
            return type(like)(self.cuts.points[max(0, self.cuts.states.index(state) - 1)])
        if isinstance(like, bool):
            return state == "True"
        return type(like)(float(state)) if isinstance(like, int | float) else state


def _middle(cells: list[Any]) -> Any:
    """Return the middle one of some numbers; no order of theirs matters."""
    return sorted(cells, key=lambda cell: (float(cell), str(cell)))[(len(cells) - 1) // 2]


def _one_of(cells: list[Any], state: str) -> Any:
    """Return one of some cells that mean the same state; no order of theirs matters."""
    return min(cells, key=lambda cell: (str(cell) != state, str(cell)))


def filled_frame(frame: Any, patches: Iterable[Patch], owner: str = "filled_frame") -> Any:
    """Return a data frame of pandas, polars or Arrow with its missing cells filled."""
    found = as_frame(frame)
    if found is None:
        raise bad_parameter("frame", owner, "a data frame", frame)
    names = list(map(str, found.columns))
    for patch in patches:
        place = _place(names, patch)
        series = found.get_column(found.columns[place])
        found = found.with_columns(_filled(series, patch))
    return found.to_native()


def _filled(series: nw.Series[Any], patch: Patch) -> nw.Series[Any]:
    """Return a column of the same type with its missing cells filled."""
    _check_rows(len(series), patch)
    cells, holes = series.to_list(), np.flatnonzero(patch.missing)
    values = patch.values(cells)
    filled = [values[code] for code in patch.codes[holes].tolist()]
    native = series.to_native()
    if series.implementation.is_pandas_like():
        copy = native.copy()
        copy.iloc[holes] = type(native)(filled, dtype=native.dtype).array
        return nw.from_native(copy, series_only=True)
    for row, value in zip(holes.tolist(), filled, strict=True):
        cells[row] = value
    if series.implementation.is_pyarrow():
        arrow = require("pyarrow", "PyArrow", "parquet")
        whole = arrow.chunked_array([arrow.array(cells, type=native.type)])
        made: nw.Series[Any] = nw.from_native(whole, series_only=True).alias(series.name)
        return made
    backend = nw.get_native_namespace(series)
    return nw.new_series(series.name, cells, series.dtype, backend=backend)


def _place(names: Sequence[str], patch: Patch) -> int:
    """Return where a column stands."""
    if patch.name not in names:
        raise DataError(
            f"The table has no column {patch.name!r}, which was read from it. Give the table that "
            "was learned from."
        )
    return names.index(patch.name)


def write_filled(
    source: str | os.PathLike[str], target: str | os.PathLike[str], patches: Sequence[Patch]
) -> None:
    """Write a table that is a CSV or Parquet file to another file, filled.

    The suffix of `target` chooses the format, as for `write_data`.
    """
    origin, path = Path(source), Path(target)
    with open_source(origin) as opened:
        is_parquet = opened.is_parquet
    if is_parquet:
        with open_parquet(origin) as file:
            table = file.read()
        for patch in patches:
            place = _place(table.column_names, patch)
            series = nw.from_native(table.column(place), series_only=True)
            table = table.set_column(place, patch.name, _filled(series, patch).to_native())
        _write_table(table, path)
        return
    with _filled_rows(origin, patches) as (names, rows):
        _write_rows(names, rows, path)


def _write_table(table: Any, path: Path) -> None:
    """Write an Arrow table in the format that the name asks for."""
    if delimiter_of(path) is None:
        parquet = require("pyarrow.parquet", "PyArrow", "parquet")
        with replacing(path) as stream:
            parquet.write_table(table, stream)
        return
    columns = [column.to_pylist() for column in table.columns]
    rows = (
        ["" if cell is None else str(cell) for cell in row] for row in zip(*columns, strict=True)
    )
    _write_rows(table.column_names, rows, path)


def _write_rows(names: Sequence[str], rows: Iterable[Sequence[str]], path: Path) -> None:
    """Write rows of text in the format that the name asks for."""
    from coevo.data.csv_writer import open_csv, quoted  # imports numba

    delimiter = delimiter_of(path)
    if delimiter is None:
        arrow = require("pyarrow", "PyArrow", "parquet")
        columns = [list(map(_readable, column)) for column in zip(*rows, strict=True)]
        _write_table(arrow.Table.from_arrays(list(map(arrow.array, columns)), names), path)
        return
    with open_csv(path) as stream:
        header = delimiter.join(quoted(name, delimiter) for name in names)
        stream.write((header + "\n").encode(errors=AS_THEY_ARE))
        for row in rows:
            line = delimiter.join(quoted(cell, delimiter) if cell else "" for cell in row)
            stream.write((line + "\n").encode(errors=AS_THEY_ARE))


def _readable(text: str) -> str:
    """Return a text with a mark in place of bytes that are not UTF-8."""
    return text.encode(errors=AS_THEY_ARE).decode(errors="replace")


@contextlib.contextmanager
def _filled_rows(
    path: Path, patches: Sequence[Patch]
) -> Iterator[tuple[list[str], Iterator[list[str]]]]:
    """Yield the names of a text table and its rows, filled; it is read twice."""
    with _opened(path) as (names, rows):
        places = [_place(names, patch) for patch in patches]
        values = _values(rows, list(zip(places, patches, strict=True)))
    with _opened(path) as (names, rows):
        yield names, _replaced(rows, list(zip(places, patches, values, strict=True)))


def _values(rows: Iterable[list[str]], patches: Sequence[tuple[int, Patch]]) -> list[list[str]]:
    """Return what fills a missing cell, for each column and state; a text is its own state.

    Only numbers that were cut are looked through.
    """
    cells: dict[int, list[str]] = {p: [] for p, patch in patches if patch.cuts is not None}
    n_rows = 0
    for row in rows:
        n_rows += 1
        for place, own in cells.items():
            own.append(row[place])
    for _, patch in patches:
        _check_rows(n_rows, patch)
    return [
        list(patch.states) if patch.cuts is None else patch.values(cells[place])
        for place, patch in patches
    ]


def _replaced(
    rows: Iterable[list[str]], patches: Sequence[tuple[int, Patch, Sequence[str]]]
) -> Iterator[list[str]]:
    """Yield rows with their missing cells filled."""
    for number, row in enumerate(rows):
        for place, patch, values in patches:
            if patch.missing[number]:
                row[place] = values[patch.codes[number]]
        yield row


def _check_rows(n_rows: int, patch: Patch) -> None:
    n_read = len(patch.missing)
    if n_rows != n_read:
        raise DataError(
            f"The table has {n_rows:,} rows, and {n_read:,} were read. Leave it as it is while it "
            "is learned from."
        )


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[tuple[list[str], Iterator[list[str]]]]:
    """Yield the names of a text table, and its rows."""
    with open_source(path) as source:
        source.skip_bom()
        head = source.read(HEAD_BYTES)
        source.unread(head)
        delimiter, _ = detect_delimiter(head, is_whole=len(head) < HEAD_BYTES)
        bytes_ = io.BufferedReader(_Stream(source))
        text = io.TextIOWrapper(bytes_, encoding="utf-8", errors=AS_THEY_ARE, newline="")
        rows = filter(None, csv.reader(text, delimiter=delimiter))
        longest = csv.field_size_limit(LONGEST_FIELD)
        try:
            yield next(rows), rows
        finally:
            csv.field_size_limit(longest)


class _Stream(io.RawIOBase):
    """A source of bytes as Python's own readers want it."""

    def __init__(self, source: ByteSource) -> None:
        self._source = source

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        part = self._source.read(len(buffer))
        buffer[: len(part)] = part
        return len(part)
