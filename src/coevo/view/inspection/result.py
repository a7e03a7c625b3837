"""`inspect_table`: read a table as `learn` does, and describe it without learning.

The result is plain records, as a dictionary, a types file or a page, with the commands that it
recommends: how to learn from the table, and how to fix a problem.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Unpack

from coevo.data import ColumnInfo, Finding, audit
from coevo.data.column_types import format_label_hint, format_merge_hint, format_type_hint
from coevo.data.decisions import Decision, check_strict
from coevo.data.summary import ColumnSummary, summarise_column
from coevo.errors import format_count
from coevo.learning import check_settings
from coevo.learning.settings import DEFAULT_POLICY, decide_missing
from coevo.options import TableOptions
from coevo.signatures import accept_options
from coevo.view.inspection.read import (
    UNREADABLE,
    InspectedTable,
    format_types,
    make_types,
    read_for_inspection,
)

__all__ = [
    "InspectedColumn",
    "TableInspection",
    "describe_inspected",
    "find_dropped",
    "inspect_table",
    "make_learn_command",
    "split_undo",
    "suggest_option",
]


@dataclass(frozen=True, slots=True)
class InspectedColumn:
    """One column: its type and states, and what its values look like.

    `summary` is None if the caller left the column out, because it is not read then.
    """

    info: ColumnInfo
    summary: ColumnSummary | None

    @property
    def name(self) -> str:
        """The name of the column."""
        return self.info.name

    @property
    def is_variable(self) -> bool:
        """Whether the column becomes a variable."""
        return self.info.type in ("categorical", "continuous")

    @property
    def kind(self) -> str:
        """What the column is, in words: its type, ``'left out'``, or ``'replaced'`` by others."""
        words = {"categorical": "categorical", "continuous": "continuous", "ignore": "left out"}
        return words.get(self.info.type, "replaced")


@dataclass(frozen=True, eq=False)
class TableInspection:
    """What `inspect_table` found out about a table.

    Attributes
    ----------
    source : str
        The name of the table.
    n_rows : int
        Number of rows.
    columns : tuple of InspectedColumn
        The columns in the order of the table; those that the caller left out come last.
    decisions : tuple of Decision
        What the reader decided without being asked, and how to undo it.
    findings : tuple of Finding
        Columns that cannot be read, then the findings of the audit.
    data_hash : str or None
        The content hash of the table that `learn` would read; None if it cannot be read.
    """

    source: str
    n_rows: int
    columns: tuple[InspectedColumn, ...]
    decisions: tuple[Decision, ...]
    findings: tuple[Finding, ...]
    data_hash: str | None

    @property
    def n_columns(self) -> int:
        """Number of columns of the source, without those that a reader made of others."""
        return sum(getattr(column.info, "source", None) is None for column in self.columns)

    @property
    def n_missing(self) -> int:
        """Number of missing values in the columns that are not left out."""
        return sum(
            column.summary.n_missing
            for column in self.columns
            if column.summary is not None and column.is_variable
        )

    @property
    def missing_share(self) -> float:
        """Share of the values that are missing, in the columns that are not left out."""
        used = sum(column.is_variable for column in self.columns)
        return self.n_missing / (used * self.n_rows) if used and self.n_rows else 0.0

    @cached_property
    def by_name(self) -> dict[str, InspectedColumn]:
        """The columns by name."""
        return {column.name: column for column in self.columns}

    def count_kinds(self) -> dict[str, int]:
        """Return the number of columns of each kind that occurs."""
        kinds = [column.kind for column in self.columns]
        listed = ("categorical", "continuous", "replaced", "left out")
        return {kind: kinds.count(kind) for kind in listed if kind in kinds}

    def types(self) -> dict[str, Any]:
        """Return the type of each column, as `types` of `learn` and `read_data` accepts it.

        Columns of numbers have their cut points, so the same table gives the same dataset.
        """
        return make_types(column.info for column in self.columns)

    def write_types(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Write the type of each column to a JSON or CSV file, to edit and to learn with.

        Parameters
        ----------
        path : str or path
            The file. Its extension chooses the format: ``.json`` or ``.csv``.
        force : bool, default: False
            Replace an existing file. Without it an existing file is an error, because it may
            hold edits.
        """
        from coevo.files.files import check_output_path, write_text
        from coevo.view.inspection.read import check_types_path

        target = Path(path)
        check_types_path(target, force)
        check_output_path(target)
        write_text(target, format_types(self.types(), target))

    def as_dict(self) -> dict[str, Any]:
        """Return the inspection as plain values.

        ``columns`` is the object that ``run.json`` has, so a file with this dictionary is
        accepted by ``--types``, too. ``summaries`` has the values of each column.
        """
        return {
            "source": self.source,
            "n_rows": self.n_rows,
            "n_columns": self.n_columns,
            "n_missing": self.n_missing,
            "data_hash": self.data_hash,
            "columns": {column.name: column.info.as_dict() for column in self.columns},
            "summaries": {
                column.name: column.summary.as_dict()
                for column in self.columns
                if column.summary is not None
            },
            "decisions": [decision.as_dict() for decision in self.decisions],
            "findings": [finding.as_dict() for finding in self.findings],
        }

    def save_page(self, path: str | os.PathLike[str], *, command: str = "") -> None:
        """Write the inspection as one HTML file that loads nothing from the network.

        Parameters
        ----------
        path : str or path
            The file. An existing file is replaced.
        command : str, optional
            The command that learns from the table, to show at the top.
        """
        from coevo.files.files import check_output_path, write_text
        from coevo.view.inspection.page import render_inspection

        check_output_path(Path(path))
        write_text(Path(path), render_inspection(self, command))

    def __repr__(self) -> str:
        counts = (
            format_count(self.n_rows, "row"),
            format_count(self.n_columns, "column"),
            format_count(len(self.findings), "finding"),
        )
        return f"<TableInspection: {', '.join(counts)}>"


