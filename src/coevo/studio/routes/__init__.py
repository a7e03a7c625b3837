"""The requests of the page: one module a view, each with ``make_routes(studio)``.

A module imports NumPy and the rest of coevo inside its functions only, so that the server
starts at once. A handler that computes awaits ``studio.run(function, ...)``.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.routing import BaseRoute

    from coevo.studio.studio import Studio

__all__ = ["MODULES", "make_routes"]

MODULES = (
    "shell",
    "data",
    "knowledge",
    "learn",
    "explore",
    "compare",
    "confidence",
    "predict",
    "export",
)


def make_routes(studio: Studio) -> list[BaseRoute]:
    """Return the routes of all views."""
    found: list[BaseRoute] = []
    for name in MODULES:
        found.extend(import_module(f"coevo.studio.routes.{name}").make_routes(studio))
    return found
