"""The options of commands that read a table.

Each has the name of a Python parameter. A group of them reaches a command as one dictionary
(`coevo.cli.options.bundle_options`). The options of a source are those of
`coevo.data.source_options`, in every command that reads a table.
"""

from __future__ import annotations

from typing import Any

import click

from coevo.cli.options import Decorator, bundle_options

__all__ = [
    "column_options",
    "drop_option",
    "missing_options",
    "reading_options",
    "row_options",
    "table_options",
]


def _split_renames(texts: tuple[str, ...]) -> dict[str, str] | None:
    """Return the names of ``--rename OLD=NEW``; None if there are none."""
    names = {}
    for text in texts:
        old, mark, new = text.rpartition("=")
        if not (mark and old and new):
            raise click.UsageError(f"--rename must be OLD=NEW; got {text!r}.")
        if old in names:
            raise click.UsageError(f"--rename gives {old!r} two names. Give one of them.")
        names[old] = new
    return names or None


def _repeat(option: str, name: str, metavar: str, text: str) -> Decorator[Any]:
    """Return a repeatable option; it is None if it is not given."""
    return click.option(
        option,
        name,
        multiple=True,
        metavar=metavar,
        callback=lambda _context, _option, texts: list(texts) or None,
        help=text,
    )


drop_option = click.option(
    "--drop",
    multiple=True,
    metavar="COLUMN",
    help="Leave a column out (repeatable, or several with commas).",
)
_SOURCE_OPTIONS: tuple[Decorator[Any], ...] = (
    click.option(
        "--encoding",
        metavar="NAME",
        help="Encoding of a text table, as latin-1.  [default: as detected]",
    ),
    click.option(
        "--delimiter",
        metavar="CHARACTER",
        help="Character between the fields of a text table; a space stands for any number of "
        "spaces.  [default: as detected]",
    ),
    click.option(
        "--comment",
        metavar="TEXT",
        help="Skip the lines of a text table that start with this text; an empty text skips none.  "
        "[default: as detected: #, % or //]",
    ),
    click.option(
        "--header/--no-header",
        default=None,
        help="Whether the first row has the column names.  [default: as detected]",
    ),
    click.option(
        "--skiprows",
        type=click.IntRange(min=0),
        metavar="N",
        help="Number of lines above the table.  [default: as detected]",
    ),
    click.option(
        "--skipfooter",
        type=click.IntRange(min=0),
        metavar="N",
        help="Number of lines below the table.  [default: as detected]",
    ),
    click.option(
        "--units-row/--no-units-row",
        default=None,
        help="Whether the first row below the header has the units of the columns.  [default: as "
        "detected]",
    ),
    click.option(
        "--bad-rows",
        type=click.Choice(["repair", "skip", "refuse"]),
        default="repair",
        show_default=True,
        help="Rows of a text table with too few or too many fields: fill or remove empty cells, "
        "leave the rows out, or make them an error.",
    ),
    click.option(
        "--keep-empty-rows",
        is_flag=True,
        help="Keep the rows of a text table or a spreadsheet that have no value in any column.",
    ),
    click.option(
        "--rename",
        multiple=True,
        metavar="OLD=NEW",
        callback=lambda _context, _option, texts: _split_renames(texts),
        help="New name of a column (repeatable). Other options use the new name.",
    ),
    click.option(
        "--value-labels/--no-value-labels",
        default=True,
        show_default=True,
        help="Whether the value labels of Stata and SPSS are states.",
    ),
    click.option(
        "--sheet",
        "--table",
        "sheet",
        metavar="NAME",
        callback=lambda _context, _option, name: int(name) if name and name.isdecimal() else name,
        help="Name or number of a sheet of a spreadsheet, or name of a table of an SQLite file.  "
        "[default: the first sheet with rows; the only table]",
    ),
    click.option("--query", metavar="SQL", help="Read the rows that this query to DATA returns."),
    _repeat(
        "--missing-label",
        "missing_labels",
        "[COLUMN=]TEXT",
        "Label of a missing value, in one column or in all (repeatable). It is added to the "
        "defaults: empty text, NA, N/A, NaN, null, ? and others.",
    ),
    _repeat(
        "--keep-label",
        "keep_labels",
        "[COLUMN=]TEXT",
        "Label that is a value and never missing, in one column or in all (repeatable).",
    ),
    _repeat(
        "--merge",
        "merge",
        "COLUMN:OLD=NEW",
        "Read a state of a column as another state (repeatable; several old states with commas).",
    ),
)
_ROW_OPTIONS: tuple[Decorator[Any], ...] = (
    click.option(
        "--duplicates",
        type=click.Choice(["keep", "drop"]),
        help="Rows that repeat other rows in all columns.  [default: drop copies, keep rows that "
        "are equal by chance]",
    ),
    click.option(
        "--totals",
        type=click.Choice(["keep", "drop"]),
        help="Rows of totals and subtotals.  [default: drop those whose numbers are sums]",
    ),
    click.option(
        "--weights",
        metavar="COLUMN",
        help="Column with the number of times that each row counts.  [default: a column like Freq "
        "in a frequency table]",
    ),
)
_cluster_option = click.option(
    "--cluster-by",
    metavar="COLUMN",
    help="Column that says which rows belong together, as the visits of a patient do. The "
    "bootstrap draws clusters, and cross-validation keeps them together.  [default: rows are "
    "independent]",
)
_TABLE_OPTIONS: tuple[Decorator[Any], ...] = (
    click.option(
        "--states",
        metavar="MODEL",
        help="Declare states that may not occur in the rows: a network, or a JSON object with a "
        "list of states for each column.",
    ),
    drop_option,
    *_SOURCE_OPTIONS,
    *_ROW_OPTIONS,
)
missing_options: tuple[Decorator[Any], ...] = (
    click.option(
        "--missing",
        metavar="POLICY",
        help="Policy for missing values: evolve (values are drawn again and again under the "
        "structures of the search; with -m ccga a third species evolves them), em (structural "
        "EM), available (score each family on the rows that observe all its variables), "
        "state (missing is a state), drop (leave out incomplete rows), refuse (missing values are "
        "an error).  [default: evolve; with --strict, --shards or --cluster: refuse]",
    ),
)

