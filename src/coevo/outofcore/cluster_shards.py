"""Tables larger than memory: their shards on this machine's disk, or on a cluster's workers.

On a cluster each worker reads its own pieces of the Parquet file, which it must be able to
open, or of a Dask data frame, and keeps their codes. A batch of families goes out to all,
their counts are add_counts up on the workers, and one answer comes back. The shards of a worker
that dies are read again by another one.
"""

from __future__ import annotations

import contextlib
import itertools
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coevo.checks import is_int
from coevo.data import ReadOptions, Variable
from coevo.errors import ParameterError, bad_parameter
from coevo.io import make_run_folder
from coevo.outofcore.chunks import Chunk, encode, survey
from coevo.outofcore.dask_partitions import FrameChunk, is_dask_dataframe, list_partitions
from coevo.outofcore.family_counts import FamilyCounts, add_counts
from coevo.outofcore.parquet_chunks import find_chunks
from coevo.outofcore.schema import Schema, agree
from coevo.outofcore.shard_files import ROWS_A_SHARD, write_chunks
from coevo.outofcore.shard_folder import shard_folder
from coevo.outofcore.shards import Shard, ShardedTable, Shards, count_shards
from coevo.parallel.workers import Cluster, check_workers
from coevo.score import FamilyBatch
from coevo.threads import Threads

if TYPE_CHECKING:
    from coevo.parallel.dask_jobs import DaskWorkers

__all__ = ["ClusterShards", "open_shards", "read_shards"]

GROUPS_A_THREAD = 2  # of shards: a worker that joins or is slow can leave one to another
ADDED_AT_ONCE = 8  # count_families that one job adds up


@contextlib.contextmanager
def open_shards(
    source: Any,
    *,
    cluster: Cluster = None,
    folder: str | Path | None = None,
    states: Mapping[str, Iterable[Any]] | Sequence[Variable] | None = None,
    drop: Iterable[str] = (),
    types: Mapping[str, Any] | None = None,
    rows: int = ROWS_A_SHARD,
) -> Iterator[Shards]:
    """Yield a table that need not fit into memory, for `ShardedScorer`.

    Parameters
    ----------
    source : path or Dask data frame
        A Parquet file, or a folder of them with the same columns. The workers of a cluster
        must find it under the same path. Of a data frame of Dask each partition is computed
        twice, and never all of them at once; `persist` it if that takes long.
    cluster : str or distributed.Client, optional
        Keep the rows on the workers of this cluster; see `strength`. Without one they go to
        files of about a byte a cell, which are removed at the end (those of a process that
        was killed by the next one that looks into the same folder).
    folder : path, optional
        Where these files go; a temporary folder if left out.
    states, drop, types
        As for `read_data`. Numbers are cut where `types` gives the cut points.
    rows : int
        Rows of a shard, about: no row group is divided. Each partition of a data frame is one.

    Examples
    --------
    >>> import coevo, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "asia.parquet")
    ...     table = coevo.sample(coevo.load_network("asia"), 1000, random_state=1)
    ...     coevo.write_data(table, path)
    ...     with coevo.open_shards(path) as shards:
    ...         scorer = coevo.ShardedScorer(shards, "k2")
    ...         found = coevo.run_search("hill_climb", scorer, random_state=7)
    >>> found.score == coevo.FamilyScorer(table, "k2").score(found.dag)
    True
    """
    if not is_int(rows, 1):
        raise bad_parameter("rows", "open_shards", "an int >= 1", rows)
    check_workers("open_shards", 1, cluster)
    if folder is not None and cluster is not None:
        raise ParameterError(
            "'folder' of open_shards is one of this machine, and a cluster keeps its own. Give one "
            "of the two."
        )
    if not (isinstance(source, str | os.PathLike) or is_dask_dataframe(source)):
        expected = "the path of a Parquet file or of a folder of them, or a data frame of Dask"
        raise bad_parameter("source", "open_shards", expected, source)
    with read_shards(
        source, ReadOptions.of(states, drop, types), cluster, folder, int(rows)
    ) as found:
        yield found


@contextlib.contextmanager
def read_shards(
    source: Any,
    request: ReadOptions,
    cluster: Cluster = None,
    folder: str | Path | None = None,
    rows: int = ROWS_A_SHARD,
) -> Iterator[Shards]:
    """Yield the shards of a table as it was asked for, on a cluster if there is one."""
    in_frame = is_dask_dataframe(source)
    pieces: Sequence[Chunk]
    pieces = list_partitions(source, request) if in_frame else find_chunks(source, rows, request)
    if cluster is not None:
        from coevo.parallel.dask_jobs import open_dask

        with open_dask(cluster) as workers:
            if in_frame:
                there = ClusterShards.compute(workers, request, source)
            else:
                there = ClusterShards.read(workers, request, pieces)
            with contextlib.closing(there):
                yield there
        return
    if folder is not None:
        make_run_folder(Path(folder))
    with (
        shard_folder(folder) as own,
        contextlib.closing(write_chunks(pieces, request, own)) as here,
    ):
        yield here


