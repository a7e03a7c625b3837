"""The options of tables: how they are opened, what their cells, rows and columns mean.

As in `coevo.options.searches`, types from above are quoted.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, TypedDict

from coevo.options.declaration import (
    Option,
    as_choice,
    as_int,
    as_switch,
    as_text,
)
from coevo.options.searches import (
    MISSING,
)

if TYPE_CHECKING:  # types of values; nothing is imported from above at run time
    from coevo.data.reader import DeclaredStates

    GivenLabels: TypeAlias = Iterable[Any] | Mapping[str, Any]
    GivenMerges: TypeAlias = Iterable[str] | Mapping[str, Mapping[str, str]]
    GivenTypes: TypeAlias = Mapping[str, Any] | str | os.PathLike[str]

__all__ = [
    "BinningGroup",
    "CellParameters",
    "ClusterByGroup",
    "ColumnsGroup",
    "ConnectionGroup",
    "MissingGroup",
    "NamesGroup",
    "OpeningGroup",
    "ReadParameters",
    "RowParameters",
    "RowsGroup",
    "ShardsGroup",
    "SourceParameters",
    "StrictGroup",
]


class CellParameters(TypedDict, total=False):
    """Options about the values of columns, as keyword arguments."""

    missing_labels: Annotated[
        "GivenLabels | None",
        Option(
            None,
            "Label of a missing value, in one column or in all (repeatable). It is added to the "
            "defaults: empty text, NA, N/A, NaN, null, ? and others.",
            flags="--missing-label",
            metavar="[COLUMN=]TEXT",
            is_repeated=True,
            in_studio=True,
            doc="Labels that stand for a missing value, in all columns, or in the columns of a "
            'mapping: ``{"age": -99}``. They are added to the defaults. Numbers are '
            'compared as numbers, and blanks around a label do not matter. ``"age=-99"`` in'
            " a list is the same as in a command. The defaults are the empty text, ``NA``, "
            "``N/A``, ``n/a``, ``#N/A``, ``<NA>``, ``NaN``, ``nan``, ``null``, ``NULL``, "
            "``#NULL!`` and other errors of spreadsheets, ``?`` and ``.``; in a column of "
            "numbers also dashes, a few cells of other text, and numbers like -999 that are "
            "far from the others. A null of a data frame is always missing. A declared "
            "state is never missing.",
        ),
    ]
    keep_labels: Annotated[
        "GivenLabels | None",
        Option(
            None,
            "Label that is a value and never missing, in one column or in all (repeatable).",
            flags="--keep-label",
            metavar="[COLUMN=]TEXT",
            is_repeated=True,
            in_studio=True,
            doc='Labels that are values and never missing, as ``{"continent": "NA"}`` or '
            '``{"x": -999}``.',
        ),
    ]
    merge: Annotated[
        "GivenMerges | None",
        Option(
            None,
            "Read a state of a column as another state (repeatable; several old states with "
            "commas).",
            metavar="COLUMN:OLD=NEW",
            is_repeated=True,
            in_studio=True,
            doc='States to merge: ``{"smoker": {"Y": "yes"}}`` reads ``Y`` as ``yes``.',
        ),
    ]


class OpeningGroup(TypedDict, total=False):
    """How a source is opened."""

    encoding: Annotated[
        str | None,
        Option(
            None,
            "Encoding of a text table, as latin-1.",
            as_text(),
            metavar="NAME",
            said="as detected",
            in_studio=True,
            doc="Encoding of a text table (default: UTF-8, UTF-16 or Windows-1252, as detected).",
        ),
    ]
    delimiter: Annotated[
        str | None,
        Option(
            None,
            "Character between the fields of a text table; a space stands for any number of "
            "spaces.",
            metavar="CHARACTER",
            said="as detected",
            in_studio=True,
            doc="Character between the fields of a text table; ``' '`` stands for any number of "
            "spaces.",
        ),
    ]
    comment: Annotated[
        str | None,
        Option(
            None,
            "Skip the lines of a text table that start with this text; an empty text skips none.",
            as_text(),
            metavar="TEXT",
            said="as detected: #, % or //",
            in_studio=True,
            doc="Start of the lines of a text table to skip; ``''`` skips none. By default "
            "lines that start with ``#``, ``%`` or ``//`` are skipped above the header, and "
            "below it if their number of fields differs.",
        ),
    ]
    header: Annotated[
        bool | None,
        Option(
            None,
            "Whether the first row has the column names.",
            as_switch(),
            said="as detected",
            in_studio=True,
            doc="Whether the first row has the column names (default: unless it has only values).",
        ),
    ]
    skiprows: Annotated[
        int | None,
        Option(
            None,
            "Number of lines above the table.",
            as_int(0),
            metavar="N",
            said="as detected",
            in_studio=True,
            doc="Number of lines above the table (default: as detected).",
        ),
    ]
    skipfooter: Annotated[
        int | None,
        Option(
            None,
            "Number of lines below the table.",
            as_int(0),
            metavar="N",
            said="as detected",
            in_studio=True,
            doc="Number of lines below the table (default: as detected).",
        ),
    ]
    units_row: Annotated[
        bool | None,
        Option(
            None,
            "Whether the first row below the header has the units of the columns.",
            as_switch(),
            said="as detected",
            in_studio=True,
            doc="Whether the first row below the header has the units of the columns and is "
            "skipped (default: as detected).",
        ),
    ]
    bad_rows: Annotated[
        str,
        Option(
            "repair",
            "Rows of a text table with too few or too many fields: fill or remove empty cells, "
            "leave the rows out, or make them an error.",
            as_choice("repair", "skip", "refuse"),
            in_studio=True,
            doc="Rows of a text table with too few or too many fields. ``'repair'`` fills the "
            "missing cells of a short row and removes additional empty cells; other long "
            "rows are an error. ``'skip'`` leaves all these rows out, ``'refuse'`` makes "
            "them an error.",
        ),
    ]
    keep_empty_rows: Annotated[
        bool,
        Option(
            False,
            "Keep the rows of a text table or a spreadsheet that have no value in any column.",
            as_switch(),
            in_studio=True,
            doc="Keep the rows of a text table or a spreadsheet that have no value in any column.",
        ),
    ]
    rename: Annotated[
        Mapping[str, str] | None,
        Option(
            None,
            "New name of a column (repeatable). Other options use the new name.",
            metavar="OLD=NEW",
            is_repeated=True,
            in_studio=True,
            doc="New names of columns. The old names are those that coevo gives: without spaces "
            "around them, and with ``name.1`` for the second column called ``name``. All "
            "other parameters use the new names.",
        ),
    ]
    value_labels: Annotated[
        bool,
        Option(
            True,
            "Whether the value labels of Stata and SPSS are states.",
            as_switch(),
            in_studio=True,
            doc="Use the value labels of Stata and SPSS as states. With False the states are "
            "the codes.",
        ),
    ]
    sheet: Annotated[
        str | int | None,
        Option(
            None,
            "Name or number of a sheet of a spreadsheet, or name of a table of an SQLite file.",
            flags="--sheet --table",
            metavar="NAME",
            said="the first sheet with rows; the only table",
            in_studio=True,
            doc="Name or number (from 1) of a sheet; name of a table of an SQLite file.",
        ),
    ]
    query: Annotated[
        str | None,
        Option(
            None,
            "Read the rows that this query to DATA returns.",
            as_text(),
            metavar="SQL",
            doc="SQL query for an SQLite file.",
        ),
    ]


class ConnectionGroup(TypedDict, total=False):
    """Where an SQL query is sent."""

    connection: Annotated[
        Any,
        Option(
            None,
            "DB-API connection, or path of an SQLite file; the table is then an SQL query.",
            flags="",
            doc="Where to send `source`, an SQL query.",
        ),
    ]


class SourceParameters(OpeningGroup, CellParameters, ConnectionGroup, total=False):
    """Options that say how a source is opened, with those about the values of columns."""


class RowsGroup(TypedDict, total=False):
    """Which rows count, and how often."""

    duplicates: Annotated[
        str | None,
        Option(
            None,
            "Rows that repeat other rows in all columns.",
            as_choice("keep", "drop"),
            said="drop copies, keep rows that are equal by chance",
            in_studio=True,
            doc="Rows that repeat other rows in all columns: ``'keep'`` or ``'drop'``. By "
            "default they are dropped where they are copies, and kept where equal "
            "observations are natural.",
        ),
    ]
    totals: Annotated[
        str | None,
        Option(
            None,
            "Rows of totals and subtotals.",
            as_choice("keep", "drop"),
            said="drop those whose numbers are sums",
            in_studio=True,
            doc="Rows of totals and subtotals: ``'keep'`` or ``'drop'``. By default they are "
            "dropped if their numbers are sums, or if they have no other values.",
        ),
    ]
    weights: Annotated[
        str | None,
        Option(
            None,
            "Column with the number of times that each row counts.",
            as_text("the name of a column"),
            metavar="COLUMN",
            said="a column like Freq in a frequency table",
            in_studio=True,
            doc="Column with the number of times that each row counts, as in a frequency table. "
            "It is no variable. By default a column of counts such as ``Freq`` beside all "
            "different rows is used.",
        ),
    ]


class ClusterByGroup(TypedDict, total=False):
    """Which rows belong together, for functions that draw rows."""

    cluster_by: Annotated[
        str | None,
        Option(
            None,
            "Column that says which rows belong together, as the visits of a patient do. The "
            "bootstrap draws clusters, and cross-validation keeps them together.",
            as_text("the name of a column"),
            metavar="COLUMN",
            said="rows are independent",
            in_studio=True,
            doc="Column that says which rows belong together, as the visits of a patient do. It "
            "is no variable. A bootstrap draws clusters, and a cross-validation keeps them "
            "together.",
        ),
    ]


class RowParameters(RowsGroup, ClusterByGroup, total=False):
    """Options about the rows of a table."""


class ReadParameters(SourceParameters, RowParameters, total=False):
    """The options of a source, and those about its rows."""


class ColumnsGroup(TypedDict, total=False):
    """States and columns to leave out."""

    states: Annotated[
        "DeclaredStates | None",
        Option(
            None,
            "Declare states that may not occur in the rows: a network, or a JSON object with a "
            "list of states for each column.",
            metavar="MODEL",
            doc="All states of some columns, in display order. A declared state need not occur "
            "in the rows. Declare states to keep decimal numbers or identifiers as labels, "
            "or to use text such as ``NA`` as a state. Variables come from a network "
            "(``states=network.variables``); variables that are not columns of the table "
            "are ignored.",
        ),
    ]
    drop: Annotated[
        Iterable[str],
        Option(
            (),
            "Leave a column out (repeatable, or several with commas).",
            metavar="COLUMN",
            is_repeated=True,
            in_studio=True,
            doc="Columns to leave out. Their values are not checked.",
        ),
    ]


class NamesGroup(TypedDict, total=False):
    """The names of the columns of an array."""

    names: Annotated[
        Sequence[str] | None,
        Option(
            None,
            "The names of the columns of an array.",
            flags="",
            doc="Column names of a NumPy array.",
        ),
    ]


class BinningGroup(TypedDict, total=False):
    """Types of columns, and how numbers become states."""

    types: Annotated[
        "GivenTypes | None",
        Option(
            None,
            "Types of columns (continuous, categorical, ignore, or cut points), as JSON or CSV. "
            "The run.json of an earlier run gives the same cut points.",
            metavar="FILE",
            doc="Types of some columns: ``'categorical'`` (each value is a state), "
            "``'continuous'``, ``'ignore'``, parts of dates (``'year'``, ``'month'``, "
            "``'weekday'``, ``'hour'``, ``'year+month'``), ``'date'`` (a date as a number), "
            "``'dmy'`` or ``'mdy'`` (the order of day and month), a list of cut points, "
            '`CutPoints`, or ``{"type": "continuous", "bins": 3, "method": "kmeans"}``. '
            "Where `learn` takes it, also the path of a file, as for `read_types`. A type "
            "undoes what was decided about a column.",
        ),
    ]
    discretise: Annotated[
        str | None,
        Option(
            None,
            "How to discretise columns of numbers: mdl (chooses the number of bins), quantile, "
            "uniform, kmeans or none.",
            metavar="METHOD",
            said="mdl",
            in_studio=True,
            doc="Method that cuts columns of numbers into bins: ``'mdl'`` (chooses the number "
            "of bins by the information about the other columns), ``'quantile'``, "
            "``'uniform'`` or ``'kmeans'``. A column with at most 20 distinct integers, or "
            "at most 10 distinct decimal numbers that recur, keeps its values as states "
            "unless `types` declares it continuous.",
        ),
    ]
    bins: Annotated[
        int | None,
        Option(
            None,
            "Number of bins, by quantiles unless --discretise is given; for mdl the maximum.",
            as_int(2),
            said="3; mdl: 5",
            in_studio=True,
            doc="Number of bins (default: 3), or the maximum for ``'mdl'`` (default: 5). If "
            "`bins` is given without `discretise`, the method is ``'quantile'``.",
        ),
    ]
    decimal: Annotated[
        str | None,
        Option(
            None,
            "Decimal mark of numbers.",
            replace(as_choice(".", ","), expected="'.', ','"),
            said="found from the table",
            in_studio=True,
            doc="The decimal mark of numbers, ``'.'`` or ``','``. By default it is found: all "
            "labels of a column have the same mark, and ``1,234`` follows the other columns "
            "of the table.",
        ),
    ]


class StrictGroup(TypedDict, total=False):
    """Whether decisions about the table are errors."""

    strict: Annotated[
        bool,
        Option(
            False,
            "Make an error of everything that would be decided about the table.",
            as_switch(),
            in_studio=True,
            doc="Raise an error for everything that would be decided about the table.",
        ),
    ]


class MissingGroup(TypedDict, total=False):
    """What is done about missing values."""

    missing: Annotated[str | None, MISSING]


class ShardsGroup(TypedDict, total=False):
    """Where the rows of a large table are kept."""

    shards: Annotated[
        str | os.PathLike[str] | None,
        Option(
            None,
            "For DATA larger than memory (Parquet, or a folder of it): read it in chunks into "
            "files of about a byte per value in this folder, and remove them at the end.",
            metavar="DIR",
            doc="For a Parquet or Dask table that does not fit into memory: read it in chunks into "
            "files of about a byte per value in this folder, and remove them at the end. The "
            "answer is the same to the last bit. Numbers need cut points from `types`; `missing` "
            "and `bootstraps` need the rows in memory.",
        ),
    ]
