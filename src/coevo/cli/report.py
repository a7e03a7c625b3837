"""``coevo report``: an HTML report of a run or a network."""

from __future__ import annotations

import contextlib
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from coevo.cli.output import show_status
from coevo.errors import format_count

if TYPE_CHECKING:
    from coevo.view.page import Page

__all__ = ["command"]


@click.command("report")
@click.argument("source", metavar="RUN_OR_MODEL")
@click.option(
    "--compare",
    "other",
    metavar="RUN_OR_MODEL",
    help="Also show the differences from a second network with the same variables, in colour.",
)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    help="HTML file to write.  [default: report.html in the run folder, or NAME.html]",
)
def command(source: str, other: str | None, output: str | None) -> None:
    """Write an HTML report of a run or a network.

    RUN_OR_MODEL is a run folder of coevo learn, a file with a network, or the name of a
    bundled network. The report is one HTML file that any browser opens without the internet. It
    shows the graph and the probability tables. For a run it also shows the gain of each arc,
    the score over time, and the command that repeats the run.

    \b
    coevo report run/ --compare alarm
    coevo report alarm -o alarm.html
    """
    with show_status(f"Writing the report of {source} ..."):
        from coevo.files.files import check_output_path
        from coevo.view.page import write_page

        target = Path(output) if output is not None else _choose_target(source)
        check_output_path(target)
        _refuse_own_files(source, target)
        page = _make_page(source)
        if other is not None:
            page = replace(page, other=_make_page(other).dag, other_name=_strip_extension(other))
        with _refuse_damaged_facts(source):
            write_page(target, page)
    n_variables, n_arcs = len(page.dag.nodes), len(page.dag.arcs)
    size = f"{format_count(n_variables, 'variable')}, {format_count(n_arcs, 'arc')}"
    print(f"Wrote a report ({size}) to {target}.", file=sys.stderr)


def _refuse_own_files(source: str, target: Path) -> None:
    """Raise an error if the page would replace the model or a file of the run that it shows."""
    kept = [Path(source)]
    if _is_folder(source):
        kept = [path for path in Path(source).iterdir() if path.suffix != ".html"]
    if any(path.resolve() == target.resolve() for path in kept):
        raise click.UsageError(f"-o would overwrite {str(target)!r}. Give the name of a page.")


def _make_page(source: str) -> Page:
    """Return the page of a run, or of a network alone."""
    from coevo.bundled import open_network
    from coevo.io import read_run
    from coevo.view.page import make_network_page, make_run_page

    if _is_folder(source):
        run = read_run(Path(source))
        with _refuse_damaged_facts(source):
            return make_run_page(run.facts, run.history, run.network)
    return make_network_page(open_network(source))


def _refuse_damaged_facts(source: str) -> contextlib.AbstractContextManager[None]:
    """Return a context in which the facts of a run may be damaged; those of a network are ours."""
    from coevo.files.run_folder import refuse_damaged_facts

    folder = Path(source)
    return refuse_damaged_facts(folder) if _is_folder(source) else contextlib.nullcontext()


def _is_folder(source: str) -> bool:
    """Return whether the user means a folder.

    A folder without a run does not hide the bundled network of the same name.
    """
    from coevo.bundled import list_networks

    folder = Path(source)
    return folder.is_dir() and (source not in list_networks() or (folder / "run.json").exists())


def _choose_target(source: str) -> Path:
    if _is_folder(source):
        return Path(source) / "report.html"
    return Path(f"{_strip_extension(source)}.html")


def _strip_extension(source: str) -> str:
    """Return the name of a file or folder without folder and extension."""
    return Path(source).name.removesuffix(".gz").removesuffix(".bif") or source
