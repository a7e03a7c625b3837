"""Jobs in processes of this machine: a pool of them, or one fresh process for each job.

A job is a picklable value, and a module-level function turns it into a result. Results are
yielded as they arrive, so the caller can save each one at once. A job carries its own seed, so
its result does not depend on the process that runs it.

**Isolated jobs** may hang, crash or fill the memory: each runs in its own fresh process. A job that
exceeds its time limit is killed. A job that dies is recorded as failed. The next job starts in any
case. A job process prints nothing.

**Signals.** Only the first process handles them, and all end with it. A terminal sends Ctrl-C to
all processes at once. Only the first process knows which results to save and what to print, so the
child processes ignore the signal from their start. The same holds for SIGHUP, when a terminal is
closed. If the first process is killed, it can tell nobody: each child process watches it, and ends
within a moment.

**The main module.** A fresh process of `multiprocessing` imports the main module of its parent. A
script without ``if __name__ == "__main__":`` would start its work in every worker. The jobs of
coevo have their own modules, so the main module is left out. Only a job that holds a function or a
class of the script itself, such as a method of the user, needs it.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import resource_tracker, spawn
from multiprocessing.connection import Connection, wait
from typing import Any, Generic, Literal, TypeVar

from coevo.errors import WorkerError

__all__ = [
    "JobOutcome",
    "StartClock",
    "block_interrupts",
    "needs_main",
    "run_in_pool",
    "run_isolated",
]


PR_SET_PDEATHSIG = 1  # of prctl, on Linux


def become_worker(*more: signal.Signals) -> None:
    """Ignore Ctrl-C, SIGHUP and `more` signals in this process, and end it with its parent."""
    for number in (signal.SIGINT, getattr(signal, "SIGHUP", None), *more):
        if number is not None:
            signal.signal(number, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
    threading.Thread(target=_wait_for_parent, daemon=True).start()


def _wait_for_parent() -> None:
    """End this process when the one that started it has ended, however that was."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def end_with_parent() -> None:
    """Let the system kill this process when the thread that started it has ended, on Linux.

    `become_worker` needs a moment of the interpreter for that. Code of another library may hold the
    interpreter for minutes.
    """
    if sys.platform == "linux":
        import ctypes

        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


