"""The requests of the view Learn: start a search, look at it, stop, resume and extend it."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from coevo.errors import CoevoError, FileError, FormatError, GraphError, ParameterError
from coevo.files.run_folder import write_json
from coevo.files.species_record import is_summary
from coevo.studio.events import EVENTS
from coevo.studio.routes.requests import Answer, read_body
from coevo.studio.routes.shell import describe_run
from coevo.studio.run_options import (
    BUDGET,
    READING,
    SEARCH,
    check_options,
    describe_fields,
    format_command,
    make_command,
    read_given,
)
from coevo.studio.workspace import (
    CONSTRAINTS_FILE,
    RUNS,
    STUDIO_FILE,
    StoredTable,
    check_name,
    read_object,
)

if TYPE_CHECKING:
    from coevo.graph import Arc
    from coevo.studio.studio import Studio

__all__ = ["make_routes", "start_run"]

MAX_LEVELS = 20  # other runs that a score is compared with
# Variables and arcs of a live network; laying out more would slow the search down.
MAX_DRAWN, MAX_DRAWN_ARCS = 150, 1000


def make_routes(studio: Studio) -> list[BaseRoute]:
    """Return the routes of the view."""

    async def get_choices(request: Request) -> Response:
        return Answer(await studio.run(_list_choices))

    async def start(request: Request) -> Response:
        body = await read_body(request)
        name = await studio.run_quick(start_run, studio, body)
        return Answer({"name": name}, 201)

    async def get_run(request: Request) -> Response:
        return Answer(await studio.run(_describe, studio, request.path_params["name"]))

    async def stop(request: Request) -> Response:
        body = await read_body(request) if "content-type" in request.headers else {}
        name, at_once = request.path_params["name"], body.get("at_once") is True
        await studio.run_quick(studio.jobs.stop, name, at_once)
        return Answer({})

    async def resume(request: Request) -> Response:
        body = await read_body(request)
        await studio.run(_resume, studio, request.path_params["name"], body)
        return Answer({})

    async def start_again(request: Request) -> Response:
        name = await studio.run_quick(_start_again, studio, request.path_params["name"])
        return Answer({"name": name}, 201)

    async def draw(request: Request) -> Response:
        body = await read_body(request)
        return Answer(await studio.run(_draw, studio, body))

    return [
        Route("/api/learn/choices", get_choices),
        Route("/api/learn/drawing", draw, methods=["POST"]),
        Route("/api/runs", start, methods=["POST"]),
        Route("/api/runs/{name}", get_run),
        Route("/api/runs/{name}/stop", stop, methods=["POST"]),
        Route("/api/runs/{name}/resume", resume, methods=["POST"]),
        Route("/api/runs/{name}/again", start_again, methods=["POST"]),
    ]


def _list_choices() -> dict[str, Any]:
    """Return the methods with their default limits, the scores, and the fields of options."""
    from coevo.score import SCORES
    from coevo.search import METHODS

    methods = []
    for name, method in METHODS.items():
        limits = method.default_budget
        text = (method.__doc__ or "").strip().splitlines()[0]
        methods.append({"name": name, "text": text, "patience": limits.patience})
        methods[-1]["max_generations"] = limits.max_generations
    return {"methods": methods, "scores": sorted(SCORES), "fields": describe_fields()}


def _draw(studio: Studio, body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the drawing of a structure that a page knows from events: pairs of numbers.

    The constraints of the run direct some of its arcs; the data, some others.
    """
    try:
        names = tuple(str(name) for name in body["variables"])
        pairs = tuple((names[int(parent)], names[int(child)]) for parent, child in body["arcs"])
    except (KeyError, TypeError, ValueError, IndexError, OverflowError):
        raise ParameterError("A drawing needs variables, and arcs as pairs of numbers.") from None
    if len(names) > MAX_DRAWN:
        raise ParameterError(f"A search with more than {MAX_DRAWN} variables is not drawn live.")
    if len(pairs) > MAX_DRAWN_ARCS:
        raise ParameterError(f"A network with more than {MAX_DRAWN_ARCS:,} arcs is not drawn live.")
    known: tuple[Arc, ...] = ()
    if isinstance(body.get("run"), str):
        file = studio.workspace.locate(RUNS, body["run"]) / CONSTRAINTS_FILE
        known = _list_known(names, pairs, file) if file.is_file() else ()
    return _draw_once(names, pairs, known)


