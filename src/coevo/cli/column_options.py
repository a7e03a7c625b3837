"""What people bring to ``coevo learn``: a table with columns of all kinds, and knowledge.

The options for both, and the lines that say what was made of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import click

from coevo.cli.common import Function

__all__ = ["bin_options", "lines_on_audit", "lines_on_columns"]

SHOWN = 10  # columns or findings that are printed, before it is said how many more there are


def bin_options(function: Function) -> Function:
    """Add the options for columns of numbers, and the one for prior knowledge."""
    for option in (
        click.option(
            "--constraints",
            "constraints_file",
            metavar="FILE",
            help="What is known: required and forbidden arcs, tiers, groups, roots, leaves, "
            "max_parents and weights of arcs, as JSON or CSV.",
        ),
        click.option(
            "--bins",
            type=click.IntRange(min=2),
            help="How many bins numbers are cut into, by quantiles if no method is given; the "
            "most for mdl.  [default: 3; mdl: 5]",
        ),
        click.option(
            "--discretise",
            metavar="METHOD",
            help="How columns of numbers are cut into bins: mdl (chooses how many), quantile, "
            "uniform or kmeans; or none.  [default: mdl]",
        ),
        click.option(
            "--types",
            metavar="FILE",
            help="What columns are (continuous, categorical, ignore, or cut points), as JSON or "
            "CSV; the run.json of an earlier run cuts as that did.",
        ),
    ):
        function = option(function)
    return function


def lines_on_columns(columns: dict[str, dict[str, Any]]) -> Iterator[str]:
    """Yield what was decided about columns: the numbers of each kind, and all cut points."""
    kinds = [column["type"] for column in columns.values()]
    words = {"categorical": "categorical", "continuous": "continuous", "ignore": "ignored"}
    found = [f"{kinds.count(kind):,} {word}" for kind, word in words.items() if kind in kinds]
    yield f"columns     {', '.join(found)}"
    lines = []
    for name, column in columns.items():
        if column["type"] == "continuous":
            points = ", ".join(f"{point:g}" for point in column["cuts"])
            how = f" ({column['method']})" if "method" in column else ""
            lines.append(f"  {name}: cut at {points}{how}" if points else f"  {name}: not cut")
        elif column.get("holds", "").endswith("numbers"):
            lines.append(f"  {name}: {len(column['states'])} {column['holds']} as states")
    yield from _first_lines(lines)


def lines_on_audit(findings: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yield what was found, a line each."""
    if findings:
        yield f"audit       {len(findings):,} to look at"
        yield from _first_lines([f"  {finding['sentence']}" for finding in findings])


def _first_lines(lines: Sequence[str]) -> Iterator[str]:
    yield from lines[:SHOWN]
    if len(lines) > SHOWN:
        yield f"  and {len(lines) - SHOWN:,} more, all in run.json and --format json"
