"""What a reader decided about a table: one sentence for each decision, and how to undo it.

A table from a stranger's desk has index columns, identifiers, dates and numbers with commas. The
readers handle them, and record a `Decision` for each. Nothing is done in silence: commands print
the decisions, `learn` puts them into its result, and ``strict`` turns them into an error.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coevo.data.audit import Finding
from coevo.data.column_types import ColumnInfo
from coevo.data.columns import Column
from coevo.errors import DataError, format_count

__all__ = ["Decision", "RawTable", "TableInfo", "check_strict", "format_type_hint"]


@dataclass(frozen=True, slots=True)
class Decision:
    """One thing that a reader did to a table without being asked.

    Attributes
    ----------
    kind : str
        What was done, as one word for programs: ``'identifier'``, ``'encoding'``, and so on.
    columns : tuple of str
        The columns that it concerns; empty if it concerns the table.
    sentence : str
        What was done and why, as one sentence.
    undo : str
        The options that undo it, in Python and on the command line.
    """

    kind: str
    columns: tuple[str, ...]
    sentence: str
    undo: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Return the decision as plain values."""
        return {
            "kind": self.kind,
            "columns": list(self.columns),
            "sentence": self.sentence,
            "undo": self.undo,
        }

    def __str__(self) -> str:
        return f"{self.sentence} Undo: {self.undo}." if self.undo else self.sentence


@dataclass(frozen=True, slots=True)
class RawTable:
    """The columns of a source as its reader returns them, and what the reader decided."""

    columns: list[Column]
    decisions: list[Decision] = field(default_factory=list)

    def take(self, rows: NDArray[np.intp]) -> RawTable:
        """Return some rows of the table, without its decisions."""
        return RawTable([column.take(rows) for column in self.columns])


@dataclass(frozen=True, slots=True)
class TableInfo:
    """What is known about a table that was read: its columns, and the decisions about it."""

    columns: tuple[ColumnInfo, ...]
    decisions: tuple[Decision, ...] = ()
    findings: tuple[Finding, ...] = ()  # what the audit cannot see in the dataset


def check_strict(decisions: Sequence[Decision]) -> None:
    """Raise `DataError` if there is a decision: the caller asked for a strict reader."""
    if not decisions:
        return
    more = ""
    if len(decisions) > 1:
        others = format_count(len(decisions) - 1, "further decision")
        more = f" There would be {others}; coevo inspect lists all."
    raise DataError(
        f"The table cannot be read strictly, because coevo would decide: {decisions[0].sentence}"
        f"{more} Correct the table, or leave out strict=True (--strict)."
    )


def format_type_hint(name: str, type_: str) -> str:
    """Return the options that declare the type of a column, in Python and on the command line.

    >>> print(format_type_hint("id", "categorical"))
    types={'id': 'categorical'}, or --type id=categorical
    """
    return f"types={{{name!r}: {type_!r}}}, or --type {shlex.quote(f'{name}={type_}')}"
