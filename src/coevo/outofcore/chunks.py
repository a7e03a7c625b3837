"""Chunks of a table: parts that are read one after another, or by different workers.

A *chunk* yields its rows as small data frames (see `parquet_chunks` and `dask_partitions`).
Chunks are independent and can be read in any order. A table is read in two passes:

1. `survey_chunk` counts the labels of each column of a chunk, and `schema.merge_surveys` infers
   the variables from all surveys;
2. `encode_chunk` turns a chunk into codes that have the same meaning in every chunk.

A chunk raises the same errors as `read_data`. Continuous columns need given cut points: to find
cut points takes the complete table.
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
    check_complete,
    check_states,
    recode_column,
)
from coevo.data.dataset import Codes
from coevo.data.frame_reader import read_series
from coevo.data.infer_columns import infer_columns
from coevo.data.read_options import ReadPlan
from coevo.data.variable import MAX_STATES
from coevo.errors import DataError
from coevo.outofcore.schema import (
    ColumnSurvey,
    Schema,
    format_cut_hint,
    make_label_overflow_error,
    merge_holds,
)

__all__ = ["Chunk", "encode_chunk", "survey_chunk"]


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
