"""The clock of time limits, and the deadline of long steps.

A step of a search may take minutes on a wide table. So the loop around it sets a deadline
(`limit_work_time`), and the long parts of a step call `check_deadline` every tenth of a second. It
raises `OutOfTime`, which ends the step. The last complete state is still there. What the step has
found so far can be offered with the exception.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from contextvars import ContextVar
from time import perf_counter
from typing import Any

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


def measure_work_time() -> float:
    """Return a time in seconds, from an arbitrary start."""
    return perf_counter()


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
