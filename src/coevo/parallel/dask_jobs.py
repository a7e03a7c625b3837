"""Jobs on a Dask cluster.

A job whose worker dies is done again by another one, and a worker that joins late gets its
part; neither can change an answer, because a job carries its own seed. What all jobs share
is sent once, to the scheduler, from where workers that need it can always have it again; a
batch that shares the same objects as the one before does not send them again.
Once the scheduler is gone there is one `WorkerError`, and what the caller kept of results
is as it was.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import operator
import queue
import time
import uuid
import warnings
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from coevo import __version__
from coevo.errors import WorkerError
from coevo.parallel.dask_client import delayed_function, distributed_module, open_client
from coevo.parallel.isolated import Begin, Ending, run_isolated
from coevo.parallel.process_pool import never
from coevo.parallel.workers import Cluster, Workers

__all__ = ["DaskWorkers", "open_dask"]

Job = TypeVar("Job")
Result = TypeVar("Result")
JOBS_A_THREAD = 2  # that a worker knows of: the one it does, and the next
LONGEST_WITHOUT_WORKERS = 60.0  # seconds, in which one must join
LOOK_EVERY = 1.0  # seconds, at the cluster while nothing comes


@contextlib.contextmanager
def open_dask(cluster: Cluster) -> Iterator[DaskWorkers]:
    """Yield the workers of a client, of an address, or of ``local:N``."""
    with open_client(cluster) as client:
        yield DaskWorkers(client)


class DaskWorkers(Workers):
    """The workers of a Dask cluster, seen through its client.

    Parameters
    ----------
    client : distributed.Client
        Synchronous, as a program has it.
    """

    def __init__(self, client: Any) -> None:
        self.client = client
        self._last_worker = time.monotonic()
        self._last_shared: tuple[tuple[Any, ...], Any] | None = None

    @property
    def n_threads(self) -> int:
        """How many jobs the cluster does at once, at this moment."""
        return sum(self._threads().values())

    def run(
        self,
        function: Callable[..., Result],
        jobs: Sequence[Job],
        stop: Callable[[], bool] = never,
        *,
        shared: tuple[Any, ...] = (),
    ) -> Iterator[Result]:
        """Yield the result of each job."""
        waiting, under_way = deque(jobs), deque[Any]()
        ended: queue.SimpleQueue[Any] = queue.SimpleQueue()
        held = self._held(shared) if waiting else None
        try:
            while True:
                self._fill(under_way, waiting, stop, (function, held), ended)
                if not under_way:
                    return
                future = self._next(ended)
                if future in under_way:  # else nothing came yet, or it was cancelled at a stop
                    under_way.remove(future)
                    yield self.result(future)
        finally:
            self._cancel(under_way)

    def run_isolated(
        self,
        function: Callable[[Job, Begin], Result],
        jobs: Sequence[Job],
        limit: Callable[[Job], float],
        *,
        stop: Callable[[], bool] = never,
        environment: Mapping[str, str] | None = None,
    ) -> Generator[Ending[Job, Result], None, None]:
        """Yield how each job ended; its process is a child of the worker's."""
        shared = (function, limit, dict(environment or {}))
        yield from self.run(_apart_there, jobs, stop, shared=shared)

    def given(self, value: object) -> Any:
        """Return a future of a value that is sent once and outlives any worker.

        Scattered values die with the worker that holds them; a task is done again.
        """
        return self.submit(_itself, value)

    def _held(self, shared: tuple[Any, ...]) -> Any:
        """Return the future of what jobs share, that of the last batch if it is the same."""
        if self._last_shared is not None:
            last, future = self._last_shared
            is_same = len(last) == len(shared) and all(map(operator.is_, last, shared))
            if is_same and future.status in ("pending", "finished"):
                return future
        future = self.given(shared)
        self._last_shared = (shared, future)
        return future

    def submit(self, function: Callable[..., Any], *arguments: Any, place: str = "") -> Any:
        """Return the future of ``function(*arguments)``, at a place if it is there."""
        key = f"coevo-{function.__name__}-{uuid.uuid4().hex}"
        options = {"workers": [place], "allow_other_workers": True} if place else {}
        with self._said_clearly(), warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Sending large graph")
            # Without a timeout: first come, first done.
            return self.client.submit(
                function, *arguments, key=key, pure=False, fifo_timeout=0, **options
            )

    def submit_all(self, function: Callable[..., Any], arguments: Sequence[Sequence[Any]]) -> Any:
        """Return the futures of a function for several arguments, in one message."""
        keys = [f"coevo-{function.__name__}-{uuid.uuid4().hex}" for _ in arguments]
        with self._said_clearly():
            return self.client.map(
                function, *zip(*arguments, strict=True), key=keys, pure=False, fifo_timeout=0
            )

    def compute(
        self, function: Callable[..., Any], jobs: Sequence[Any], *, shared: tuple[Any, ...] = ()
    ) -> list[Any]:
        """Return the futures of a function for each job, jobs that hold delayed values of Dask."""
        do = delayed_function()(_do, pure=False)
        tasks = [do(__version__, function, shared, job) for job in jobs]
        with self._said_clearly():
            futures: list[Any] = self.client.compute(tasks)
            return futures

    def places(self, a_thread: int) -> list[str]:
        """Return the address of each worker, so many times for each of its threads."""
        found = sorted(self._threads().items())
        return [place for _ in range(a_thread) for place, n in found for _ in range(n)]

    def result(self, future: Any) -> Any:
        """Wait for a future; return what it holds, or raise what its function did."""
        if not future.done():
            ended: queue.SimpleQueue[Any] = queue.SimpleQueue()
            future.add_done_callback(ended.put)
            while self._next(ended) is None:
                pass
        with self._said_clearly():
            if future.status == "finished":
                return future.result()
        if future.status == "error":
            raise self._reason(future)
        raise self._gone()

    def _fill(
        self,
        under_way: deque[Any],
        waiting: deque[Any],
        stop: Callable[[], bool],
        work: tuple[Callable[..., Any], Any],
        ended: queue.SimpleQueue[Any],
    ) -> None:
        """Let the workers know of their next jobs, or of none any more."""
        if stop():
            waiting.clear()
            surplus = [under_way.pop() for _ in range(len(under_way) - self.n_threads)]
            self._cancel(surplus)
            return
        room = max(1, JOBS_A_THREAD * self.n_threads) if waiting else 0
        while waiting and len(under_way) < room:
            future = self.submit(_do, __version__, *work, waiting.popleft())
            under_way.append(future)
            future.add_done_callback(ended.put)

    def _next(self, ended: queue.SimpleQueue[Any]) -> Any:
        """Return the next future that ends; None after a while, if there is someone to do it."""
        with contextlib.suppress(queue.Empty):
            future = ended.get(timeout=LOOK_EVERY)
            self._last_worker = time.monotonic()
            return future
        return self._check_alive()

    def _threads(self) -> dict[str, int]:
        """Return how many threads each worker has."""
        while self.client.status == "running":  # a scheduler that is gone may never answer
            with self._said_clearly(), contextlib.suppress(TimeoutError):
                ask = self.client.scheduler.ncores
                found: dict[str, int] = self.client.sync(ask, callback_timeout=LOOK_EVERY)
                return found
        raise self._gone()

    def _check_alive(self) -> None:
        """Raise `WorkerError` if the scheduler is gone, or all workers for a while."""
        if self.client.status != "running":
            raise self._gone()
        if self.n_threads:
            self._last_worker = time.monotonic()
        elif time.monotonic() - self._last_worker > LONGEST_WITHOUT_WORKERS:
            raise WorkerError(
                f"The cluster at {self._address} has had no worker for "
                f"{LONGEST_WITHOUT_WORKERS:g} seconds. Start some with: dask worker ADDRESS"
            )

    def _cancel(self, futures: Sequence[Any] | deque[Any]) -> None:
        if futures and self.client.status == "running":
            with contextlib.suppress(Exception):  # the cluster may be gone by now
                self.client.cancel(list(futures))

    @property
    def _address(self) -> str:
        scheduler = self.client.scheduler
        return "an address" if scheduler is None else str(scheduler.address)

    def _gone(self) -> WorkerError:
        return WorkerError(
            f"The scheduler of the cluster at {self._address} is gone. What was done is kept in "
            "the folder of -o; the same command (coevo learn: with --resume) goes on, on another "
            "cluster or without one."
        )

    def _reason(self, future: Any) -> BaseException:
        """Return why a job failed, as coevo says it."""
        error: BaseException = future.exception()
        if isinstance(error, distributed_module().KilledWorker):
            return WorkerError(
                "A job ended several workers of the cluster, one after another, perhaps for want "
                "of memory. Give workers more of it, or have fewer on a machine."
            )
        if isinstance(error, ModuleNotFoundError) and (error.name or "").startswith("coevo"):
            return WorkerError(
                f"A worker of the cluster does not have coevo {__version__}. Install it there."
            )
        return error

    @contextlib.contextmanager
    def _said_clearly(self) -> Iterator[None]:
        """Turn what Dask raises when the scheduler goes away into one sentence."""
        distributed = distributed_module()
        try:
            yield
        except (distributed.client.FutureCancelledError, OSError, RuntimeError):
            raise self._gone() from None


def _itself(value: Any) -> Any:
    return value


def _do(version: str, function: Callable[..., Result], shared: tuple[Any, ...], job: Any) -> Result:
    """Do a job, on a worker."""
    if version != __version__:
        raise WorkerError(
            f"A worker of the cluster has coevo {__version__}, and this is {version}. Install the "
            "same on both."
        )
    return function(*shared, job)


def _apart_there(
    function: Callable[[Job, Begin], Result],
    limit: Callable[[Job], float],
    environment: Mapping[str, str],
    job: Job,
) -> Ending[Job, Result]:
    """Do a job in a process of its own, on a worker."""
    # Dask forbids its workers children, lest they be left behind; ours end with the worker.
    multiprocessing.current_process().daemon = False
    (ending,) = run_isolated(function, [job], limit, environment=environment)
    return ending
