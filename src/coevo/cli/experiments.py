"""What the commands that do experiments share: their options, and how they are interrupted."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from coevo.cli.console import print_json
from coevo.cli.options import format_option

if TYPE_CHECKING:
    from coevo.experiments import BenchResult, PaperResult

__all__ = ["answer", "data_set_options", "folder_options", "names_of", "where"]

Function = TypeVar("Function", bound=Callable[..., Any])


def names_of(ctx: click.Context, parameter: click.Parameter, value: str) -> tuple[str, ...]:
    """Return the names of a list with commas."""
    return tuple(name.strip() for name in value.split(",") if name.strip())


def _numbers_of(ctx: click.Context, parameter: click.Parameter, value: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in value.split(","))
    except ValueError:
        raise click.BadParameter(
            f"{value!r} is not a list of whole numbers, as in 1000,5000."
        ) from None


def data_set_options(rows: str) -> Callable[[Function], Function]:
    """Return the options for the networks and sizes, with the usual sizes."""

    def add(function: Function) -> Function:
        for option in (
            click.option(
                "--rows",
                default=rows,
                show_default=True,
                callback=_numbers_of,
                help="Sizes of the data sets.",
            ),
            click.option(
                "--networks",
                default="alarm,insurance",
                show_default=True,
                callback=names_of,
                help="Bundled networks or BIF files, separated by commas.",
            ),
        ):
            function = option(function)
        return function

    return add


def folder_options(function: Function) -> Function:
    """Add the options for where things go and what is among them."""
    for option in (
        format_option,
        click.option(
            "-o", "--output", metavar="DIR", required=True, help="Where to write everything."
        ),
        click.option(
            "--figures/--no-figures", default=True, help="Figures need matplotlib: coevo[plot]."
        ),
    ):
        function = option(function)
    return function


def answer(
    result: PaperResult | BenchResult,
    output: str,
    output_format: str,
    show: Callable[[], None],
) -> None:
    """Print what came out, `show` doing it for people; exit if not every run was done."""
    if not result.is_complete:
        print(
            f"Interrupted; {result.n_done} of {result.n_runs} runs are kept in {output}. "
            "The same command goes on.",
            file=sys.stderr,
        )
        raise click.exceptions.Exit(130)
    if output_format == "json":
        print_json([summary.as_dict() for summary in result.summaries])
        return
    show()


def where(figures: bool, output: str) -> str:
    """Return where to find everything."""
    return f"Tables{', figures' if figures else ''} and a README are in {output}."
