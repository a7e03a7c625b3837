"""The requests of the view Compare: the differences between two networks."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from coevo.errors import ParameterError
from coevo.files.run_folder import refuse_damaged_facts
from coevo.studio.routes.explore import get_shelf
from coevo.studio.routes.requests import Answer

if TYPE_CHECKING:
    from coevo.graph import Comparison
    from coevo.studio.studio import Studio
    from coevo.view.page import Page

__all__ = ["make_routes"]


def make_routes(studio: Studio) -> list[BaseRoute]:
    """Return the routes of the view."""

    async def get_comparison(request: Request) -> Response:
        first, second = request.path_params["first"], request.path_params["second"]
        return Answer(await studio.run(_compare, studio, first, second))

    return [Route("/api/compare/{first}/{second}", get_comparison)]


def _compare(studio: Studio, first: str, second: str) -> dict[str, Any]:
    """Return the drawing of the first network, coloured by its differences from the second."""
    from coevo.graph import compare
    from coevo.view.explorer import draw_page

    shelf = get_shelf(studio)
    page, other = shelf.open_page(first), shelf.open_page(second)
    alone = sorted(set(page.dag.nodes) ^ set(other.dag.nodes))
    if alone:
        raise ParameterError(
            f"The two networks have different variables; only one has {alone[0]!r}. Compare "
            "networks of the same variables."
        )
    is_learned = page.is_learned or other.is_learned
    both = replace(page, other=other.dag, other_name=other.title, is_learned=is_learned)
    found = compare(page.dag, other.dag)
    place = studio.locate_network(first)
    with refuse_damaged_facts(place) if isinstance(place, Path) else contextlib.nullcontext():
        drawing = draw_page(both, lay_out=shelf.lay_out)
    return {
        "drawing": drawing,
        "first": _describe(page),
        "second": _describe(other),
        "measures": _list_measures(found),
    }


def _describe(page: Page) -> dict[str, Any]:
    """Return the title, the number of arcs and the facts of a network, as its score."""
    return {"title": page.title, "n_arcs": len(page.dag.arcs), "facts": dict(page.facts)}


def _list_measures(found: Comparison) -> dict[str, float]:
    """Return the measures by which the networks differ; the second is taken as the true one."""
    return {
        "same": len(found.correct),
        "added": len(found.added),
        "missing": len(found.missing),
        "reversed": len(found.reversed),
        "shd": found.shd,
        "shd_cpdag": found.shd_cpdag,
        "sid": found.sid,
        "arc_f1": found.arc_f1,
        "skeleton_f1": found.skeleton_f1,
    }
