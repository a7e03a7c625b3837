"""Parquet files as pieces of a table: some row groups each, the least that is read at once."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import narwhals as nw

from coevo.data.parquet import column_names, open_parquet
from coevo.data.read_options import ReadOptions
from coevo.errors import DataError, FileError, require
from coevo.files import open_source
from coevo.outofcore.chunks import Chunk
from coevo.outofcore.schema import check_cuts

__all__ = ["ParquetChunk", "find_chunks"]

ROWS_A_READ = 1 << 16  # of a piece that stand in memory as a table
SUFFIXES = (".parquet", ".pq")


@dataclass(frozen=True)
class ParquetChunk(Chunk):
    """Some row groups of a Parquet file."""

    path: str
    groups: tuple[int, ...]
    first_row: int  # of the file, counted from 0

    def frames(self, request: ReadOptions) -> Iterator[tuple[str, nw.DataFrame[Any]]]:
        """Yield the columns that are asked for, a few rows at a time, and where those are."""
        arrow = require("pyarrow", "PyArrow", "parquet")
        with open_parquet(Path(self.path)) as parquet:
            names = column_names(parquet)
            kept = [names[i] for i in request.kept(names)]
            first = self.first_row
            options = {"batch_size": ROWS_A_READ, "row_groups": list(self.groups), "columns": kept}
            for batch in parquet.iter_batches(**options):
                table = arrow.Table.from_batches([batch]).select(kept)
                where = f"{self.path!r}, counted from row {first + 1:,}"
                yield where, nw.from_native(table, eager_only=True)
                first += batch.num_rows
        arrow.default_memory_pool().release_unused()  # which would stay beside all codes


def find_chunks(source: str | Path, rows: int, request: ReadOptions) -> list[ParquetChunk]:
    """Return the pieces of a Parquet file, or of all in a folder, of about so many rows."""
    check_cuts(request)
    path = Path(source)
    files = [path]
    if not os.path.exists(path):
        raise FileError(f"There is no file or folder {str(path)!r}.")
    if path.is_file() and not _is_parquet(path):
        raise FileError(
            f"{str(path)!r} is not a Parquet file, and tables are read into shards from Parquet "
            "only. Write it as Parquet, or read it into memory (without shards and cluster)."
        )
    if path.is_dir():
        files = sorted(file for file in path.iterdir() if file.suffix.lower() in SUFFIXES)
        if not files:
            raise FileError(f"There is no Parquet file in {str(path)!r}.")
    found: list[ParquetChunk] = []
    names: set[str] = set()
    for file in files:
        with open_parquet(file) as parquet:
            own = column_names(parquet)
            sizes = [parquet.metadata.row_group(i).num_rows for i in range(parquet.num_row_groups)]
        if names and set(own) != names:
            odd = min(set(own) ^ names)
            raise DataError(f"{str(file)!r} and {str(files[0])!r} do not both have {odd!r}.")
        request.kept(own)  # says what is wrong with the names
        names = set(own)
        found += _pieces_of(str(file.resolve()), sizes, rows)
    if not found:
        raise DataError("The table has no rows. Give at least one observation.")
    return found


def _is_parquet(path: Path) -> bool:
    """Return whether a file begins as Parquet does, or is called so."""
    with open_source(path) as source:
        return source.magic == b"PAR1" or path.suffix.lower() in SUFFIXES


def _pieces_of(path: str, sizes: Sequence[int], rows: int) -> Iterator[ParquetChunk]:
    """Yield neighbouring row groups, together until they have enough rows."""
    groups: list[int] = []
    first = n_rows = 0
    for group, size in enumerate(sizes):
        groups.append(group)
        n_rows += size
        if n_rows and (n_rows >= rows or group == len(sizes) - 1):
            yield ParquetChunk(path, tuple(groups), first)
            first, n_rows, groups = first + n_rows, 0, []
