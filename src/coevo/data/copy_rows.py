"""Copy a table as text, block by block, with further columns.

The text of every cell stays as it is in the source: identifiers, columns that no network has, and
numbers that were put into bins. A copy of a text table is in UTF-8; lines that are not part of the
table, and rows without any value, are not copied.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from coevo.data.column_types import Binning
from coevo.data.columns import Column
from coevo.data.csv_block import BLOCK_ROWS, CsvBlock
from coevo.data.load import load_table
from coevo.data.number_labels import parse_number
from coevo.data.parquet import open_parquet
from coevo.data.read_options import ReadPlan
from coevo.data.source_kinds import detect_kind
from coevo.data.source_options import DEFAULT_OPENING, SourceOptions
from coevo.data.units_row import has_units_row
from coevo.data.writer import choose_delimiter
from coevo.errors import DataError, import_optional
from coevo.files import open_source, replace_file

__all__ = [
    "choose_new_names",
    "copy_with_columns",
    "copy_with_predictions",
    "count_skipped_rows",
    "iter_raw_blocks",
    "iter_table_blocks",
    "load_raw_columns",
    "write_blocks",
    "write_parquet_table",
]

Texts = Sequence[str]  # one for each row


def copy_with_columns(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    columns: Sequence[tuple[str, Texts]],
    opening: SourceOptions = DEFAULT_OPENING,
) -> None:
    """Write a copy of a file with further columns at the end, each a name and its texts.

    The suffix of `target` determines the format, as for `write_data`. `opening` says how `source`
    was opened. A name that the table has already gets a number.
    """
    n_skipped = count_skipped_rows(Path(source), opening)
    with _open_blocks(Path(source), replace(opening, units_row=False)) as (names, blocks):
        new = choose_new_names(names, [name for name, _ in columns])
        texts = [[""] * n_skipped + list(column) for _, column in columns]
        write_blocks([*names, *new], _extend_blocks(blocks, texts), Path(target))


def copy_with_predictions(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    columns: Sequence[tuple[str, Sequence[Any]]],
    opening: SourceOptions = DEFAULT_OPENING,
) -> None:
    """Write a copy of a file with the columns of a prediction, numbers with twelve digits."""
    texts = [
        (name, [f"{cell:.12g}" if isinstance(cell, float) else cell for cell in column])
        for name, column in columns
    ]
    copy_with_columns(source, target, texts, opening)


def choose_new_names(taken: Iterable[str], names: Sequence[str]) -> list[str]:
    """Return names that a table does not have, with a number at the end where it has.

    >>> choose_new_names(["id", "predicted"], ["predicted", "probability"])
    ['predicted_2', 'probability']
    """
    known, found = set(taken), []
    for name in names:
        new, n = name, 1
        while new in known:
            n += 1
            new = f"{name}_{n}"
        known.add(new)
        found.append(new)
    return found


@contextlib.contextmanager
def _open_blocks(
    path: Path, opening: SourceOptions
) -> Iterator[tuple[list[str], Iterator[CsvBlock]]]:
    """Open a file of any kind; yield the names of its columns and its rows."""
    with open_source(path) as opened:
        kind, _ = detect_kind(opened)
    if kind == "parquet":
        with open_parquet(path) as file:
            table = file.read()
        yield list(table.column_names), iter_table_blocks(table)
    elif kind == "text":
        from coevo.data.csv_reader import CsvReader

        with open_source(path) as opened:
            reader = CsvReader(opened, opening)
            yield list(reader.header), reader.iter_blocks(range(len(reader.names)), False)
    else:
        raw = load_raw_columns(path, opening)
        old_names = {new: old for old, new in (opening.rename or {}).items()}
        yield [old_names.get(column.name, column.name) for column in raw], iter_raw_blocks(raw)


def _extend_blocks(blocks: Iterable[CsvBlock], columns: Sequence[Texts]) -> Iterator[CsvBlock]:
    """Yield blocks with further columns."""
    start = 0
    for block in blocks:
        stop = start + block.n_rows
        new = CsvBlock.from_texts([column[start:stop] for column in columns])
        codes = np.concatenate([block.codes, new.codes])
        yield CsvBlock([*block.labels, *new.labels], codes)
        start = stop
    if start != len(columns[0]):
        raise DataError(
            f"The table has {start:,} rows, but {len(columns[0]):,} rows were read. Do not change "
            "a table while coevo reads it."
        )


def count_skipped_rows(source: Path, opening: SourceOptions) -> int:
    """Return how many rows above the first observation were skipped: 1 for a row of units.

    A copy of the table has this row as it is.
    """
    if opening.units_row is not None:
        return int(opening.units_row)
    with _open_blocks(source, replace(opening, units_row=False)) as (names, blocks):
        block = next(iter(blocks), None)
        if block is None:
            return 0
        first = [block.labels[i][int(block.codes[i][0])] for i in range(len(names))]
    if len(names) < 2 or any(parse_number(text) is not None for text in first):
        return 0  # a row of units has no number, and most tables end here
    options = ReadPlan.from_parameters(discretise="mdl", opening=opening).allow_missing()
    table = load_table(source, replace(options, is_lenient=True), None)
    return int(has_units_row(table, options))


def load_raw_columns(source: Path, opening: SourceOptions) -> list[Column]:
    """Return all columns of a file with all their numbers."""
    numbers = Binning.from_parameters("mdl", None, "read_data")  # keeps all numbers
    options = ReadPlan({}, (), binning=numbers, keeps_missing=True, opening=opening)
    return load_table(source, options, None).columns


def iter_raw_blocks(columns: Sequence[Column]) -> Iterator[CsvBlock]:
    """Yield the rows of raw columns as text."""
    labels = [[label or "" for label in column.labels] for column in columns]
    for start in range(0, len(columns[0].codes), BLOCK_ROWS):
        codes = [column.codes[start : start + BLOCK_ROWS].tolist() for column in columns]
        yield CsvBlock.from_texts(
            [[texts[code] for code in part] for texts, part in zip(labels, codes, strict=True)]
        )


def iter_table_blocks(table: Any) -> Iterator[CsvBlock]:
    """Yield the rows of an Arrow table as text."""
    for start in range(0, table.num_rows, BLOCK_ROWS):
        columns = table.slice(start, BLOCK_ROWS).columns
        yield CsvBlock.from_texts(
            [
                ["" if cell is None else str(cell) for cell in column.to_pylist()]
                for column in columns
            ]
        )


def write_blocks(names: Sequence[str], blocks: Iterable[CsvBlock], path: Path) -> None:
    """Write rows of text in the format of the suffix."""
    from coevo.data.csv_writer import write_csv_blocks

    delimiter = choose_delimiter(path)
    if delimiter is not None:
        write_csv_blocks(names, blocks, path, delimiter)
        return
    arrow = import_optional("pyarrow", "PyArrow", "parquet")
    chunks: list[list[Any]] = [[] for _ in names]
    for block in blocks:
        for column, labels, codes in zip(chunks, block.labels, block.codes, strict=True):
            column.append(arrow.array(labels).take(arrow.array(codes)))
    arrays = [arrow.chunked_array(column, type=arrow.string()) for column in chunks]
    write_parquet_table(arrow.Table.from_arrays(arrays, names), path)


def write_parquet_table(table: Any, path: Path) -> None:
    """Write an Arrow table."""
    parquet = import_optional("pyarrow.parquet", "PyArrow", "parquet")
    with replace_file(path) as stream:
        parquet.write_table(table, stream)