def _list_known(names: tuple[str, ...], arcs: tuple[Arc, ...], file: Path) -> tuple[Arc, ...]:
    """Return the arcs that the constraints of a run direct."""
    from coevo.graph import DAG, find_directions
    from coevo.io import read_knowledge

    with contextlib.suppress(FormatError, GraphError):  # the search says what is wrong with them
        constraints = read_knowledge(file, names).constraints
        found = find_directions(DAG(names, arcs), constraints)
        return tuple(arc for arc, by in found.items() if by == "knowledge")
    return ()


@lru_cache(maxsize=16)
def _draw_once(
    names: tuple[str, ...], arcs: tuple[Arc, ...], known: tuple[Arc, ...]
) -> dict[str, Any]:
    """Draw a structure once, for all tabs that show it."""
    from coevo.graph import DAG
    from coevo.view.explorer import draw_page
    from coevo.view.page import Page

    title = "best network so far"
    return draw_page(Page(DAG(names, arcs), title=title, is_learned=True, known=known))


def start_run(studio: Studio, body: Mapping[str, Any]) -> str:
    """Make the folder of a new run, and start its search; return its name."""
    table = studio.workspace.open_table(_get_text(body, "table"))
    given = body.get("options", {})
    if not isinstance(given, dict):
        raise ParameterError("The options must be an object.")
    options = {**check_options(table.options, READING), **check_options(given, SEARCH)}
    wanted = body.get("name") or f"{table.name} {options.get('method', 'ccma')}"
    if wanted == "new":  # an address of the page
        raise ParameterError("A run cannot be called 'new'.")
    check_name(str(wanted))
    _check_settings(options, table)
    folder = studio.workspace.make_folder(RUNS, str(wanted))
    name = folder.name
    try:
        _write_given(studio, table, name, folder, options)
        studio.jobs.submit(name, "learn")
    except (CoevoError, OSError):
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return name


def _get_text(body: Mapping[str, Any], key: str) -> str:
    value = body.get(key)
    if not isinstance(value, str):
        raise ParameterError(f"The request must name a {key}.")
    return value


def _check_settings(options: Mapping[str, Any], table: StoredTable) -> None:
    """Raise the error of wrong options now, not in the process of the job."""
    from coevo.learning import check_settings

    chosen: Any = {**options, **_list_files(table)}
    check_settings("learn", **chosen)


def _list_files(table: StoredTable) -> dict[str, Path]:
    """Return the files of types and constraints that a table has."""
    files = {"types": table.types_path, "constraints": table.constraints_path}
    return {kind: path for kind, path in files.items() if path.is_file()}


def _write_given(
    studio: Studio, table: StoredTable, name: str, folder: Path, options: dict[str, Any]
) -> None:
    """Keep what a run was started with: later changes of the table do not change the run."""
    chosen, root = dict(options), studio.workspace.root
    for kind, path in _list_files(table).items():
        shutil.copyfile(path, folder / path.name)
        chosen[kind] = f"{RUNS}/{name}/{path.name}"
    words = make_command(table.path.relative_to(root).as_posix(), f"{RUNS}/{name}", chosen)
    write_json(folder / STUDIO_FILE, {"table": table.name, "options": chosen, "command": words})


def _start_again(studio: Studio, name: str) -> str:
    """Start a new run with the options of another one, on its table as it is now."""
    known = read_given(studio.workspace.locate(RUNS, name))
    if not known:
        raise FileError(f"The run {name!r} was not started in the studio.")
    options = {key: value for key, value in known["options"].items() if key in SEARCH}
    return start_run(studio, {"table": known["table"], "name": name, "options": options})


