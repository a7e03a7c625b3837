"""Attempts to log in with a password take turns, so that nobody can guess quickly.

Each address has a queue of its own: guesses from one machine do not delay the owner on another.
A queue is short. Whoever fills it is refused at once, so no attempt waits long.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

from starlette.exceptions import HTTPException

__all__ = ["LOGIN_PAUSE", "LoginAttempts"]

LOGIN_PAUSE = 1.0  # seconds after a wrong password
MAX_WAITING = 5  # attempts of one address at a time


@dataclass
class _Queue:
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    n_waiting: int = 0


class LoginAttempts:
    """The queues of all addresses that try to log in now."""

    def __init__(self) -> None:
        self._queues: dict[str, _Queue] = {}

    @contextlib.asynccontextmanager
    async def take_turn(self, address: str) -> AsyncIterator[None]:
        """Wait for the turn of an attempt; raise a 429 if too many of this address wait."""
        queue = self._queues.setdefault(address, _Queue())
        if queue.n_waiting >= MAX_WAITING:
            raise HTTPException(429, "There are too many attempts to log in. Wait some seconds.")
        queue.n_waiting += 1
        try:
            async with queue.lock:
                yield
        finally:
            queue.n_waiting -= 1
            if not queue.n_waiting:
                del self._queues[address]