@contextlib.contextmanager
def block_interrupts() -> Iterator[None]:
    """Delay Ctrl-C until the end of the block. Processes started in the block inherit this."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # it would unblock signals when it starts
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


MAIN_MODULE = b"__main__"
MAIN_FACTS = ("init_main_from_name", "init_main_from_path")
_LOCK = threading.Lock()


class _Finder:
    """A file that keeps nothing, and remembers whether the name of the main module was written."""

    has_found = False

    def write(self, text: bytes) -> int:
        self.has_found |= MAIN_MODULE in bytes(text)
        return len(text)


def needs_main(*values: Any) -> bool:
    """Return whether values hold something of the main module; True if they cannot be pickled.

    >>> needs_main(len, [1, 2])
    False
    """
    finder = _Finder()
    try:
        pickle.Pickler(finder).dump(values)
    except Exception:  # whatever the classes of users raise; it is raised again by the processes
        return True
    return finder.has_found


@contextlib.contextmanager
def leave_main_out() -> Iterator[None]:
    """Start processes without the main module, those that this thread starts in the block."""
    with _LOCK:
        original, here = spawn.get_preparation_data, threading.get_ident()

        def prepare(name: str) -> dict[str, Any]:
            facts: dict[str, Any] = original(name)
            if threading.get_ident() == here:
                facts = {key: fact for key, fact in facts.items() if key not in MAIN_FACTS}
            return facts

        spawn.get_preparation_data = prepare
        try:
            yield
        finally:
            spawn.get_preparation_data = original


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


StartClock = Callable[[], None]  # a job calls it when it has loaded everything it needs
MAX_LOAD_SECONDS = 300.0  # until a job starts its clock; imports and data take a while
MAX_ERROR_LENGTH = 200  # characters
_STARTING = threading.Lock()  # the threads of a worker share one environment
CLOCK_STARTED, RESULT, ERROR = "clock started", "result", "error"


@dataclass(frozen=True)
class JobOutcome(Generic[Job, Result]):
    """The outcome of a job: a result, a timeout, or an error in one line."""

    job: Job
    status: Literal["done", "timeout", "failed"]
    result: Result | None = None
    error: str = ""


def run_isolated(
    function: Callable[[Job, StartClock], Result],
    jobs: Sequence[Job],
    limit: Callable[[Job], float],
    *,
    n_jobs: int = 1,
    should_stop: Callable[[], bool] = lambda: False,
    environment: Mapping[str, str] | None = None,
) -> Generator[JobOutcome[Job, Result], None, None]:
    """Yield the outcome of each job, in the order in which the jobs end.

    Parameters
    ----------
    function : callable
        A module-level function. Its arguments are a job and a function that starts the clock
        of the job. The job calls that function when it has loaded everything it needs. A job that
        never calls it is limited only by the time for loading.
    jobs : sequence
        Picklable values.
    limit : callable
        Returns the seconds that a job may take after its clock started.
    n_jobs : int
        How many jobs run at once.
    should_stop : callable
        Called before each job. Once it returns True, no further job starts, and the running
        jobs finish. Closing the iterator kills them.
    environment : mapping, optional
        Environment variables to set in the new processes.
    """
    waiting, running = deque(jobs), list[_JobProcess[Job, Result]]()
    try:
        while True:
            while waiting and len(running) < n_jobs and not should_stop():
                with _STARTING, block_interrupts(), _set_environment(environment or {}):
                    running.append(_JobProcess(function, waiting.popleft(), limit))
            if not running:
                return
            _wait(running)
            for process in tuple(running):
                outcome = process.poll()
                if outcome is not None:
                    running.remove(process)
                    if not (process.was_terminated and should_stop()):
                        yield outcome
    finally:
        for process in running:
            process.kill()


class _JobProcess(Generic[Job, Result]):
    """The process of a running job, as its parent sees it."""

    def __init__(
        self,
        function: Callable[[Job, StartClock], Result],
        job: Job,
        limit: Callable[[Job], float],
    ) -> None:
        self.job, self._limit, self._has_started_clock = job, limit(job), False
        # A fresh interpreter: a forked one would inherit threads in unknown states.
        context = multiprocessing.get_context("spawn")
        self.reader, writer = context.Pipe(duplex=False)
        self._process = context.Process(target=_run_job, args=(function, job, writer), daemon=True)
        is_main_needed = needs_main(function, job)
        with contextlib.nullcontext() if is_main_needed else leave_main_out():
            self._process.start()
        writer.close()  # this end only; the pipe ends when the job closes its own end
        self.sentinel = self._process.sentinel
        self.deadline = time.monotonic() + MAX_LOAD_SECONDS

    def poll(self) -> JobOutcome[Job, Result] | None:
        """Return the outcome of the job, or None while it runs."""
        is_dead = not self._process.is_alive()  # first: all its messages are then in the pipe
        while self.reader.poll():
            try:
                kind, value = self.reader.recv()
            except (EOFError, OSError):
                return self._end("failed", error=self._describe_death())
            if kind == RESULT:
                return self._end("done", result=value)
            if kind == ERROR:
                return self._end("failed", error=value)
            self._has_started_clock = True
            self.deadline = time.monotonic() + self._limit
        if is_dead:
            return self._end("failed", error=self._describe_death())
        if time.monotonic() < self.deadline:
            return None
        if self._has_started_clock:
            return self._end("timeout")
        return self._end("failed", error=f"not loaded within {MAX_LOAD_SECONDS:g} seconds")

    @property
    def was_terminated(self) -> bool:
        """Whether SIGTERM has ended the process. It may have been meant for all processes."""
        return self._process.exitcode == -signal.SIGTERM

    def kill(self) -> None:
        """End the process at once."""
        self._process.kill()
        self._process.join()
        self.reader.close()

    def _end(
        self,
        status: Literal["done", "timeout", "failed"],
        result: Result | None = None,
        error: str = "",
    ) -> JobOutcome[Job, Result]:
        self.kill()  # it has sent everything
        return JobOutcome(self.job, status, result, error)

    def _describe_death(self) -> str:
        """Return the exit code or the signal that ended the process."""
        self._process.join()
        code = self._process.exitcode or 0
        if code >= 0:
            return f"its process ended with exit code {code} and no result"
        with contextlib.suppress(ValueError):  # a signal that Python has no name for
            name = signal.Signals(-code).name
            why = ", perhaps because memory ran out" if name == "SIGKILL" else ""
            return f"its process was killed by {name}{why}"
        return f"its process was killed by signal {-code}"


def _wait(running: Sequence[_JobProcess[Any, Any]]) -> None:
    """Wait until a process sends a message or ends, or until the first deadline."""
    soonest = min(process.deadline for process in running)
    watched = [handle for p in running for handle in (p.reader, p.sentinel)]
    wait(watched, timeout=max(0.0, soonest - time.monotonic()))


@contextlib.contextmanager
def _set_environment(variables: Mapping[str, str]) -> Iterator[None]:
    """Set environment variables inside the ``with`` block."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _run_job(function: Callable[[Job, StartClock], Result], job: Job, writer: Connection) -> None:
    """Run a job in its own process."""
    end_with_parent()
    become_worker(signal.SIGTERM)  # the parent kills it
    _discard_output()
    try:
        result = function(job, lambda: writer.send((CLOCK_STARTED, None)))
        writer.send((RESULT, result))
    except BaseException as error:  # a library may also raise SystemExit
        writer.send((ERROR, _summarise_error(error)))


def _discard_output() -> None:
    """Discard all output of this process, also that of compiled libraries."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(nowhere, stream)


def _summarise_error(error: BaseException) -> str:
    """Return the type of an error and the first line of its message."""
    kind, message = type(error).__name__, str(error).strip()
    line = f"{kind}: {message.splitlines()[0]}" if message else kind
    return line if len(line) <= MAX_ERROR_LENGTH else f"{line[: MAX_ERROR_LENGTH - 4]} ..."
