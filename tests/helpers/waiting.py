"""Waiting for what another thread, or another process, does."""

from __future__ import annotations

import threading
from collections.abc import Callable


def wait_for(is_true: Callable[[], bool]) -> None:
    """Wait for another thread, without a clock that could fail the test."""
    pause = threading.Event()
    for _ in range(3000):
        if is_true():
            return
        pause.wait(0.01)
    raise AssertionError("it did not happen")
