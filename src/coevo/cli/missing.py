"""What commands check, write and print about missing values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from coevo.cli.tables import refuse_overwriting
from coevo.errors import format_count
from coevo.options import SourceParameters, get_defaults, select_options

if TYPE_CHECKING:
    from coevo.learning import LearnResult

__all__ = [
    "check_imputed_file",
    "check_missing_options",
    "format_missing",
    "imputed_option",
    "write_imputed_data",
]

SHOWN = 5  # columns that are named


imputed_option = click.option(
    "--imputed",
    metavar="FILE",
    help="Write DATA with its missing values imputed (a number by the median of its bin), and "
    "beside it (.probabilities.csv) the probability of each imputed value.",
)


def check_missing_options(columns: dict[str, Any], imputed: str | None = None) -> None:
    """Raise a usage error for options that need a policy which imputes values."""
    missing = columns["missing"]
    if imputed is not None and missing in ("state", "refuse"):
        raise click.UsageError(
            f"--imputed needs a policy that imputes values; --missing {missing} does not."
        )


def check_imputed_file(imputed: str, data: str | None) -> None:
    """Raise an error if the imputed table cannot be written, before the search."""
    from pathlib import Path

    from coevo.data import check_writable
    from coevo.missing.imputed_table import choose_probability_path

    check_writable(imputed)
    is_stream = data is not None and Path(data).exists() and not Path(data).is_file()
    if data == "-" or is_stream:
        raise click.UsageError(
            f"--imputed needs DATA to be a file that can be read twice; {data!r} is not one."
        )
    for path in (Path(imputed), choose_probability_path(imputed)):
        if data is not None:
            refuse_overwriting("--imputed", path, data)


def write_imputed_data(
    result: LearnResult, path: str, data: str, opening: SourceParameters
) -> dict[str, str]:
    """Write DATA with its missing values imputed; return the files by content."""
    from coevo.data.source_options import SourceOptions
    from coevo.data.write_imputed import write_imputed_file
    from coevo.missing import write_imputed

    imputed_table = None if result.imputation is None else result.imputation.imputed_table
    if imputed_table is None:  # nothing was missing
        write_imputed_file(data, path, [], SourceOptions.from_parameters("learn", **opening))
        return {"imputed": path}
    defaults = get_defaults(SourceParameters)
    given = {k: v for k, v in opening.items() if v != defaults[k]}
    chosen = select_options(SourceParameters, given)
    probabilities = write_imputed(imputed_table, path, data, **chosen)
    return {"imputed": path, "probabilities": str(probabilities)}


def format_missing(facts: dict[str, Any]) -> Iterator[str]:
    """Yield the lines about missing values: how many, in which columns, and the policy."""
    columns = sorted(facts["columns"].items(), key=lambda item: (-item[1], item[0]))
    yield (
        f"missing     {format_count(facts['n_missing'], 'value')} ({facts['share']:.1%}) in "
        f"{format_count(len(columns), 'column')}; "
        f"{format_count(facts['n_complete_rows'], 'complete row')}; policy: {facts['policy']}"
    )
    named = [f"{name} {count:,}" for name, count in columns[:SHOWN]]
    n_more = len(columns) - SHOWN
    more = f", and {format_count(n_more, 'more column')}" if n_more > 0 else ""
    yield f"  {', '.join(named)}{more}"
