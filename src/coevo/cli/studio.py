"""``coevo studio``: the complete work in a browser."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from coevo.errors import CoevoError, FileError, ParameterError

if TYPE_CHECKING:
    from coevo.studio import Workspace

__all__ = ["command"]

WORKSPACE = "coevo-studio"
PASSWORD = "COEVO_STUDIO_PASSWORD"
MIN_PASSWORD = 8  # characters
NETWORK_EXTENSIONS = (".bif", ".xmlbif", ".bifxml", ".xml", ".net")


@click.command("studio")
@click.argument("source", metavar="[DATA | RUN_DIR | NETWORK]", required=False)
@click.option(
    "--workspace",
    metavar="DIR",
    default=WORKSPACE,
    show_default=True,
    help="Folder for tables, runs and networks. It is made if it does not exist.",
)
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    default=0,
    metavar="N",
    help="Port to listen on.  [default: any free one]",
)
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    metavar="ADDRESS",
    help="Address to listen on. Any other than this machine's own needs a password in the "
    f"environment variable {PASSWORD}.",
)
@click.option("--no-browser", is_flag=True, help="Do not open the browser.")
def command(source: str | None, workspace: str, port: int, host: str, no_browser: bool) -> None:
    """Work in a browser: tables, knowledge, searches, networks.

    The studio shows a page in the browser of this machine. Ctrl-C ends it. All work is kept in
    a folder, the workspace, as the ordinary files of coevo: a run of the studio is a run folder of
    coevo learn, and the other way round. Searches that run when the studio ends are resumed when
    it starts again.

    DATA is a table, RUN_DIR a run folder of coevo learn, NETWORK a file with a network or the name
    of a bundled network.

    \b
    coevo studio
    coevo studio patients.csv
    coevo studio run/ --workspace work/
    coevo studio alarm --no-browser --port 8888
    """
    from coevo.studio import Studio, Workspace, serve
    from coevo.studio.security import Rules, format_host, is_loopback, normalise_host

    name = normalise_host(host)
    hosts = (*Rules().hosts, format_host(name))
    if is_loopback(name):
        rules = Rules(hosts=hosts)
    else:
        rules = Rules(hosts=hosts, allows_addresses=True, password=_read_password(host))
    kind = None if source is None else _find_kind(source)
    space = Workspace(Path(workspace))
    space.lock()
    try:
        studio = Studio(space, rules)
        if source is not None and kind is not None:
            studio.opened = OPENERS[kind](space, source)
        serve(studio, host=name, port=port, open_browser=not no_browser)
    finally:
        space.unlock()


def _read_password(host: str) -> str:
    """Return the password; raise `ParameterError` without one."""
    password = os.environ.get(PASSWORD, "")
    if len(password) < MIN_PASSWORD:
        raise ParameterError(
            f"Other machines can reach a studio on {host}. Set a password of at least "
            f"{MIN_PASSWORD} characters in the environment variable {PASSWORD}."
        )
    return password


def _find_kind(source: str) -> str:
    """Return what the user named: a run, a network, a table or a bundled network."""
    path = Path(source)
    if path.is_dir():
        if not any((path / name).is_file() for name in ("run.json", "checkpoint.npz")):
            raise FileError(f"There is no run in {source!r}: it has no file run.json.")
        return "run"
    if path.is_file():
        return "network" if _is_network(path) else "table"
    from coevo.bundled import list_networks

    if source in list_networks():
        return "bundled"
    raise FileError(f"There is no file, run folder or bundled network {source!r}.")


# Make what the user named known to the studio; return the address of its view.
OPENERS: dict[str, Callable[[Workspace, str], str]] = {
    "run": lambda space, source: f"learn/{space.add_named('runs', Path(source))}",
    "network": lambda space, source: f"explore/file:{space.add_named('networks', Path(source))}",
    "table": lambda space, source: f"data/{space.add_table(Path(source))}",
    "bundled": lambda space, source: f"explore/bundled:{source}",
}


def _is_network(path: Path) -> bool:
    """Return whether a file holds a network: by its extension, or for JSON by its content."""
    name = path.name.lower().removesuffix(".gz")
    if not name.endswith(".json"):
        return name.endswith(NETWORK_EXTENSIONS)
    from coevo.io.formats import read_model

    try:
        read_model(path)
    except CoevoError:
        return False
    return True