_type_option = click.option(
    "--type",
    "column_types",
    multiple=True,
    metavar="COLUMN=TYPE",
    help="Type of one column (repeatable): categorical, continuous, ignore, or parts of dates "
    "(year, month, weekday, hour, year+month, date). It undoes what was decided about the "
    "column.",
)
_decimal_option = click.option(
    "--decimal",
    type=click.Choice([".", ","]),
    help="Decimal mark of numbers.  [default: found from the table]",
)
_strict_option = click.option(
    "--strict",
    is_flag=True,
    help="Make an error of everything that would be decided about the table.",
)
_TYPE_OPTIONS: tuple[Decorator[Any], ...] = (
    _type_option,
    click.option(
        "--types",
        metavar="FILE",
        help="Types of columns (continuous, categorical, ignore, or cut points), as JSON or CSV. "
        "The run.json of an earlier run gives the same cut points.",
    ),
    click.option(
        "--discretise",
        metavar="METHOD",
        help="How to discretise columns of numbers: mdl (chooses the number of bins), quantile, "
        "uniform, kmeans or none.  [default: mdl]",
    ),
    click.option(
        "--bins",
        type=click.IntRange(min=2),
        help="Number of bins, by quantiles unless --discretise is given; for mdl the maximum.  "
        "[default: 3; mdl: 5]",
    ),
    _decimal_option,
)
# How to read the columns of a given structure, and the rows for a given network.
table_options = bundle_options(
    "reading", *_TABLE_OPTIONS, _type_option, _decimal_option, _strict_option
)
row_options = bundle_options(
    "opening",
    *_SOURCE_OPTIONS,
    click.option(
        "--type",
        "column_types",
        multiple=True,
        metavar="COLUMN=TYPE",
        help="Type of a column of dates (repeatable): dmy or mdy gives the order of day and month; "
        "date+dmy or date+mdy does so for dates that are cut into bins.",
    ),
    _decimal_option,
)
# How to read a table, without a search: `column_options` adds what a search needs.
reading_options = bundle_options(
    "columns", *_TABLE_OPTIONS, _cluster_option, *_TYPE_OPTIONS, _strict_option
)
column_options = bundle_options(
    "columns",
    *_TABLE_OPTIONS,
    _cluster_option,
    *missing_options,
    *_TYPE_OPTIONS,
    _strict_option,
    click.option(
        "--constraints",
        metavar="FILE",
        help="Prior knowledge: required and forbidden arcs, tiers, groups, roots, leaves, "
        "max_parents and arc weights, as JSON or CSV.",
    ),
    click.option(
        "--root",
        "--roots",
        "roots",
        multiple=True,
        metavar="COLUMN",
        help="A variable without parents, as age, sex or the arm of a trial (repeatable, or "
        "several with commas).",
    ),
    click.option(
        "--leaf",
        "--leaves",
        "leaves",
        multiple=True,
        metavar="COLUMN",
        help="A variable without children, as an outcome (repeatable, or several with commas).",
    ),
)
