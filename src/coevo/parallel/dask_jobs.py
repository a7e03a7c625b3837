"""Jobs on a Dask cluster, and its client.

Only this module imports Dask, and only inside its functions. Addresses, TLS and timeouts follow
Dask's own configuration (https://docs.dask.org/en/stable/configuration.html). Only ``local:N``
starts processes: a scheduler and N workers with one thread each, on the loopback interface of
this machine.

If a worker dies, another worker runs its job again. A worker that joins late gets its share of
the jobs. Neither changes a result, because a job carries its own seed. The objects that all jobs
share are sent to the scheduler once, and workers can fetch them from there again. A batch that
shares the same objects as the previous batch does not send them again. If the connection to the
scheduler is lost, one `WorkerError` is raised; the results that the caller already saved are
intact.
"""

from __future__ import annotations

import contextlib
import logging
import multiprocessing
import operator
import time
import uuid
import warnings
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from coevo import __version__
from coevo.errors import ParameterError, WorkerError, import_optional
from coevo.parallel.processes import JobOutcome, StartClock, block_interrupts, run_isolated
from coevo.parallel.workers import Cluster, Workers, never_stop
from coevo.runtime.deadline import check_deadline

__all__ = ["DaskWorkers", "is_client", "open_dask_workers"]


# For ``local:N``. A worker that is silent for one minute counts as dead; Dask's default is five
# minutes. Nobody reads the dashboard, so its monitoring is off: two idle workers and their
# scheduler used 15 % of a core with it and use 4 % without it.
LOCAL_SETTINGS = {
    "distributed.scheduler.http.routes": [],
    "distributed.scheduler.worker-ttl": "60s",
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "5s",
}
LOGGERS = ("client", "scheduler", "core", "comm", "batched", "nanny", "worker", "utils")


def import_distributed() -> Any:
    """Return the package `distributed`, or raise `DependencyError`."""
    return import_optional("distributed", "Dask", "dask")


def import_delayed() -> Any:
    """Return ``dask.delayed``, or raise `DependencyError`."""
    return import_optional("dask", "Dask", "dask").delayed


def is_client(cluster: object) -> bool:
    """Return whether this is a synchronous Dask client; raise `DependencyError` without Dask."""
    return isinstance(cluster, import_distributed().Client) and not cluster.asynchronous


@contextlib.contextmanager
def open_client(cluster: Any) -> Iterator[Any]:
    """Yield a client for an address or for ``local:N``, or the given client itself."""
    distributed = import_distributed()
    if not isinstance(cluster, str):
        yield cluster
        return
    with contextlib.ExitStack() as opened:
        _check_certificates(distributed, cluster)
        opened.enter_context(_silence_logs())
        address = cluster
        with block_interrupts():  # processes and threads started here inherit this
            if cluster.startswith("local:"):
                address = opened.enter_context(_start_local_cluster(distributed, int(cluster[6:])))
            try:
                client = distributed.Client(address, set_as_default=False)
            except (OSError, ValueError) as error:
                reason = str(error).splitlines()[0].rstrip(".")
                raise WorkerError(
                    f"No cluster answers at {cluster} ({reason}). Start one with: dask scheduler"
                ) from None
        opened.callback(_close_client, client)
        yield client


def _check_certificates(distributed: Any, address: str) -> None:
    """Raise `ParameterError` for a TLS address without certificates in Dask's configuration."""
    if not address.startswith(("tls://", "wss://")):
        return
    try:
        context = distributed.Security().get_connection_args("client")["ssl_context"]
    except OSError as error:
        raise ParameterError(
            f"The TLS certificates for {address} in Dask's configuration cannot be read ({error})."
        ) from None
    if context is None:
        raise ParameterError(
            f"{address} needs TLS certificates, but Dask's configuration has none. Set "
            "distributed.comm.tls.ca-file, .client.cert and .client.key "
            "(https://distributed.dask.org/en/stable/tls.html)."
        )


