"""The web application of the studio, and limits of the connections to it.

The web application of the studio, and how its server starts and ends.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import signal
import socket
import sys
import threading
import webbrowser
from collections.abc import AsyncIterator, Callable, Iterator
from importlib.resources import files
from pathlib import Path
from types import FrameType
from typing import Any

import h11
import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from uvicorn.protocols.http.h11_impl import H11Protocol

from coevo.errors import CoevoError, FileError
from coevo.studio.routes import make_routes
from coevo.studio.security import HEADERS, App, Guard, Rules, format_host
from coevo.studio.studio import Studio
from coevo.studio.workspace import InUseError

__all__ = [
    "KEEP_ALIVE",
    "Connection",
    "make_address",
    "make_app",
    "make_connection_class",
    "make_server",
    "open_socket",
    "serve",
]


# Connections to the server: time for each request, and room for whoever has the secret.
#
# Anybody on this machine, and for an open studio on the network, can open connections. Without the
# secret they must not keep the owner out:
#
# - **Time.** The head of each request must come within `HEAD_SECONDS` of its first byte, the first
#   one of the connection. A request without the secret must have its answer, and have taken it,
#   within `STRANGER_SECONDS`. Between requests a connection may rest, as long as uvicorn allows.
# - **Room.** There is room for `MAX_STRANGERS` connections on which no request had the secret yet.
#   One more takes the place of the oldest of them, which goes `GRACE_SECONDS` later. So a browser
#   of the owner always gets in: its first request, which comes at once, has the secret, and from
#   then on its connection is no longer one of these.
#
# Whoever must go in the middle of a request gets an answer, unless one is under way. The size of
# requests, the time of bodies and the number of requests with the secret are limited in
# `coevo.studio.security`.


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


ASSETS = {"": "coevo.studio", "page/": "coevo.view.page"}  # folders of assets by their address
TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
MAX_ASSET_PATH = 100  # characters


def make_app(studio: Studio) -> App:
    """Return the ASGI application of a studio, behind its guard."""

    @contextlib.asynccontextmanager
    async def live(app: Starlette) -> AsyncIterator[None]:
        studio.start()
        yield
        await studio.run(studio.jobs.close)

    async def send_index(request: Request) -> Response:
        # Its stamp is older than all that the page reads, so no notice can fall between the two.
        content, kind = _read_asset("index.html")
        content = content.replace(
            b'data-notices=""', f'data-notices="{studio.feed.stamp}"'.encode()
        )
        return Response(content, media_type=kind, headers={"cache-control": "no-cache"})

    routes = [
        Route("/", send_index),
        Route("/login", _send_login),
        Route("/assets/{path:path}", _send_asset),
        *make_routes(studio),
    ]
    handlers = {
        CoevoError: _answer_error,
        HTTPException: _answer_error,
        OSError: _answer_disk_error,
        ClientDisconnect: _answer_nobody,
        Exception: _answer_crash,
    }
    return Guard(Starlette(routes=routes, exception_handlers=handlers, lifespan=live), studio.rules)


async def _answer_error(request: Request, error: Exception) -> Response:
    """Answer with the sentence of an error that a user can mend."""
    if isinstance(error, HTTPException):
        sentence = error.detail if error.detail.endswith(".") else f"{error.detail}."
        return JSONResponse({"error": sentence}, error.status_code)
    missing = isinstance(error, FileError) and "There is no" in str(error)
    status = 404 if missing else 409 if isinstance(error, InUseError) else 400
    return JSONResponse({"error": str(error)}, status)


async def _answer_disk_error(request: Request, error: Exception) -> Response:
    """Answer with what the operating system says: the disk is full, or a folder is gone."""
    reason = getattr(error, "strerror", None) or str(error)
    place = getattr(error, "filename", None)
    where = "" if place is None else f" ({place})"
    sentence = f"A file of the workspace cannot be read or written: {reason}{where}."
    return JSONResponse({"error": sentence}, 400)


async def _answer_nobody(request: Request, error: Exception) -> Response:
    """Answer a client that has gone, in the middle of an upload."""
    return JSONResponse({"error": "The request has ended early."}, 400)


async def _answer_crash(request: Request, error: Exception) -> Response:
    """Answer with one sentence; the traceback is for the terminal."""
    sentence = f"The studio made an error ({type(error).__name__}). Its terminal shows more."
    return JSONResponse({"error": sentence}, 500)


def _read_asset(path: str) -> tuple[bytes, str]:
    """Return a file of the page and its type; raise a 404 for anything else."""
    folder = next(each for each in sorted(ASSETS, reverse=True) if path.startswith(each))
    parts = path.removeprefix(folder).split("/")
    kind = TYPES.get(Path(path).suffix)
    is_plain = all(part and not part.startswith(".") and "\\" not in part for part in parts)
    if kind is not None and is_plain and len(path) <= MAX_ASSET_PATH:
        found = files(ASSETS[folder]).joinpath("assets", *parts)
        if found.is_file():
            return found.read_bytes(), kind
    raise HTTPException(404, "There is no such file.")


async def _send_asset(request: Request) -> Response:
    content, kind = _read_asset(request.path_params["path"])
    return Response(content, media_type=kind, headers={"cache-control": "no-cache"})


async def _send_login(request: Request) -> Response:
    content, kind = _read_asset("login.html")
    return Response(content, media_type=kind, headers={"cache-control": "no-cache"})


class _Server(uvicorn.Server):
    """A server that ends its event streams before it waits for open requests to end."""

    def __init__(self, config: uvicorn.Config, studio: Studio) -> None:
        super().__init__(config)
        self._studio = studio

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """End at Ctrl-C and at SIGTERM, without the traceback that uvicorn would raise later."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        names = [name for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
        before = {name: signal.getsignal(getattr(signal, name)) for name in names}
        kept = {name: handler for name, handler in before.items() if handler is not signal.SIG_IGN}
        for name in kept:
            signal.signal(getattr(signal, name), self._end)
        try:
            yield
        finally:
            for name, handler in kept.items():
                signal.signal(getattr(signal, name), handler)

    def _end(self, number: int, frame: FrameType | None) -> None:
        self.should_exit = True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End the streams, which would stay open for ever, then the rest."""
        self._studio.close()
        await super().shutdown(sockets)


def open_socket(host: str, port: int) -> socket.socket:
    """Return a socket that listens; port 0 is any free one."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except (OSError, OverflowError) as error:
        listener.close()
        reason = getattr(error, "strerror", None) or error
        raise FileError(
            f"The studio cannot listen on {host}, port {port}: {reason}. Give another --port."
        ) from None
    listener.listen(512)
    return listener


