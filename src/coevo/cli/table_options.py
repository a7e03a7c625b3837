"""The options of commands that read a table.

They are declared in `coevo.options`, but for ``--type``, which gives one item of `types`. A group
of them reaches a command as one dictionary (`coevo.cli.options.bundle_options`).
"""

from __future__ import annotations

import click

from coevo.cli.options import bundle_options, make_option, make_options
from coevo.options import (
    BinningFlags,
    ClusterFlags,
    KnowledgeFlags,
    MissingFlags,
    SourceParameters,
    StrictFlags,
    TableFlags,
    list_options,
)

__all__ = [
    "column_options",
    "drop_option",
    "missing_options",
    "reading_options",
    "row_options",
    "table_options",
]


_SOURCE_OPTIONS = make_options(SourceParameters)
_TABLE_OPTIONS = make_options(TableFlags)
_cluster_option = make_options(ClusterFlags)
_strict_option = make_options(StrictFlags)
_decimal_option = make_option("decimal", list_options(BinningFlags)["decimal"])
drop_option = make_option("drop", list_options(TableFlags)["drop"])
missing_options = make_options(MissingFlags)

_type_option = click.option(
    "--type",
    "column_types",
    multiple=True,
    metavar="COLUMN=TYPE",
    help="Type of one column (repeatable): categorical, continuous, ignore, or parts of dates "
    "(year, month, weekday, hour, year+month, date). It undoes what was decided about the "
    "column.",
)
_TYPE_OPTIONS = (_type_option, *make_options(BinningFlags))
# How to read the columns of a given structure, and the rows for a given network.
table_options = bundle_options(
    "reading", *_TABLE_OPTIONS, _type_option, _decimal_option, *_strict_option
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
    "columns", *_TABLE_OPTIONS, *_cluster_option, *_TYPE_OPTIONS, *_strict_option
)
column_options = bundle_options(
    "columns",
    *_TABLE_OPTIONS,
    *_cluster_option,
    *missing_options,
    *_TYPE_OPTIONS,
    *_strict_option,
    *make_options(KnowledgeFlags),
)
