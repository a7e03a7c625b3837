"""The requests of the Export view: files of a network, and the texts that give the same."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from coevo.errors import bad_choice, format_list
from coevo.files.run_folder import refuse_damaged_facts
from coevo.studio.routes.explore import get_shelf
from coevo.studio.routes.predict import list_network_ids
from coevo.studio.routes.requests import Answer
from coevo.studio.run_options import read_given
from coevo.studio.workspace import RUNS, TABLES, make_name

if TYPE_CHECKING:
    from coevo.studio.studio import Studio

__all__ = ["make_routes"]

PICTURES = {"svg": "image/svg+xml", "png": "image/png", "pdf": "application/pdf"}
REPORT = "report"


def make_routes(studio: Studio) -> list[BaseRoute]:
    """Return the routes of the Export view."""

    async def list_choices(request: Request) -> Response:
        return Answer(await studio.run(_list_choices, studio))

    async def describe(request: Request) -> Response:
        return Answer(await studio.run(_describe, studio, request.path_params["network"]))

    async def download(request: Request) -> Response:
        network, kind = request.path_params["network"], request.path_params["kind"]
        has_all_arrows = request.query_params.get("arrows") == "all"
        content, media, file = await studio.run(_make_file, studio, network, kind, has_all_arrows)
        headers = {"content-disposition": f'attachment; filename="{file}"'}
        if request.query_params.get("shown"):
            headers = {}
        return Response(content, media_type=media, headers=headers)

    return [
        Route("/api/export", list_choices),
        Route("/api/export/{network}", describe),
        Route("/api/export/{network}/{kind}", download),
    ]


def _list_choices(studio: Studio) -> dict[str, Any]:
    from coevo.io.formats import FORMATS

    formats = [{"name": one.name, "label": one.label} for one in FORMATS.values()]
    return {"networks": list_network_ids(studio), "formats": formats, "pictures": list(PICTURES)}


def _describe(studio: Studio, network: str) -> dict[str, Any]:
    """Return the size of a network, and the texts that give the same."""
    found = studio.open_network(network)
    return {
        "n_variables": len(found.variables),
        "n_arcs": len(found.dag.arcs),
        "is_learned": _is_run(studio, network),
        "texts": _make_texts(studio, network),
    }


def _is_run(studio: Studio, network: str) -> bool:
    """Return whether a network was learned by a run, which knows what directs its arcs."""
    place = studio.locate_network(network)
    return isinstance(place, Path) and place.is_dir()


def _make_texts(studio: Studio, network: str) -> list[dict[str, str]]:
    """Return the texts: of the search for a run of the studio, else of reading the network."""
    from coevo.studio.run_options import format_python, format_terminal, format_text

    place = studio.locate_network(network)
    name = network.partition(":")[2]
    known = read_given(place) if isinstance(place, Path) and place.is_dir() else {}
    if not known or known["table"] not in studio.workspace.list_names(TABLES):
        given = format_text(str(place))
        texts = {
            "On the command line": shlex.join(["coevo", "report", str(place)]),
            "In Python": f"import coevo\n\nnetwork = coevo.open_network({given})\nprint(network)",
        }
    else:
        root = studio.workspace.root
        table = studio.workspace.open_table(known["table"]).path.relative_to(root).as_posix()
        run = f"{RUNS}/{studio.workspace.find_free_name(RUNS, name)}"  # never the run itself
        arguments = (root, table, run, known["options"])
        texts = {
            "On the command line": format_terminal(*arguments),
            "In Python": format_python(*arguments),
        }
    return [{"title": title, "text": text} for title, text in texts.items()]


def _make_file(
    studio: Studio, network: str, kind: str, has_all_arrows: bool
) -> tuple[bytes, str, str]:
    """Return the content, the type and the name of a file to download."""
    from coevo.io.formats import FORMATS

    name = make_name(network.partition(":")[2])
    makers: dict[str, Callable[[Studio, str], tuple[bytes, str, str]]] = {
        REPORT: _make_report,
        **{picture: _make_drawer(picture, has_all_arrows) for picture in PICTURES},
        **{one: _make_formatter(one) for one in FORMATS},
    }
    if kind not in makers:
        raise bad_choice("kind", "the export", makers, kind)
    content, media, extension = makers[kind](studio, network)
    return content, media, f"{name}{extension}"


def _make_formatter(name: str) -> Callable[[Studio, str], tuple[bytes, str, str]]:
    def make(studio: Studio, network: str) -> tuple[bytes, str, str]:
        from coevo.io.formats import FORMATS, format_model

        text = format_model(studio.open_network(network), name)
        return text.encode(), "application/octet-stream", FORMATS[name].extensions[0]

    return make


def _make_drawer(
    name: str, has_all_arrows: bool
) -> Callable[[Studio, str], tuple[bytes, str, str]]:
    """Return what draws a network: a learned one with the directions that are known, or all."""

    def make(studio: Studio, network: str) -> tuple[bytes, str, str]:
        from coevo.view.page.model import list_drawn_edges
        from coevo.view.picture import Link, draw_graph

        found = studio.open_network(network)
        if has_all_arrows or not _is_run(studio, network):
            picture = found.plot()
        else:
            edges = list_drawn_edges(get_shelf(studio).open_page(network))
            links = [Link(edge.parent, edge.child, edge.is_directed) for edge in edges]
            states = {variable.name: format_list(variable.states) for variable in found.variables}
            picture = draw_graph(found.dag.nodes, links, states)
        content = picture.svg.encode() if name == "svg" else picture.to_bytes(name)
        return content, PICTURES[name], f".{name}"

    return make


def _make_report(studio: Studio, network: str) -> tuple[bytes, str, str]:
    """Return the report page: of the run, or of the network alone."""
    from coevo.io import read_run
    from coevo.view.page import make_network_page, make_run_page, render_page

    place = studio.locate_network(network)
    if isinstance(place, Path) and place.is_dir():
        run = read_run(place)
        with refuse_damaged_facts(place):
            page = make_run_page(run.facts, run.history, run.network)
            content = render_page(page).encode()
    else:
        content = render_page(make_network_page(studio.open_network(network))).encode()
    return content, "text/html; charset=utf-8", ".html"
