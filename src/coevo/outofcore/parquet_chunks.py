"""Chunks of Parquet files: each chunk is some row groups, the smallest units that can be read."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import narwhals as nw

from coevo.data.parquet import list_columns, open_parquet
from coevo.data.read_options import ReadPlan
from coevo.errors import DataError, FileError, import_optional
from coevo.files import open_source
from coevo.outofcore.chunks import Chunk
from coevo.outofcore.schema import check_cut_points

__all__ = ["ParquetChunk", "list_chunks"]

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
        arrow.default_memory_pool().release_unused()  # else it stays allocated beside the codes


def list_chunks(source: str | Path, rows: int, options: ReadPlan) -> list[ParquetChunk]:
    """Return chunks of about `rows` rows of a Parquet file, or of all files in a folder."""
    check_cut_points(options)
    path = Path(source)
    files = [path]
    if not os.path.exists(path):
        raise FileError(f"There is no file or folder {str(path)!r}.")
    if path.is_file() and not _is_parquet(path):
        raise FileError(
            f"{str(path)!r} is not a Parquet file, and only Parquet files can be read into shards. "
            "Write the table as Parquet, or read it into memory (without shards and cluster)."
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


def _is_parquet(path: Path) -> bool:
    """Return whether a file has the content or the suffix of a Parquet file."""
    with open_source(path) as source:
        return source.magic == b"PAR1" or path.suffix.lower() in SUFFIXES


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