# The column that a finding recommends to leave out, by its position in `Finding.columns`.
_DROPPED = {"constant": 0, "identifier": 0, "duplicate": 1, "deterministic": 0, UNREADABLE: 0}


def make_learn_command(
    inspection: TableInspection, data: str, options: Sequence[str] = (), types: str | None = None
) -> str:
    """Return the command that learns from the table.

    Parameters
    ----------
    inspection : TableInspection
        The inspection of the table.
    data : str
        The file with the table.
    options : sequence of str
        The options that the table was read with.
    types : str, optional
        A types file that replaces all options about columns but missing values.

    Examples
    --------
    >>> import numpy as np
    >>> from coevo.view.inspection import inspect_table
    >>> rows = np.array([["a", "x"], ["b", "?"]])
    >>> make_learn_command(inspect_table(rows, names=["p", "q"]), "my rows.csv")
    "coevo learn 'my rows.csv' -o run/"
    """
    words = ["coevo", "learn", data, *options]
    if types is not None:
        words += ["--types", types]
    else:
        for finding in inspection.findings:
            if finding.kind == UNREADABLE:
                words += ["--drop", finding.columns[0]]
    return shlex.join([*words, "-o", "run/"])


def suggest_option(finding: Finding) -> str:
    """Return the option that follows the recommendation of a finding, or an empty string.

    >>> suggest_option(Finding("duplicate", ("a", "b"), "'b' duplicates 'a' in every row."))
    '--drop b'
    >>> options = {"missing_labels": {"age": ["-99"]}}
    >>> suggest_option(Finding("sentinel", ("age",), "-99 in 'age' may be a code.", None, options))
    '--missing-label age=-99'
    """
    if finding.options is not None:
        return _format_options(finding.options)
    name = find_dropped(finding)
    if name is not None:
        return shlex.join(["--drop", name])
    return "" if finding.part is None else shlex.join(["--type", "=".join(finding.part)])


