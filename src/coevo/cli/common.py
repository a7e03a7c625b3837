"""What several commands share: options, and how to answer."""

from __future__ import annotations

import contextlib
import json
import math
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from coevo.errors import CoevoWarning, DataError, suggestion

if TYPE_CHECKING:
    from rich.console import Console

    from coevo.data import ColumnInfo, Dataset, Variable
    from coevo.graph import DAG
    from coevo.io import Model
    from coevo.progress import Say

__all__ = [
    "answer_json",
    "cluster_option",
    "drop_option",
    "finite",
    "format_option",
    "n_jobs_option",
    "narrated",
    "parts",
    "plain_warnings",
    "read_columns",
    "read_states",
    "read_table",
    "score_options",
    "search_options",
    "seed_option",
    "table_options",
    "where_option",
    "working",
]

Function = TypeVar("Function", bound=Callable[..., Any])

format_option = click.option(
    "--format",
    "output_format",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="How to print the answer.",
)


def n_jobs_option(
    workers: str, what: str, all_cores: bool = False
) -> Callable[[Function], Function]:
    """Return the option for how many workers there are, and what they never change.

    If nobody says how many, there is one, or one for each core.
    """
    return click.option(
        "-j",
        "--n-jobs",
        type=click.IntRange(min=1),
        default=_usable_cores if all_cores else 1,
        show_default="one for each core, up to 8" if all_cores else True,
        help=f"{workers}; they change the time, never the {what}.",
    )


def _usable_cores() -> int:
    from coevo.threads import usable_cores

    return usable_cores()


def where_option(what: str) -> Callable[[Function], Function]:
    """Return the option for a cluster, and what is done there."""
    return click.option(
        "--cluster",
        metavar="ADDRESS",
        help=f"{what} a Dask cluster (tcp://HOST:PORT, tls://HOST:PORT), or on so many workers "
        "of this machine (local:4); needs coevo[dask].",
    )


cluster_option = where_option("Do the runs on")


def seed_option(what: str) -> Callable[[Function], Function]:
    """Return the option for the seed of what is the same again by it."""
    return click.option(
        "--seed",
        type=click.IntRange(min=0),
        default=0,
        show_default=True,
        help=f"The same seed gives the same {what}.",
    )


def score_options(function: Function) -> Function:
    """Add the options of every command that scores structures."""
    for option in (
        click.option(
            "--ess",
            "--iss",
            "--alpha",
            "ess",
            type=float,
            help="Equivalent sample size of bdeu and bds.  [default: 1]",
        ),
        click.option(
            "-s",
            "--score",
            "score_name",
            default="bdeu",
            show_default=True,
            help="k2, bdeu (bde), bds, bic, aic or loglik.",
        ),
    ):
        function = option(function)
    return function


def search_options(ends: str, note: str = "") -> Callable[[Function], Function]:
    """Return the options of every command that searches: how, how many parents, how long.

    `ends` is what a limit ends, as in "Stop each bootstrap"; `note` is added to that on time.
    """

    def add(function: Function) -> Function:
        for option in (
            click.option(
                "--max-generations",
                type=click.IntRange(min=0),
                help=f"{ends} after some generations.",
            ),
            click.option(
                "-t",
                "--max-time",
                type=click.FloatRange(min=0),
                metavar="SECONDS",
                help=f"{ends} after some seconds{note}.",
            ),
            click.option(
                "--parent-penalty",
                type=click.FloatRange(min=0),
                default=0.0,
                show_default=True,
                metavar="NATS",
                help="What each parent costs; one must gain more than that to be there.",
            ),
            click.option(
                "-p",
                "--max-parents",
                type=click.IntRange(min=1),
                help="The most parents of a variable.",
            ),
            score_options,
            click.option(
                "-m",
                "--method",
                default="ccma",
                show_default=True,
                help="ccma (coevolution with local search), ccga (that of the 2011 paper), "
                "islands (several ccma), hill_climb, tabu, or k2 (greedy, a random order).",
            ),
        ):
            function = option(function)
        return function

    return add


drop_option = click.option(
    "--drop", multiple=True, metavar="COLUMN", help="Leave a column out (repeatable)."
)


def table_options(function: Function) -> Function:
    """Add the options of every command that reads a table."""
    for option in (
        drop_option,
        click.option(
            "--states",
            metavar="FILE_OR_NETWORK",
            help="Declare states that the rows may not show: a network, or a JSON object with a "
            "list of states for each column.",
        ),
    ):
        function = option(function)
    return function


