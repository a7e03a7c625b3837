"""``coevo report``: a network, and how it was found, as a page."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from coevo.cli.console import show_status
from coevo.errors import FormatError

if TYPE_CHECKING:
    from coevo.report.page import Page

__all__ = ["command"]


@click.command("report")
@click.argument("source", metavar="RUN_OR_MODEL")
@click.option(
    "--compare",
    "other",
    metavar="RUN_OR_MODEL",
    help="Show in colours where a second network of the same variables differs.",
)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    help="Where to.  [default: report.html in the folder of a run, else NAME.html]",
)
def command(source: str, other: str | None, output: str | None) -> None:
    """Write a page with a network and all that is known of it.

    RUN_OR_MODEL is a folder that coevo learn wrote, a BIF file or the name of a bundled
    network. The page is one file that opens in any browser without a network: the graph,
    the tables of probabilities, the arcs and what each of them gains, how the score rose,
    and the command to repeat the run.

    \b
    coevo report run/ --compare alarm
    coevo report alarm -o alarm.html
    """
    with show_status(f"Drawing {source} ..."):
        from coevo.files import check_output_path
        from coevo.report.page import write_page

        target = Path(output) if output is not None else _target(source)
        check_output_path(target)
        page = _page(source)
        if other is not None:
            page = replace(page, other=_page(other).dag, other_name=_name(other))
        write_page(target, page)
    print(
        f"Wrote a page ({len(page.dag.nodes):,} variables, arcs: {len(page.dag.arcs):,}) "
        f"to {target}.",
        file=sys.stderr,
    )


def _page(source: str) -> Page:
    """Return the page of a run, or of a network alone."""
    from coevo.bundled import open_network
    from coevo.io import read_run
    from coevo.report.page import network_page, run_page

    if _is_folder(source):
        run = read_run(Path(source))
        try:
            return run_page(run.facts, run.history, run.network)
        except (AttributeError, KeyError, TypeError):  # JSON, but not what we wrote
            path = str(Path(source) / "run.json")
            raise FormatError(
                f"{path!r} is damaged: it does not hold the facts of a run."
            ) from None
    return network_page(open_network(source))


def _is_folder(source: str) -> bool:
    """Return whether a folder is meant; one without a run does not hide a bundled network."""
    from coevo.bundled import list_networks

    folder = Path(source)
    return folder.is_dir() and (source not in list_networks() or (folder / "run.json").exists())


def _target(source: str) -> Path:
    if _is_folder(source):
        return Path(source) / "report.html"
    return Path(f"{_name(source)}.html")


def _name(source: str) -> str:
    """Return the name of a file or folder without the end that tells its format."""
    return Path(source).name.removesuffix(".gz").removesuffix(".bif") or source
