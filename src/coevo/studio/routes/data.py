"""The requests of the Data view."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from coevo.errors import DataError, FileError, FormatError, ParameterError
from coevo.studio.routes.requests import Answer, read_body, receive_file
from coevo.studio.workspace import TABLES

if TYPE_CHECKING:
    from coevo.studio.studio import Studio
    from coevo.studio.tables import TableReader

__all__ = ["get_reader", "make_routes"]


def get_reader(studio: Studio) -> TableReader:
    """Return the reader of tables that all views share."""
    from coevo.studio.tables import TableReader

    reader: TableReader = studio.caches.setdefault("tables", TableReader(studio.workspace))
    return reader


def make_routes(studio: Studio) -> list[BaseRoute]:
    """Return the routes of the Data view."""

    async def list_tables(request: Request) -> Response:
        return Answer(await studio.run(_list_tables, studio))

    async def upload(request: Request) -> Response:
        from coevo.studio.tables import make_upload_path, refuse_unreadable, store_file

        file = request.query_params.get("file", "").strip()
        if not file:
            raise ParameterError("The name of the file is missing.")
        target = make_upload_path(studio.workspace)
        await receive_file(request, target)
        name = await studio.run(store_file, studio.workspace, target, file)
        await studio.run(refuse_unreadable, studio.workspace, get_reader(studio), name)
        studio.notify(TABLES)
        return Answer({"name": name}, 201)

    async def open_other(request: Request) -> Response:
        from coevo.studio.tables import add_table, refuse_unreadable

        name = await studio.run(add_table, studio.workspace, await read_body(request))
        await studio.run(refuse_unreadable, studio.workspace, get_reader(studio), name)
        studio.notify(TABLES)
        return Answer({"name": name}, 201)

    async def show(request: Request) -> Response:
        return Answer(await studio.run(_show, studio, request.path_params["name"]))

    async def show_settings(request: Request) -> Response:
        return Answer(await studio.run(_show_settings, studio, request.path_params["name"]))

    async def change(request: Request) -> Response:
        given, name = await read_body(request), request.path_params["name"]
        answer = await studio.run(_change, studio, name, given)
        studio.notify(TABLES)
        return Answer(answer)

    async def undo(request: Request) -> Response:
        given, name = await read_body(request), request.path_params["name"]
        answer = await studio.run(_undo, studio, name, given)
        studio.notify(TABLES)
        return Answer(answer)

    async def count_bins(request: Request) -> Response:
        given, name = await read_body(request), request.path_params["name"]
        return Answer(await studio.run(_count_bins, studio, name, given))

    return [
        Route("/api/tables", list_tables),
        Route("/api/upload/tables", upload, methods=["POST"]),
        Route("/api/tables/open", open_other, methods=["POST"]),
        Route("/api/tables/{name}", show),
        Route("/api/tables/{name}/settings", show_settings),
        Route("/api/tables/{name}/settings", change, methods=["PUT"]),
        Route("/api/tables/{name}/undo", undo, methods=["POST"]),
        Route("/api/tables/{name}/bins", count_bins, methods=["POST"]),
    ]


def _list_tables(studio: Studio) -> dict[str, Any]:
    from coevo.bundled import list_networks
    from coevo.studio.tables import EXAMPLES

    return {
        "tables": [{"name": name} for name in studio.workspace.list_names(TABLES)],
        "examples": list(EXAMPLES),
        "networks": list(list_networks()),
    }


def _show(studio: Studio, name: str) -> dict[str, Any]:
    """Return the record of a table; for one that cannot be read, why, and its settings."""
    from coevo.studio.table_record import describe_table
    from coevo.studio.table_settings import read_settings

    table = studio.workspace.open_table(name)
    settings = read_settings(table)
    try:
        return describe_table(get_reader(studio).read(table, settings))
    except (DataError, FormatError, FileError, ParameterError) as error:
        return {"unreadable": str(error), "settings": settings.as_dict()}


def _show_settings(studio: Studio, name: str) -> dict[str, Any]:
    """Return the stored settings, even of a table that cannot be read with them."""
    from coevo.studio.table_settings import read_settings

    return read_settings(studio.workspace.open_table(name)).as_dict()


def _change(studio: Studio, name: str, given: dict[str, Any]) -> dict[str, Any]:
    """Store settings; they are read once first, so that impossible ones are not stored."""
    from coevo.studio.table_record import describe_table
    from coevo.studio.table_settings import TableSettings, write_settings

    table, settings = studio.workspace.open_table(name), TableSettings.from_dict(given)
    source = get_reader(studio).read(table, settings)
    write_settings(table, settings)
    return describe_table(source)


def _undo(studio: Studio, name: str, given: dict[str, Any]) -> dict[str, Any]:
    """Undo the decision of a kind about some columns."""
    from coevo.studio.table_settings import undo_decision

    source = get_reader(studio).open(name)
    kind, columns = given.get("kind"), given.get("columns")
    for decision in source.inspection.decisions:
        if decision.kind == kind and list(decision.columns) == columns:
            names = given.get("names")
            chosen = names if isinstance(names, dict) else {}
            settings = undo_decision(source.settings, decision, chosen)
            return _change(studio, name, settings.as_dict())
    raise ParameterError("There is no such decision about the table any more. Load the page again.")


def _count_bins(studio: Studio, name: str, given: dict[str, Any]) -> dict[str, Any]:
    from coevo.studio.table_record import count_bin_rows

    cuts = given.get("cuts")
    if not isinstance(cuts, list):
        raise ParameterError("'cuts' must be a list of numbers.")
    return count_bin_rows(get_reader(studio).open(name), str(given.get("column")), cuts)
