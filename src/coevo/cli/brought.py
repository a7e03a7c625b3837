"""What people bring to ``coevo learn``: a table with columns of all kinds, and knowledge.

The options for both, and the lines that say what was made of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from coevo.cli.common import Function, read_columns
from coevo.errors import ParameterError

if TYPE_CHECKING:
    from coevo.data import ColumnNote, Dataset
    from coevo.io import Knowledge

__all__ = ["Brought", "bin_options", "lines_on_audit", "lines_on_columns"]

SHOWN = 10  # columns or findings that are printed, before it is said how many more there are
NO_BINS = "none"


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


class Brought:
    """What the options ask for: read and checked before the table is opened."""

    def __init__(
        self,
        types: str | None,
        discretise: str | None,
        bins: int | None,
        constraints_file: str | None,
        max_parents: int | None,
        owner: str = "learn",
    ) -> None:
        from coevo.data import read_types
        from coevo.data.column_types import BIN_METHODS
        from coevo.data.request import Request
        from coevo.errors import bad_choice
        from coevo.io import open_knowledge

        if discretise == NO_BINS:
            if bins is not None:
                raise ParameterError(f"'bins' of {owner} needs a method; 'discretise' is 'none'.")
        elif discretise is not None and discretise not in BIN_METHODS:
            raise bad_choice("discretise", owner, (*BIN_METHODS, NO_BINS), discretise)
        usual = None if bins is not None or discretise == NO_BINS else "mdl"
        chosen = usual if discretise in (None, NO_BINS) else discretise
        self._bins: dict[str, Any] = {
            "types": None if types is None else read_types(types),
            "discretise": chosen,
            "bins": bins,
        }
        Request.of(**self._bins)  # says what is wrong with them
        self._file, self._max_parents = constraints_file, max_parents
        self._entries = None if constraints_file is None else open_knowledge(constraints_file)

    def table(
        self, source: str, drop: tuple[str, ...], states: str | None
    ) -> tuple[Dataset, tuple[ColumnNote, ...]]:
        """Read the table, and what was decided about its columns."""
        return read_columns(source, drop, states, **self._bins)

    def knowledge(self, names: Sequence[str]) -> Knowledge:
        """Return what is known about these variables, checked."""
        from coevo.graph import Constraints
        from coevo.io import Knowledge

        if self._entries is None:
            return Knowledge(Constraints(max_parents=self._max_parents))
        known = self._entries.over(names)
        limit = known.constraints.max_parents
        if self._max_parents is not None:
            if limit not in (None, self._max_parents):
                raise ParameterError(
                    f"'max_parents' is {limit} in {self._file!r} and {self._max_parents} in "
                    "--max-parents. Give it once."
                )
            given = {**known.constraints.as_dict(), "max_parents": self._max_parents}
            known = Knowledge(Constraints(**given), known.weights)
        known.constraints.rules(names)
        return known


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
