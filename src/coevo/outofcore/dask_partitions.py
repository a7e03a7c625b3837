"""The partitions of a Dask data frame as pieces of a table.

Dask itself is not needed here: a frame knows how to compute its partitions.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import narwhals as nw
from narwhals.dependencies import is_dask_dataframe

from coevo.data.frame_reader import as_frame
from coevo.data.read_options import ReadOptions
from coevo.outofcore.chunks import Chunk
from coevo.outofcore.schema import check_cuts

__all__ = ["FrameChunk", "LazyChunk", "is_dask_dataframe", "list_partitions"]


@dataclass(frozen=True, eq=False)
class FrameChunk(Chunk):
    """A partition that has been computed."""

    number: int
    partition: Any

    def frames(self, request: ReadOptions) -> Iterator[tuple[str, nw.DataFrame[Any]]]:
        """Yield the columns that are asked for, and where their rows are; nothing of no rows."""
        frame = as_frame(self.partition)
        if frame is None:
            raise TypeError(f"A partition of Dask is a {type(self.partition).__name__}.")
        if len(frame):
            where = f"partition {self.number + 1:,} of the data frame"
            yield where, frame[:, request.kept([str(name) for name in frame.columns])]


@dataclass(frozen=True, eq=False)
class LazyChunk(Chunk):
    """A partition that is computed each time it is read, and not kept."""

    number: int
    partition: Any

    def frames(self, request: ReadOptions) -> Iterator[tuple[str, nw.DataFrame[Any]]]:
        """Compute the partition; yield the same as `FrameChunk`."""
        yield from FrameChunk(self.number, self.partition.compute()).frames(request)


def list_partitions(frame: Any, request: ReadOptions) -> list[LazyChunk]:
    """Return the partitions of a Dask data frame, none of them computed."""
    check_cuts(request)
    request.kept([str(name) for name in frame.columns])  # says what is wrong with the names
    return [LazyChunk(i, frame.partitions[i]) for i in range(frame.npartitions)]
