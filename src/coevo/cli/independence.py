"""``coevo test``: the dependence of two columns of a table, given others.

The module does not have the name of its command, because test runners collect modules by name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from coevo.cli.options import format_option
from coevo.cli.output import format_decisions, print_json, show_status
from coevo.cli.tables import read_declared_states, reading_options
from coevo.errors import format_count

if TYPE_CHECKING:
    from coevo.learning import Dependence

__all__ = ["command"]


@click.command("test")
@click.argument("data", metavar="DATA")
@click.argument("x", metavar="X")
@click.argument("y", metavar="Y")
@click.option(
    "--given", multiple=True, metavar="COLUMN", help="A column that is given (repeatable)."
)
@click.option(
    "--test",
    default="g2",
    show_default=True,
    metavar="NAME",
    help="Test: g2 (likelihood ratio) or x2 (Pearson).",
)
@click.option(
    "--alpha",
    type=float,
    default=0.05,
    show_default=True,
    help="X and Y count as dependent if the p-value is at most this.",
)
@reading_options
@format_option
def command(
    data: str,
    x: str,
    y: str,
    given: tuple[str, ...],
    test: str,
    alpha: float,
    columns: dict[str, Any],
    output_format: str,
) -> None:
    """Test whether two columns of a table are dependent, given others.

    DATA is a table, as for coevo learn; numbers are cut into the same bins. Rows with a missing
    value in one of the columns are left out. The answer has a test of independence and the size
    of the effect: with many rows, every dependence is significant.

    \b
    coevo test patients.csv age crp
    coevo test patients.csv age crp --given smoker,sex
    coevo test patients.csv age crp --test x2 --alpha 0.01 --format json
    """
    with show_status(f"Reading {data} ..."):
        from coevo.learning.dependence import read_and_measure

        declared = read_declared_states(columns["states"])
        reading = declared.complete(columns)
        found = read_and_measure("test", data, (x, y, given), test, alpha, **reading)
    if output_format == "json":
        print_json(found.as_dict())
        return
    click.echo(str(found))
    for line in _format_numbers(found):
        click.echo(line)
    for line in format_decisions([decision.as_dict() for decision in found.decisions]):
        click.echo(line)


def _format_numbers(found: Dependence) -> list[str]:
    """Return the lines of the answer as text, below its sentence."""
    name = {"g2": "G2", "x2": "X2"}[found.test]
    lines = [
        f"test        {name} {found.statistic:,.4f}, "
        f"{format_count(found.degrees_of_freedom, 'degree', 'degrees')} of freedom, "
        f"p {found.p_value:.4g}",
        f"effect      {found.information:.4g} nats of information; independent variables show "
        f"{found.expected_information:.4g} in so many rows",
    ]
    if found.cramers_v is not None and found.corrected_v is not None:
        v = f"Cramér's V {found.cramers_v:.3f}; {found.corrected_v:.3f} without its bias"
        lines.append(f"            {v}")
    left_out = ""
    if found.n_left_out:
        left_out = f"; {found.n_left_out:,} left out, because a value is missing"
    strata = f", {format_count(found.n_strata, 'stratum', 'strata')}" if found.given else ""
    lines.append(f"rows        {found.n_rows:,}{strata}{left_out}")
    if found.is_rough:
        lines.append("            fewer than 5 rows for each degree of freedom: p is only rough")
    for column, points in found.cut_points.items():
        text = ", ".join(f"{point:g}" for point in points)
        lines.append(f"cut points  {column}: {text or 'none'}")
    return lines
