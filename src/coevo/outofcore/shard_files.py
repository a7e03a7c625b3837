"""Shards in files on this machine: as many rows as fit on the disk.

A table is read in chunks, twice. The result is files of codes and bit sets, with about one
byte for each value. The files are mapped into memory for counting, one shard after another.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coevo.data import ReadPlan, Variable
from coevo.errors import FileError
from coevo.outofcore.chunks import Chunk, encode_chunk, survey_chunk
from coevo.outofcore.family_counts import FamilyCounts
from coevo.outofcore.parquet_chunks import list_chunks
from coevo.outofcore.schema import Schema, merge_surveys
from coevo.outofcore.shards import Shard, ShardedTable, Shards, count_shards
from coevo.score.families import FamilyBatch
from coevo.threads import Threads

__all__ = ["ROWS_PER_SHARD", "ShardFiles", "write_shard_files", "write_shards"]

ROWS_PER_SHARD = 1 << 20


class ShardFiles(Shards):
    """A table whose shards are files in a folder."""

    def __init__(self, schema: Schema, folder: Path, shards: Sequence[Shard]) -> None:
        super().__init__(schema, [shard.digest for shard in shards])
        self._folder, self._state_counts = folder, [shard.state_counts for shard in shards]

    def count_families(self, families: FamilyBatch, threads: Threads) -> FamilyCounts:
        """Return the counts of families over all rows."""
        return count_shards(self, self._map_shards(), families, threads)

    def estimate_memory(self) -> int:
        """Return the number of bytes of the largest shard, which is mapped while it is counted."""
        return max(shard.n_bytes for shard in self._map_shards())

    def _map_shards(self) -> Iterator[Shard]:
        for number, facts in enumerate(zip(self._state_counts, self.digests, strict=True)):
            yield _map_shard(self._folder, number, *facts)


def write_shards(
    source: str | Path,
    folder: str | Path,
    *,
    states: Mapping[str, Iterable[Any]] | Sequence[Variable] | None = None,
    drop: Iterable[str] = (),
    types: Mapping[str, Any] | None = None,
    rows: int = ROWS_PER_SHARD,
) -> ShardFiles:
    """Read a Parquet file, or a folder of them, in chunks; write its shards into a folder.

    Parameters
    ----------
    source, states, drop, types
        As for `read_data`. Continuous columns need cut points in `types`.
    folder : path
        The folder for the files. It must exist. The files serve no other purpose.
    rows : int
        Approximate number of rows of a shard; no row group is divided.
    """
    options = ReadPlan.from_parameters(states, drop, types)
    return write_shard_files(list_chunks(source, rows, options), options, folder)


def write_shard_files(chunks: Sequence[Chunk], options: ReadPlan, folder: str | Path) -> ShardFiles:
    """Read the chunks of a table in two passes; write a shard for each into a folder."""
    schema = merge_surveys([survey_chunk(options, chunk) for chunk in chunks], options)
    table = ShardedTable(schema)
    target = Path(folder)
    _check_disk_space(target, table, schema)
    shards: list[Shard] = []
    for chunk in chunks:
        codes, number = encode_chunk(schema, options, chunk), len(shards)
        if not codes.size:
            continue
        shard = Shard.from_codes(codes, table)
        for path, array in zip(_make_paths(target, number), (shard.codes, shard.bits), strict=True):
            np.save(path, array, allow_pickle=False)
        shards.append(_map_shard(target, number, shard.state_counts, shard.digest))
    return ShardFiles(schema, target, shards)


def _map_shard(
    folder: Path, number: int, state_counts: NDArray[np.int64], digest: tuple[int, int]
) -> Shard:
    """Return a shard whose arrays are mapped from files."""
    codes, bits = _make_paths(folder, number)
    return Shard(
        np.asarray(np.load(codes, mmap_mode="r")),
        np.asarray(np.load(bits, mmap_mode="r")),
        state_counts,
        digest,
    )


def _make_paths(folder: Path, number: int) -> tuple[Path, Path]:
    return folder / f"codes-{number:05}.npy", folder / f"bits-{number:05}.npy"


def _check_disk_space(folder: Path, table: ShardedTable, schema: Schema) -> None:
    """Raise `FileError` if the shards do not fit on the disk."""
    bits = sum(v.arity - 1 for v in table.variables)
    needed = table.n_rows * (table.n_variables * schema.dtype.itemsize + bits // 8 + 1)
    free = shutil.disk_usage(folder).free
    if needed > free:
        raise FileError(
            f"The shards need {needed / 1e9:,.1f} GB, but only {free / 1e9:,.1f} GB are free in "
            f"{str(folder)!r}. Give another folder."
        )
