"""Chunks of a table: parts that are read one after another, or by different workers.

A *chunk* yields its rows as small data frames. A chunk of a Parquet file is some row groups, the
smallest units that can be read; a chunk of a Dask data frame is a partition, which computes itself,
so that Dask is not imported here. Chunks are independent and can be read in any order. A table is
read in two passes:

1. `survey_chunk` counts the labels of each column of a chunk (`ColumnSurvey`), and `merge_surveys`
   makes one `Schema` from all surveys: the variables, their states and their counts;
2. `encode_chunk` turns a chunk into codes that have the same meaning in every chunk.

States and infos are the same as for the complete table in memory, and so are the errors.
Continuous columns need given cut points: to find cut points takes the complete table.
"""

from __future__ import annotations

import contextlib
import os
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
from narwhals.dependencies import is_dask_dataframe
from numpy.typing import NDArray

from coevo.data.bins import CutPoints
from coevo.data.column_types import ColumnInfo, format_drop_hint, format_type_hint
from coevo.data.columns import (
    Column,
    check_complete,
    check_states,
    make_overflow_error,
    make_variable,
    recode_column,
)
from coevo.data.dataset import Codes
from coevo.data.labels import parse_numbers, sort_naturally
from coevo.data.prepare.columns import prepare_columns
from coevo.data.prepare.drafts import are_states, infer_columns
from coevo.data.read.formats import list_columns, open_parquet
from coevo.data.read.frames import as_frame, read_series
from coevo.data.read_options import ReadPlan
from coevo.data.variable import MAX_STATES, Variable
from coevo.errors import DataError, FileError, import_optional
from coevo.files.files import open_source

__all__ = [
    "Chunk",
    "Partition",
    "Schema",
    "encode_chunk",
    "is_dask_dataframe",
    "list_chunks",
    "list_partitions",
    "merge_surveys",
    "survey_chunk",
]


# Decisions about values that are made in memory.
CORRECTIONS = ("blanks", "spelling", "missing_code", "missing_word")
MAX_SKETCH = 100_000  # rows that have about the shares of all rows


@dataclass(frozen=True)
class ColumnSurvey:
    """The labels of a column in one chunk, their counts, and its declared states, if any."""

    name: str
    counts: dict[str, int]
    declared: tuple[str, ...] | None
    holds: str = ""  # as in `ColumnInfo`


