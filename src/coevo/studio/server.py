"""The web application of the studio, and how its server starts and ends."""

from __future__ import annotations

import contextlib
import signal
import socket
import sys
import threading
import webbrowser
from collections.abc import AsyncIterator, Callable, Iterator
from importlib.resources import files
from pathlib import Path
from types import FrameType

import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from coevo.errors import CoevoError, FileError
from coevo.studio.connections import KEEP_ALIVE, make_connection_class
from coevo.studio.routes import make_routes
from coevo.studio.security import App, Guard, format_host
from coevo.studio.studio import Studio
from coevo.studio.workspace import InUseError

__all__ = ["make_address", "make_app", "make_server", "open_socket", "serve"]

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
