"""Two columns of dates, one after the other: their difference in days says more than their parts.

A discharge follows an admission. Its month repeats that of the admission, and the length of the
stay is hidden. A column of dates that follows another one in nearly all rows is therefore replaced
by the days between the two, ``admission_to_discharge_days``. If several columns follow the same
one, each is replaced.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from coevo.data.column_types import ColumnInfo
from coevo.data.columns import Column
from coevo.data.dates import ParsedDates, make_days_name
from coevo.data.decisions import Decision
from coevo.data.drafts import Draft, Notes
from coevo.data.infer_columns import are_states
from coevo.data.number_labels import NumberLabels
from coevo.data.option_hints import format_type_hint
from coevo.errors import DataError

__all__ = ["find_days", "take_days"]

Days = NDArray[np.float64]  # (n_rows,), NaN is missing

MIN_ROWS = 20  # with both dates
MIN_FOLLOWING = 0.95  # share of them in which the second date is not before the first
DIGITS = 4  # of a day: eight seconds


def find_days(
    drafts: Sequence[Draft], parsed: Mapping[str, ParsedDates], notes: Notes
) -> dict[str, str]:
    """Return the columns of dates that follow another one, each with the earlier column."""
    names = [draft.column.name for draft in drafts]
    found = {pair[1]: pair[0] for pair in notes.options.find_wanted_days(names).values()}
    asked = [name for name in names if _is_asked(name, notes)]
    days = {
        draft.column.name: _read_days(draft.column, parsed[draft.column.name])
        for draft in drafts
        if draft.column.name in parsed and _may_be_paired(draft, parsed, asked)
    }
    followers = {
        one: [two for two in days if two != one and _follows(days[one], days[two])] for one in days
    }
    # Columns that follow each other hold the same dates: `find_copies` compares them.
    ranked = sorted(days, key=lambda name: (-len(followers[name]), name))
    free = {draft.column.name for draft in drafts if draft.is_free}
    for first in ranked[:1]:
        for second in followers[first]:
            is_new = make_days_name(first, second) not in names and second in free
            if is_new and first not in followers[second]:
                found.setdefault(second, first)
    for name in asked:
        earlier = next((one for one in ranked if name in followers.get(one, ())), None)
        if name not in found and earlier is None:
            raise DataError(
                f"Column {name!r} has the type 'days', but there is no other column of dates that "
                "it follows. Remove the type, or give 'date' or parts such as 'month'."
            )
        found.setdefault(name, str(earlier))
    return found


def take_days(
    first: Draft, second: Draft, parsed: Mapping[str, ParsedDates], notes: Notes
) -> Draft:
    """Return the days between two columns of dates, and record the decision."""
    names = first.column.name, second.column.name
    one, two = (_read_days(d.column, parsed[d.column.name]) for d in (first, second))
    name = make_days_name(*names)
    values, dates = np.round(two - one, DIGITS), parsed[names[1]].values.values()
    sentence = (
        f"{names[1]!r} holds dates from {min(dates):%Y-%m-%d} to {max(dates):%Y-%m-%d} that follow "
        f"those of {names[0]!r}; it is replaced by {name!r}, the days between them."
    )
    if name not in notes.options.find_wanted_days(names) and not _is_asked(names[1], notes):
        undo = format_type_hint(names[1], "year+month")
        notes.decisions.append(Decision("duration", (names[1], names[0]), sentence, undo))
    notes.left_out.append(ColumnInfo(names[1], "days", reason=sentence))
    notes.sources[name] = names[1]
    missing = np.isnan(values)
    distinct, codes = np.unique(np.where(missing, 0.0, values), return_inverse=True)
    fractions = np.flatnonzero(distinct != np.floor(distinct))
    declared = notes.options.states.get(name)
    column = Column(
        name,
        NumberLabels(distinct),
        codes,
        declared,
        int(fractions[0]) if len(fractions) else None,
        missing if missing.any() else None,
    )
    return Draft(column, declared is None and name not in notes.types)


def _is_asked(name: str, notes: Notes) -> bool:
    declared = notes.types.get(name)
    return declared is not None and declared.kind == "days"


def _may_be_paired(draft: Draft, parsed: Mapping[str, ParsedDates], asked: Sequence[str]) -> bool:
    """Return whether a column has days that are clear, and too many to be states."""
    column, dates = draft.column, parsed[draft.column.name]
    if not (dates.has_date and dates.has_day) or dates.is_ambiguous or column.declared is not None:
        return False
    n_dates = int(np.count_nonzero(column.counts))
    return bool(asked) or not are_states(n_dates, column.n_observed, is_integer=False)


def _read_days(column: Column, dates: ParsedDates) -> Days:
    days: Days = dates.as_days(len(column.labels))[column.codes]
    if column.missing is not None:
        days[column.missing] = np.nan
    return days


def _follows(first: Days, second: Days) -> bool:
    """Return whether the second date is nearly never before the first one."""
    between = second - first
    between = between[np.isfinite(between)]
    if len(between) < max(MIN_ROWS, len(first) / 2):
        return False
    return bool((between >= 0).mean() >= MIN_FOLLOWING and len(np.unique(between)) > 1)
