"""When work stops: time limits, and Ctrl-C.

The clock of time limits, and the deadline of long steps.

A step of a search may take minutes on a wide table. So the loop around it sets a deadline
(`limit_work_time`), and the long parts of a step call `check_deadline` every tenth of a second. It
raises `OutOfTime`, which ends the step. The last complete state is still there. What the step has
found so far can be offered with the exception.
"""

from __future__ import annotations

import contextlib
import math
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from time import perf_counter
from types import FrameType
from typing import Any

__all__ = [
    "DeferredInterrupts",
    "OutOfTime",
    "check_deadline",
    "compute_remaining_time",
    "defer_interrupts",
    "is_interrupt",
    "limit_work_time",
    "measure_work_time",
    "treat_signals_as_interrupts",
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


# Ctrl-C: stop work between two rounds, and never mistake an interrupt for an error.
#
# Python can raise `KeyboardInterrupt` between any two of its own instructions, even in a callback
# from compiled code, where it surfaces as a `SystemError`. Work that runs in rounds therefore
# defers Ctrl-C: the first one is only recorded, and the work stops after the current round. The
# second one raises at once.
#
# On the command line, the signals SIGTERM (from ``kill``, ``timeout`` or a supervisor) and SIGHUP
# (the terminal is closed) are treated in the same way (`treat_signals_as_interrupts`), so that
# they save the work too. They may be sent twice by one cause; a repetition changes nothing.


SIGHUP = getattr(signal, "SIGHUP", None)  # Windows has none
ENDING = [number for number in (signal.SIGTERM, SIGHUP) if number is not None]
_TERMINALS: list[int] = []  # of stdout and stderr, those that were a terminal at the start


class DeferredInterrupts:
    """Records whether the user has pressed Ctrl-C."""

    def __init__(self, on_interrupt: Callable[[], object] = lambda: None) -> None:
        self.is_pending = False
        self._on_interrupt = on_interrupt

    def handle(self, number: int, frame: FrameType | None) -> None:
        """Record the first interrupt; raise `KeyboardInterrupt` at a further Ctrl-C."""
        _leave_closed_terminals(number)
        if self.is_pending:
            if number == signal.SIGINT:
                raise KeyboardInterrupt
            return
        self.is_pending = True
        self._on_interrupt()


class _RaiseOnce:
    """A handler that raises `KeyboardInterrupt` at the first signal and ignores the others."""

    def __init__(self) -> None:
        self._has_raised = False

    def __call__(self, number: int, frame: FrameType | None) -> None:
        _leave_closed_terminals(number)
        if not self._has_raised:
            self._has_raised = True
            raise KeyboardInterrupt


def _leave_closed_terminals(number: int) -> None:
    """At a SIGHUP, discard what would be written to a terminal that is no longer there.

    An error of writing would otherwise end the command before it has saved its work.
    """
    if number != SIGHUP:
        return
    for stream in _TERMINALS:
        if not os.isatty(stream):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, stream)
            os.close(nowhere)


@contextlib.contextmanager
def treat_signals_as_interrupts() -> Iterator[None]:
    """Treat SIGTERM and SIGHUP as Ctrl-C inside the ``with`` block.

    A signal that is ignored (``nohup``) or that other code handles stays as it is. Nothing changes
    outside the main thread.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handler = _RaiseOnce()
    changed = [number for number in ENDING if signal.getsignal(number) is signal.SIG_DFL]
    _TERMINALS[:] = [stream for stream in (1, 2) if os.isatty(stream)]
    for number in changed:
        signal.signal(number, handler)
    try:
        yield
    finally:
        _TERMINALS.clear()
        for number in changed:
            signal.signal(number, signal.SIG_DFL)


@contextlib.contextmanager
def defer_interrupts(
    on_interrupt: Callable[[], object] = lambda: None,
) -> Iterator[DeferredInterrupts]:
    """Record Ctrl-C inside the ``with`` block instead of raising; call `on_interrupt`.

    Nothing changes outside the main thread, or where other code handles the signal already:
    `KeyboardInterrupt` can then still be raised anywhere. SIGTERM and SIGHUP are recorded too where
    they are treated as Ctrl-C.
    """
    interrupts = DeferredInterrupts(on_interrupt)
    if threading.current_thread() is not threading.main_thread():
        yield interrupts
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, *ENDING)}
    changed = [number for number, handler in before.items() if _is_raising(handler)]
    for number in changed:
        signal.signal(number, interrupts.handle)
    try:
        yield interrupts
    finally:
        for number in changed:
            signal.signal(number, before[number])


def _is_raising(handler: object) -> bool:
    return handler is signal.default_int_handler or isinstance(handler, _RaiseOnce)


def is_interrupt(error: BaseException | None) -> bool:
    """Return whether an error is an interrupt, or a `SystemError` that an interrupt caused.

    >>> is_interrupt(KeyboardInterrupt()), is_interrupt(SystemError("bad call"))
    (True, False)
    """
    while isinstance(error, SystemError):
        error = error.__cause__ or error.__context__
    return isinstance(error, KeyboardInterrupt)