class ClusterShards(Shards):
    """A table whose shards are on the workers of a cluster."""

    def __init__(
        self,
        workers: DaskWorkers,
        layout: Schema,
        groups: Sequence[Any],
        digests: Iterable[tuple[int, int]],
    ) -> None:
        super().__init__(layout, digests)
        self._workers, self._groups = workers, list(groups)
        self._table = workers.given(ShardedTable(layout))

    @classmethod
    def read(
        cls, workers: DaskWorkers, request: ReadOptions, pieces: Sequence[Chunk]
    ) -> ClusterShards:
        """Let the workers read a table, in two passes."""
        surveys = dict(workers.run(_survey, list(enumerate(pieces)), shared=(request,)))
        layout = agree([surveys[number] for number in range(len(pieces))], request)
        places = workers.places(GROUPS_A_THREAD) or [""]  # anywhere, if nobody is there now
        own = [list(pieces[i :: len(places)]) for i in range(len(places))]
        groups = [
            workers.submit(_read, layout, request, some, place=place)
            for some, place in zip(own, places, strict=True)
            if some
        ]
        return cls._of_groups(workers, layout, groups)

    @classmethod
    def compute(cls, workers: DaskWorkers, request: ReadOptions, frame: Any) -> ClusterShards:
        """Let the workers compute a Dask data frame, in two passes.

        Where a partition is computed, and so where its shard stays, is left to Dask.
        """
        jobs = list(enumerate(frame.to_delayed()))
        surveys = workers.compute(_survey_partition, jobs, shared=(request,))
        layout = agree([workers.result(future) for future in surveys], request)
        n_groups = min(len(jobs), GROUPS_A_THREAD * max(1, workers.n_threads))
        bounds = [len(jobs) * i // n_groups for i in range(n_groups + 1)]
        own = [jobs[first:last] for first, last in itertools.pairwise(bounds)]
        groups = workers.compute(_read_partitions, own, shared=(layout, request))
        return cls._of_groups(workers, layout, groups)

    @classmethod
    def _of_groups(
        cls, workers: DaskWorkers, layout: Schema, groups: Sequence[Any]
    ) -> ClusterShards:
        digests = [workers.submit(_digests, group) for group in groups]
        found = [digest for future in digests for digest in workers.result(future)]
        return cls(workers, layout, groups, found)

    def count_families(self, families: FamilyBatch, threads: Threads) -> FamilyCounts:
        """Return the counts of families over all rows, in one round trip."""
        workers = self._workers
        asked = workers.given(families)
        jobs = [(self._table, group, asked) for group in self._groups]
        futures = workers.submit_all(_count, jobs)
        while len(futures) > 1:
            parts = range(0, len(futures), ADDED_AT_ONCE)
            some = [(futures[i : i + ADDED_AT_ONCE],) for i in parts]
            futures = workers.submit_all(add_counts, some)
        found: FamilyCounts = workers.result(futures[0])
        before = self.traffic
        self.traffic = replace(
            before,
            batches=before.batches + 1,
            families=before.families + len(families),
            sent=before.sent + families.members.nbytes + families.start.nbytes,
            received=before.received + found.n_bytes,
        )
        return found

    def memory(self) -> int:
        """Return how many bytes of this process it takes; the rows are elsewhere."""
        return 0


def _survey(request: ReadOptions, job: tuple[int, Chunk]) -> tuple[int, Any]:
    number, piece = job
    return number, survey(request, piece)


def _read(layout: Schema, request: ReadOptions, pieces: Sequence[Chunk]) -> list[Shard]:
    """Return the shards of some pieces, on a worker."""
    table = ShardedTable(layout)
    return [Shard.of(encode(layout, request, piece), table) for piece in pieces]


def _survey_partition(request: ReadOptions, job: tuple[int, Any]) -> Any:
    return survey(request, FrameChunk(*job))


def _read_partitions(
    layout: Schema, request: ReadOptions, jobs: Sequence[tuple[int, Any]]
) -> list[Shard]:
    """Return the shards of some partitions, on a worker."""
    return _read(layout, request, [FrameChunk(*job) for job in jobs])


def _digests(shards: Sequence[Shard]) -> list[tuple[int, int]]:
    return [shard.digest for shard in shards]


def _count(table: ShardedTable, shards: Sequence[Shard], families: FamilyBatch) -> FamilyCounts:
    return count_shards(table, shards, families, Threads(1))
