"""The shards of a table on the disk of this machine, or on the workers of a cluster.

On a cluster, each worker reads some chunks of a Parquet file or of a Dask data frame, and keeps
their codes. It must be able to open the file. A batch of families goes to all workers. The
workers count the families and add the counts, and one result comes back. If a worker dies,
another worker reads its shards again.

On this machine the result is files of codes and bit sets, with about one byte for each value: as
many rows as fit on the disk. The files are mapped into memory for counting, one shard after
another. Their folder is removed even if the process is killed: the process holds a lock in its
folder until it ends, in whatever way. The next process that opens a shard folder in the same place
removes the folders whose lock no process holds.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from coevo.checks import is_int
from coevo.data import ReadPlan, Variable
from coevo.errors import FileError, ParameterError, bad_parameter
from coevo.io import make_run_folder
from coevo.parallel.chunks import (
    Chunk,
    Partition,
    Schema,
    encode_chunk,
    is_dask_dataframe,
    list_chunks,
    list_partitions,
    merge_surveys,
    survey_chunk,
)
from coevo.parallel.shards import (
    FamilyCounts,
    Shard,
    ShardedTable,
    Shards,
    add_counts,
    count_shards,
)
from coevo.parallel.workers import Cluster, check_workers
from coevo.runtime.threads import Threads
from coevo.score import FamilyBatch

if TYPE_CHECKING:
    from coevo.parallel.dask_jobs import DaskWorkers

__all__ = [
    "ClusterShards",
    "ShardFiles",
    "open_shard_folder",
    "open_shards",
    "read_shards",
    "write_shards",
]


try:
    import fcntl
except ImportError:  # Windows: folders of killed processes stay
    fcntl = None  # type: ignore[assignment]

PREFIX = "coevo-shards-"
LOCK = "owner.lock"


@contextlib.contextmanager
def open_shard_folder(parent: str | Path | None = None) -> Iterator[Path]:
    """Yield a new folder in `parent`, or in the temporary folder; remove it at the end."""
    place = Path(tempfile.gettempdir() if parent is None else parent)
    _remove_abandoned(place)
    with tempfile.TemporaryDirectory(prefix=PREFIX, dir=place) as name:
        folder = Path(name)
        with (folder / "new.lock").open("wb") as stream:
            _try_lock(stream)
            (folder / "new.lock").rename(folder / LOCK)  # no process ever sees it unlocked
            yield folder


def _remove_abandoned(parent: Path) -> None:
    """Remove the folders of processes that have ended."""
    for folder in parent.glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError):  # a folder of another user, or already removed
            with (folder / LOCK).open("rb+") as stream:
                is_abandoned = _try_lock(stream)
            if is_abandoned:
                shutil.rmtree(folder)


def _try_lock(stream: IO[bytes]) -> bool:
    """Lock a file; return whether that worked, that is, whether no other process holds it."""
    if fcntl is None:
        return False
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


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


GROUPS_PER_THREAD = 2  # groups of shards, so that another worker can take one over
COUNTS_PER_SUM = 8  # counts of shards that one job adds


@contextlib.contextmanager
def open_shards(
    source: Any,
    *,
    cluster: Cluster = None,
    folder: str | Path | None = None,
    states: Mapping[str, Iterable[Any]] | Sequence[Variable] | None = None,
    drop: Iterable[str] = (),
    types: Mapping[str, Any] | None = None,
    rows: int = ROWS_PER_SHARD,
) -> Iterator[Shards]:
    """Open a table that does not have to fit into memory, for `ShardedScorer`.

    Parameters
    ----------
    source : path or Dask data frame
        A Parquet file, or a folder of Parquet files with the same columns. The workers of a
        cluster must find it under the same path. Each partition of a Dask data frame is
        computed twice, and never all partitions at once; call `persist` on it first if that
        takes long.
    cluster : str or distributed.Client, optional
        Keep the rows on the workers of this cluster; see `bootstrap_strength`. Without a
        cluster, the rows go to files with about one byte for each value. The files are removed
        at the end. If the process is killed, the next process that uses the same folder removes
        them.
    folder : path, optional
        The folder for these files (default: a temporary folder).
    states, drop, types
        As for `read_data`. Continuous columns need cut points in `types`.
    rows : int
        Approximate number of rows of a shard; no row group is divided. Each partition of a
        Dask data frame is one shard.

    Examples
    --------
    >>> import coevo, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "asia.parquet")
    ...     table = coevo.sample(coevo.load_network("asia"), 1000, random_state=1)
    ...     coevo.write_data(table, path)
    ...     with coevo.parallel.open_shards(path) as shards:
    ...         scorer = coevo.parallel.ShardedScorer(shards, "k2")
    ...         result = coevo.run_search("hill_climb", scorer, random_state=7)
    >>> result.score == coevo.FamilyScorer(table, "k2").score(result.dag)
    True
    """
    if not is_int(rows, 1):
        raise bad_parameter("rows", "open_shards", "an int >= 1", rows)
    check_workers("open_shards", 1, cluster)
    if folder is not None and cluster is not None:
        raise ParameterError(
            "'folder' of open_shards is a folder on this machine, but a cluster keeps the rows on "
            "its workers. Give one of the two."
        )
    if not (isinstance(source, str | os.PathLike) or is_dask_dataframe(source)):
        expected = "the path of a Parquet file or of a folder of them, or a Dask data frame"
        raise bad_parameter("source", "open_shards", expected, source)
    with read_shards(
        source, ReadPlan.from_parameters(states, drop, types), cluster, folder, int(rows)
    ) as shards:
        yield shards


@contextlib.contextmanager
def read_shards(
    source: Any,
    options: ReadPlan,
    cluster: Cluster = None,
    folder: str | Path | None = None,
    rows: int = ROWS_PER_SHARD,
) -> Iterator[Shards]:
    """Yield the shards of a table, on the cluster if one is given."""
    is_frame = is_dask_dataframe(source)
    chunks: Sequence[Chunk]
    chunks = list_partitions(source, options) if is_frame else list_chunks(source, rows, options)
    if cluster is not None:
        from coevo.parallel.dask_jobs import open_dask_workers

        with open_dask_workers(cluster) as workers:
            if is_frame:
                shards = ClusterShards.from_dataframe(workers, options, source)
            else:
                shards = ClusterShards.from_chunks(workers, options, chunks)
            with contextlib.closing(shards):
                yield shards
        return
    if folder is not None:
        make_run_folder(Path(folder))
    with (
        open_shard_folder(folder) as shard_folder,
        contextlib.closing(write_shard_files(chunks, options, shard_folder)) as files,
    ):
        yield files


class ClusterShards(Shards):
    """A table whose shards are on the workers of a cluster."""

    def __init__(
        self,
        workers: DaskWorkers,
        schema: Schema,
        groups: Sequence[Any],
        digests: Iterable[tuple[int, int]],
    ) -> None:
        super().__init__(schema, digests)
        self._workers, self._groups = workers, list(groups)
        self._table = workers.share(ShardedTable(schema))

    @classmethod
    def from_chunks(
        cls, workers: DaskWorkers, options: ReadPlan, chunks: Sequence[Chunk]
    ) -> ClusterShards:
        """Let the workers read the chunks of a table, in two passes."""
        surveys = dict(workers.run(_survey_numbered, list(enumerate(chunks)), shared=(options,)))
        schema = merge_surveys([surveys[number] for number in range(len(chunks))], options)
        # Without a worker at this moment, any worker may take the shards later.
        addresses = workers.list_addresses(GROUPS_PER_THREAD) or [""]
        parts = [list(chunks[i :: len(addresses)]) for i in range(len(addresses))]
        groups = [
            workers.submit(_make_shards, schema, options, part, address=address)
            for part, address in zip(parts, addresses, strict=True)
            if part
        ]
        return cls._from_groups(workers, schema, groups)

    @classmethod
    def from_dataframe(cls, workers: DaskWorkers, options: ReadPlan, frame: Any) -> ClusterShards:
        """Let the workers compute the partitions of a Dask data frame, in two passes.

        Dask decides where it computes a partition; the shard stays on that worker.
        """
        jobs = list(enumerate(frame.to_delayed()))
        surveys = workers.submit_delayed(_survey_partition, jobs, shared=(options,))
        schema = merge_surveys([workers.get_result(future) for future in surveys], options)
        n_groups = min(len(jobs), GROUPS_PER_THREAD * max(1, workers.n_threads))
        bounds = [len(jobs) * i // n_groups for i in range(n_groups + 1)]
        parts = [jobs[first:last] for first, last in itertools.pairwise(bounds)]
        groups = workers.submit_delayed(_make_partition_shards, parts, shared=(schema, options))
        return cls._from_groups(workers, schema, groups)

    @classmethod
    def _from_groups(
        cls, workers: DaskWorkers, schema: Schema, groups: Sequence[Any]
    ) -> ClusterShards:
        futures = [workers.submit(_list_digests, group) for group in groups]
        digests = [digest for future in futures for digest in workers.get_result(future)]
        return cls(workers, schema, groups, digests)

    def count_families(self, families: FamilyBatch, threads: Threads) -> FamilyCounts:
        """Return the counts of families over all rows, in one round trip."""
        workers = self._workers
        shared_families = workers.share(families)
        jobs = [(self._table, group, shared_families) for group in self._groups]
        futures = workers.submit_all(_count_on_worker, jobs)
        while len(futures) > 1:
            starts = range(0, len(futures), COUNTS_PER_SUM)
            sums = [(futures[i : i + COUNTS_PER_SUM],) for i in starts]
            futures = workers.submit_all(add_counts, sums)
        counts: FamilyCounts = workers.get_result(futures[0])
        before = self.traffic
        self.traffic = replace(
            before,
            batches=before.batches + 1,
            families=before.families + len(families),
            sent=before.sent + families.members.nbytes + families.start.nbytes,
            received=before.received + counts.n_bytes,
        )
        return counts

    def estimate_memory(self) -> int:
        """Return 0: the rows are not in this process."""
        return 0


def _survey_numbered(options: ReadPlan, job: tuple[int, Chunk]) -> tuple[int, Any]:
    number, chunk = job
    return number, survey_chunk(options, chunk)


def _make_shards(schema: Schema, options: ReadPlan, chunks: Sequence[Chunk]) -> list[Shard]:
    """Return the shards of some chunks; this runs on a worker."""
    table = ShardedTable(schema)
    return [Shard.from_codes(encode_chunk(schema, options, chunk), table) for chunk in chunks]


def _survey_partition(options: ReadPlan, job: tuple[int, Any]) -> Any:
    return survey_chunk(options, Partition(*job))


def _make_partition_shards(
    schema: Schema, options: ReadPlan, jobs: Sequence[tuple[int, Any]]
) -> list[Shard]:
    """Return the shards of some partitions; this runs on a worker."""
    return _make_shards(schema, options, [Partition(*job) for job in jobs])


def _list_digests(shards: Sequence[Shard]) -> list[tuple[int, int]]:
    return [shard.digest for shard in shards]


def _count_on_worker(
    table: ShardedTable, shards: Sequence[Shard], families: FamilyBatch
) -> FamilyCounts:
    return count_shards(table, shards, families, Threads(1))
