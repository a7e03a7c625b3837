"""The requests of the Knowledge view."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import BaseRoute, Route

from coevo.errors import FileError
from coevo.studio.routes.data import get_reader
from coevo.studio.routes.requests import Answer, read_body, receive_file
from coevo.studio.workspace import TABLES

if TYPE_CHECKING:
    from coevo.studio.studio import Studio

__all__ = ["make_routes"]


def make_routes(studio: Studio) -> list[BaseRoute]:
    """Return the routes of the Knowledge view."""

    async def show(request: Request) -> Response:
        return Answer(await studio.run(_show, studio, request.path_params["name"]))

    async def check(request: Request) -> Response:
        given, name = await read_body(request), request.path_params["name"]
        return Answer(await studio.run(_check, studio, name, given))

    async def store(request: Request) -> Response:
        from coevo.studio.records import KnowledgeError, StaleKnowledgeError

        given, name = await read_body(request), request.path_params["name"]
        version = request.query_params.get("version")  # without one, any is replaced
        try:
            answer = await studio.run(_store, studio, name, given, version)
        except KnowledgeError as error:
            found = [one.as_dict() for one in error.contradictions]
            return Answer({"error": str(error), "contradictions": found}, 409)
        except StaleKnowledgeError as error:
            current = await studio.run(_show, studio, name)
            return Answer({"error": str(error), "current": current}, 409)
        studio.notify(TABLES)
        return Answer(answer)

    async def import_file(request: Request) -> Response:
        from coevo.studio.tables import make_upload_path

        upload = make_upload_path(studio.workspace)
        suffix = (
            ".csv" if request.query_params.get("file", "").lower().endswith(".csv") else ".json"
        )
        target = upload.with_suffix(suffix)
        try:
            await receive_file(request, target)
            name = request.path_params["name"]
            return Answer(await studio.run(_import, studio, name, target))
        finally:
            target.unlink(missing_ok=True)

    async def export_file(request: Request) -> Response:
        name = request.path_params["name"]
        path = studio.workspace.open_table(name).constraints_path
        if not path.is_file():
            raise FileError(f"There is no knowledge about the table {name!r} yet.")
        return FileResponse(path, media_type="application/json", filename="constraints.json")

    address = "/api/tables/{name}/knowledge"
    return [
        Route(address, show),
        Route(address, store, methods=["PUT"]),
        Route(f"{address}/check", check, methods=["POST"]),
        Route(f"{address}/import", import_file, methods=["POST"]),
        Route(f"{address}/file", export_file),
    ]


def _describe(studio: Studio, name: str, knowledge: Any) -> dict[str, Any]:
    from coevo.studio.records import find_contradictions

    variables = get_reader(studio).open(name).variables
    found = find_contradictions(knowledge, variables)
    return {
        "variables": list(variables),
        "knowledge": knowledge.as_dict(),
        "contradictions": [one.as_dict() for one in found],
    }


def _show(studio: Studio, name: str) -> dict[str, Any]:
    from coevo.studio.records import compute_version, read_stored_knowledge

    path = studio.workspace.open_table(name).constraints_path
    version = compute_version(path)  # before the content, which may be newer but never older
    return {**_describe(studio, name, read_stored_knowledge(path)), "version": version}


def _check(studio: Studio, name: str, given: dict[str, Any]) -> dict[str, Any]:
    from coevo.studio.records import parse_knowledge

    return _describe(studio, name, parse_knowledge(given))


def _store(studio: Studio, name: str, given: dict[str, Any], version: str | None) -> dict[str, Any]:
    from coevo.studio.records import parse_knowledge, store_knowledge

    knowledge = parse_knowledge(given)
    table, variables = studio.workspace.open_table(name), get_reader(studio).open(name).variables
    new = store_knowledge(table.constraints_path, knowledge, variables, version)
    return {**_describe(studio, name, knowledge), "version": new}


def _import(studio: Studio, name: str, path: Any) -> dict[str, Any]:
    """Read a constraint file for a table; the page stores it if it has no contradiction."""
    from coevo.io.knowledge import read_knowledge

    return _describe(studio, name, read_knowledge(path, get_reader(studio).open(name).variables))
