"""What a reader decided about a table: one sentence for each decision, and how to undo it.

A table from a stranger's desk has index columns, identifiers, dates and numbers with commas. The
readers handle them, and record a `Decision` for each. Nothing is done in silence: commands print
the decisions, `learn` puts them into its result, and ``strict`` turns them into an error.

`KINDS` lists every kind of decision. A decision of another kind, or one without an undo, cannot be
made. Where nothing can be read in another way, the undo is ``strict``, which refuses the table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coevo.data.column_types import ColumnInfo
from coevo.data.columns import Column
from coevo.data.table_audit import Finding
from coevo.errors import DataError, format_count

__all__ = [
    "KINDS",
    "STRICT_UNDO",
    "Decision",
    "RawTable",
    "TableInfo",
    "check_strict",
]

STRICT_UNDO = "strict=True, or --strict"
# Each kind of decision, and what it is about.
KINDS: Mapping[str, str] = {
    "format": "a file that is not what its name says",
    "encoding": "the encoding of a text table",
    "delimiter": "spaces between the fields of a text table",
    "comments": "comment lines",
    "titles": "lines above the table",
    "footers": "lines below the table",
    "header": "a table without a row of names",
    "short": "rows with too few fields",
    "long": "rows with too many fields",
    "skipped_rows": "rows with a wrong number of fields that were left out",
    "empty_rows": "rows without any value",
    "totals": "rows of totals and subtotals",
    "duplicates": "rows that are copies of other rows",
    "weights": "a column of counts that says how often each row occurs",
    "sheet": "a spreadsheet with several sheets",
    "names": "names with spaces around them, or that occur twice",
    "unnamed": "columns without a name",
    "index": "a first column that numbers the rows",
    "value_labels": "value labels of Stata and SPSS",
    "unsupported": "columns of lists, bytes and other values",
    "empty": "columns without any value",
    "nearly_empty": "columns with few values",
    "constant": "columns with one value",
    "identifier": "columns that identify the rows",
    "free_text": "columns of free text",
    "mixed": "columns of numbers and other text",
    "too_many_states": "columns with more values than a variable can have states",
    "copy": "columns that repeat another column",
    "choices": "columns of lists of choices",
    "date": "columns of dates",
    "duration": "columns of dates that follow those of another column",
    "date_order": "dates in which the day or the month can come first",
    "number_format": "numbers with signs or separators",
    "decimal_mark": "numbers whose decimal mark is a guess",
    "missing_word": "text among numbers that stands for missing values",
    "missing_code": "numbers like -999 that stand for missing values",
    "units_row": "a row of units below the header",
    "blanks": "blanks around values",
    "spelling": "spellings of a state that differ in case only",
    "missing": "missing values that are imputed",
}


@dataclass(frozen=True, slots=True)
class Decision:
    """One thing that a reader did to a table without being asked.

    Attributes
    ----------
    kind : str
        What was done, as one word for programs: ``'identifier'``, ``'encoding'``, and so on;
        `KINDS` lists them.
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
    undo: str

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"There is no kind of decision {self.kind!r}. Add it to KINDS.")
        if not self.undo:
            raise ValueError(f"A decision of the kind {self.kind!r} needs an undo.")

    def as_dict(self) -> dict[str, Any]:
        """Return the decision as plain values."""
        return {
            "kind": self.kind,
            "columns": list(self.columns),
            "sentence": self.sentence,
            "undo": self.undo,
        }

    def __str__(self) -> str:
        return f"{self.sentence} Undo: {self.undo}."


@dataclass(frozen=True, slots=True)
class RawTable:
    """The columns of a source as its reader returns them, and what the reader decided.

    `clusters` has the cluster of each row, if rows belong together; `cluster_by` is the name of
    their column. `left_out` has the columns that say something about rows and are no variables.
    `has_rows` says that `coevo.data.prepare.rows` has looked at the rows.
    """

    columns: list[Column]
    decisions: list[Decision] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    clusters: NDArray[np.int64] | None = None
    cluster_by: str | None = None
    left_out: tuple[ColumnInfo, ...] = ()
    has_rows: bool = False

    def take(self, rows: NDArray[np.intp]) -> RawTable:
        """Return some rows of the table, without its decisions."""
        clusters = None if self.clusters is None else self.clusters[rows]
        return RawTable(
            [column if column.overflow else column.take(rows) for column in self.columns],
            clusters=clusters,
            cluster_by=self.cluster_by,
            left_out=self.left_out,
            has_rows=self.has_rows,
        )


@dataclass(frozen=True, slots=True)
class TableInfo:
    """What is known about a table that was read: its columns, and the decisions about it."""

    columns: tuple[ColumnInfo, ...]
    decisions: tuple[Decision, ...] = ()
    findings: tuple[Finding, ...] = ()  # what the audit cannot see in the dataset
    cluster_by: str | None = None  # the column that says which rows belong together


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