def _format_options(options: Mapping[str, Any]) -> str:
    """Return the keyword arguments of a finding as options of a command."""
    texts = []
    for name, columns in options.items():
        for column, value in columns.items():
            if name == "merge":
                hint = format_merge_hint(column, value)
            elif name == "types":
                hint = format_type_hint(column, value)
            else:
                hint = format_label_hint(name, column, value)
            texts.append("--" + hint.rpartition(", or --")[2])
    return " ".join(texts)


def find_dropped(finding: Finding) -> str | None:
    """Return the column of the source that a finding recommends to leave out; None if none.

    A part of a date is no column of the source. Its column of dates is left out if it has no
    other part; else another type of it leaves out the part.
    """
    if finding.part is not None:
        source, type_ = finding.part
        return source if type_ == "ignore" else None
    position = _DROPPED.get(finding.kind)
    return None if position is None else finding.columns[position]


def split_undo(decision: Decision) -> tuple[str, ...]:
    """Return the options that undo a decision, each alone: in Python, and for a command.

    >>> split_undo(Decision("identifier", ("id",), "", "types={'id': 'x'}, or --type id=x"))
    ("types={'id': 'x'}", '--type id=x')
    """
    undo = decision.undo.partition("; other ")[0]  # a sentence may follow
    python, separator, command = undo.rpartition(", or --")
    return (python, f"--{command}") if separator else (undo,)


@accept_options(TableOptions)
def inspect_table(table: Any, **options: Unpack[TableOptions]) -> TableInspection:
    """Look at a table before learning: its columns, their outcome, and all problems.

    The table is read as `learn` reads it, with its missing values. A column that `learn` rejects
    is left out, and a finding says why, so one inspection shows the problems of all columns.

    Parameters
    ----------
    table : path, data frame, PyArrow table, array, Dataset or IncompleteDataset
        As for `learn`.
    **options
        How the table is read, as for `learn`.

    Returns
    -------
    TableInspection
        Columns with summaries, decisions and findings. `TableInspection.write_types` writes a
        file of column types to edit, `TableInspection.save_page` writes a page.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.array([["no", "1.5"], ["yes", "2.5"], ["no", "7.0"], ["yes", "?"]])
    >>> found = inspect_table(rows, names=["rain", "mm"], bins=2)
    >>> found
    <TableInspection: 4 rows, 2 columns, 4 findings>
    >>> found.types()
    {'rain': 'categorical', 'mm': {'type': 'continuous', 'cuts': [2.0]}}
    >>> found.by_name["mm"].summary.numbers.median
    2.5
    """
    settings = check_settings(
        "inspect_table",
        missing="state",  # any policy: missing values are no error here
        **options,
    )
    found = read_for_inspection(table, settings)
    if settings.strict:
        check_strict(found.info.decisions)
    source = Path(table).name if isinstance(table, str | os.PathLike) else type(table).__name__
    return describe_inspected(found, source, is_strict=settings.strict)


def describe_inspected(
    found: InspectedTable, source: str, is_strict: bool = False
) -> TableInspection:
    """Audit and summarise a table that was read; `source` is its name.

    Unless the reading `is_strict`, the decisions are all that `learn` makes, also about missing
    values.
    """
    findings, decisions, data_hash = found.findings, found.info.decisions, None
    if found.rows is not None:
        rows = found.rows if found.rows.n_missing else found.rows.dataset
        data_hash = rows.content_hash  # of the rows that `learn` would read
        findings += audit(rows, found.info.columns, findings)
        if found.rows.n_missing and not is_strict:
            decisions += (decide_missing(found.rows, DEFAULT_POLICY),)
    columns = []
    for info in found.info.columns:
        column = found.columns.get(info.name)  # a column that was not read has no summary
        summary = None if column is None else summarise_column(column, info)
        columns.append(InspectedColumn(info, summary))
    return TableInspection(
        source=source,
        n_rows=next((len(column.codes) for column in found.columns.values()), 0),
        columns=tuple(columns),
        decisions=decisions,
        findings=findings,
        data_hash=data_hash,
    )
