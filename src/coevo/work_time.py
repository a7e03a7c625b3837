"""The clock of time limits: it stands still while kernels are compiled.

A limit of ten seconds is for ten seconds of work. Where compiled kernels cannot be stored, each
process compiles them on their first call, in the middle of its work. `measure_work_time` does not
count that.

A step of a search may take minutes on a wide table. So the loop around it sets a deadline
(`limit_work_time`), and the long parts of a step call `check_deadline` every tenth of a second. It
raises `OutOfTime`, which ends the step. The last complete state is still there. What the step has
found so far can be offered with the exception.
"""

from __future__ import annotations

import contextlib
import math
import threading
import time
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Any

from numba.core import event

__all__ = [
    "OutOfTime",
    "check_deadline",
    "compute_remaining_time",
    "limit_work_time",
    "measure_work_time",
]

_DEADLINE: ContextVar[float] = ContextVar("deadline", default=math.inf)


class OutOfTime(BaseException):  # it is no error
    """The deadline has passed. No ``except Exception`` of a method takes it for an error.

    `offered` is a better structure than that of the last state, ``[parent, child]``, or None.
    """

    def __init__(self) -> None:
        super().__init__("The time limit is reached.")
        self.offered: Any = None


class _CompilationTime(event.Listener):  # type: ignore[misc]
    """The time of all compilations so far, in any thread. Compilations may be nested."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock, self._lock = clock, threading.Lock()
        self._depth, self._began, self._seconds = 0, 0.0, 0.0

    def on_start(self, event: Any) -> None:
        with self._lock:
            if not self._depth:
                self._began = self._clock()
            self._depth += 1

    def on_end(self, event: Any) -> None:
        with self._lock:
            self._depth -= 1
            if not self._depth:
                self._seconds += self._clock() - self._began

    def measure_other_time(self) -> float:
        """Return the time on the clock without all compilations."""
        with self._lock:
            now = self._began if self._depth else self._clock()
            return now - self._seconds


_COMPILATION = _CompilationTime(time.perf_counter)
event.register("numba:compile", _COMPILATION)


def measure_work_time() -> float:
    """Return a time in seconds, from an arbitrary start; it stands still during compilations."""
    return _COMPILATION.measure_other_time()


@contextlib.contextmanager
def limit_work_time(deadline: float) -> Iterator[None]:
    """Set the deadline of `check_deadline` inside the block; an earlier one around it still holds.

    >>> with limit_work_time(measure_work_time() + 60):
    ...     check_deadline()
    """
    token = _DEADLINE.set(min(deadline, _DEADLINE.get()))
    try:
        yield
    finally:
        _DEADLINE.reset(token)


def check_deadline() -> None:
    """Raise `OutOfTime` if the deadline of this thread has passed."""
    deadline = _DEADLINE.get()
    if deadline < math.inf and measure_work_time() >= deadline:
        raise OutOfTime


def compute_remaining_time() -> float:
    """Return the seconds until the deadline of this thread: 0 if it has passed, infinite if none.

    >>> compute_remaining_time()
    inf
    """
    deadline = _DEADLINE.get()
    return max(0.0, deadline - measure_work_time()) if deadline < math.inf else math.inf
