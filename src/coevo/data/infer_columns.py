"""What each column of a table becomes: states as they are, or numbers cut into bins.

Readers find labels; here it is decided which of them are numbers to be cut. Unless a caller
says otherwise, a column of numbers keeps its values as states where they are few: up to 20
whole numbers, or up to 10 decimal numbers that occur five times on average. Other columns
of numbers are measurements, except whole numbers of which each occurs once: those look like
identifiers, and are refused as such later on. Text and declared states stay as they are; a
column whose declared states are the bins of an earlier model is put into those bins.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from coevo.data.binning import BINNINGS
from coevo.data.column_types import Binning, ColumnInfo, ColumnType
from coevo.data.columns import IDENTIFIER_ABOVE, Column
from coevo.data.cut_points import CutPoints, number_text
from coevo.data.mdl import Coded, Measured, coarse, mdl
from coevo.data.number_labels import numbers_of
from coevo.data.read_options import ReadOptions, leave_out
from coevo.data.variable import natural_order
from coevo.errors import DataError

__all__ = ["are_states", "settle"]

FEW_WHOLE = 20  # different whole numbers that are states rather than measurements
FEW_DECIMAL = 10  # the same for decimal numbers, if each occurs
ROWS_A_STATE = 5  # so often on average

Numbers = NDArray[np.float64]  # (n_labels,), the number of each label


@dataclass(frozen=True, slots=True)
class _Decided:
    """A column, and what is decided about it; where `binning` is set, its cuts are open."""

    column: Column
    holds: str = ""
    cuts: CutPoints | None = None
    numbers: Numbers | None = None
    binning: Binning | None = None

    def cut(self, cuts: CutPoints) -> _Decided:
        """Return the column in bins."""
        assert self.numbers is not None
        bins = cuts.apply(np.nan_to_num(self.numbers))[self.column.codes]  # unseen ones are NaN
        states = list(cuts.states)
        column = Column(self.column.name, states, bins, tuple(states), holes=self.column.holes)
        return replace(self, column=column, cuts=cuts)

    def note(self) -> ColumnInfo:
        """Return what was decided, for people."""
        column = self.column
        seen = [str(column.labels[code]) for code in np.flatnonzero(column.counts).tolist()]
        states = column.declared or natural_order(seen)
        kind = "categorical" if self.cuts is None else "continuous"
        method = None if self.binning is None else self.binning.method
        return ColumnInfo(column.name, kind, states, self.holds, self.cuts, method)


def settle(
    columns: Sequence[Column], request: ReadOptions
) -> tuple[list[Column], tuple[ColumnInfo, ...]]:
    """Return the columns as states, and notes on them.

    Missing cells are holes of their column, and bins are found without them. The notes on
    columns that were left out come last.
    """
    decided = [_decide(column, request) for column in columns]
    cuts = _chosen_cuts(decided)
    settled = [one.cut(cuts[i]) if i in cuts else one for i, one in enumerate(decided)]
    ignored = [ColumnInfo(name, "ignore") for name in sorted(set(request.ignored))]
    return [one.column for one in settled], (*(one.note() for one in settled), *ignored)


def _decide(column: Column, request: ReadOptions) -> _Decided:
    """Return what a column becomes, by what is said of it or else by what it holds."""
    said = request.types.get(column.name)
    if column.declared is not None and (said is None or said.kind != "continuous"):
        return _in_declared_bins(column, column.declared)
    if said is None and request.binning is None:
        return _Decided(column)
    numbers = numbers_of(column.labels)
    if numbers is None or np.isnan(numbers[column.counts > 0]).any():
        return _text(column, said)
    distinct = np.unique(numbers[column.counts > 0])
    is_whole = bool((distinct == np.floor(distinct)).all())
    holds = "whole numbers" if is_whole else "decimal numbers"
    found = _Decided(column, holds, numbers=numbers)
    if said is not None and said.kind == "continuous":
        return _as_said(found, said, request.binning)
    if said is not None or _stays(column, len(distinct), is_whole):
        return replace(found, column=_with_numbers_as_states(column, numbers, said is not None))
    return replace(_finite(found), binning=request.binning)


def _in_declared_bins(column: Column, declared: tuple[str, ...]) -> _Decided:
    """Put numbers into the bins that the declared states name, if they name any."""
    cuts = CutPoints.from_states(declared)
    found = _Decided(column, "declared states", cuts)
    seen = column.labels[int(np.argmax(column.counts))]
    if cuts is None or seen in declared:
        return found
    numbers = numbers_of(column.labels)
    return found if numbers is None else replace(found, numbers=numbers).cut(cuts)


def _text(column: Column, said: ColumnType | None) -> _Decided:
    if said is not None and said.kind == "continuous":
        code = next(c for c in np.flatnonzero(column.counts).tolist() if _is_text(column.labels[c]))
        raise DataError(
            f"Column {column.name!r} holds {column.labels[code]!r}, first in row "
            f"{column.first_row(code)}, which is not a number. Correct it, or leave the type "
            "'continuous' away."
        )
    return _Decided(column if said is None else _declaring_its_own(column), "text")


def _is_text(label: str | None) -> bool:
    """Return whether a label is no number; that of a missing cell is none where it is a state."""
    numbers = numbers_of([label])
    return numbers is None or bool(np.isnan(numbers).any())


def _as_said(found: _Decided, said: ColumnType, binning: Binning | None) -> _Decided:
    """Cut a column at the points that are given, or note how it is to be cut."""
    if said.cuts is not None:
        return found.cut(said.cuts)
    if said.method is None and said.bins is None and binning is not None:
        return replace(_finite(found), binning=binning)
    own = Binning.of(said.method, said.bins, f"column {found.column.name!r}")
    return replace(_finite(found), binning=own)


def _stays(column: Column, n_distinct: int, is_whole: bool) -> bool:
    """Return whether numbers are to be kept as states, or refused as an identifier."""
    differ = column.decimal is None and n_distinct == column.n_seen > IDENTIFIER_ABOVE
    return (is_whole and differ) or are_states(n_distinct, column.n_seen, is_whole=is_whole)


def are_states(n_distinct: int, n_rows: int, *, is_whole: bool) -> bool:
    """Return whether so many different numbers in so many rows are states."""
    if is_whole:
        return n_distinct <= FEW_WHOLE
    often = n_distinct * ROWS_A_STATE <= n_rows
    return n_distinct == 1 or (n_distinct <= FEW_DECIMAL and often)


def _with_numbers_as_states(column: Column, numbers: Numbers, is_said: bool) -> Column:
    """Return a column whose numbers are its states; ``0.5`` and ``.50`` are the same one."""
    if column.decimal is None:
        return _declaring_its_own(column) if is_said else column
    texts = [str(label) for label in column.labels]
    ranks = [
        (number, text != number_text(number), len(text), text)
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
    holes = column.holes
    return Column(column.name, states, position[column.codes], tuple(states), holes=holes)


def _declaring_its_own(column: Column) -> Column:
    """Return a column whose labels are declared to be its states, whatever they look like."""
    return replace(column, declared=natural_order(str(label) for label in column.labels))


def _finite(found: _Decided) -> _Decided:
    """Refuse numbers without an end, which no cut point can be found for."""
    assert found.numbers is not None
    endless = np.flatnonzero(np.isinf(found.numbers) & (found.column.counts > 0))
    if not len(endless):
        return found
    name, code = found.column.name, int(endless[0])
    raise DataError(
        f"Column {name!r} holds {found.column.labels[code]!r}, first in row "
        f"{found.column.first_row(code)}, for which no bins can be found. Correct it, give the "
        f"cut points of the column with types= (--types), or leave it out ({leave_out(name)})."
    )


def _chosen_cuts(decided: Sequence[_Decided]) -> dict[int, CutPoints]:
    """Return the cuts of the columns that are still to be cut, by their place."""
    measured: dict[int, Measured] = {}
    coded: list[Coded] = []
    by_mdl: list[int] = []
    for i, one in enumerate(decided):
        if one.binning is None:
            coded.append(_coded(one.column))
            continue
        measured[i] = _measured(one)
        if one.binning.method == "mdl":
            by_mdl.append(i)
        else:
            coded.append(coarse(measured[i]))
    most = [one.binning.bins for one in decided if one.binning and one.binning.method == "mdl"]
    cuts = dict(zip(by_mdl, mdl([measured[i] for i in by_mdl], coded, most), strict=True))
    for i, column in measured.items():
        binning = decided[i].binning
        if binning is not None and i not in cuts:
            cuts[i] = BINNINGS[binning.method](column.values, column.counts, binning.bins)
    return cuts


def _measured(one: _Decided) -> Measured:
    """Return the distinct numbers of a column, and which of them each row shows."""
    assert one.numbers is not None
    seen = one.column.counts > 0
    values, places = np.unique(one.numbers[seen], return_inverse=True)
    place_of = np.zeros(len(one.numbers), dtype=np.intp)
    place_of[seen] = places
    of_rows = place_of[one.column.codes]
    if one.column.holes is not None:
        of_rows[one.column.holes] = len(values)
    return Measured(one.column.name, values, of_rows)


def _coded(column: Column) -> Coded:
    """Return a column of states; that a cell is missing is one more of them."""
    if column.holes is None:
        return Coded(column.name, column.codes, len(column.labels))
    n = len(column.labels)
    return Coded(column.name, np.where(column.holes, n, column.codes), n + 1)
