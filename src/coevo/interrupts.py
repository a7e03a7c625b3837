"""Ctrl-C: stop work between two rounds, and never mistake an interrupt for an error.

Python can raise `KeyboardInterrupt` between any two of its own instructions, even in a
callback from compiled code, where it surfaces as a `SystemError`. Work that runs in rounds
therefore defers Ctrl-C: the first one is only recorded, and the work stops after the current
round. The second one raises at once.

On the command line, the signals SIGTERM (from ``kill``, ``timeout`` or a supervisor) and SIGHUP
(the terminal is closed) are treated in the same way (`treat_signals_as_interrupts`), so that they
save the work too. They may be sent twice by one cause; a repetition changes nothing.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType

__all__ = [
    "DeferredInterrupts",
    "defer_interrupts",
    "is_interrupt",
    "treat_signals_as_interrupts",
]

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