@dataclass(frozen=True)
class Schema:
    """The variables of a table, common to all its chunks.

    `source` holds the variables in the order of the table, `variables` the same variables in
    canonical order, `counts` the number of rows of each state of `variables`, and `infos` the
    inferred types of the columns.
    """

    source: tuple[Variable, ...]
    variables: tuple[Variable, ...]
    counts: tuple[tuple[int, ...], ...]
    n_rows: int
    infos: tuple[ColumnInfo, ...] = ()

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the codes."""
        return np.dtype(np.uint8 if max(v.arity for v in self.variables) <= 256 else np.uint16)


def merge_surveys(surveys: Sequence[Sequence[ColumnSurvey]], options: ReadPlan) -> Schema:
    """Return the schema of a table from the surveys of all its chunks, in their order.

    The survey of a chunk without rows is empty.
    """
    surveys = [survey for survey in surveys if survey]
    if not surveys:
        raise DataError("The table has no rows. Give at least one observation.")
    source, totals, infos = [], {}, []
    for name in [column.name for column in surveys[0]]:
        parts = [column for survey in surveys for column in survey if column.name == name]
        seen: Counter[str] = Counter()
        for part in parts:
            seen.update(part.counts)
        n_rows = sum(seen.values())
        if all(part.declared is not None for part in parts):
            states = dict.fromkeys(state for part in parts for state in part.declared or ())
            source.append(Variable(name, _sort_declared(name, tuple(states), options)))
        elif len(seen) == n_rows or len(seen) <= MAX_STATES:
            is_identifier = len(seen) == n_rows
            rows = np.arange(len(seen) + (not is_identifier)) % len(seen)
            source.append(make_variable(Column(name, list(seen), rows)))
            _refuse_measurement(name, seen, options)
        else:
            raise make_label_overflow_error(name, seen, n_rows)
        totals[name] = seen
        if any(part.declared is None for part in parts):
            _refuse_dirt(name, seen)
        holds = merge_holds([part.holds for part in parts])
        infos.append(_make_column_info(source[-1], holds, options))
    infos += [ColumnInfo(name, "ignore") for name in sorted(set(options.ignored))]
    variables = tuple(v.to_canonical() for v in sorted(source, key=lambda v: v.name))
    counts = tuple(tuple(totals[v.name][state] for state in v.states) for v in variables)
    return Schema(tuple(source), variables, counts, n_rows, tuple(infos))


def check_cut_points(options: ReadPlan) -> None:
    """Raise `DataError` if a continuous column has no given cut points."""
    for name, column_type in options.types.items():
        if column_type.kind == "continuous" and column_type.cuts is None:
            raise DataError(
                f"Column {name!r} is continuous, and cut points cannot be found out of core. "
                "Give its cut points with types= (--types), for example from the run.json of a "
                "run on some of the rows."
            )


def _refuse_measurement(name: str, seen: Counter[str], options: ReadPlan) -> None:
    """Raise `DataError` for numbers that `learn` would cut into bins in memory."""
    numbers = parse_numbers(list(seen)) if options.refuses_measurements else None
    if numbers is None:
        return
    n_distinct, n_rows = len(np.unique(numbers)), sum(seen.values())
    if not are_states(n_distinct, n_rows, is_integer=_are_integers(numbers)):
        raise DataError(
            f"Column {name!r} holds {n_distinct:,} different numbers, too many for states, and cut "
            f"points cannot be found out of core. {format_cut_hint(name)}"
        )


def _refuse_dirt(name: str, seen: Counter[str]) -> None:
    """Raise `DataError` for values that `learn` would correct in memory.

    Out of core each value would stay as it is, and the answer would be another one.
    """
    counts = np.array(list(seen.values()))
    scaled = np.ceil(counts * min(1.0, MAX_SKETCH / counts.sum())).astype(np.int64)
    column = Column(name, list(seen), np.repeat(np.arange(len(seen)), scaled))
    options = ReadPlan.from_parameters(discretise="mdl").allow_missing()
    prepared = prepare_columns([column], options, min_columns=0)
    found = [one for one in prepared.notes.decisions if one.kind in CORRECTIONS]
    if found:
        raise DataError(
            "In memory coevo would correct the table, and out of core it cannot: "
            f"{found[0].sentence} Correct the table, or keep the values as they are "
            f"({format_type_hint(name, 'categorical')})."
        )


def _are_integers(numbers: NDArray[np.float64]) -> bool:
    return bool((numbers == np.floor(numbers)).all())


def format_cut_hint(name: str) -> str:
    """Return what the user can do about a column of numbers without cut points."""
    return (
        "Give its cut points with types= (--types), for example from the run.json of a run on some "
        "of the rows, or give 'categorical' there, or leave it out "
        f"({format_drop_hint(name)})."
    )


def _sort_declared(name: str, states: tuple[str, ...], options: ReadPlan) -> tuple[str, ...]:
    """Return declared states, sorted if each chunk has declared only the states that it shows."""
    column_type = options.types.get(name)
    if column_type is None or column_type.kind != "categorical" or column_type.states is not None:
        return states
    numbers = parse_numbers(states)
    if numbers is None:
        return sort_naturally(states)
    return tuple(states[i] for i in np.argsort(numbers, kind="stable").tolist())


def merge_holds(kinds: Sequence[str]) -> str:
    """Return the kind of values of a column from the kinds of its chunks."""
    for holds in ("text", "decimal numbers"):
        if holds in kinds:
            return holds
    return next(filter(None, kinds), "")


def _make_column_info(variable: Variable, holds: str, options: ReadPlan) -> ColumnInfo:
    """Return the info of a column, as `read_data` would return it."""
    column_type = options.types.get(variable.name)
    cuts = None if column_type is None else column_type.cuts
    if holds == "declared states":
        cuts = CutPoints.from_states(variable.states)
    elif not holds and options.refuses_measurements:
        numbers = parse_numbers(variable.states)
        names = ("decimal numbers", "whole numbers")
        holds = "text" if numbers is None else names[_are_integers(numbers)]
    kind = "categorical" if cuts is None else "continuous"
    return ColumnInfo(variable.name, kind, variable.states, holds, cuts)


def make_label_overflow_error(name: str, seen: Counter[str], n_rows: int) -> DataError:
    """Return the error for a column with more labels than the largest number of states."""
    rows = np.arange(len(seen) + (len(seen) < n_rows)) % len(seen)
    return make_overflow_error(Column(name, list(seen), rows))


class Chunk(ABC):
    """Some rows of a table."""

    @abstractmethod
    def read_frames(self, options: ReadPlan) -> Iterator[tuple[str, nw.DataFrame[Any]]]:
        """Yield the selected columns of a few rows at a time, each with its location."""


def survey_chunk(options: ReadPlan, chunk: Chunk) -> list[ColumnSurvey]:
    """Return the labels and counts of each column; raise `DataError` for invalid values."""
    counts: dict[str, Counter[str]] = {}
    declared: dict[str, dict[str, None] | None] = {}
    holds: dict[str, str] = {}
    for columns, infos in _read_columns(options, chunk):
        for column, info in zip(columns, infos, strict=False):  # the last are of ignored columns
            seen = counts.setdefault(column.name, Counter())
            for code in np.flatnonzero(column.counts).tolist():
                seen[str(column.labels[code])] += int(column.counts[code])
            before = declared.setdefault(column.name, {})
            if before is None or column.declared is None:
                declared[column.name] = None
            else:
                declared[column.name] = {**before, **dict.fromkeys(column.declared)}
            holds[column.name] = merge_holds([holds.get(column.name, ""), info.holds])
            if len(seen) > MAX_STATES:
                raise make_label_overflow_error(column.name, seen, sum(seen.values()))
    return [
        ColumnSurvey(
            name,
            dict(seen),
            None if (states := declared[name]) is None else (*states,),
            holds[name],
        )
        for name, seen in counts.items()
    ]


def encode_chunk(schema: Schema, options: ReadPlan, chunk: Chunk) -> Codes:
    """Return the codes of a chunk: (n_variables, n_rows), in canonical order."""
    position = {variable.name: i for i, variable in enumerate(schema.variables)}
    parts = [np.empty((len(schema.variables), 0), dtype=schema.dtype)]
    for columns, _ in _read_columns(options, chunk):
        codes = np.empty((len(schema.variables), len(columns[0].codes)), dtype=schema.dtype)
        for column in columns:
            i = position[column.name]
            codes[i] = recode_column(column, schema.variables[i])
        parts.append(codes)
    return np.concatenate(parts, axis=1)


def _read_columns(
    options: ReadPlan, chunk: Chunk
) -> Iterator[tuple[list[Column], tuple[ColumnInfo, ...]]]:
    """Yield the columns of states of a few rows at a time, and the infos of the columns."""
    for where, frame in chunk.read_frames(options):
        with _locate_errors(where):
            named = zip(frame.columns, frame.iter_columns(), strict=True)
            columns = [read_series(str(name), series, options) for name, series in named]
            check_complete(columns, way_out=" first")
            inferred, infos = infer_columns(columns, options)
            for column in inferred:
                _refuse_decimals(column)
                check_states(column)
        yield inferred, infos


def _refuse_decimals(column: Column) -> None:
    """Raise `DataError` for decimal numbers that have no cut points."""
    if column.declared is None and column.decimal is not None:
        raise DataError(
            f"Column {column.name!r} holds decimal numbers, the first is "
            f"{column.labels[column.decimal]} in row {column.format_first_row(column.decimal)}. "
            f"{format_cut_hint(column.name)}"
        )


@contextlib.contextmanager
def _locate_errors(where: str) -> Iterator[None]:
    """Add the location to a `DataError`; its row numbers count from there."""
    try:
        yield
    except DataError as error:
        raise DataError(f"In {where}: {error}") from None


ROWS_PER_READ = 1 << 16  # rows of a chunk that are in memory at the same time
SUFFIXES = (".parquet", ".pq")


@dataclass(frozen=True)
class ParquetChunk(Chunk):
    """Some row groups of a Parquet file."""

    path: str
    groups: tuple[int, ...]
    first_row: int  # position in the file, counted from 0

    def read_frames(self, options: ReadPlan) -> Iterator[tuple[str, nw.DataFrame[Any]]]:
        """Yield the selected columns of a few rows at a time, each with its location."""
        arrow = import_optional("pyarrow", "PyArrow", "parquet")
        with open_parquet(Path(self.path)) as parquet:
            stored = list_columns(parquet)
            names = options.opening.rename_columns(stored)
            kept = options.select_columns(names)
            selected = [stored[i] for i in kept]
            first = self.first_row
            batches = parquet.iter_batches(
                batch_size=ROWS_PER_READ, row_groups=list(self.groups), columns=selected
            )
            for batch in batches:
                batch.validate(full=True)
                table = arrow.Table.from_batches([batch]).select(selected)
                table = table.rename_columns([names[i] for i in kept])
                where = f"{self.path!r}, counted from row {first + 1:,}"
                yield where, nw.from_native(table, eager_only=True)
                first += batch.num_rows
            n_rows = sum(parquet.metadata.row_group(group).num_rows for group in self.groups)
            if first - self.first_row != n_rows:  # PyArrow reads what a damaged file has
                raise ValueError(f"{first - self.first_row:,} of {n_rows:,} rows can be read")
        arrow.default_memory_pool().release_unused()  # else it stays allocated beside the codes


def list_chunks(source: str | Path, rows: int, options: ReadPlan) -> list[ParquetChunk]:
    """Return chunks of about `rows` rows of a Parquet file, or of all files in a folder."""
    check_cut_points(options)
    path = Path(source)
    files = [path]
    if not os.path.exists(path):
        raise FileError(f"There is no file or folder {str(path)!r}.")
    if path.is_file():
        with open_source(path) as opened:
            is_parquet = opened.magic == b"PAR1" or path.suffix.lower() in SUFFIXES
        if not is_parquet:
            raise FileError(
                f"{str(path)!r} is not a Parquet file, and only Parquet files can be read into "
                "shards. Write the table as Parquet, or read it into memory (without shards and "
                "cluster)."
            )
    if path.is_dir():
        files = sorted(file for file in path.iterdir() if file.suffix.lower() in SUFFIXES)
        if not files:
            raise FileError(f"There is no Parquet file in {str(path)!r}.")
    chunks: list[ParquetChunk] = []
    expected: set[str] = set()
    for file in files:
        with open_parquet(file) as parquet:
            names = list_columns(parquet)
            sizes = [parquet.metadata.row_group(i).num_rows for i in range(parquet.num_row_groups)]
        if expected and set(names) != expected:
            raise DataError(
                f"Only one of {str(files[0])!r} and {str(file)!r} has a column "
                f"{min(set(names) ^ expected)!r}. Give files with the same columns."
            )
        options.select_columns(options.opening.rename_columns(names))  # checks the names
        expected = set(names)
        chunks += _split_row_groups(str(file.resolve()), sizes, rows)
    if not chunks:
        raise DataError("The table has no rows. Give at least one observation.")
    return chunks


def _split_row_groups(path: str, sizes: Sequence[int], rows: int) -> Iterator[ParquetChunk]:
    """Yield chunks of neighbouring row groups that have enough rows together."""
    groups: list[int] = []
    first = n_rows = 0
    for group, size in enumerate(sizes):
        groups.append(group)
        n_rows += size
        if n_rows and (n_rows >= rows or group == len(sizes) - 1):
            yield ParquetChunk(path, tuple(groups), first)
            first, n_rows, groups = first + n_rows, 0, []


@dataclass(frozen=True, eq=False)
class Partition(Chunk):
    """A computed partition."""

    number: int
    partition: Any

    def read_frames(self, options: ReadPlan) -> Iterator[tuple[str, nw.DataFrame[Any]]]:
        """Yield the selected columns and their location; yield nothing if there are no rows."""
        frame = as_frame(self.partition)
        if frame is None:
            kind = type(self.partition).__name__
            raise TypeError(f"A Dask partition must be a data frame; got a {kind}.")
        if len(frame):
            where = f"partition {self.number + 1:,} of the data frame"
            names = options.opening.rename_columns([str(name) for name in frame.columns])
            kept = options.select_columns(names)
            selected, new_names = frame[:, kept], options.opening.rename or {}
            yield (
                where,
                selected.rename(
                    {
                        name: new_names[str(name)]
                        for name in selected.columns
                        if str(name) in new_names
                    }
                ),
            )


@dataclass(frozen=True, eq=False)
class LazyPartition(Chunk):
    """A partition that is computed again each time it is read."""

    number: int
    partition: Any

    def read_frames(self, options: ReadPlan) -> Iterator[tuple[str, nw.DataFrame[Any]]]:
        """Compute the partition; yield the same as `Partition`."""
        yield from Partition(self.number, self.partition.compute()).read_frames(options)


def list_partitions(frame: Any, options: ReadPlan) -> list[LazyPartition]:
    """Return the partitions of a Dask data frame without computing them; check the options."""
    check_cut_points(options)
    names = options.opening.rename_columns([str(name) for name in frame.columns])
    options.select_columns(names)  # checks the names
    return [LazyPartition(i, frame.partitions[i]) for i in range(frame.npartitions)]
