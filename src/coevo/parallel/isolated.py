"""Jobs that may hang, crash or fill the memory: each in a fresh process of its own.

A job that is not done in time is killed, one that dies is taken down as failed, and the
next one begins as if nothing had happened. A process prints nothing, leaves Ctrl-C to the
one that started it, and ends with it.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import Any, Generic, Literal, TypeVar

from coevo.parallel.signals import interrupts_held, leave_interrupts

__all__ = ["Begin", "Ending", "run_isolated"]

Begin = Callable[[], None]  # a job calls it when it is loaded: its time runs from there
Job = TypeVar("Job")
Result = TypeVar("Result")
START_SECONDS = 300.0  # in which a job must have begun; imports and data take a while
LONGEST_ERROR = 200  # characters
_STARTING = threading.Lock()  # threads of a worker share one environment
BEGUN, RESULT, ERROR = "begun", "result", "error"


@dataclass(frozen=True)
class Ending(Generic[Job, Result]):
    """How a job ended: with a result, killed for its time, or with an error in one line."""

    job: Job
    status: Literal["done", "timeout", "failed"]
    result: Result | None = None
    error: str = ""


def run_isolated(
    function: Callable[[Job, Begin], Result],
    jobs: Sequence[Job],
    limit: Callable[[Job], float],
    *,
    n_jobs: int = 1,
    stop: Callable[[], bool] = lambda: False,
    environment: Mapping[str, str] | None = None,
) -> Generator[Ending[Job, Result], None, None]:
    """Yield how each job ended, in the order in which they end.

    Parameters
    ----------
    function : callable
        A function of a module; it gets a job and a function to call when it has loaded all
        that it needs. A job that never calls that has no limit but the one for starting.
    jobs : sequence
        Picklable values.
    limit : callable
        The seconds that a job has from its beginning.
    n_jobs : int
        How many run at once.
    stop : callable
        Asked before each job; once it says yes no further one is begun, and those under
        way are waited for. Who closes the iterator kills them.
    environment : mapping, optional
        Variables of the environment that differ in the new processes.
    """
    waiting, under_way = deque(jobs), list[_Process[Job, Result]]()
    try:
        while True:
            while waiting and len(under_way) < n_jobs and not stop():
                with _STARTING, interrupts_held(), _environment(environment or {}):
                    under_way.append(_Process(function, waiting.popleft(), limit))
            if not under_way:
                return
            _wait(under_way)
            for process in tuple(under_way):
                ending = process.ending()
                if ending is not None:
                    under_way.remove(process)
                    yield ending
    finally:
        for process in under_way:
            process.kill()


class _Process(Generic[Job, Result]):
    """A job under way, seen from outside."""

    def __init__(
        self,
        function: Callable[[Job, Begin], Result],
        job: Job,
        limit: Callable[[Job], float],
    ) -> None:
        self.job, self._limit, self._has_begun = job, limit(job), False
        # A fresh interpreter: a forked one would inherit threads in unknown states.
        context = multiprocessing.get_context("spawn")
        self.reader, writer = context.Pipe(duplex=False)
        self._process = context.Process(target=_work, args=(function, job, writer), daemon=True)
        self._process.start()
        writer.close()  # ours; once the other end is closed too, nothing more comes
        self.sentinel = self._process.sentinel
        self.deadline = time.monotonic() + START_SECONDS

    def ending(self) -> Ending[Job, Result] | None:
        """Return how the job ended, or None while it is under way."""
        is_dead = not self._process.is_alive()  # asked first: its last words are then there
        while self.reader.poll():
            try:
                kind, value = self.reader.recv()
            except (EOFError, OSError):
                return self._ended("failed", error=self._death())
            if kind == RESULT:
                return self._ended("done", result=value)
            if kind == ERROR:
                return self._ended("failed", error=value)
            self._has_begun = True
            self.deadline = time.monotonic() + self._limit
        if is_dead:
            return self._ended("failed", error=self._death())
        if time.monotonic() < self.deadline:
            return None
        if self._has_begun:
            return self._ended("timeout")
        return self._ended("failed", error=f"it did not begin within {START_SECONDS:g} seconds")

    def kill(self) -> None:
        """End the process at once."""
        self._process.kill()
        self._process.join()
        self.reader.close()

    def _ended(
        self,
        status: Literal["done", "timeout", "failed"],
        result: Result | None = None,
        error: str = "",
    ) -> Ending[Job, Result]:
        self.kill()  # it has said what it had to say
        return Ending(self.job, status, result, error)

    def _death(self) -> str:
        """Return what a process died of."""
        self._process.join()
        code = self._process.exitcode or 0
        if code >= 0:
            return f"its process ended with exit code {code} and no result"
        with contextlib.suppress(ValueError):  # a signal that Python has no name for
            name = signal.Signals(-code).name
            why = ", perhaps for want of memory" if name == "SIGKILL" else ""
            return f"its process died of {name}{why}"
        return f"its process died of signal {-code}"


def _wait(under_way: Sequence[_Process[Any, Any]]) -> None:
    """Wait until a process says something or ends, or until the time of one is over."""
    soonest = min(process.deadline for process in under_way)
    watched = [thing for p in under_way for thing in (p.reader, p.sentinel)]
    wait(watched, timeout=max(0.0, soonest - time.monotonic()))


@contextlib.contextmanager
def _environment(variables: Mapping[str, str]) -> Iterator[None]:
    """Set variables of the environment inside the ``with`` block."""
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


def _work(function: Callable[[Job, Begin], Result], job: Job, writer: Connection) -> None:
    """Do a job, in its own process."""
    leave_interrupts()
    _print_nothing()
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        result = function(job, lambda: writer.send((BEGUN, None)))
        writer.send((RESULT, result))
    except BaseException as error:  # whatever a library raises to get out, SystemExit too
        writer.send((ERROR, _one_line(error)))


def _print_nothing() -> None:
    """Send all output nowhere, that of compiled libraries too."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(nowhere, stream)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _one_line(error: BaseException) -> str:
    """Return the kind of an error and the first line of what it says."""
    kind, said = type(error).__name__, str(error).strip()
    line = f"{kind}: {said.splitlines()[0]}" if said else kind
    return line if len(line) <= LONGEST_ERROR else f"{line[: LONGEST_ERROR - 4]} ..."
