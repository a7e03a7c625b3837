"""The result of an inspection: plain records, as a dictionary, a types file or a page."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from coevo.data import ColumnInfo, Finding
from coevo.data.column_summary import ColumnSummary
from coevo.data.decisions import Decision
from coevo.errors import format_count
from coevo.view.inspection.types_file import format_types, make_types

__all__ = ["InspectedColumn", "TableInspection"]


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
        from coevo.files import check_output_path, write_text
        from coevo.view.inspection.types_file import check_types_path

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
        from coevo.files import check_output_path, write_text
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