def make_server(studio: Studio) -> uvicorn.Server:
    """Return the server of a studio, ready to run on a socket."""
    config = uvicorn.Config(
        make_app(studio),
        log_level="error",
        access_log=False,
        server_header=False,
        timeout_keep_alive=KEEP_ALIVE,
        timeout_graceful_shutdown=2,
        http=make_connection_class(studio.rules),
        proxy_headers=False,  # whoever sends them could pretend to be another machine
        ws="none",
    )
    return _Server(config, studio)


def serve(
    studio: Studio,
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    open_browser: bool = True,
    say: Callable[[str], object] = lambda line: print(line, file=sys.stderr),
) -> None:
    """Run the studio until Ctrl-C.

    Parameters
    ----------
    studio : Studio
        The studio.
    host : str
        The address to listen on.
    port : int
        The port; 0 is any free one.
    open_browser : bool
        Open the page in the browser of this machine.
    say : callable
        Called with the address as one line.
    """
    listener = open_socket(host, port)
    studio.rules.port = listener.getsockname()[1]
    address = make_address(studio, host)
    say(f"coevo studio: {address}")
    say("Press Ctrl-C to end.")
    if open_browser:
        once = make_address(studio, host, studio.rules.make_ticket())
        threading.Thread(target=webbrowser.open, args=(once,), daemon=True).start()
    try:
        make_server(studio).run(sockets=[listener])
    finally:
        studio.end()
        listener.close()


def make_address(studio: Studio, host: str, secret: str | None = None) -> str:
    """Return the address of the first page; without a password it has the secret, or this one.

    All users of a machine see the command line of a browser, so that of the browser has a secret
    that enters once.
    """
    place = f"#/{studio.opened}" if studio.opened else ""
    base = f"http://{format_host(host)}:{studio.rules.port}/"
    if studio.rules.password is not None:
        return f"{base}login"
    return f"{base}?token={secret or studio.rules.secret}{place}"
