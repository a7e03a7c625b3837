"""Connections to the server: time for each request, and room for whoever has the secret.

Anybody on this machine, and for an open studio on the network, can open connections. Without the
secret they must not keep the owner out:

- **Time.** The head of each request must come within `HEAD_SECONDS` of its first byte, the first
  one of the connection. A request without the secret must have its answer, and have taken it,
  within `STRANGER_SECONDS`. Between requests a connection may rest, as long as uvicorn allows.
- **Room.** There is room for `MAX_STRANGERS` connections on which no request had the secret yet.
  One more takes the place of the oldest of them, which goes `GRACE_SECONDS` later. So a browser of
  the owner always gets in: its first request, which comes at once, has the secret, and from then on
  its connection is no longer one of these.

Whoever must go in the middle of a request gets an answer, unless one is under way. The size of
requests, the time of bodies and the number of requests with the secret are limited in
`coevo.studio.security`.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from coevo.studio.security import HEADERS, Rules

__all__ = ["KEEP_ALIVE", "Connection", "make_connection_class"]

KEEP_ALIVE = 30  # seconds of rest between two requests
HEAD_SECONDS = 10.0
STRANGER_SECONDS = 20.0  # more than the login and its pause after wrong passwords need
MAX_STRANGERS = 64
# Hundreds of connections may be accepted at once, before the first byte of any of them is read.
# Much more than this would use up the file descriptors of the process in a flood of connections.
GRACE_SECONDS = 0.05


class Connection(H11Protocol):
    """One connection. A subclass has the rules of its studio; see `make_connection_class`."""

    rules: Rules
    strangers: dict[Connection, None]  # without a request that had the secret, the oldest first

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._timer: asyncio.TimerHandle | None = None
        self._timed: object = None  # what the timer is for: a request, or the head of the next one
        self._looked_at: object = None  # the last request whose secret was looked at
        self._leaving: asyncio.TimerHandle | None = None  # it must make room, unless it has one

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for the first request; make room, if there are too many who wait."""
        super().connection_made(transport)
        if len(self.strangers) >= MAX_STRANGERS:
            next(iter(self.strangers)).make_room()
        self.strangers[self] = None
        self._limit("head", HEAD_SECONDS)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._limit(None)
        self._stay()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read a part of a request."""
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        """Begin with the next request, or rest."""
        super().on_response_complete()
        self._watch()

    def _watch(self) -> None:
        """Limit the time of what the connection does now."""
        if self.transport.is_closing():
            return
        is_answering = self.cycle is not None and not self.cycle.response_complete
        if self.scope is not self._looked_at:  # a new request
            self._looked_at = self.scope
            if self.rules.is_known(self.headers):
                self._stay()
        if is_answering:  # `Guard` limits the body of a request with the secret
            is_known = self.rules.is_known(self.headers)
            self._limit(None if is_known else self.cycle, STRANGER_SECONDS)
        elif self.conn.their_state is h11.IDLE and self.conn.trailing_data[0]:
            self._limit("head", HEAD_SECONDS)
        elif self.cycle is not None:
            self._limit(None)

    def _limit(self, what: object, seconds: float = 0.0) -> None:
        """Limit the time of something; nothing changes if it is limited already."""
        if what is not None and what is self._timed:
            return
        if self._timer is not None:
            self._timer.cancel()
        self._timed = what
        self._timer = None if what is None else self.loop.call_later(seconds, self._end_in_time)

    def _end_in_time(self) -> None:
        self.leave(408, "The request took too long. Send it again.")

    def make_room(self) -> None:
        """Leave soon, unless a request with the secret comes first."""
        self.strangers.pop(self, None)
        sentence = "Too many connections are open. Try again."
        self._leaving = self.loop.call_later(GRACE_SECONDS, self.leave, 503, sentence)

    def _stay(self) -> None:
        """Count no longer as a stranger."""
        self.strangers.pop(self, None)
        if self._leaving is not None:
            self._leaving.cancel()
            self._leaving = None

    def leave(self, status: int, sentence: str) -> None:
        """Answer the request that has begun to come, and close.

        A connection on which nothing has come gets no answer: browsers open some in advance, and
        would show it as that to their next request.
        """
        self._stay()
        if self.cycle is not None and not self.cycle.response_complete:
            self.transport.abort()  # a close would wait until the client takes what is written
            return
        if self.conn.trailing_data[0]:
            self.transport.write(_format_answer(status, sentence))
        self.transport.close()


def make_connection_class(rules: Rules) -> type[Connection]:
    """Return the class of the connections of one server, which count together."""
    return type("StudioConnection", (Connection,), {"rules": rules, "strangers": {}})


def _format_answer(status: int, sentence: str) -> bytes:
    """Return a complete answer, for a connection whose request is not complete."""
    body = json.dumps({"error": sentence}).encode()
    names = {408: b"Request Timeout", 503: b"Service Unavailable"}
    lines = [
        b"HTTP/1.1 %d %s" % (status, names[status]),
        b"content-type: application/json",
        b"content-length: %d" % len(body),
        b"connection: close",
        *(name + b": " + value for name, value in HEADERS),
    ]
    return b"\r\n".join([*lines, b"", body])
