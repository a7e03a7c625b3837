"""The partitions of a Dask data frame, as chunks of a table.

This module does not import Dask: a Dask data frame can compute its own partitions.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import narwhals as nw
from narwhals.dependencies import is_dask_dataframe

from coevo.data.frame_reader import as_frame
from coevo.data.read_options import ReadPlan
from coevo.outofcore.chunks import Chunk
from coevo.outofcore.schema import check_cut_points

__all__ = ["LazyPartition", "Partition", "is_dask_dataframe", "list_partitions"]


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
