"""The columns of a table during their preparation, and the types that are inferred for them.

Infer the type of each column: categorical, or continuous and cut into bins.

The readers return labels. This module decides which labels are numbers to cut into bins, unless
the caller declares the type of the column. A column of numbers keeps its values as states if
they are few: at most 20 distinct integers, or at most 10 distinct decimal numbers that occur
five times on average. Other columns of numbers are measurements. Integers that each occur once
are an exception: they look like identifiers, and `coevo.data.columns` rejects them later. Text
and declared states stay unchanged. If the declared states are the bins of an earlier model, the
numbers go into these bins.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from coevo.data.bins import (
    BINNINGS,
    CutPoints,
    DiscreteColumn,
    NumericColumn,
    bin_coarsely,
    cut_by_mdl,
    format_number,
)
from coevo.data.column_types import Binning, ColumnInfo, ColumnType, format_drop_hint
from coevo.data.columns import IDENTIFIER_ABOVE, Column
from coevo.data.decisions import Decision
from coevo.data.labels import NumberLabels, parse_numbers, sort_naturally
from coevo.data.read_options import ReadPlan
from coevo.data.table_audit import Finding
from coevo.errors import DataError

__all__ = ["Draft", "Notes", "Numbers", "are_states", "infer_columns", "use_numbers_as_labels"]

MAX_INTEGER_STATES = 20  # a column with more distinct integers is a measurement
MAX_EXACT = 1 << 53  # larger floats do not have all whole numbers
MAX_DECIMAL_STATES = 10  # the same for decimal numbers, if each occurs
ROWS_PER_STATE = 5  # so often on average

Numbers = NDArray[np.float64]  # (n_labels,), the number of each label


@dataclass(frozen=True, slots=True)
class _InferredColumn:
    """A column with its inferred type. If `binning` is set, the cut points are not yet known."""

    column: Column
    holds: str = ""
    cuts: CutPoints | None = None
    numbers: Numbers | None = None
    binning: Binning | None = None

    def cut(self, cuts: CutPoints) -> _InferredColumn:
        """Return the column in bins."""
        assert self.numbers is not None
        numbers = np.nan_to_num(self.numbers)  # NaN is the number of labels that do not occur
        bins = cuts.apply(numbers)[self.column.codes]
        states = list(cuts.states)
        missing = self.column.missing
        column = Column(self.column.name, states, bins, tuple(states), missing=missing)
        return replace(self, column=column, cuts=cuts)

    def as_info(self) -> ColumnInfo:
        """Return the type, the states and the cut points of the column."""
        column = self.column
        observed = [str(column.labels[code]) for code in np.flatnonzero(column.counts).tolist()]
        states = column.declared or sort_naturally(observed)
        kind = "categorical" if self.cuts is None else "continuous"
        method = None if self.binning is None else self.binning.method
        return ColumnInfo(column.name, kind, states, self.holds, self.cuts, method)


def infer_columns(
    columns: Sequence[Column], options: ReadPlan
) -> tuple[list[Column], tuple[ColumnInfo, ...]]:
    """Return the columns as states, and the inferred type of each column.

    Missing values do not affect the cut points. The infos of ignored columns come last.
    """
    typed = [_infer_type(column, options) for column in columns]
    cuts = _find_cuts(typed)
    inferred = [one.cut(cuts[i]) if i in cuts else one for i, one in enumerate(typed)]
    ignored = [ColumnInfo(name, "ignore") for name in sorted(set(options.ignored))]
    return [one.column for one in inferred], (*(one.as_info() for one in inferred), *ignored)


def _infer_type(column: Column, options: ReadPlan) -> _InferredColumn:
    """Return the column with its type: the declared type, or else the type of its values."""
    declared = options.types.get(column.name)
    if column.declared is not None and (declared is None or declared.kind != "continuous"):
        return _apply_declared_bins(column, column.declared)
    if declared is None and options.binning is None:
        return _InferredColumn(column)
    numbers = None if column.is_text else parse_numbers(column.labels)
    if numbers is None or np.isnan(numbers[column.counts > 0]).any():
        return _infer_text(column, declared)
    distinct = np.unique(numbers[column.counts > 0])
    is_integer = bool((distinct == np.floor(distinct)).all())
    holds = "whole numbers" if is_integer else "decimal numbers"
    inferred = _InferredColumn(column, holds, numbers=numbers)
    if declared is not None and declared.kind == "continuous":
        return _apply_continuous_type(inferred, declared, options.binning)
    if declared is not None or _keeps_values(column, len(distinct), is_integer):
        states = _use_numbers_as_states(column, numbers, is_declared=declared is not None)
        return replace(inferred, column=states)
    _check_finite(inferred)
    return replace(inferred, binning=options.binning)


def _apply_declared_bins(column: Column, declared: tuple[str, ...]) -> _InferredColumn:
    """Put numbers into the bins that the declared states name, if they name bins."""
    cuts = CutPoints.from_states(declared)
    inferred = _InferredColumn(column, "declared states", cuts)
    most_common = column.labels[int(np.argmax(column.counts))]
    if cuts is None or most_common in declared:
        return inferred
    numbers = parse_numbers(column.labels)
    return inferred if numbers is None else replace(inferred, numbers=numbers).cut(cuts)


def _infer_text(column: Column, declared: ColumnType | None) -> _InferredColumn:
    """Return a column of text. Raise `DataError` if its declared type is continuous."""
    if declared is not None and declared.kind == "continuous":
        code = next(c for c in np.flatnonzero(column.counts).tolist() if _is_text(column.labels[c]))
        raise DataError(
            f"Column {column.name!r} holds {column.labels[code]!r}, first in row "
            f"{column.format_first_row(code)}, which is not a number. Correct it, or remove the "
            "type 'continuous'."
        )
    return _InferredColumn(column if declared is None else _declare_labels(column), "text")


def _is_text(label: str | None) -> bool:
    """Return whether a label is not a number. A missing label that is a state is text."""
    numbers = parse_numbers([label])
    return numbers is None or bool(np.isnan(numbers).any())


def _apply_continuous_type(
    inferred: _InferredColumn, declared: ColumnType, default: Binning | None
) -> _InferredColumn:
    """Cut a column at the declared cut points, or set the method that will cut it."""
    if declared.cuts is not None:
        return inferred.cut(declared.cuts)
    if declared.method is None and declared.bins is None and default is not None:
        binning = default
    else:
        owner = f"column {inferred.column.name!r}"
        binning = Binning.from_parameters(declared.method, declared.bins, owner)
    _check_finite(inferred)
    return replace(inferred, binning=binning)


def _keeps_values(column: Column, n_distinct: int, is_integer: bool) -> bool:
    """Return whether the numbers stay as they are: they are states, or an identifier."""
    all_differ = column.decimal is None and n_distinct == column.n_observed > IDENTIFIER_ABOVE
    if is_integer and all_differ:
        return True
    return are_states(n_distinct, column.n_observed, is_integer=is_integer)


def are_states(n_distinct: int, n_rows: int, *, is_integer: bool) -> bool:
    """Return whether `n_distinct` numbers in `n_rows` rows are states, not a measurement."""
    if is_integer:
        return n_distinct <= MAX_INTEGER_STATES
    recur = n_distinct * ROWS_PER_STATE <= n_rows
    return n_distinct == 1 or (n_distinct <= MAX_DECIMAL_STATES and recur)


def _use_numbers_as_states(column: Column, numbers: Numbers, is_declared: bool) -> Column:
    """Return a column whose numbers are its states; ``0.5`` and ``.50`` are the same state.

    They are two states if they are text of a column that is declared categorical.

    If all are whole numbers, they are written so: a column of ``0.0`` and ``1.0`` is the same
    table as one of 0 and 1, whatever the library that stores it.
    """
    if column.decimal is None:
        return _declare_labels(column) if is_declared else column
    is_text = not isinstance(column.labels, NumberLabels)
    observed = numbers[column.counts > 0]
    if is_declared and is_text and len(np.unique(observed)) < len(observed):
        return _declare_labels(column)  # "1" and "1.0" are two states where the type says so
    texts = [str(label) for label in column.labels]
    if bool((observed == np.floor(observed)).all()) and np.abs(observed).max() < MAX_EXACT:
        texts = [format_number(number + 0.0) for number in numbers.tolist()]  # -0.0 is 0
    ranks = [
        (number, text != format_number(number), len(text), text)
        for number, text in zip(numbers.tolist(), texts, strict=True)
    ]
    states: list[str] = []
    position = np.zeros(len(texts), dtype=np.int64)
    last = None
    for code in sorted(range(len(texts)), key=ranks.__getitem__):
        if numbers[code] != last:
            states.append(texts[code])
            last = numbers[code]
        position[code] = len(states) - 1
    codes = position[column.codes]
    return Column(column.name, states, codes, tuple(states), missing=column.missing)


def _declare_labels(column: Column) -> Column:
    """Return the column with its labels as declared states, so that later checks accept them."""
    return replace(column, declared=sort_naturally(str(label) for label in column.labels))


def _check_finite(inferred: _InferredColumn) -> None:
    """Raise `DataError` if a number is infinite, because the bins would have no finite ends."""
    assert inferred.numbers is not None
    infinite = np.flatnonzero(np.isinf(inferred.numbers) & (inferred.column.counts > 0))
    if not len(infinite):
        return
    name, code = inferred.column.name, int(infinite[0])
    raise DataError(
        f"Column {name!r} holds {inferred.column.labels[code]!r}, first in row "
        f"{inferred.column.format_first_row(code)}, for which no bins can be found. Correct it, "
        "give the cut points of the column with types= (--types), or leave it out "
        f"({format_drop_hint(name)})."
    )


def _find_cuts(typed: Sequence[_InferredColumn]) -> dict[int, CutPoints]:
    """Return the cut points of the columns that have a binning method, by position."""
    numeric: dict[int, NumericColumn] = {}
    discrete: list[DiscreteColumn] = []
    by_mdl: list[int] = []
    for i, one in enumerate(typed):
        if one.binning is None:
            discrete.append(_make_discrete(one.column))
            continue
        numeric[i] = _make_numeric(one)
        if one.binning.method == "mdl":
            by_mdl.append(i)
        else:
            discrete.append(bin_coarsely(numeric[i]))
    max_bins = [one.binning.bins for one in typed if one.binning and one.binning.method == "mdl"]
    found = cut_by_mdl([numeric[i] for i in by_mdl], discrete, max_bins)
    cuts = dict(zip(by_mdl, found, strict=True))
    for i, column in numeric.items():
        binning = typed[i].binning
        if binning is not None and i not in cuts:
            cuts[i] = BINNINGS[binning.method](column.values, column.counts, binning.bins)
    return cuts


def _make_numeric(inferred: _InferredColumn) -> NumericColumn:
    """Return the distinct numbers of a column, and the index of the number of each row."""
    assert inferred.numbers is not None
    column = inferred.column
    occurs = column.counts > 0
    values, indices = np.unique(inferred.numbers[occurs], return_inverse=True)
    index_of_label = np.zeros(len(inferred.numbers), dtype=np.intp)
    index_of_label[occurs] = indices
    index_of_row = index_of_label[column.codes]
    if column.missing is not None:
        index_of_row[column.missing] = len(values)
    return NumericColumn(column.name, values, index_of_row)


def _make_discrete(column: Column) -> DiscreteColumn:
    """Return a column of states; "missing" is an additional state."""
    n = len(column.labels)
    if column.missing is None:
        return DiscreteColumn(column.name, column.codes, n)
    return DiscreteColumn(column.name, np.where(column.missing, n, column.codes), n + 1)


# The columns of a table during their preparation, and the notes that are taken about them.
#
# The steps of `coevo.data.prepare.columns` share these two types. A `Draft` is one column; a step
# replaces its column or removes the draft. `Notes` collects decisions, findings and types.


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
