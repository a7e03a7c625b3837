"""The one interface for independent jobs: here, in processes, or on a cluster.

`Workers` does batches of jobs and hands out results as they come. A job carries all that
its result depends on, so that an answer never depends on where it was done; `open_workers`
is the one place that decides where that is.
"""

from __future__ import annotations

import contextlib
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from coevo.checks import is_int
from coevo.errors import ParameterError, bad_parameter
from coevo.parallel.isolated import Begin, Ending, run_isolated
from coevo.parallel.process_pool import never, run_in_processes

__all__ = [
    "Cluster",
    "Processes",
    "Workers",
    "check_cluster",
    "check_workers",
    "open_workers",
]

Job = TypeVar("Job")
Result = TypeVar("Result")
Cluster = Any  # an address, or the Client of a Dask cluster
ADDRESS = re.compile(r"(tcp|tls|ws|wss)://\S+|local:[1-9]\d*")
EXPECTED = "an address (tcp://HOST:PORT, tls://HOST:PORT), local:N, or the Client of Dask"


class Workers(ABC):
    """Where independent jobs are done."""

    @abstractmethod
    def run(
        self,
        function: Callable[..., Result],
        jobs: Sequence[Job],
        stop: Callable[[], bool] = never,
        *,
        shared: tuple[Any, ...] = (),
    ) -> Iterator[Result]:
        """Yield ``function(*shared, job)`` for each job, in the order in which they end.

        `function` belongs to a module; jobs and `shared`, which all of them need, can be
        pickled. `stop` is asked after each job; once it says yes no further one is begun,
        and those under way are waited for and yielded too.
        """

    @abstractmethod
    def run_isolated(
        self,
        function: Callable[[Job, Begin], Result],
        jobs: Sequence[Job],
        limit: Callable[[Job], float],
        *,
        stop: Callable[[], bool] = never,
        environment: Mapping[str, str] | None = None,
    ) -> Generator[Ending[Job, Result], None, None]:
        """Yield how each job ended that has a process of its own; see `run_isolated`."""


@dataclass(frozen=True)
class Processes(Workers):
    """So many processes of this machine, or with one of them the caller's own.

    >>> sorted(Processes(1).run(pow, [2, 3], shared=(10,)))
    [100, 1000]
    """

    n: int = 1

    def run(
        self,
        function: Callable[..., Result],
        jobs: Sequence[Job],
        stop: Callable[[], bool] = never,
        *,
        shared: tuple[Any, ...] = (),
    ) -> Iterator[Result]:
        """Yield the result of each job; see `run_in_processes`."""
        return run_in_processes(partial(function, *shared), jobs, self.n, stop)

    def run_isolated(
        self,
        function: Callable[[Job, Begin], Result],
        jobs: Sequence[Job],
        limit: Callable[[Job], float],
        *,
        stop: Callable[[], bool] = never,
        environment: Mapping[str, str] | None = None,
    ) -> Generator[Ending[Job, Result], None, None]:
        """Yield how each job ended; see `run_isolated`."""
        return run_isolated(
            function, jobs, limit, n_jobs=self.n, stop=stop, environment=environment
        )


def check_workers(owner: str, n_jobs: int, cluster: Cluster = None) -> None:
    """Raise what is wrong with a number of processes or a cluster; connect to nothing."""
    if not is_int(n_jobs, 1):
        raise bad_parameter("n_jobs", owner, "an int >= 1", n_jobs)
    check_cluster(owner, cluster)
    if cluster is not None and n_jobs != 1:
        raise ParameterError(
            f"'n_jobs' of {owner} is for processes of this machine, and a cluster has workers of "
            "its own. Give one of the two."
        )


def check_cluster(owner: str, cluster: Cluster) -> None:
    """Raise what is wrong with a cluster; connect to nothing."""
    if cluster is None:
        return
    from coevo.parallel.dask_client import is_client

    if not (is_client(cluster) or (isinstance(cluster, str) and ADDRESS.fullmatch(cluster))):
        raise bad_parameter("cluster", owner, EXPECTED, cluster)


@contextlib.contextmanager
def open_workers(n_jobs: int = 1, cluster: Cluster = None) -> Iterator[Workers]:
    """Yield processes of this machine, or the workers of a cluster if there is one.

    What was opened for it is closed again; a client that was given stays open.
    """
    if cluster is None:
        yield Processes(n_jobs)
        return
    from coevo.parallel.dask_jobs import open_dask

    with open_dask(cluster) as workers:
        yield workers