@contextlib.contextmanager
def _start_local_cluster(distributed: Any, n_workers: int) -> Iterator[Any]:
    """Yield a cluster on this machine, without a dashboard."""
    import dask

    with dask.config.set(LOCAL_SETTINGS):
        local = distributed.LocalCluster(
            n_workers=n_workers,
            threads_per_worker=1,
            host="127.0.0.1",
            silence_logs=logging.CRITICAL,
            scheduler_kwargs={"dashboard": False, "dashboard_address": "127.0.0.1:0"},
        )
    try:
        yield local
    finally:
        with contextlib.suppress(AssertionError):  # a worker that was killed is being started again
            local.close()


@contextlib.contextmanager
def _silence_logs() -> Iterator[None]:
    """Silence Dask's loggers. Important problems are raised as errors."""
    root = logging.getLogger("distributed")
    loggers = [root, *(logging.getLogger(f"distributed.{name}") for name in LOGGERS)]
    before = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for logger, level in zip(loggers, before, strict=True):
            logger.setLevel(level)


def _close_client(client: Any) -> None:
    """Close a client, whether its scheduler is reachable or not."""
    with contextlib.suppress(Exception):  # closing fails if the scheduler is lost
        client.close(timeout=5)


Job = TypeVar("Job")
Result = TypeVar("Result")
JOBS_PER_THREAD = 2  # submitted to a worker: the running one and the next
MAX_SECONDS_WITHOUT_WORKERS = 60.0
SECONDS_BETWEEN_CHECKS = 1.0  # of the cluster, while no job completes


@contextlib.contextmanager
def open_dask_workers(cluster: Cluster) -> Iterator[DaskWorkers]:
    """Yield the workers of a client, of an address, or of ``local:N``."""
    with open_client(cluster) as client:
        yield DaskWorkers(client)


