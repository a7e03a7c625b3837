"""Ctrl-C and child processes: only the first process handles the signal.

A terminal sends the signal to all processes at once. Only the first process knows which results to
save and what to print, so the child processes ignore the signal from their start.
"""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from multiprocessing import resource_tracker

__all__ = ["block_interrupts", "ignore_interrupts"]


def ignore_interrupts() -> None:
    """Ignore Ctrl-C in this process, because its parent handles it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])


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
