"""One interface for independent jobs: in this process, in a pool of processes, or on a cluster.

`Workers` runs batches of jobs and yields results as they arrive. A job carries everything that
its result depends on, so the result does not depend on where the job runs. `open_workers` is the
only function that decides where jobs run.
"""

from __future__ import annotations

import contextlib
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from coevo.checks import is_int
from coevo.errors import ParameterError, bad_parameter

if TYPE_CHECKING:
    from coevo.parallel.processes import JobOutcome, StartClock

__all__ = [
    "Cluster",
    "Processes",
    "Workers",
    "check_cluster",
    "check_workers",
    "never_stop",
    "open_workers",
    "run_in_processes",
]

Job = TypeVar("Job")
Result = TypeVar("Result")
Cluster = Any  # an address, or the Client of a Dask cluster
ADDRESS = re.compile(r"(tcp|tls|ws|wss)://[^\s/]+:(?P<port>\d{1,5})(/\S*)?|local:[1-9]\d*")
LARGEST_PORT = 65_535
EXPECTED = "an address (tcp://HOST:PORT, tls://HOST:PORT), local:N, or a Dask Client"


def never_stop() -> bool:
    """Return False: the jobs run to the end."""
    return False


def run_in_processes(
    function: Callable[[Job], Result],
    jobs: Sequence[Job],
    n_jobs: int,
    should_stop: Callable[[], bool] = never_stop,
) -> Iterator[Result]:
    """Yield the result of each job, in the order in which the jobs end.

    With one process, the jobs run in this process, one after another; so they do in a process that
    may have no children (one of a `multiprocessing.Pool`, or a Dask worker). `should_stop` is
    called after each job. Once it returns True, no further job starts; the running jobs finish and
    their results are yielded too.

    >>> sorted(run_in_processes(abs, [-1, 2, -3], n_jobs=1))
    [1, 2, 3]
    """
    if n_jobs > 1 and len(jobs) > 1 and _may_have_children():
        from coevo.parallel.processes import run_in_pool

        yield from run_in_pool(function, jobs, n_jobs, should_stop)
        return
    for job in jobs:
        if should_stop():
            return
        yield function(job)


def _may_have_children() -> bool:
    import multiprocessing  # it takes longer to import than a small search

    return not multiprocessing.current_process().daemon


class Workers(ABC):
    """A place where independent jobs run."""

    @abstractmethod
    def run(
        self,
        function: Callable[..., Result],
        jobs: Sequence[Job],
        should_stop: Callable[[], bool] = never_stop,
        *,
        shared: tuple[Any, ...] = (),
    ) -> Iterator[Result]:
        """Yield ``function(*shared, job)`` for each job, in the order in which the jobs end.

        `function` is a module-level function. The jobs, and `shared`, which all of them need, are
        picklable. `should_stop` is called after each job. Once it returns True, no further job
        starts; the running jobs finish and their results are yielded too.
        """

    @abstractmethod
    def run_isolated(
        self,
        function: Callable[[Job, StartClock], Result],
        jobs: Sequence[Job],
        limit: Callable[[Job], float],
        *,
        should_stop: Callable[[], bool] = never_stop,
        environment: Mapping[str, str] | None = None,
    ) -> Generator[JobOutcome[Job, Result], None, None]:
        """Yield the outcome of each job, each in its own process; see `run_isolated`."""


@dataclass(frozen=True)
class Processes(Workers):
    """A number of processes on this machine. With one, jobs run in the caller's process.

    >>> sorted(Processes(1).run(pow, [2, 3], shared=(10,)))
    [100, 1000]
    """

    n: int = 1

    def run(
        self,
        function: Callable[..., Result],
        jobs: Sequence[Job],
        should_stop: Callable[[], bool] = never_stop,
        *,
        shared: tuple[Any, ...] = (),
    ) -> Iterator[Result]:
        """Yield the result of each job; see `run_in_processes`."""
        return run_in_processes(partial(function, *shared), jobs, self.n, should_stop)

    def run_isolated(
        self,
        function: Callable[[Job, StartClock], Result],
        jobs: Sequence[Job],
        limit: Callable[[Job], float],
        *,
        should_stop: Callable[[], bool] = never_stop,
        environment: Mapping[str, str] | None = None,
    ) -> Generator[JobOutcome[Job, Result], None, None]:
        """Yield the outcome of each job; see `run_isolated`."""
        from coevo.parallel.processes import run_isolated

        return run_isolated(
            function, jobs, limit, n_jobs=self.n, should_stop=should_stop, environment=environment
        )


def check_workers(owner: str, n_jobs: int, cluster: Cluster = None) -> None:
    """Raise an error unless `n_jobs` and `cluster` are valid. Connect to nothing."""
    if not is_int(n_jobs, 1):
        raise bad_parameter("n_jobs", owner, "an int >= 1", n_jobs)
    check_cluster(owner, cluster)
    if cluster is not None and n_jobs != 1:
        raise ParameterError(
            f"'n_jobs' of {owner} sets the number of local processes, but the cluster has its own "
            "workers. Give one of the two."
        )


def check_cluster(owner: str, cluster: Cluster) -> None:
    """Raise an error unless `cluster` is valid. Connect to nothing."""
    if cluster is None:
        return
    from coevo.parallel.dask_jobs import is_client

    if not (is_client(cluster) or (isinstance(cluster, str) and _is_address(cluster))):
        raise bad_parameter("cluster", owner, EXPECTED, cluster)


def _is_address(text: str) -> bool:
    """Return whether a text is ``local:N``, or an address with a port.

    >>> [_is_address(text) for text in ("tcp://HOST:8786", "tcp://HOST", "local:2")]
    [True, False, True]
    """
    match = ADDRESS.fullmatch(text)
    return match is not None and 0 < int(match["port"] or 1) <= LARGEST_PORT


@contextlib.contextmanager
def open_workers(n_jobs: int = 1, cluster: Cluster = None) -> Iterator[Workers]:
    """Yield processes of this machine, or the workers of a cluster if one is given.

    At the end everything that this function opened is closed. A client passed by the caller
    stays open.
    """
    if cluster is None:
        yield Processes(n_jobs)
        return
    from coevo.parallel.dask_jobs import open_dask_workers

    with open_dask_workers(cluster) as workers:
        yield workers
