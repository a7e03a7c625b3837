"""Ctrl-C, so that it ends work at a good moment and is never mistaken for a fault.

Python raises `KeyboardInterrupt` between any two of its own steps, even where compiled code
calls back, and there it comes out as a `SystemError`. Work that goes in rounds therefore
only takes note of the first Ctrl-C and ends after its round; a second one does not wait.
"""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType

__all__ = ["Interrupts", "gentle_interrupts", "is_interrupt"]


class Interrupts:
    """Whether someone has pressed Ctrl-C."""

    def __init__(self, heard: Callable[[], object] = lambda: None) -> None:
        self.asked = False
        self._heard = heard

    def take(self, number: int, frame: FrameType | None) -> None:
        """Note the first interrupt; raise at the second."""
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True
        self._heard()


@contextlib.contextmanager
def gentle_interrupts(heard: Callable[[], object] = lambda: None) -> Iterator[Interrupts]:
    """Note Ctrl-C inside the ``with`` block instead of raising at once; call `heard`.

    Outside the main thread, and where someone else handles the signal, nothing changes:
    `KeyboardInterrupt` may then still be raised anywhere.
    """
    interrupts = Interrupts(heard)
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield interrupts
        return
    signal.signal(signal.SIGINT, interrupts.take)
    try:
        yield interrupts
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def is_interrupt(error: BaseException | None) -> bool:
    """Return whether an error is an interrupt, or was caused by one.

    >>> is_interrupt(KeyboardInterrupt()), is_interrupt(SystemError("bad call"))
    (True, False)
    """
    while isinstance(error, SystemError):
        error = error.__cause__ or error.__context__
    return isinstance(error, KeyboardInterrupt)