def _resume(studio: Studio, name: str, body: Mapping[str, Any]) -> None:
    """Resume a search, perhaps with a larger budget."""
    folder = studio.workspace.locate(RUNS, name)
    studio.jobs.check_idle(name)
    known = read_given(folder)
    if not known:
        raise FileError(
            f"The run {name!r} was not started in the studio. Resume it with coevo learn --resume."
        )
    given = body.get("options", {})
    if not isinstance(given, dict):
        raise ParameterError("The options must be an object.")
    if given:
        check_options(given, BUDGET)
        kept = {key: value for key, value in known["options"].items() if key not in BUDGET}
        options = {**kept, **check_options(given, BUDGET)}
        table = studio.workspace.open_table(known["table"])
        _check_settings({key: value for key, value in options.items() if key in SEARCH}, table)
        path = table.path.relative_to(studio.workspace.root).as_posix()
        words = make_command(path, f"{RUNS}/{name}", options)
        write_json(folder / STUDIO_FILE, {**known, "options": options, "command": words})
    studio.jobs.submit(name, "learn", {"resume": True})


def _describe(studio: Studio, name: str) -> dict[str, Any]:
    """Return all about a run but its events; for a run of the command line, its history too."""
    folder = studio.workspace.locate(RUNS, name)
    given = read_given(folder)
    facts: dict[str, Any] = describe_run(studio, name)
    facts["options"] = given.get("options", {})
    words = given.get("command")
    facts["command"] = format_command(words) if isinstance(words, list) else None
    facts["has_events"] = (folder / EVENTS).is_file()
    facts["levels"] = _list_levels(studio, name, facts["table"], facts["options"])
    if (folder / "run.json").is_file():
        facts["saved"] = _read_saved(folder, with_history=not facts["has_events"])
    return facts


def _list_levels(
    studio: Studio, name: str, table: str | None, options: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """Return the scores of other runs of the same table under the same score, the best first."""
    same = ("score", "ess", "parent_penalty", "sparse_penalty", "types", "drop", "missing")
    found: list[dict[str, Any]] = []
    runs = studio.workspace.list_paths(RUNS) if table is not None else {}
    for other, folder in runs.items():
        if other == name or len(found) >= MAX_LEVELS:
            continue
        with contextlib.suppress(CoevoError):
            given = read_given(folder)
            chosen = given.get("options", {})
            score = read_object(folder / "run.json").get("score")
            is_same = all(chosen.get(key) == options.get(key) for key in same)
            if given.get("table") == table and is_same and isinstance(score, float):
                found.append({"name": other, "score": score})
    return sorted(found, key=lambda level: -level["score"])


def _read_saved(folder: Path, with_history: bool) -> dict[str, Any]:
    """Return what a view shows of a run that has ended, from its files."""
    from coevo.io import read_run
    from coevo.search.species import list_credit

    run = read_run(folder)
    keys = ("score", "scoring", "method", "seed", "stop_reason", "generations", "seconds", "n_rows")
    saved = {key: run.facts.get(key) for key in keys}
    proof = run.facts.get("proof")
    saved["bound"] = proof.get("bound") if isinstance(proof, dict) else None
    saved["arcs"] = run.facts.get("arcs", [])
    if with_history:
        names = ("generation", "evaluations", "seconds", "improved", "score", "n_arcs")
        saved["rows"] = [[row.get(key) for key in names] for row in run.history]
        saved["variables"] = [] if run.network is None else list(run.network.dag.nodes)
        species = run.facts.get("species")
        saved["species"] = species if is_summary(species) else None
        saved["credit"] = []
        with contextlib.suppress(TypeError, ValueError):  # of a history that was edited
            rows = [[row.get("generation"), *list_credit(row)] for row in run.history]
            saved["credit"] = [row for row in rows if any(row[1:])]
    return saved
