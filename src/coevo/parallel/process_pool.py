"""Independent jobs, here or in processes of their own.

A job is a picklable value, and a function of a module makes a result of it. Results are
handed out as they come, so that the caller can keep each one at once; which process did
what can never matter, because a job carries its own seed.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from typing import TypeVar

from coevo.errors import WorkerError
from coevo.parallel.signals import interrupts_held, leave_interrupts

__all__ = ["never", "run_in_processes"]

Job = TypeVar("Job")
Result = TypeVar("Result")


def never() -> bool:
    """Say that nobody wants to stop."""
    return False


def run_in_processes(
    function: Callable[[Job], Result],
    jobs: Sequence[Job],
    n_jobs: int,
    stop: Callable[[], bool] = never,
) -> Iterator[Result]:
    """Yield the result of each job, in the order in which they end.

    With one process, jobs run here, one after another. `stop` is asked after each job;
    once it says yes no further job is begun, and those under way are waited for and
    yielded too.

    >>> sorted(run_in_processes(abs, [-1, 2, -3], n_jobs=1))
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
    pool = ProcessPoolExecutor(min(n_jobs, len(jobs)), context, initializer=leave_interrupts)
    try:
        with interrupts_held():  # which the processes inherit until they ignore them
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
