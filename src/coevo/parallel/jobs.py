"""Independent jobs, here or in processes of their own.

A job is a picklable value, and a function of a module makes a result of it. Results are
handed out as they come, so that the caller can keep each one at once; which process did
what can never matter, because a job carries its own seed.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import resource_tracker
from typing import TypeVar

from coevo.errors import WorkerError

__all__ = ["run_jobs"]

Job = TypeVar("Job")
Result = TypeVar("Result")


def _never() -> bool:
    return False


def run_jobs(
    function: Callable[[Job], Result],
    jobs: Sequence[Job],
    n_jobs: int,
    stop: Callable[[], bool] = _never,
) -> Iterator[Result]:
    """Yield the result of each job, in the order in which they end.

    With one process, jobs run here, one after another. `stop` is asked after each job;
    once it says yes no further job is begun, and those under way are waited for and
    yielded too.

    >>> sorted(run_jobs(abs, [-1, 2, -3], n_jobs=1))
    [1, 2, 3]
    """
    if n_jobs == 1 or len(jobs) < 2:
        for job in jobs:
            if stop():
                return
            yield function(job)
        return
    # A fresh interpreter for each: a forked one would inherit threads in unknown states.
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(min(n_jobs, len(jobs)), context, initializer=_start_worker)
    try:
        with _interrupts_held():  # which the processes inherit until they ignore them
            futures = [pool.submit(function, job) for job in jobs]
        for future in as_completed(futures):
            if future.cancelled():
                continue
            yield future.result()
            if stop():
                _cancel(futures)
    except BrokenProcessPool:
        raise WorkerError(
            "A worker process died, perhaps for want of memory. Try again with fewer (-j)."
        ) from None
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _cancel(futures: Sequence[Future[Result]]) -> None:
    for future in futures:
        future.cancel()


def _start_worker() -> None:
    """Leave Ctrl-C to the process that started this one."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])


@contextlib.contextmanager
def _interrupts_held() -> Iterator[None]:
    """Put Ctrl-C off until the end of the block."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # which would let signals through when it starts
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