class DaskWorkers(Workers):
    """The workers of a Dask cluster, reached through its client.

    Parameters
    ----------
    client : distributed.Client
        A synchronous client.
    """

    def __init__(self, client: Any) -> None:
        self.client = client
        self._last_worker_seen = time.monotonic()
        self._last_shared: tuple[tuple[Any, ...], Any] | None = None

    @property
    def n_threads(self) -> int:
        """The number of jobs that the cluster can run at once, at this moment."""
        return sum(self._count_threads_by_worker().values())

    def run(
        self,
        function: Callable[..., Result],
        jobs: Sequence[Job],
        should_stop: Callable[[], bool] = never_stop,
        *,
        shared: tuple[Any, ...] = (),
    ) -> Iterator[Result]:
        """Yield the result of each job."""
        waiting, running = deque(jobs), deque[Any]()
        completed = self._track_completed()
        shared_future = self._share_once(shared) if waiting else None
        try:
            while True:
                submitted = self._submit_jobs(
                    running, waiting, should_stop, (function, shared_future)
                )
                completed.update(submitted)
                if not running:
                    return
                future = self._wait_for_next(completed, running)
                if future in running:  # not if nothing completed yet, or if it was cancelled
                    running.remove(future)
                    yield self.get_result(future)
        finally:
            self._cancel(running)

    def run_isolated(
        self,
        function: Callable[[Job, StartClock], Result],
        jobs: Sequence[Job],
        limit: Callable[[Job], float],
        *,
        should_stop: Callable[[], bool] = never_stop,
        environment: Mapping[str, str] | None = None,
    ) -> Generator[JobOutcome[Job, Result], None, None]:
        """Yield the outcome of each job. Its process is a child of the worker process."""
        shared = (function, limit, dict(environment or {}))
        yield from self.run(_run_isolated_on_worker, jobs, should_stop, shared=shared)

    def share(self, value: object) -> Any:
        """Send a value once; return a future that survives the death of any worker.

        A scattered value is lost with the worker that holds it. The result of a task is computed
        again.
        """
        return self.submit(_return_value, value)

    def _share_once(self, shared: tuple[Any, ...]) -> Any:
        """Return the future of the shared objects; reuse that of the last batch if they match."""
        if self._last_shared is not None:
            last, future = self._last_shared
            is_same = len(last) == len(shared) and all(map(operator.is_, last, shared))
            if is_same and future.status in ("pending", "finished"):
                return future
        future = self.share(shared)
        self._last_shared = (shared, future)
        return future

    def submit(self, function: Callable[..., Any], *arguments: Any, address: str = "") -> Any:
        """Return the future of ``function(*arguments)``, preferably on the worker at `address`."""
        key = f"coevo-{function.__name__}-{uuid.uuid4().hex}"
        options = {"workers": [address], "allow_other_workers": True} if address else {}
        with self._translate_errors(), warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Sending large graph")
            # A timeout of 0 keeps the order of submission.
            return self.client.submit(
                function, *arguments, key=key, pure=False, fifo_timeout=0, **options
            )

    def submit_all(self, function: Callable[..., Any], arguments: Sequence[Sequence[Any]]) -> Any:
        """Return the futures of a function for several argument lists, sent in one message."""
        keys = [f"coevo-{function.__name__}-{uuid.uuid4().hex}" for _ in arguments]
        with self._translate_errors():
            return self.client.map(
                function, *zip(*arguments, strict=True), key=keys, pure=False, fifo_timeout=0
            )

    def submit_delayed(
        self, function: Callable[..., Any], jobs: Sequence[Any], *, shared: tuple[Any, ...] = ()
    ) -> list[Any]:
        """Return the futures of a function for each job. Jobs may hold Dask's delayed values."""
        run_job = import_delayed()(_run_job, pure=False)
        tasks = [run_job(__version__, function, shared, job) for job in jobs]
        with self._translate_errors():
            futures: list[Any] = self.client.compute(tasks)
            return futures

    def list_addresses(self, per_thread: int) -> list[str]:
        """Return the address of each worker, `per_thread` times for each of its threads."""
        workers = sorted(self._count_threads_by_worker().items())
        return [address for _ in range(per_thread) for address, n in workers for _ in range(n)]

    def get_result(self, future: Any) -> Any:
        """Wait for a future; return its result, or raise the error of its function."""
        if not future.done():
            completed = self._track_completed(future)
            while self._wait_for_next(completed, [future]) is None:
                pass
        with self._translate_errors():
            if future.status == "finished":
                return future.result()
        if future.status == "error":
            raise self._make_job_error(future)
        raise self._make_lost_scheduler_error()

    def _submit_jobs(
        self,
        running: deque[Any],
        waiting: deque[Any],
        should_stop: Callable[[], bool],
        work: tuple[Callable[..., Any], Any],
    ) -> list[Any]:
        """Submit the next jobs and return their futures; after a stop, cancel queued jobs."""
        if should_stop():
            waiting.clear()
            surplus = [running.pop() for _ in range(len(running) - self.n_threads)]
            self._cancel(surplus)
            return []
        capacity = max(1, JOBS_PER_THREAD * self.n_threads) if waiting else 0
        submitted = []
        while waiting and len(running) < capacity:
            future = self.submit(_run_job, __version__, *work, waiting.popleft())
            running.append(future)
            submitted.append(future)
        return submitted

    def _track_completed(self, *futures: Any) -> Any:
        """Return Dask's iterator over futures in the order of their completion."""
        return import_distributed().as_completed(futures, loop=self.client.loop)

    def _wait_for_next(self, completed: Any, futures: Iterable[Any]) -> Any:
        """Return the next future that completes, or None if the wait is long; check the cluster.

        The timeout of ``as_completed`` itself covers the complete iteration. A timeout on the
        asynchronous ``__anext__`` covers one step. A step that ends in this moment takes a future
        out of the iterator and returns nothing, so `futures` that are done are looked up then.
        """
        check_deadline()
        with self._translate_errors(), contextlib.suppress(TimeoutError, StopAsyncIteration):
            future = self.client.sync(completed.__anext__, callback_timeout=SECONDS_BETWEEN_CHECKS)
            self._last_worker_seen = time.monotonic()
            return future
        done = next((one for one in futures if one.done()), None)
        return self._check_alive() if done is None else done

    def _count_threads_by_worker(self) -> dict[str, int]:
        """Return the number of threads of each worker, by address."""
        while self.client.status == "running":  # a lost scheduler may never answer
            with self._translate_errors(), contextlib.suppress(TimeoutError):
                ask = self.client.scheduler.ncores
                threads: dict[str, int] = self.client.sync(
                    ask, callback_timeout=SECONDS_BETWEEN_CHECKS
                )
                return threads
        raise self._make_lost_scheduler_error()

    def _check_alive(self) -> None:
        """Raise `WorkerError` if the scheduler is lost, or if there are no workers for too long."""
        if self.client.status != "running":
            raise self._make_lost_scheduler_error()
        if self.n_threads:
            self._last_worker_seen = time.monotonic()
        elif time.monotonic() - self._last_worker_seen > MAX_SECONDS_WITHOUT_WORKERS:
            raise WorkerError(
                f"The cluster at {self._address} has had no worker for "
                f"{MAX_SECONDS_WITHOUT_WORKERS:g} seconds. Start workers with: dask worker ADDRESS"
            )

    def _cancel(self, futures: Sequence[Any] | deque[Any]) -> None:
        if futures and self.client.status == "running":
            with contextlib.suppress(Exception):  # the scheduler may be lost by now
                self.client.cancel(list(futures))

    @property
    def _address(self) -> str:
        scheduler = self.client.scheduler
        return "an address" if scheduler is None else str(scheduler.address)

    def _make_lost_scheduler_error(self) -> WorkerError:
        return WorkerError(
            f"The connection to the scheduler at {self._address} is lost. Finished work is stored "
            "in the output folder (-o). Repeat the command to resume (coevo learn: with --resume), "
            "on another cluster or without one."
        )

    def _make_job_error(self, future: Any) -> BaseException:
        """Return the error of a failed job, with a clear message for known problems."""
        error: BaseException = future.exception()
        if isinstance(error, import_distributed().KilledWorker):
            return WorkerError(
                "Several workers of the cluster died one after another while they ran the same "
                "job, perhaps because memory ran out. Give each worker more memory, or start fewer "
                "workers on a machine."
            )
        if isinstance(error, ModuleNotFoundError) and (error.name or "").startswith("coevo"):
            return WorkerError(
                f"A worker of the cluster does not have coevo {__version__}. Install it there."
            )
        return error

    @contextlib.contextmanager
    def _translate_errors(self) -> Iterator[None]:
        """Turn Dask's errors about a lost scheduler into one clear message."""
        distributed = import_distributed()
        try:
            yield
        except (distributed.client.FutureCancelledError, OSError, RuntimeError):
            raise self._make_lost_scheduler_error() from None


def _return_value(value: Any) -> Any:
    return value


def _run_job(
    version: str, function: Callable[..., Result], shared: tuple[Any, ...], job: Any
) -> Result:
    """Run a job on a worker."""
    if version != __version__:
        raise WorkerError(
            f"A worker of the cluster has coevo {__version__}, but this is coevo {version}. "
            "Install the same version on both."
        )
    return function(*shared, job)


def _run_isolated_on_worker(
    function: Callable[[Job, StartClock], Result],
    limit: Callable[[Job], float],
    environment: Mapping[str, str],
    job: Job,
) -> JobOutcome[Job, Result]:
    """Run a job in its own process, on a worker."""
    # Dask forbids child processes of workers, because they could outlive the worker; these end
    # with the worker.
    multiprocessing.current_process().daemon = False
    (outcome,) = run_isolated(function, [job], limit, environment=environment)
    return outcome
