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
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from coevo.data.csv_dialect import detect_delimiter
from coevo.data.cuts import Cuts
from coevo.data.frame_reader import as_frame
from coevo.data.parquet import open_parquet
from coevo.data.write import delimiter_of
from coevo.errors import DataError, bad_parameter, require
from coevo.files import ByteSource, open_source, replacing

__all__ = ["Patch", "filled_frame", "write_filled"]

HEAD_BYTES = 1 << 20  # by which the delimiter of a text table is told


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
    def cuts(self) -> Cuts | None:
        """Where numbers were cut, if the states are bins."""
        return Cuts.from_states(self.states)

    def values(self, cells: Sequence[Any], of_state: Callable[[str], Any] = str) -> list[Any]:
        """Return what fills a missing cell, for each state.

        `cells` are all cells of the column; only where the states are bins are they needed.

        >>> cells = ["36.6", "?", "36.9", "36.8", "39.5"]
        >>> missing = np.array([False, True, False, False, False])
        >>> states = ("below_37", "from_37")
        >>> Patch("temperature", states, np.array([0, 0, 0, 0, 1]), missing).values(cells)
        ['36.8', '39.5']
        """
        seen = np.flatnonzero(~self.missing)
        if self.cuts is None or not len(seen) or cells[seen[0]] in self.states:
            return [of_state(state) for state in self.states]
        return [self._middle(code, cells, seen, self.cuts) for code in range(len(self.states))]

    def _middle(self, code: int, cells: Sequence[Any], seen: NDArray[np.intp], cuts: Cuts) -> Any:
        """Return the middle one of the numbers in a bin; its end, if there is none."""
        own = sorted((cells[row] for row in seen[self.codes[seen] == code]), key=float)
        if own:
            return own[(len(own) - 1) // 2]
        place = cuts.states.index(self.states[code])
        return type(cells[seen[0]])(cuts.points[max(0, place - 1)])


def filled_frame(frame: Any, patches: Iterable[Patch]) -> Any:
    """Return a data frame of pandas, polars or Arrow with its missing cells filled."""
    found = as_frame(frame)
    if found is None:
        raise bad_parameter("frame", "filled_frame", "a data frame", frame)
    for patch in patches:
        _check_rows(len(found), patch)
        series, holes = found[patch.name], np.flatnonzero(patch.missing)
        cells = series.to_list()
        values = patch.values(cells, _maker(cells[row] for row in np.flatnonzero(~patch.missing)))
        filled = [values[code] for code in patch.codes[holes].tolist()]
        found = found.with_columns(_with_cells(series, cells, holes, filled))
    return found.to_native()


def _maker(cells: Iterable[Any]) -> Callable[[str], Any]:
    """Return what makes a cell that is like these out of a state."""
    kinds = set(map(type, cells))
    if kinds == {bool}:
        return lambda state: state == "True"
    if kinds == {int}:
        return lambda state: int(float(state))
    return float if kinds == {float} else str


def _with_cells(
    series: nw.Series[Any], cells: list[Any], holes: NDArray[np.intp], filled: list[Any]
) -> nw.Series[Any]:
    """Return a column with other cells in some rows, of the same type; `cells` are all of it."""
    native = series.to_native()
    if series.implementation.is_pandas_like():
        copy = native.copy()
        copy.iloc[holes] = filled
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
            _write_table(filled_frame(file.read(), patches), path)
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
        columns = [list(column) for column in zip(*rows, strict=True)]
        _write_table(arrow.table(dict(zip(names, columns, strict=True))), path)
        return
    with open_csv(path) as stream:
        stream.write((delimiter.join(quoted(name, delimiter) for name in names) + "\n").encode())
        for row in rows:
            line = delimiter.join(quoted(cell, delimiter) if cell else "" for cell in row)
            stream.write((line + "\n").encode())


@contextlib.contextmanager
def _filled_rows(
    path: Path, patches: Sequence[Patch]
) -> Iterator[tuple[list[str], Iterator[list[str]]]]:
    """Yield the names of a text table and its rows, filled; it is read twice."""
    with _opened(path) as (names, rows):
        columns = _columns(names, rows, [patch.name for patch in patches if patch.cuts])
        values = [patch.values(columns.get(patch.name, ())) for patch in patches]
    with _opened(path) as (names, rows):
        places = [names.index(patch.name) for patch in patches]
        yield names, _replaced(rows, list(zip(places, patches, values, strict=True)))


def _columns(
    names: Sequence[str], rows: Iterable[list[str]], wanted: Sequence[str]
) -> dict[str, list[str]]:
    """Return the cells of some columns."""
    columns: dict[str, list[str]] = {name: [] for name in wanted}
    places = [(names.index(name), column) for name, column in columns.items()]
    for row in rows if places else ():
        for place, column in places:
            column.append(row[place].strip())
    return columns


def _replaced(
    rows: Iterable[list[str]], patches: Sequence[tuple[int, Patch, Sequence[str]]]
) -> Iterator[list[str]]:
    """Yield rows with their missing cells filled."""
    n_rows = 0
    for number, row in enumerate(rows):
        n_rows = number + 1
        for place, patch, values in patches:
            if number < len(patch.missing) and patch.missing[number]:
                row[place] = values[patch.codes[number]]
        yield row
    for _, patch, _ in patches[:1]:
        _check_rows(n_rows, patch)


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
        source.skip_mark()
        head = source.read(HEAD_BYTES)
        source.unread(head)
        delimiter, _ = detect_delimiter(head, is_whole=len(head) < HEAD_BYTES)
        text = io.TextIOWrapper(io.BufferedReader(_Stream(source)), encoding="utf-8", newline="")
        rows = filter(None, csv.reader(text, delimiter=delimiter))
        yield next(rows), rows


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
