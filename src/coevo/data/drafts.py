"""The columns of a table during their preparation, and the notes that are taken about them.

The steps of `coevo.data.prepare_columns` share these two types. A `Draft` is one column; a step
replaces its column or removes the draft. `Notes` collects decisions, findings and types.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from coevo.data.column_types import ColumnInfo, ColumnType
from coevo.data.columns import Column
from coevo.data.decisions import Decision
from coevo.data.infer_columns import are_states
from coevo.data.number_labels import NumberLabels
from coevo.data.read_options import ReadPlan
from coevo.data.table_audit import Finding

__all__ = ["Draft", "Notes", "Numbers", "use_numbers_as_labels"]

Numbers = NDArray[np.float64]  # (n_labels,), the number of each label; NaN is missing


@dataclass(slots=True)
class Draft:
    """A column during its preparation.

    `numbers` has the number of each label, if all are numbers. A column is free if the caller
    declares neither its states nor its type.
    """

    column: Column
    is_free: bool
    numbers: Numbers | None = None

    @property
    def distinct(self) -> Numbers:
        """The distinct numbers that occur, in ascending order."""
        assert self.numbers is not None
        return np.unique(self.numbers[self.column.counts > 0])


@dataclass(slots=True)
class Notes:
    """What the steps of a preparation read and record.

    Attributes
    ----------
    options : ReadPlan
        The options of the caller.
    types : dict of str to ColumnType
        The types of columns: those of the caller, and those that were found.
    decisions : list of Decision
        What was done.
    findings : list of Finding
        What the caller should look at; nothing was done about it.
    left_out : list of ColumnInfo
        The columns that are left out or replaced, each with the reason.
    sources : dict of str to str
        The column of dates of each part.
    formats : dict of str to str
        The order of day and month, or the decimal mark, of columns that need one.
    dates : set of str
        The columns whose numbers are dates.
    missing : dict of str to tuple of str
        Labels of a column that stand for missing values, beside those of all columns.
    merges : dict of str to dict of str to str
        The new label of labels of a column that were merged.
    """

    options: ReadPlan
    types: dict[str, ColumnType]
    decisions: list[Decision] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    left_out: list[ColumnInfo] = field(default_factory=list)
    sources: dict[str, str] = field(default_factory=dict)
    formats: dict[str, str] = field(default_factory=dict)
    dates: set[str] = field(default_factory=set)
    missing: dict[str, tuple[str, ...]] = field(default_factory=dict)
    merges: dict[str, dict[str, str]] = field(default_factory=dict)

    @property
    def has_bins(self) -> bool:
        """Whether columns of numbers are cut into bins."""
        return self.options.binning is not None

    def leave_out(self, decision: Decision) -> None:
        """Record that the first column of a decision is left out."""
        self.decisions.append(decision)
        info = ColumnInfo(decision.columns[0], "ignore", reason=decision.sentence)
        self.left_out.append(info)

    def is_measurement(self, draft: Draft) -> bool:
        """Return whether the numbers of a column are needed as numbers, and not as labels."""
        if not draft.is_free:
            return True
        distinct = draft.distinct
        is_integer = bool((distinct == np.floor(distinct)).all())
        if are_states(len(distinct), draft.column.n_observed, is_integer=is_integer):
            return False
        return self.has_bins or not is_integer


def use_numbers_as_labels(column: Column, numbers: Numbers) -> Column:
    """Return a column whose labels are these numbers, one for each label; NaN is missing."""
    distinct, position = np.unique(numbers, return_inverse=True)
    is_missing = np.isnan(numbers)[column.codes]
    if column.missing is not None:
        is_missing |= column.missing
    kept = distinct[~np.isnan(distinct)]
    fractions = np.flatnonzero(kept != np.floor(kept))
    decimal = int(fractions[0]) if len(fractions) else None
    codes = np.where(is_missing, 0, position[column.codes])
    missing = is_missing if is_missing.any() else None
    return Column(column.name, NumberLabels(kept), codes, column.declared, decimal, missing)
