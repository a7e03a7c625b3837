"""What the commands ``bench`` and ``paper`` share: their options, and how they print a result."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from coevo.cli.options import format_option
from coevo.cli.output import print_json

if TYPE_CHECKING:
    from coevo.experiments import BenchResult, PaperResult, ReviewedResult

__all__ = [
    "add_output_options",
    "describe_folder",
    "make_data_set_options",
    "print_result",
    "split_names",
]

Function = TypeVar("Function", bound=Callable[..., Any])


def split_names(ctx: click.Context, parameter: click.Parameter, value: str) -> tuple[str, ...]:
    """Return the names of a list with commas."""
    return tuple(name.strip() for name in value.split(",") if name.strip())


def _parse_integers(ctx: click.Context, parameter: click.Parameter, value: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in value.split(","))
    except ValueError:
        raise click.BadParameter(
            f"{value!r} is not a list of integers, such as 1000,5000."
        ) from None


def make_data_set_options(rows: str) -> Callable[[Function], Function]:
    """Return the options for the networks and the numbers of rows; `rows` is the default."""

    def decorate(function: Function) -> Function:
        for option in (
            click.option(
                "--rows",
                default=rows,
                show_default=True,
                callback=_parse_integers,
                help="Numbers of rows of the data sets, separated by commas.",
            ),
            click.option(
                "--networks",
                default="alarm,insurance",
                show_default=True,
                callback=split_names,
                help="Networks to sample: bundled networks or BIF files, separated by commas.",
            ),
        ):
            function = option(function)
        return function

    return decorate


def add_output_options(function: Function) -> Function:
    """Add the options for the output folder, its figures and the format of the answer."""
    for option in (
        format_option,
        click.option(
            "-o",
            "--output",
            metavar="DIR",
            required=True,
            help="Write the runs, tables, figures and a README into this folder.",
        ),
        click.option(
            "--figures/--no-figures",
            default=True,
            show_default=True,
            help="Whether to draw the figures, which need matplotlib: coevo[plot].",
        ),
    ):
        function = option(function)
    return function


def print_result(
    result: PaperResult | ReviewedResult | BenchResult,
    output: str,
    output_format: str,
    print_text: Callable[[], None],
) -> None:
    """Print the result as JSON, or by `print_text`; exit with 130 if runs are left."""
    if not result.is_complete:
        print(
            f"Interrupted. {result.n_done} of {result.n_runs} runs are stored in {output}. "
            "Repeat the command to resume.",
            file=sys.stderr,
        )
        raise click.exceptions.Exit(130)
    if output_format == "json":
        print_json([summary.as_dict() for summary in result.summaries])
        return
    print_text()


def describe_folder(output: str, figures: bool) -> str:
    """Return the sentence that says where the files are."""
    return f"Tables{', figures' if figures else ''} and a README are in {output}."
