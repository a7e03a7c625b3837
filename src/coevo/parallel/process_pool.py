"""Independent jobs in a pool of processes of this machine.

A job is a picklable value, and a module-level function turns it into a result. Results are
yielded as they arrive, so the caller can save each one at once. A job carries its own seed, so
its result does not depend on the process that runs it. The processes end with the one that started
them. They do not run the script that started them (`coevo.parallel.main_module`).
"""

from __future__ import annotations

import contextlib
import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from typing import TypeVar

from coevo.errors import WorkerError
from coevo.parallel.main_module import leave_main_out, needs_main
from coevo.parallel.signals import become_worker, block_interrupts

__all__ = ["run_in_pool"]

MEMORY_NEEDED = "A worker process died, perhaps because memory ran out. Use fewer processes (-j)."
SCRIPT_NEEDED = (
    "A worker process died. It needs a function or class of your script, so it runs the script "
    "again. Move these into a module, or the work of the script under if __name__ == '__main__'."
)
Job = TypeVar("Job")
Result = TypeVar("Result")


def run_in_pool(
    function: Callable[[Job], Result],
    jobs: Sequence[Job],
    n_jobs: int,
    should_stop: Callable[[], bool],
) -> Iterator[Result]:
    """Yield the result of each job, in the order in which the jobs end; see `run_in_processes`."""
    # Fresh interpreters: a forked one would inherit threads in unknown states.
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(min(n_jobs, len(jobs)), context, initializer=become_worker)
    is_main_needed = needs_main(function, jobs)
    keep_out = contextlib.nullcontext() if is_main_needed else leave_main_out()
    try:
        with keep_out, block_interrupts():  # they inherit this until they ignore Ctrl-C
            futures = [pool.submit(function, job) for job in jobs]
        for future in as_completed(futures):
            if future.cancelled():
                continue
            yield future.result()
            if should_stop():
                _cancel(futures)
    except BrokenProcessPool:
        if should_stop():  # the signal that ends this process has also ended the others
            return
        raise WorkerError(SCRIPT_NEEDED if is_main_needed else MEMORY_NEEDED) from None
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _cancel(futures: Sequence[Future[Result]]) -> None:
    for future in futures:
        future.cancel()