def answer_json(answer: dict[str, Any] | list[dict[str, Any]]) -> None:
    """Print an answer as JSON."""
    is_unicode = (sys.stdout.encoding or "").lower().startswith("utf")
    click.echo(json.dumps(answer, indent=2, ensure_ascii=not is_unicode))


def finite(value: float) -> float | None:
    """Return a number for JSON, which knows no infinity.

    >>> finite(1.5), finite(float("-inf"))
    (1.5, None)
    """
    return value if math.isfinite(value) else None


@contextlib.contextmanager
def working(doing: str) -> Iterator[Say]:
    """Show on a terminal what is being done; say once if kernels are compiled.

    Yields a function that says what is new. Warnings become plain lines on stderr. Off a
    terminal nothing moves; a text that is new is printed every few seconds at most.
    """
    from coevo.progress import on_console

    with narrated() as console, on_console(console, doing) as say:
        yield say


@contextlib.contextmanager
def narrated() -> Iterator[Console]:
    """Yield a console on stderr; warnings become plain lines, compilation is announced."""
    from rich.console import Console

    from coevo.jit import announce_compilation
    from coevo.progress import COMPILING

    console = Console(stderr=True, highlight=False)

    def say() -> None:
        console.print(COMPILING)

    with plain_warnings(), announce_compilation(say):
        yield console


@contextlib.contextmanager
def plain_warnings() -> Iterator[None]:
    """Print each warning as one plain line on stderr."""
    with warnings.catch_warnings():
        warnings.showwarning = _show_warning
        warnings.simplefilter("always", CoevoWarning)
        yield


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    print(f"Warning: {message}", file=sys.stderr)


def parts(model: Model) -> tuple[DAG, tuple[Variable, ...]]:
    """Return the structure of a model, and the variables whose states it declares."""
    from coevo.network import BayesianNetwork

    return (model.dag, model.variables) if isinstance(model, BayesianNetwork) else (model, ())


def read_table(
    source: str, drop: tuple[str, ...], states: str | None, default: tuple[Variable, ...] = ()
) -> Dataset:
    """Read a table with the options of `table_options`.

    `default` are the variables whose states hold where ``--states`` says nothing.
    """
    dataset: Dataset = read_columns(source, drop, states, default)[0]
    return dataset


def read_columns(
    source: str,
    drop: tuple[str, ...],
    states: str | None,
    default: tuple[Variable, ...] = (),
    reader: Callable[..., Any] | None = None,
    **bins: Any,
) -> tuple[Any, tuple[ColumnInfo, ...]]:
    """Read a table, and what was decided about its columns; `bins` is for the reader.

    That is `coevo.data.read_columns` if nothing is said.
    """
    from coevo import data

    read = data.read_columns if reader is None else reader
    given, is_list = ((), False) if states is None else read_states(states)
    declared = {variable.name: variable for variable in (*default, *given)}
    dataset, notes = read(source, drop=drop, states=tuple(declared.values()), **bins)
    if states is not None:
        _check_declared(states, given, is_list, (*dataset.names, *drop))
    return dataset, notes


def _check_declared(
    source: str, given: tuple[Variable, ...], is_list: bool, columns: tuple[str, ...]
) -> None:
    """Raise `DataError` if ``--states`` is about another table.

    A network may have more variables than the table; a list of states has no reason to.
    """
    unknown = [variable.name for variable in given if variable.name not in columns]
    if unknown and (is_list or len(unknown) == len(given)):
        raise DataError(
            f"{source!r} declares states of {unknown[0]!r}, which is not a column of "
            f"the table.{suggestion(unknown[0], columns)}"
        )


def read_states(source: str) -> tuple[tuple[Variable, ...], bool]:
    """Return the variables of a network, or of a JSON object of lists; whether it was that."""
    from coevo.bundled import open_network
    from coevo.data import Variable
    from coevo.io.json_model import is_model_json
    from coevo.user_files import read_json

    if not source.lower().endswith(".json"):
        return open_network(source).variables, False
    declared = read_json(Path(source))
    if is_model_json(declared):
        return open_network(source).variables, False
    if not isinstance(declared, dict) or not all(map(_is_plain_list, declared.values())):
        raise DataError(f"{source!r} must hold an object with a list of states for each column.")
    listed = (Variable(name, tuple(map(str, states))) for name, states in declared.items())
    return tuple(listed), True


def _is_plain_list(value: object) -> bool:
    return isinstance(value, list) and not any(isinstance(item, list | dict) for item in value)
