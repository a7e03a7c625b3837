"""What commands do about missing cells: the options, the files, and what they say."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from coevo.cli.common import Function

if TYPE_CHECKING:
    from coevo.learning import LearnResult

__all__ = [
    "check_completed",
    "check_missing",
    "completed_option",
    "lines_on_missing",
    "missing_options",
    "write_whole",
]

SHOWN = 5  # columns that are named


completed_option = click.option(
    "--completed",
    metavar="FILE",
    help="Write DATA with its missing cells filled (of a column of numbers, by the middle one of "
    "a bin), and beside it (.filled.csv) the probability of each filled cell.",
)


def missing_options(function: Function) -> Function:
    """Add the options that say what becomes of missing cells."""
    for option in (
        click.option(
            "--missing-label",
            "missing_labels",
            multiple=True,
            metavar="TEXT",
            help="What stands for a missing cell (repeatable).  [default: nothing, NA, NaN, null "
            "or ?]",
        ),
        click.option(
            "--missing",
            metavar="POLICY",
            help="What becomes of missing cells: evolve (a third species fills them), em, "
            "available, state or drop. Without it a table that has some is refused.",
        ),
    ):
        function = option(function)
    return function


def check_missing(
    missing: str | None, labels: tuple[str, ...], completed: str | None = None
) -> None:
    """Raise a usage error for options that go with a policy where there is none."""
    for option, value in (("--missing-label", labels), ("--completed", completed)):
        if value and missing is None:
            raise click.UsageError(f"{option} goes with --missing, what to do about such cells.")
    if completed is not None and missing == "state":
        raise click.UsageError("--completed needs cells to be filled; --missing state fills none.")


def check_completed(completed: str, data: str | None) -> None:
    """Raise what is wrong with the file of the completed table, before there is one."""
    from pathlib import Path

    from coevo.data import check_writable
    from coevo.missing.imputed_table import filled_path

    check_writable(completed)
    if data is not None and Path(data).exists() and not Path(data).is_file():
        raise click.UsageError(
            f"--completed needs DATA to be a file that can be read twice; {data!r} is none."
        )
    for path in (Path(completed), filled_path(completed)):
        if data is not None and path.resolve() == Path(data).resolve():
            raise click.UsageError(
                f"--completed would write over DATA, {str(path)!r}. Give another name."
            )


def write_whole(learned: LearnResult, path: str, data: str) -> dict[str, str]:
    """Write DATA with its missing cells filled; return the paths by what they hold."""
    from coevo.data.write_imputed import write_filled
    from coevo.missing import write_imputed

    completed = None if learned.missing is None else learned.missing.completed
    if completed is None:  # nothing was missing
        write_filled(data, path, [])
        return {"completed": path}
    return {"completed": path, "filled": str(write_imputed(completed, path, data))}


def lines_on_missing(facts: dict[str, Any]) -> Iterator[str]:
    """Yield how much was missing where, and what was done about it."""
    columns = sorted(facts["columns"].items(), key=lambda item: (-item[1], item[0]))
    n_cells, n_whole = facts["n_missing"], facts["n_complete_rows"]
    yield (
        f"missing     {n_cells:,} {_noun('cell', n_cells)} ({facts['share']:.1%}) of "
        f"{len(columns):,} {_noun('column', len(columns))}; {n_whole:,} "
        f"{'row has' if n_whole == 1 else 'rows have'} none; policy: {facts['policy']}"
    )
    named = [f"{name} {count:,}" for name, count in columns[:SHOWN]]
    n_more = len(columns) - SHOWN
    more = f", and {n_more:,} more {_noun('column', n_more)}" if n_more > 0 else ""
    yield f"  {', '.join(named)}{more}"


def _noun(one: str, n: int) -> str:
    return one if n == 1 else f"{one}s"
