"""The requests of the Confidence view: bootstraps and the posterior of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from coevo.checks import is_int
from coevo.errors import FileError, ParameterError, bad_parameter
from coevo.files.run_folder import refuse_damaged_facts
from coevo.studio.routes.requests import Answer, read_body
from coevo.studio.routes.shell import describe_run
from coevo.studio.run_options import read_given
from coevo.studio.workspace import RUNS

if TYPE_CHECKING:
    from coevo.studio.studio import Studio

__all__ = ["make_routes"]

MAX_SAMPLES = 10_000


def make_routes(studio: Studio) -> list[BaseRoute]:
    """Return the routes of the Confidence view."""

    async def show(request: Request) -> Response:
        return Answer(await studio.run(_show, studio, request.path_params["name"]))

    async def start(request: Request) -> Response:
        given, name = await read_body(request), request.path_params["name"]
        await studio.run(_start, studio, name, given)
        return Answer({}, 202)

    async def draw(request: Request) -> Response:
        name, text = request.path_params["name"], request.query_params.get("least", "0")
        has_all_arrows = request.query_params.get("arrows") == "all"
        picture = await studio.run(_draw, studio, name, text, has_all_arrows)
        return Response(picture, media_type="image/svg+xml")

    return [
        Route("/api/confidence/{name}", show),
        Route("/api/confidence/{name}", start, methods=["POST"]),
        Route("/api/confidence/{name}/graph.svg", draw),
    ]


def _show(studio: Studio, name: str) -> dict[str, Any]:
    from coevo.studio.records import describe_confidence

    run = describe_run(studio, name)
    folder = studio.workspace.locate(RUNS, name)
    with refuse_damaged_facts(folder):
        return {"run": run, **describe_confidence(folder)}


def _start(studio: Studio, name: str, given: dict[str, Any]) -> None:
    """Start the job; everything that can be wrong is said now."""
    folder = studio.workspace.locate(RUNS, name)
    n_samples, posterior = given.get("bootstraps", 0), bool(given.get("posterior"))
    if not is_int(n_samples, 0) or n_samples > MAX_SAMPLES:
        expected = f"an int from 0 to {MAX_SAMPLES:,}"
        raise bad_parameter("bootstraps", "the studio", expected, n_samples)
    if not n_samples and not posterior:
        raise ParameterError("Ask for bootstrap samples, for the posterior, or for both.")
    known = read_given(folder)
    if not known:
        raise FileError(
            f"The run {name!r} was not started in the studio. Use coevo learn --resume "
            "--bootstraps on the command line."
        )
    if not (folder / "run.json").is_file():
        raise FileError(f"The run {name!r} has no result yet. Let its search end first.")
    _check(studio, known, posterior)
    options = {"bootstraps": int(n_samples), "posterior": posterior}
    studio.jobs.submit(name, "confidence", options)


def _check(studio: Studio, known: dict[str, Any], posterior: bool) -> None:
    from coevo.learning import check_settings

    studio.workspace.open_table(known["table"])  # raises if it was removed
    options = {name: value for name, value in known["options"].items() if name != "types"}
    options.pop("constraints", None)  # checked when the run was started
    check_settings("learn", **{**options, "posterior": posterior})


def _draw(studio: Studio, name: str, text: str, has_all_arrows: bool) -> str:
    from coevo.studio.records import describe_confidence, draw_confidence

    try:
        least = float(text)
    except ValueError:
        raise ParameterError(f"The strength must be a number; got {text!r}.") from None
    folder = studio.workspace.locate(RUNS, name)
    with refuse_damaged_facts(folder):
        return draw_confidence(describe_confidence(folder), least, has_all_arrows)
