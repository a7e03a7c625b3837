"""Ctrl-C: stop work between two rounds, and never mistake an interrupt for an error.

Python can raise `KeyboardInterrupt` between any two of its own instructions, even in a
callback from compiled code, where it surfaces as a `SystemError`. Work that runs in rounds
therefore defers Ctrl-C: the first one is only recorded, and the work stops after the current
round. The second one raises at once.
"""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType

__all__ = ["DeferredInterrupts", "defer_interrupts", "is_interrupt"]


class DeferredInterrupts:
    """Records whether the user has pressed Ctrl-C."""

    def __init__(self, on_interrupt: Callable[[], object] = lambda: None) -> None:
        self.is_pending = False
        self._on_interrupt = on_interrupt

    def handle(self, number: int, frame: FrameType | None) -> None:
        """Record the first interrupt; raise `KeyboardInterrupt` at the second."""
        if self.is_pending:
            raise KeyboardInterrupt
        self.is_pending = True
        self._on_interrupt()


@contextlib.contextmanager
def defer_interrupts(
    on_interrupt: Callable[[], object] = lambda: None,
) -> Iterator[DeferredInterrupts]:
    """Record Ctrl-C inside the ``with`` block instead of raising; call `on_interrupt`.

    Nothing changes outside the main thread, or where other code handles the signal already:
    `KeyboardInterrupt` can then still be raised anywhere.
    """
    interrupts = DeferredInterrupts(on_interrupt)
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield interrupts
        return
    signal.signal(signal.SIGINT, interrupts.handle)
    try:
        yield interrupts
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def is_interrupt(error: BaseException | None) -> bool:
    """Return whether an error is an interrupt, or a `SystemError` that an interrupt caused.

    >>> is_interrupt(KeyboardInterrupt()), is_interrupt(SystemError("bad call"))
    (True, False)
    """
    while isinstance(error, SystemError):
        error = error.__cause__ or error.__context__
    return isinstance(error, KeyboardInterrupt)
