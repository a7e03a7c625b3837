"""The requests of the Predict view."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import BaseRoute, Route

from coevo.studio.routes.requests import Answer
from coevo.studio.routes.shell import describe_run
from coevo.studio.workspace import NETWORKS, RUNS, TABLES, make_name

if TYPE_CHECKING:
    from pathlib import Path

    from coevo.studio.records import PredictedTable
    from coevo.studio.studio import Studio

__all__ = ["list_network_ids", "make_routes"]


def make_routes(studio: Studio) -> list[BaseRoute]:
    """Return the routes of the Predict view."""

    async def list_choices(request: Request) -> Response:
        return Answer(await studio.run(_list_choices, studio))

    async def show(request: Request) -> Response:
        return Answer(await studio.run(_show, studio, request.path_params["network"]))

    async def predict(request: Request) -> Response:
        found = await studio.run(_predict, studio, *_read(request))
        return Answer(await studio.run(found.describe))

    async def download(request: Request) -> Response:
        network, table, target = _read(request)
        path = await studio.run(_write, studio, network, table, target)
        name = f"{make_name(table)} with {make_name(target)}.csv"
        remove = BackgroundTask(path.unlink, missing_ok=True)
        return FileResponse(path, media_type="text/csv", filename=name, background=remove)

    return [
        Route("/api/predict", list_choices),
        Route("/api/predict/{network}", show),
        Route("/api/predict/{network}/rows", predict),
        Route("/api/predict/{network}/file", download),
    ]


def _read(request: Request) -> tuple[str, str, str]:
    """Return the network, the table and the target of a request."""
    query = request.query_params
    return request.path_params["network"], query.get("table", ""), query.get("target", "")


def list_network_ids(studio: Studio) -> list[dict[str, str]]:
    """Return the id and the title of each network: of runs, of files, then the published ones."""
    from coevo.bundled import list_networks

    space = studio.workspace
    runs = [name for name, folder in space.list_paths(RUNS).items() if _has_network(folder)]
    return [
        *({"id": f"run:{name}", "title": f"run {name}"} for name in runs),
        *({"id": f"file:{name}", "title": name} for name in space.list_names(NETWORKS)),
        *({"id": f"bundled:{name}", "title": f"published: {name}"} for name in list_networks()),
    ]


def _has_network(folder: Path) -> bool:
    return (folder / "model.bif").is_file()


def _list_choices(studio: Studio) -> dict[str, Any]:
    tables = studio.workspace.list_names(TABLES)
    return {"networks": list_network_ids(studio), "tables": tables}


def _show(studio: Studio, network: str) -> dict[str, Any]:
    """Return the variables of a network, and the table that it was learned from, if known."""
    place = studio.locate_network(network)
    table = None
    if network.startswith("run:"):
        table = describe_run(studio, network[4:])["table"]
    names = [variable.name for variable in studio.open_network(network).variables]
    return {"variables": names, "table": table, "place": str(place)}


def _predict(studio: Studio, network: str, table: str, target: str) -> PredictedTable:
    from coevo.studio.records import predict_table
    from coevo.studio.table_settings import read_settings

    stored = studio.workspace.open_table(table)
    return predict_table(studio.open_network(network), stored.path, target, read_settings(stored))


def _write(studio: Studio, network: str, table: str, target: str) -> Path:
    from coevo.studio.tables import make_upload_path

    path = make_upload_path(studio.workspace).with_suffix(".csv")
    _predict(studio, network, table, target).write(path)
    return path
