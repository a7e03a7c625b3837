"""Shards in files of this machine: as many rows as the disk holds.

A Parquet file is read in pieces, twice; what is left are codes and bit sets, about a byte a
cell, in files that are mapped into memory while they are counted, one shard after another.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coevo.data import ReadOptions, Variable
from coevo.errors import FileError
from coevo.outofcore.chunks import Chunk, encode, survey
from coevo.outofcore.family_counts import FamilyCounts
from coevo.outofcore.parquet_chunks import find_chunks
from coevo.outofcore.schema import Schema, agree
from coevo.outofcore.shards import Shard, ShardedTable, Shards, count_shards
from coevo.score.families import FamilyBatch
from coevo.threads import Threads

__all__ = ["ROWS_A_SHARD", "ShardFiles", "write_chunks", "write_shards"]

ROWS_A_SHARD = 1 << 20


class ShardFiles(Shards):
    """A table whose shards are files in a folder."""

    def __init__(self, layout: Schema, folder: Path, shards: Sequence[Shard]) -> None:
        super().__init__(layout, [shard.digest for shard in shards])
        self._folder, self._singles = folder, [shard.singles for shard in shards]

    def count_families(self, families: FamilyBatch, threads: Threads) -> FamilyCounts:
        """Return the counts of families over all rows."""
        return count_shards(self, self._shards(), families, threads)

    def memory(self) -> int:
        """Return how many bytes of this process it takes: those of its largest shard."""
        return max(shard.n_bytes for shard in self._shards())

    def _shards(self) -> Iterator[Shard]:
        for number, own in enumerate(zip(self._singles, self.digests, strict=True)):
            yield _mapped(self._folder, number, *own)


def write_shards(
    source: str | Path,
    folder: str | Path,
    *,
    states: Mapping[str, Iterable[Any]] | Sequence[Variable] | None = None,
    drop: Iterable[str] = (),
    types: Mapping[str, Any] | None = None,
    rows: int = ROWS_A_SHARD,
) -> ShardFiles:
    """Read a Parquet file or a folder of them in pieces, and write its shards into a folder.

    Parameters
    ----------
    source, states, drop, types
        As for `read_data`; numbers are cut where `types` gives the cut points.
    folder : path
        Where the files go; it must be there. They are of no use for anything else.
    rows : int
        Of a shard, about: no row group is divided.
    """
    request = ReadOptions.of(states, drop, types)
    return write_chunks(find_chunks(source, rows, request), request, folder)


def write_chunks(pieces: Sequence[Chunk], request: ReadOptions, folder: str | Path) -> ShardFiles:
    """Read the pieces of a table, in two passes, and write a shard for each into a folder."""
    layout = agree([survey(request, piece) for piece in pieces], request)
    table = ShardedTable(layout)
    target = Path(folder)
    _check_room(target, table, layout)
    shards: list[Shard] = []
    for piece in pieces:
        codes, number = encode(layout, request, piece), len(shards)
        if not codes.size:
            continue
        shard = Shard.of(codes, table)
        for path, array in zip(_names(target, number), (shard.codes, shard.bits), strict=True):
            np.save(path, array, allow_pickle=False)
        shards.append(_mapped(target, number, shard.singles, shard.digest))
    return ShardFiles(layout, target, shards)


def _mapped(
    folder: Path, number: int, singles: NDArray[np.int64], digest: tuple[int, int]
) -> Shard:
    """Return a shard whose rows stay on disk until they are read."""
    codes, bits = _names(folder, number)
    # Bits are mapped so that they could be written to, as kernels have them elsewhere.
    return Shard(
        np.asarray(np.load(codes, mmap_mode="r")),
        np.asarray(np.load(bits, mmap_mode="c")),
        singles,
        digest,
    )


def _names(folder: Path, number: int) -> tuple[Path, Path]:
    return folder / f"codes-{number:05}.npy", folder / f"bits-{number:05}.npy"


def _check_room(folder: Path, table: ShardedTable, layout: Schema) -> None:
    """Raise `FileError` if the shards would not fit."""
    bits = sum(v.arity - 1 for v in table.variables)
    needed = table.n_rows * (table.n_variables * layout.dtype.itemsize + bits // 8 + 1)
    free = shutil.disk_usage(folder).free
    if needed > free:
        raise FileError(
            f"The shards need {needed / 1e9:,.1f} GB; there are {free / 1e9:,.1f} GB free in "
            f"{str(folder)!r}. Give another folder."
        )
