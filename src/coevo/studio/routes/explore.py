"""The requests of the view Explore: the drawing of a network, and questions about it."""

from __future__ import annotations

import contextlib
import threading
from collections import OrderedDict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from coevo.errors import CoevoError
from coevo.files.run_folder import refuse_damaged_facts
from coevo.studio.routes.requests import Answer, read_body
from coevo.studio.workspace import NETWORKS, RUNS, STUDIO_FILE, read_object

if TYPE_CHECKING:
    from coevo.studio.studio import Studio
    from coevo.view.explorer import Explorer
    from coevo.view.page import Page

__all__ = ["Shelf", "get_shelf", "make_routes"]

MOST_OPEN = 6  # networks whose junction trees are kept


def make_routes(studio: Studio) -> list[BaseRoute]:
    """Return the routes of the view."""

    async def get_choices(request: Request) -> Response:
        return Answer(await studio.run(_list_choices, studio))

    async def get_drawing(request: Request) -> Response:
        name, bars = request.path_params["network"], request.query_params.get("bars")
        return Answer(await studio.run(_draw, studio, name, bars))

    async def ask(request: Request) -> Response:
        body = await read_body(request)
        name, question = request.path_params["network"], request.path_params["question"]
        return Answer(await studio.run(_answer, studio, name, question, body))

    return [
        Route("/api/explore", get_choices),
        Route("/api/explore/{network}", get_drawing),
        Route("/api/explore/{network}/{question}", ask, methods=["POST"]),
    ]


class Shelf:
    """The networks that were opened last, each with its page and its junction tree."""

    def __init__(self, studio: Studio) -> None:
        from coevo.studio.workspace import make_lay_out

        self._studio = studio
        self._lock = threading.Lock()
        self._open: OrderedDict[tuple[str, int], tuple[Page, Explorer | None]] = OrderedDict()
        self.lay_out = make_lay_out(studio.workspace.root / "layouts")

    def open_page(self, network_id: str) -> Page:
        """Return the page of a network: its structure, tables and the facts about its arcs."""
        return self._get(network_id)[0]

    def open_explorer(self, network_id: str) -> Explorer:
        """Return what answers questions about a network."""
        explorer = self._get(network_id)[1]
        if explorer is None:
            raise CoevoError("This run has a structure without probability tables.")
        return explorer

    def _get(self, network_id: str) -> tuple[Page, Explorer | None]:
        place = self._studio.locate_network(network_id)
        key = network_id, _find_time(place)
        with self._lock:
            if key not in self._open:
                self._open[key] = _open_network(self._studio, network_id, place)
                while len(self._open) > MOST_OPEN:
                    self._open.popitem(last=False)
            self._open.move_to_end(key)
            return self._open[key]


def get_shelf(studio: Studio) -> Shelf:
    """Return the shelf of a studio; views that show networks share it."""
    found: Shelf = studio.caches.setdefault("networks", None) or Shelf(studio)
    studio.caches["networks"] = found
    return found


def _find_time(place: Path | str) -> int:
    """Return when a network was written last; a bundled one never changes."""
    if isinstance(place, str):
        return 0
    file = place / "run.json" if place.is_dir() else place
    try:
        return file.stat().st_mtime_ns
    except OSError:
        return 0


def _open_network(
    studio: Studio, network_id: str, place: Path | str
) -> tuple[Page, Explorer | None]:
    from coevo.io import read_run
    from coevo.view.explorer import Explorer
    from coevo.view.page import make_network_page, make_run_page

    if isinstance(place, Path) and place.is_dir():
        run = read_run(place)
        with refuse_damaged_facts(place):
            page = make_run_page(run.facts, run.history, run.network, title=place.name)
        if run.network is None:
            return page, None
        return page, Explorer(run.network, page.parent_counts)
    network = studio.open_network(network_id)
    title = network.name or network_id.partition(":")[2]
    return make_network_page(network, title), Explorer(network)


def _list_choices(studio: Studio) -> dict[str, Any]:
    """Return the networks that can be shown: of runs, of files, and bundled ones."""
    from coevo.bundled import read_network_index

    space = studio.workspace
    runs = [name for name, folder in space.list_paths(RUNS).items() if _has_run(folder)]
    networks: list[dict[str, Any]] = [
        {"id": f"run:{name}", "name": name, "kind": "run"} for name in runs
    ]
    networks += [
        {"id": f"file:{name}", "name": name, "kind": "file"} for name in space.list_names(NETWORKS)
    ]
    networks += [
        {
            "id": f"bundled:{info.name}",
            "name": info.name,
            "kind": "bundled",
            "n_variables": info.n_variables,
        }
        for info in read_network_index()
    ]
    return {"networks": networks}


def _has_run(folder: Path) -> bool:
    return (folder / "run.json").is_file() and (folder / "model.bif").is_file()


def _draw(studio: Studio, network_id: str, bars: str | None) -> dict[str, Any]:
    """Return the drawing of a network, with bars if asked for."""
    from coevo.view.explorer import draw_page

    shelf = get_shelf(studio)
    page = shelf.open_page(network_id)
    place = studio.locate_network(network_id)
    with refuse_damaged_facts(place) if isinstance(place, Path) else contextlib.nullcontext():
        drawing = draw_page(page, has_bars=bars == "1", lay_out=shelf.lay_out)
    return {**drawing, "tiers": _find_tiers(studio, network_id, drawing["names"])}


def _find_tiers(studio: Studio, network_id: str, names: list[str]) -> list[int | None] | None:
    """Return the tier of each variable in the prior knowledge of a run; None without tiers."""
    from coevo.io import read_knowledge

    place = studio.locate_network(network_id)
    if isinstance(place, str) or not place.is_dir():
        return None
    try:
        table = read_object(place / STUDIO_FILE).get("table")
        if not isinstance(table, str):
            return None
        path = studio.workspace.open_table(table).constraints_path
        tiers = read_knowledge(path).constraints.tiers if path.is_file() else ()
    except CoevoError:  # the table was removed or its knowledge is damaged: Knowledge says so
        return None
    number = {name: i for i, tier in enumerate(tiers) for name in tier}
    return [number.get(name) for name in names] if number else None


def _answer(studio: Studio, network_id: str, question: str, body: dict[str, Any]) -> dict[str, Any]:
    return get_shelf(studio).open_explorer(network_id).answer(question, body)
