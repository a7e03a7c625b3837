"""The studio as one object: what the routes of all views share."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from coevo.errors import FileError
from coevo.studio.events import Feed
from coevo.studio.jobs import Jobs
from coevo.studio.security import Rules
from coevo.studio.workspace import INCOMING, NETWORKS, RUNS, Workspace

__all__ = ["Studio"]

Result = TypeVar("Result")
N_THREADS = 4  # for requests that compute; and as many for those that must never wait for these


class Studio:
    """A workspace, its jobs and events, and threads for requests that compute.

    Parameters
    ----------
    workspace : Workspace
        The folder.
    rules : Rules, optional
        Who may talk to the server (default: this machine, with a new secret).
    """

    def __init__(self, workspace: Workspace, rules: Rules | None = None) -> None:
        self.workspace = workspace
        self.rules = Rules() if rules is None else rules
        self.feed = Feed()
        self.jobs = Jobs(workspace, self._on_events, self._on_change)
        self.opened = ""  # the view that the command line asks for, as "learn/NAME"
        self.caches: dict[
            str, Any
        ] = {}  # each routes module keeps what is expensive under its name
        self._pool = ThreadPoolExecutor(N_THREADS, "studio")
        self._quick_pool = ThreadPoolExecutor(N_THREADS, "studio-quick")
        self._loop: asyncio.AbstractEventLoop | None = None
        self._importing: threading.Thread | None = None

    async def run(self, function: Callable[..., Result], *args: Any, **options: Any) -> Result:
        """Return the result of a function that computes or reads; the event loop does not wait."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._pool, partial(function, *args, **options))

    async def run_quick(
        self, function: Callable[..., Result], *args: Any, **options: Any
    ) -> Result:
        """As `run`, for what takes milliseconds: it does not wait for requests that compute."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._quick_pool, partial(function, *args, **options))

    def start(self) -> None:
        """Begin, in the thread of the event loop: resume jobs, and import what is heavy."""
        self._loop = asyncio.get_running_loop()
        shutil.rmtree(self.workspace.root / INCOMING, ignore_errors=True)  # of a killed server
        self.jobs.resume_interrupted()
        self._importing = threading.Thread(target=_import_heavy, daemon=True)
        self._importing.start()

    def close(self) -> None:
        """End the streams, then the processes; their work is saved."""
        self.feed.close()

    def end(self) -> None:
        """End processes and threads.

        Wait for imports: Python must not end while a thread is inside of one.
        """
        self.jobs.close()
        if self._importing is not None:
            self._importing.join()
        for pool in (self._pool, self._quick_pool):
            pool.shutdown(wait=False, cancel_futures=True)

    def notify(self, kind: str) -> None:
        """Tell all tabs that a list has changed: ``runs``, ``tables`` or ``networks``."""
        self._call_soon(self.feed.notify, kind)

    def locate_network(self, network_id: str) -> Path | str:
        """Return the run folder, the file or the bundled name of a network.

        The id is ``run:NAME``, ``file:NAME`` or ``bundled:NAME``.
        """
        kind, _, name = network_id.partition(":")
        if kind == "bundled":
            from coevo.bundled import list_networks

            if name not in list_networks():
                raise FileError(f"There is no bundled network {name!r}.")
            return name
        places = {"run": RUNS, "file": NETWORKS}
        if kind not in places:
            raise FileError(
                f"{network_id!r} names no network: it begins with run:, file: or bundled:."
            )
        return self.workspace.locate(places[kind], name)

    def open_network(self, network_id: str) -> Any:
        """Return the `BayesianNetwork` of an id; see `locate_network`."""
        from coevo.bundled import open_network
        from coevo.io import read_run

        place = self.locate_network(network_id)
        if isinstance(place, Path) and place.is_dir():
            network = read_run(place).network
            if network is None:
                raise FileError(f"The run {place.name!r} has no network yet.")
            return network
        return open_network(place)

    def _on_events(self, folder: Path, unsaved: tuple[bytes, ...]) -> None:
        self._call_soon(self.feed.wake, folder, unsaved)

    def _on_change(self) -> None:
        self.notify("runs")

    def _call_soon(self, function: Callable[..., object], *args: Any) -> None:
        """Call a function in the thread of the event loop, from any thread."""
        if self._loop is not None:
            with contextlib.suppress(RuntimeError):  # the loop has ended
                self._loop.call_soon_threadsafe(function, *args)


def _import_heavy() -> None:
    """Import what the first requests of a view need, while the user looks at the first page."""
    import coevo.view.explorer
    import coevo.view.page
    import coevo.learning  # noqa: F401  # isort: skip  # it takes longest
