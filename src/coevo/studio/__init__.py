"""The studio: a browser application for the complete work with a table, on this machine.

`coevo studio` starts it. A server on the loopback interface serves a page; long work runs in
processes of its own; a folder, the workspace, holds everything as ordinary files of coevo. A run
of the studio is the run folder of ``coevo learn -o``, so both can continue each other's work.

    workspace   the folder: tables, runs, networks; names and paths that stay inside it
    jobs        long work in its own process, and its state on disk
    worker      what such a process does
    events      the events of a run, sent to any number of browser tabs
    security    who may talk to the server, and how large a request may be
    server      the web application, and how it starts and ends
    routes/     the requests that each view of the page makes, one module a view
    assets/     the page: HTML, CSS and ES modules, without a build step

Modules of this room import NumPy and the rest of coevo inside functions only, so that the
first page comes at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from coevo.studio.server import make_app, serve
    from coevo.studio.studio import Studio
    from coevo.studio.workspace import Workspace

__all__ = ["Studio", "Workspace", "make_app", "serve"]

_HOME = {"Studio": "studio", "Workspace": "workspace", "make_app": "server", "serve": "server"}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    from coevo.errors import import_optional

    import_optional("starlette", "Starlette", "studio")
    import_optional("uvicorn", "uvicorn", "studio")
    return getattr(import_module(f"coevo.studio.{_HOME[name]}"), name)
