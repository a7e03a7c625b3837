"""Copy a table and replace its missing values by imputed values.

The rest of the table does not change: columns that were left out, numbers that were cut into
bins, and the order of rows and columns. The imputed value of a column of numbers is the median
of the observed numbers in the imputed bin (the lower one of two), so that it is a number of the
table.

`impute_frame` copies a data frame. `write_imputed_file` copies a file, with the same readers and
writers as `read_data` and `write_data`. A copy of a text table is in UTF-8; lines that are not part
of the table are not copied.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from coevo.data.bins import CutPoints
from coevo.data.labels import parse_numbers
from coevo.data.prepare.dates import DATE_ORDERS, DATE_PARTS, parse_dates
from coevo.data.prepare.number_formats import parse_formatted_numbers
from coevo.data.read.csv_fields import CsvBlock
from coevo.data.read.formats import list_columns, open_parquet
from coevo.data.read.frames import as_frame
from coevo.data.read.header_names import has_units_row
from coevo.data.read.source_kinds import detect_kind
from coevo.data.read.sources import load_table
from coevo.data.read_options import ReadPlan
from coevo.data.source_options import DEFAULT_OPENING, SourceOptions
from coevo.data.writer import (
    choose_delimiter,
    choose_new_names,
    count_skipped_rows,
    iter_raw_blocks,
    iter_table_blocks,
    load_raw_columns,
    write_blocks,
    write_parquet_table,
)
from coevo.errors import DataError, bad_parameter, import_optional, warn_caller
from coevo.files.files import open_source

__all__ = ["ImputedColumn", "add_columns", "impute_frame", "write_imputed_file"]


@dataclass(frozen=True)
class ImputedColumn:
    """A column with imputed states.

    Attributes
    ----------
    name : str
        The name of the column.
    states : tuple of str
        The state of each code.
    codes : array of int, (n_rows,)
        The observed or imputed state of each row.
    missing : array of bool, (n_rows,)
        True for each row with an imputed state.
    n_skipped : int
        Number of rows at the start that are no observations: a row of units.
    """

    name: str
    states: tuple[str, ...]
    codes: NDArray[np.integer]
    missing: NDArray[np.bool_]
    n_skipped: int = 0

    def skip_row(self) -> ImputedColumn:
        """Return the column with a row of units above its rows."""
        codes = np.insert(self.codes, 0, 0)
        return replace(self, codes=codes, missing=np.insert(self.missing, 0, False), n_skipped=1)

    @cached_property
    def cuts(self) -> CutPoints | None:
        """The cut points of the column, if its states are bins."""
        return CutPoints.from_states(self.states)

    def choose_values(self, cells: Sequence[Any]) -> list[Any]:
        """Return the value to impute for each state, given all cells of the column.

        The value is an observed cell with this state, so that it has the type of the column.

        >>> cells = ["36.6", "?", "36.9", "36.8", "39.5"]
        >>> missing = np.array([False, True, False, False, False])
        >>> states = ("below_37", "from_37")
        >>> column = ImputedColumn("temperature", states, np.array([0, 0, 0, 0, 1]), missing)
        >>> column.choose_values(cells)
        ['36.8', '39.5']
        """
        observed = np.flatnonzero(~self.missing)[self.n_skipped :]
        cells_by_code: list[list[Any]] = [[] for _ in self.states]
        for row, code in zip(observed.tolist(), self.codes[observed].tolist(), strict=True):
            cells_by_code[code].append(cells[row])
        example = cells[observed[0]] if len(observed) else ""
        has_numbers = self.cuts is not None and str(example) not in self.states
        values = []
        for state, candidates in zip(self.states, cells_by_code, strict=True):
            if not candidates:
                values.append(self._make_value(state, example, has_numbers))
            elif has_numbers and self.cuts is not None:
                values.append(_find_median(candidates, self.cuts, self.cuts.states.index(state)))
            else:
                values.append(_choose_cell(candidates, state))
        return values

    def _make_value(self, state: str, example: Any, has_numbers: bool) -> Any:
        """Return a value for a state without observed cells; for a bin, one of its cut points."""
        if has_numbers and self.cuts is not None:
            return type(example)(self.cuts.points[max(0, self.cuts.states.index(state) - 1)])
        if isinstance(example, bool):
            return state == "True"
        return type(example)(float(state)) if isinstance(example, int | float) else state


def _find_median(cells: list[Any], cuts: CutPoints, bin_: int) -> Any:
    """Return the lower median of the numbers of a bin; it does not depend on their order."""
    distinct = sorted(set(map(str, cells)))
    number_of = dict(zip(distinct, _parse_cells(distinct, cuts, bin_), strict=True))
    ranked = sorted(cells, key=lambda cell: (number_of[str(cell)], str(cell)))
    return ranked[(len(cells) - 1) // 2]


def _parse_cells(texts: list[str], cuts: CutPoints, bin_: int) -> list[float]:
    """Return the numbers of texts in any format that `read_data` knows.

    All of them are in the same bin, which tells a decimal comma from a thousands separator.
    """
    plain = parse_numbers(texts)
    candidates = [] if plain is None else [plain]
    if (formatted := parse_formatted_numbers(texts, range(len(texts)))) is not None:
        candidates += formatted.numbers.values()
    for order in DATE_ORDERS:
        if (dates := parse_dates(texts, range(len(texts)), order)) is not None:
            candidates.append(dates.as_numbers(len(texts)))
    for numbers in candidates:
        if not np.isnan(numbers).any() and (cuts.apply(numbers) == bin_).all():
            return list(numbers.tolist())
    return [0.0] * len(texts)  # the table has changed; any cell of the bin will do


def _choose_cell(cells: list[Any], state: str) -> Any:
    """Return one of several cells with the same state; it does not depend on their order."""
    return min(cells, key=lambda cell: (str(cell) != state, str(cell)))


def impute_frame(
    frame: Any,
    columns: Iterable[ImputedColumn],
    owner: str = "impute_frame",
    opening: SourceOptions = DEFAULT_OPENING,
) -> Any:
    """Return a copy of a pandas, polars or Arrow table with imputed values."""
    copy = as_frame(frame)
    if copy is None:
        raise bad_parameter("frame", owner, "a data frame", frame)
    names = opening.rename_columns(list(map(str, copy.columns)))
    listed = list(columns)
    if any(len(copy) == len(column.missing) + 1 for column in listed):
        options = ReadPlan.from_parameters(opening=opening).allow_missing()
        if has_units_row(load_table(frame, options, None), options):
            listed = [column.skip_row() for column in listed]
    for column in _leave_out_parts(listed, names):
        series = copy.get_column(copy.columns[_find_column(names, column)])
        copy = copy.with_columns(_impute_series(series, column))
    return copy.to_native()


def _impute_series(series: nw.Series[Any], column: ImputedColumn) -> nw.Series[Any]:
    """Return a copy of a series, of the same type, with imputed values."""
    _check_row_count(len(series), column)
    cells, rows = series.to_list(), np.flatnonzero(column.missing)
    values = column.choose_values(cells)
    imputed = [values[code] for code in column.codes[rows].tolist()]
    native = series.to_native()
    if series.implementation.is_pandas_like():
        copy = native.copy()
        copy.iloc[rows] = type(native)(imputed, dtype=native.dtype).array
        return nw.from_native(copy, series_only=True)
    for row, value in zip(rows.tolist(), imputed, strict=True):
        cells[row] = value
    if series.implementation.is_pyarrow():
        arrow = import_optional("pyarrow", "PyArrow", "parquet")
        array = arrow.chunked_array([arrow.array(cells, type=native.type)])
        copied: nw.Series[Any] = nw.from_native(array, series_only=True).alias(series.name)
        return copied
    backend = nw.get_native_namespace(series)
    return nw.new_series(series.name, cells, series.dtype, backend=backend)


def _leave_out_parts(columns: Iterable[ImputedColumn], names: Sequence[str]) -> list[ImputedColumn]:
    """Return the columns without parts of dates, which cannot be written into a column of dates."""
    kept = []
    for column in columns:
        base, _, part = column.name.rpartition("_")
        if column.name in names or part not in DATE_PARTS or base not in names:
            kept.append(column)
        else:
            warn_caller(
                f"The missing values of {base!r} stay missing in the copy of the table: only the "
                f"{part} is imputed."
            )
    return kept


def _find_column(names: Sequence[str], column: ImputedColumn) -> int:
    """Return the position of a column in a table."""
    if column.name not in names:
        raise DataError(
            f"The table has no column {column.name!r}, which was read from it. Give the table that "
            "was learned from."
        )
    return names.index(column.name)


def _check_row_count(n_rows: int, column: ImputedColumn) -> None:
    n_read = len(column.missing)
    if n_rows != n_read:
        raise DataError(
            f"The table has {n_rows:,} rows, but {n_read:,} rows were read. Keep all rows with "
            "duplicates='keep' and totals='keep' (--duplicates keep --totals keep), use no "
            "weights, and do not change a table while coevo learns from it."
        )


def write_imputed_file(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    columns: Sequence[ImputedColumn],
    opening: SourceOptions = DEFAULT_OPENING,
) -> None:
    """Write a copy of a file with imputed values.

    The suffix of `target` determines the format, as for `write_data`. `opening` says how `source`
    was opened.
    """
    input_path, output_path = Path(source), Path(target)
    with open_source(input_path) as opened:
        kind, _ = detect_kind(opened)
    if columns and count_skipped_rows(input_path, opening):
        columns = [column.skip_row() for column in columns]
    opening = replace(opening, units_row=False)
    if kind == "parquet":
        _copy_parquet(input_path, output_path, columns, opening)
    elif kind == "text":
        _copy_csv(input_path, output_path, columns, opening)
    else:
        _copy_other(input_path, output_path, columns, opening)


def _copy_other(
    source: Path, target: Path, columns: Sequence[ImputedColumn], opening: SourceOptions
) -> None:
    """Copy a file of any kind by its raw columns, as text."""
    raw = load_raw_columns(source, opening)
    names = [column.name for column in raw]
    positions = [_find_column(names, column) for column in columns]
    texts = []
    for position, column in zip(positions, columns, strict=True):
        _check_row_count(len(raw[position].codes), column)
        labels = [label or "" for label in raw[position].labels]
        cells = [labels[code] for code in raw[position].codes.tolist()]
        texts.append(list(column.states) if column.cuts is None else column.choose_values(cells))
    imputed = list(zip(positions, columns, texts, strict=True))
    old_names = {new: old for old, new in (opening.rename or {}).items()}
    header = [old_names.get(name, name) for name in names]
    write_blocks(header, _impute_blocks(iter_raw_blocks(raw), imputed), target)


def _copy_parquet(
    source: Path, target: Path, columns: Sequence[ImputedColumn], opening: SourceOptions
) -> None:
    with open_parquet(source) as file:
        table, stored = file.read(), list_columns(file)
    renamed = dict(zip(stored, opening.rename_columns(stored), strict=True))
    names = [renamed.get(name, name) for name in table.column_names]
    for column in _leave_out_parts(columns, names):
        position = _find_column(names, column)
        series = nw.from_native(table.column(position), series_only=True)
        imputed = _impute_series(series, column).to_native()
        table = table.set_column(position, table.column_names[position], imputed)
    if choose_delimiter(target) is None:
        write_parquet_table(table, target)
    else:
        write_blocks(table.column_names, iter_table_blocks(table), target)


def _copy_csv(
    source: Path, target: Path, columns: Sequence[ImputedColumn], opening: SourceOptions
) -> None:
    """Copy a text table; it is read twice, first for the values to impute."""
    from coevo.data.read.csv_reader import CsvReader

    with open_source(source) as opened:
        kept = _leave_out_parts(columns, CsvReader(opened, opening).names)
    texts = _choose_texts(source, kept, opening)
    with open_source(source) as opened:
        reader = CsvReader(opened, opening)
        positions = [_find_column(reader.names, column) for column in kept]
        blocks = reader.iter_blocks(range(len(reader.names)), _keeps_empty_rows(kept))
        imputed = _impute_blocks(blocks, list(zip(positions, kept, texts, strict=True)))
        write_blocks(reader.header, imputed, target)


def _keeps_empty_rows(columns: Sequence[ImputedColumn]) -> bool:
    """Return whether a row without text is a row: the empty text is a state."""
    return any("" in column.states for column in columns)


def _choose_texts(
    source: Path, columns: Sequence[ImputedColumn], opening: SourceOptions
) -> list[list[str]]:
    """Return the text to impute for each column and state.

    The text of a state is its name, unless the state is a bin of numbers.
    """
    from coevo.data.read.csv_reader import CsvReader

    binned = [column for column in columns if column.cuts is not None]
    cells: dict[str, list[str]] = {column.name: [] for column in binned}
    n_rows = 0
    with open_source(source) as opened:
        reader = CsvReader(opened, opening)
        positions = [_find_column(reader.names, column) for column in binned]
        for block in reader.iter_blocks(positions, _keeps_empty_rows(columns)):
            n_rows += block.n_rows
            for i, column in enumerate(binned):
                cells[column.name] += block.list_texts(i)
    for column in columns:
        _check_row_count(n_rows, column)
    return [
        list(column.states) if column.cuts is None else column.choose_values(cells[column.name])
        for column in columns
    ]


def _impute_blocks(
    blocks: Iterable[CsvBlock], columns: Sequence[tuple[int, ImputedColumn, Sequence[str]]]
) -> Iterator[CsvBlock]:
    """Yield the blocks with the imputed texts of (position, column, text of each state)."""
    start = 0
    for block in blocks:
        stop = start + block.n_rows
        for position, column, texts in columns:
            rows = np.flatnonzero(column.missing[start:stop])
            codes = column.codes[start:stop][rows].tolist()
            block.replace_texts(position, rows, [texts[code] for code in codes])
        yield block
        start = stop


# Add columns to a copy of a data frame; its index, types and columns stay.


def add_columns(frame: Any, columns: Sequence[tuple[str, Sequence[Any]]], owner: str) -> Any:
    """Return a copy of a pandas, polars or Arrow table with further columns at the end.

    A name that the table has already gets a number.

    >>> import pandas as pd
    >>> add_columns(pd.DataFrame({"a": [1, 2]}, index=["x", "y"]), [("a", [3, 4])], "join")
       a  a_2
    x  1    3
    y  2    4
    """
    table = as_frame(frame)
    if table is None:
        raise bad_parameter("frame", owner, "a data frame", frame)
    if len(table) != len(columns[0][1]):
        raise DataError(
            f"The data frame has {len(table):,} rows, but there are {len(columns[0][1]):,} "
            "predictions. Give the rows that were predicted."
        )
    names = choose_new_names(map(str, table.columns), [name for name, _ in columns])
    backend = nw.get_native_namespace(table)
    index = nw.maybe_get_index(table)
    for name, (_, values) in zip(names, columns, strict=True):
        series = nw.new_series(name, list(values), backend=backend)
        if index is not None:  # pandas aligns by the index
            series = nw.maybe_set_index(series, index=index)
        table = table.with_columns(series)
    return table.to_native()
