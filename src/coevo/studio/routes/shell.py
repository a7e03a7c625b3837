"""The requests of the page itself: what the workspace holds, the events, the login."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import BaseRoute, Route
from starlette.types import Receive, Scope, Send

from coevo import __version__
from coevo.errors import CoevoError
from coevo.studio.events import Feed
from coevo.studio.routes.requests import Answer, read_body
from coevo.studio.security import LOGIN_PAUSE, LoginAttempts
from coevo.studio.workspace import (
    NETWORKS,
    RUNS,
    STUDIO_FILE,
    TABLES,
    put_back,
    read_object,
    throw_away,
)

if TYPE_CHECKING:
    from coevo.studio.studio import Studio

__all__ = ["make_routes"]

MAX_STREAMS = 128  # a browser has one for all its tabs
MAX_FOLLOWED = 100  # runs of one stream
STREAM_HEADERS = {"cache-control": "no-store", "x-accel-buffering": "no"}


def make_routes(studio: Studio) -> list[BaseRoute]:
    """Return the routes of the page itself."""
    attempts = LoginAttempts()

    async def get_workspace(request: Request) -> Response:
        return Answer(await studio.run_quick(_describe, studio))

    async def get_events(request: Request) -> Response:
        if studio.feed.n_streams >= MAX_STREAMS:
            raise HTTPException(503, "Too many pages of the studio are open. Close some of them.")
        names = list(dict.fromkeys(request.query_params.getlist("run")))[:MAX_FOLLOWED]
        # Each run has its number; a browser that connects again by itself sends that of the last.
        afters = request.query_params.getlist("after")
        if len(names) == 1 and "last-event-id" in request.headers:
            afters = [request.headers["last-event-id"]]
        runs = [
            (name, studio.workspace.locate(RUNS, name), _parse_number(after))
            for name, after in zip_longest(names, afters[: len(names)], fillvalue="0")
        ]
        return _EventStream(studio.feed, runs, request.query_params.get("notices"))

    async def remove(request: Request) -> Response:
        kind, name = request.path_params["kind"], request.path_params["name"]
        if kind not in (TABLES, RUNS, NETWORKS):
            raise HTTPException(404, "There is no such list.")
        if kind == RUNS:
            studio.jobs.check_idle(name)
        token = await studio.run_quick(throw_away, studio.workspace, kind, name)
        studio.notify(kind)
        return Answer({"token": token})

    async def restore(request: Request) -> Response:
        token = request.path_params["token"]
        kind, name = await studio.run_quick(put_back, studio.workspace, token)
        studio.notify(kind)
        return Answer({"kind": kind, "name": name})

    async def log_in(request: Request) -> Response:
        given = (await read_body(request)).get("password")
        address = "" if request.client is None else request.client.host
        async with attempts.take_turn(address):
            if not isinstance(given, str) or not studio.rules.is_password(given):
                await asyncio.sleep(LOGIN_PAUSE)
                raise HTTPException(401, "The password is wrong.")
        return Answer({}, headers={"set-cookie": studio.rules.make_cookie()})

    return [
        Route("/api/workspace", get_workspace),
        Route("/api/events", get_events),
        Route("/api/{kind}/{name}", remove, methods=["DELETE"]),
        Route("/api/trash/{token}", restore, methods=["POST"]),
        Route("/login", log_in, methods=["POST"]),
    ]


class _EventStream(StreamingResponse):
    """The answer with events. It counts from now on: many requests may come before it begins."""

    def __init__(
        self, feed: Feed, runs: Sequence[tuple[str, Path, int]], stamp: str | None
    ) -> None:
        stream = feed.follow(runs, stamp)
        super().__init__(stream, media_type="text/event-stream", headers=STREAM_HEADERS)
        self._feed = feed
        feed.n_streams += 1

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the events until the client goes."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._feed.n_streams -= 1


def _parse_number(text: str) -> int:
    return int(text) if text.isdecimal() and len(text) < 16 else 0


def _describe(studio: Studio) -> dict[str, Any]:
    """Return the lists of tables, runs and networks."""
    space = studio.workspace
    return {
        "version": __version__,
        "folder": str(space.root),
        "opened": studio.opened,
        "tables": [{"name": name} for name in space.list_names(TABLES)],
        "runs": [describe_run(studio, *one) for one in space.list_paths(RUNS).items()],
        "networks": [{"name": name} for name in space.list_names(NETWORKS)],
    }


def describe_run(studio: Studio, name: str, known: Path | None = None) -> dict[str, Any]:
    """Return a run in a few words: its table, its state, and whether it has a network.

    `known` is its folder, if the caller has located it.
    """
    folder = studio.workspace.locate(RUNS, name) if known is None else known
    given, state = {}, {}
    try:
        given = read_object(folder / STUDIO_FILE)
        state = studio.jobs.read_state(name, folder)
    except CoevoError as error:  # one damaged run, among others that are not
        state = {"state": "damaged", "error": str(error)}
    has_network = (folder / "model.bif").is_file()
    if has_network and (state.get("kind"), state.get("state")) == ("confidence", "failed"):
        state = {**state, "state": "done"}  # of the search, whose network is as good as before
    return {
        "name": name,
        "table": table if isinstance(table := given.get("table"), str) else None,
        "kind": state.get("kind"),
        "state": state.get("state", "done" if (folder / "run.json").is_file() else "unknown"),
        "error": state.get("error"),
        "has_network": has_network,
        "has_report": (folder / "report.html").is_file(),
    }
