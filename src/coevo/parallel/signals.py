"""Signals and child processes: only the first process handles them, and all end with it.

A terminal sends Ctrl-C to all processes at once. Only the first process knows which results to
save and what to print, so the child processes ignore the signal from their start. The same holds
for SIGHUP, when a terminal is closed. If the first process is killed, it can tell nobody: each
child process watches it, and ends within a moment.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Iterator
from multiprocessing import resource_tracker

__all__ = ["become_worker", "block_interrupts", "end_with_parent"]

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
